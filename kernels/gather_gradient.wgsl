// Gradient of gather: each row of the table sums the gradients of the places that it was copied to.
//
// WGSL has no atomic addition of floats. Each row goes through all indices in order instead, so
// that the sum is always the same.

const WIDTH = ${WIDTH}u;

// fn store(index: u32, value: f32)
${store}

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let index = ${INDEX};
  if (index >= ${ITEMS}u) {
    return;
  }
  let row = i32(index / WIDTH);
  let column = index % WIDTH;
  var sum = 0.0;
  for (var i = 0u; i < ${INDICES}u; i++) {
    if (indices[i] == row) {
      sum += gradient[i * WIDTH + column];
    }
  }
  store(index, sum);
}
