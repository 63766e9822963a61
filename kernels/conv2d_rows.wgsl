// Rows of a convolution: row r is one output pixel, a tap one position of the filter.
// Depths are the channels of the image's pixel under that position.

const WIDTH = ${WIDTH};
const HEIGHT = ${HEIGHT};
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
  let y = origin.y + tap_row;
  let x = origin.z + tap_column;
  let inside = (y >= 0) & (y < HEIGHT) & (x >= 0) & (x < WIDTH);
  return Row(u32(origin.x + y * WIDTH + x) * DEPTH, select(NOWHERE, 0u, inside));
}
