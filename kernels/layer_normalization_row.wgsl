// Rows with mean 0 and variance 1, times a scale, plus an offset; a workgroup computes a row, and
// reads it once. See common/row_moments.wgsl for the numerics.

#include "common/numbers.wgsl"
#include "common/row_parts.wgsl"

const WIDTH = ${WIDTH}u;
const EPSILON = ${EPSILON};

// fn store(index: u32, value: f32)
${store}

@compute @workgroup_size(INVOCATIONS)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(local_invocation_index) invocation: u32,
) {
  let row = group.y * ${GRID_X}u + group.x;
  if (row >= ${ITEMS}u) {
    return;
  }
  let first = row * WIDTH;
  let base = source[first];
${loads}
  var shift = 0.0;
${shifts}
  let mean = base + sum_of_parts(invocation, shift) / f32(WIDTH);
  var squares = 0.0;
${squares}
  let variance = sum_of_parts(invocation, squares) / f32(WIDTH);
  let factor = select(make_nan(), inverseSqrt(variance + EPSILON), is_finite_value(variance));
${stores}
}
