// gather.wgsl for packed elements, where the length of a row is not a whole number of words. An
// invocation assembles one word of the result. An index outside the axis gives MISSING.

const WIDTH = ${WIDTH}u;
const ELEMENTS = ${ELEMENTS}u;
const PER_WORD = ${PER_WORD}u;
const BITS = 32u / PER_WORD;

fn element_at(index: u32) -> u32 {
  let row = u32(indices[${PLACE}]);
  if (row >= ${ROWS}u) {
    return ${MISSING};
  }
  let at = (${FIRST} + row) * WIDTH + index % WIDTH;
  return (rows[at / PER_WORD] >> (at % PER_WORD * BITS)) & ((1u << BITS) - 1u);
}

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let index = ${INDEX};
  if (index >= ${ITEMS}u) {
    return;
  }
  let first = PER_WORD * index;
  var word = 0u;
  for (var i = 0u; i < min(PER_WORD, ELEMENTS - first); i++) {
    word |= element_at(first + i) << (i * BITS);
  }
  result[index] = word;
}
