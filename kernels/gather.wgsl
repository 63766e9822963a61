// Rows of a table by index: result[i, d] = rows[indices[i], d].
//
// Copies words of 4 bytes, or elements if an epilogue is applied to them. An index outside the
// table gives MISSING.

#include "common/numbers.wgsl"

alias Number = ${NUMBER};
const WIDTH = ${WIDTH}u;

fn load(at: u32) -> Number {
  return ${LOAD};
}

// fn store(index: u32, value: Number)
${store}

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let index = ${INDEX};
  if (index >= ${ITEMS}u) {
    return;
  }
  let row = u32(indices[index / WIDTH]);
  if (row < ${ROWS}u) {
    store(index, load(row * WIDTH + index % WIDTH));
  } else {
    store(index, ${MISSING});
  }
}
