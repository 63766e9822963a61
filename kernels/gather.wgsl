// Rows of a table, chosen by index: result[i, d] = rows[indices[i], d], in words of 4 bytes.
//
// An index beyond the table gives MISSING.

#include "common/numbers.wgsl"

const WIDTH = ${WIDTH}u;

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let index = ${INDEX};
  if (index >= ${ITEMS}u) {
    return;
  }
  let row = u32(indices[index / WIDTH]);
  if (row < ${ROWS}u) {
    result[index] = rows[row * WIDTH + index % WIDTH];
  } else {
    result[index] = ${MISSING};
  }
}
