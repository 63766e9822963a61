// The gradient of layer normalization, as in layer_normalization_gradient.wgsl; a workgroup computes
// a row, and reads it once.

#include "common/numbers.wgsl"
#include "common/row_parts.wgsl"

const WIDTH = ${WIDTH}u;
const EPSILON = ${EPSILON};

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
  let slope_base = gradient[first] * scales[0];
${loads}
  var shift = 0.0;
${shifts}
  let mean = base + sum_of_parts(invocation, shift) / f32(WIDTH);
  var squares = 0.0;
${squares}
  let variance = sum_of_parts(invocation, squares) / f32(WIDTH);
  let factor = select(make_nan(), inverseSqrt(variance + EPSILON), is_finite_value(variance));
  var slope = 0.0;
  var along = 0.0;
${slopes}
  slope = sum_of_parts(invocation, slope) / f32(WIDTH);
  along = sum_of_parts(invocation, along) / f32(WIDTH);
${stores}
}
