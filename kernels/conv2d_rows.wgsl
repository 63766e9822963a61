// Rows of a convolution: row r is an output pixel, a tap is a row of the filter. Depths are the
// channels of the pixels under that row, which are contiguous in the image. With horizontal dilation
// they are not; a tap is then a position in the filter.

const WIDTH = ${WIDTH};
const HEIGHT = ${HEIGHT};
const CHANNELS = ${CHANNELS};
const OUTPUT_WIDTH = ${OUTPUT_WIDTH}u;
const OUTPUT_HEIGHT = ${OUTPUT_HEIGHT}u;

fn origin(row: u32) -> vec4<i32> {
  let x = row % OUTPUT_WIDTH;
  let y = row / OUTPUT_WIDTH % OUTPUT_HEIGHT;
  let image = row / (OUTPUT_WIDTH * OUTPUT_HEIGHT);
  return vec4<i32>(
    i32(image) * HEIGHT * WIDTH,
    i32(y) * ${STRIDE_Y} - ${PAD_TOP},
    i32(x) * ${STRIDE_X} - ${PAD_LEFT},
    0,
  );
}

fn row_at(origin: vec4<i32>, tap_row: i32, tap_column: i32) -> Row {
  let y = origin.y + tap_row * ${DILATION_Y};
  let x = origin.z + tap_column * ${DILATION_X};
  let start = (origin.x + y * WIDTH + x) * CHANNELS;
  let place = select(NOWHERE, u32(x * CHANNELS), (y >= 0) & (y < HEIGHT));
  return Row(u32(start), place);
}
