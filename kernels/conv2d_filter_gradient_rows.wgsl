// Rows of a convolution's gradient for its filters: row r is one weight (filter row, filter
// column, input channel); a tap is one line of output pixels (image of the batch, output row).
// Depths are the pixels of that line, each meeting the image STRIDE_X further on.

const WIDTH = ${WIDTH};
const HEIGHT = ${HEIGHT};
const CHANNELS = ${CHANNELS};
const FILTER_WIDTH = ${FILTER_WIDTH};
const STRIDE_X = ${STRIDE_X};

fn origin(row: u32) -> vec4<i32> {
  let channel = i32(row) % CHANNELS;
  let x = i32(row) / CHANNELS % FILTER_WIDTH - ${PAD_LEFT};
  let y = i32(row) / (CHANNELS * FILTER_WIDTH) - ${PAD_TOP};
  // Pixels d of the line for which 0 <= d * STRIDE_X + x < WIDTH.
  let first = (max(-x, 0) + STRIDE_X - 1) / STRIDE_X;
  let end = (max(WIDTH - x, 0) + STRIDE_X - 1) / STRIDE_X;
  return vec4<i32>(x * CHANNELS + channel, y, first, max(end - first, 0));
}

fn row_at(origin: vec4<i32>, tap_row: i32, tap_column: i32) -> Row {
  let y = tap_column * ${STRIDE_Y} + origin.y;
  let start = (tap_row * HEIGHT + y) * WIDTH * CHANNELS + origin.x;
  return Row(u32(start), u32(origin.z), select(0u, u32(origin.w), y >= 0 && y < HEIGHT));
}
