// The results of `int8_result`, which a kernel defines for the index of an element: an invocation
// computes the four of a word.

const ELEMENTS = ${ELEMENTS}u;

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let index = ${INDEX};
  if (index >= ${ITEMS}u) {
    return;
  }
  let first = 4u * index;
  var word = 0u;
  for (var i = 0u; i < min(4u, ELEMENTS - first); i++) {
    word |= (bitcast<u32>(int8_result(first + i)) & 0xffu) << (8u * i);
  }
  result[index] = word;
}
