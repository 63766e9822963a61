// Rows of the gradient of a convolution by its filters: row r is one weight (filter row, filter
// column, input channel); a tap is a row of output pixels (image of the batch, output row). Depths
// are the pixels of that row, each of which meets the image one stride further on.

const WIDTH = ${WIDTH};
const HEIGHT = ${HEIGHT};
const CHANNELS = ${CHANNELS};
const FILTER_WIDTH = ${FILTER_WIDTH};

fn origin(row: u32) -> vec4<i32> {
  let channel = i32(row) % CHANNELS;
  let x = i32(row) / CHANNELS % FILTER_WIDTH * ${DILATION_X} - ${PAD_LEFT};
  let y = i32(row) / (CHANNELS * FILTER_WIDTH) * ${DILATION_Y} - ${PAD_TOP};
  return vec4<i32>(x * CHANNELS + channel, y, x, 0);
}

fn row_at(origin: vec4<i32>, tap_row: i32, tap_column: i32) -> Row {
  let y = tap_column * ${STRIDE_Y} + origin.y;
  let start = (tap_row * HEIGHT + y) * WIDTH * CHANNELS + origin.x;
  return Row(u32(start), select(NOWHERE, u32(origin.z), (y >= 0) & (y < HEIGHT)));
}
