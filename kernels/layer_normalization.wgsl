// Rows with mean 0 and variance 1, times a scale, plus an offset; an invocation computes a row.

#include "common/row_moments.wgsl"

// fn store(index: u32, value: f32)
${store}

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let row = ${INDEX};
  if (row >= ${ITEMS}u) {
    return;
  }
  let first = row * WIDTH;
  let moments = row_moments(first);
  for (var c = 0u; c < WIDTH; c++) {
    store(first + c, (source[first + c] - moments.x) * moments.y * scales[c] + offsets[c]);
  }
}
