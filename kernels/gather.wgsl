// Elements along an axis by index: result[o, i, d] = rows[o, indices[i], d], or with an index for
// each element of the result.
//
// Copies words of 4 bytes, or elements if an epilogue is applied to them. An index outside the
// axis gives MISSING.

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
  let row = u32(indices[${PLACE}]);
  if (row < ${ROWS}u) {
    store(index, load((${FIRST} + row) * WIDTH + index % WIDTH));
  } else {
    store(index, ${MISSING});
  }
}
