// Copies vectors of four elements of a large tensor to places in another. An invocation has four of
// them on their way at a time.

fn source_of(index: u32) -> u32 {
  return ${SOURCE};
}

fn target_of(index: u32) -> u32 {
  return ${TARGET};
}

@compute @workgroup_size(${WORKGROUP})
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(local_invocation_index) invocation: u32,
) {
  let index0 = (group.y * ${GRID_X}u + group.x) * ${WORKGROUP}u * 4u + invocation;
  let index1 = index0 + ${WORKGROUP}u;
  let index2 = index1 + ${WORKGROUP}u;
  let index3 = index2 + ${WORKGROUP}u;
  let vector0 = source[source_of(min(index0, ${ITEMS}u - 1u))];
  let vector1 = source[source_of(min(index1, ${ITEMS}u - 1u))];
  let vector2 = source[source_of(min(index2, ${ITEMS}u - 1u))];
  let vector3 = source[source_of(min(index3, ${ITEMS}u - 1u))];
  if (index0 < ${ITEMS}u) {
    result[target_of(index0)] = vector0;
  }
  if (index1 < ${ITEMS}u) {
    result[target_of(index1)] = vector1;
  }
  if (index2 < ${ITEMS}u) {
    result[target_of(index2)] = vector2;
  }
  if (index3 < ${ITEMS}u) {
    result[target_of(index3)] = vector3;
  }
}
