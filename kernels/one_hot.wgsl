// ON where the position along the last axis is the index, OFF elsewhere.

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let index = ${INDEX};
  if (index >= ${ITEMS}u) {
    return;
  }
  let chosen = u32(indices[index / ${DEPTH}u]) == index % ${DEPTH}u;
  result[index] = select(${OFF}, ${ON}, chosen);
}
