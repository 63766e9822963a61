// The results of a product from its int32 sums, which may be split into parts. An invocation
// computes the four results of a word.

#include "common/int8.wgsl"
#include "common/requantize.wgsl"

const ELEMENTS = ${ELEMENTS}u;
const COLUMNS = ${COLUMNS}u;

fn finished(index: u32) -> i32 {
  let column = index % COLUMNS;
  var sum = bias[column];
  for (var split = 0u; split < ${SPLITS}u; split++) {
    sum += sums[split * ELEMENTS + index];
  }
  return requantize(sum, multiplier[column], shift[column]);
}

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let index = ${INDEX};
  if (index >= ${ITEMS}u) {
    return;
  }
  let first = 4u * index;
  var word = 0u;
  for (var i = 0u; i < min(4u, ELEMENTS - first); i++) {
    word |= (bitcast<u32>(finished(first + i)) & 0xffu) << (8u * i);
  }
  result[index] = word;
}
