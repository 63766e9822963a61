// A matrix product of depth 0: every sum of no products is 0.

// fn store(index: u32, value: f32)
${store}

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let index = ${INDEX};
  if (index >= ${ITEMS}u) {
    return;
  }
  store(index, 0.0);
}
