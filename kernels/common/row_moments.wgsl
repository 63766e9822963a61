#include "common/numbers.wgsl"

const WIDTH = ${WIDTH}u;
const EPSILON = ${EPSILON};

// The mean of the row that begins at `first`, and 1 / sqrt(variance + EPSILON). In two passes: the
// difference of large squares would lose the variance to rounding. The mean is that of differences
// from the first element, as a quotient is not exact: a row of equal elements has no variance.
// Where squares are out of range, the second number is NaN: a factor of 0 would hide it.
fn row_moments(first: u32) -> vec2<f32> {
  let base = source[first];
  var shift = 0.0;
  for (var c = 0u; c < WIDTH; c++) {
    shift += source[first + c] - base;
  }
  let mean = base + shift / f32(WIDTH);
  var squares = 0.0;
  for (var c = 0u; c < WIDTH; c++) {
    let centred = source[first + c] - mean;
    squares += centred * centred;
  }
  let variance = squares / f32(WIDTH);
  let factor = select(make_nan(), inverseSqrt(variance + EPSILON), is_finite_value(variance));
  return vec2<f32>(mean, factor);
}
