// Copies elements of one tensor to places in another: transpose, slice, concat.

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let index = ${INDEX};
  if (index >= ${ITEMS}u) {
    return;
  }
  result[${TARGET}] = source[${SOURCE}];
}
