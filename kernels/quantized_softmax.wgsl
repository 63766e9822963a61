// Softmax of rows of int8, one in each word, with a table of the exponential function. An
// invocation computes a row.

const CLASSES = ${CLASSES}u;

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let index = ${INDEX};
  if (index >= ${ITEMS}u) {
    return;
  }
  let first = index * CLASSES;
  var largest = -128;
  for (var c = 0u; c < CLASSES; c++) {
    largest = max(largest, x[first + c]);
  }
  var sum = 0u;
  for (var c = 0u; c < CLASSES; c++) {
    sum += bitcast<u32>(table[x[first + c] - largest + 255]);
  }
  for (var c = 0u; c < CLASSES; c++) {
    let part = bitcast<u32>(table[x[first + c] - largest + 255]);
    result[first + c] = i32(min((part * 256u + sum / 2u) / max(sum, 1u), 255u)) - 128;
  }
}
