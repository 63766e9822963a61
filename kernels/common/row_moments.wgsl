const WIDTH = ${WIDTH}u;
const EPSILON = ${EPSILON};

// The mean of the row that begins at `first`, and 1 / sqrt(variance + EPSILON). In two passes: the
// difference of large squares would lose the variance to rounding.
fn row_moments(first: u32) -> vec2<f32> {
  var mean = 0.0;
  for (var c = 0u; c < WIDTH; c++) {
    mean += source[first + c];
  }
  mean /= f32(WIDTH);
  var squares = 0.0;
  for (var c = 0u; c < WIDTH; c++) {
    let centred = source[first + c] - mean;
    squares += centred * centred;
  }
  return vec2<f32>(mean, inverseSqrt(squares / f32(WIDTH) + EPSILON));
}
