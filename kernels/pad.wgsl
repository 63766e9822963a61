// Copies a tensor into a larger one and fills the rest with one value.

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let index = ${INDEX};
  if (index >= ${ITEMS}u) {
    return;
  }
  if (${INSIDE}) {
    result[index] = source[${SOURCE}];
  } else {
    result[index] = ${FILL};
  }
}
