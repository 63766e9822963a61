// The gradient of layer normalization by its input, and each element's part of that by the scale.
//
// With h the normalized row and g the gradient times the scale, the gradient of the input is
// factor * (g - mean(g) - h * mean(g * h)). An invocation computes a row. All g are less the first, so
// that equal ones have the gradient 0 however a quotient is rounded.

#include "common/row_moments.wgsl"

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let row = ${INDEX};
  if (row >= ${ITEMS}u) {
    return;
  }
  let first = row * WIDTH;
  let moments = row_moments(first);
  let base = gradient[first] * scales[0];
  var mean = 0.0;
  var along = 0.0;
  for (var c = 0u; c < WIDTH; c++) {
    let shifted = gradient[first + c] * scales[c] - base;
    mean += shifted;
    along += shifted * ((source[first + c] - moments.x) * moments.y);
  }
  mean /= f32(WIDTH);
  along /= f32(WIDTH);
  for (var c = 0u; c < WIDTH; c++) {
    let normalized = (source[first + c] - moments.x) * moments.y;
    let by_result = gradient[first + c];
    by_source[first + c] = moments.y * (by_result * scales[c] - base - mean - normalized * along);
    by_scale[first + c] = by_result * normalized;
  }
}
