// Rows of the gradient of a convolution by its image: row r is a pixel of the image, a tap is a
// position in the filter. Depths are the channels of the output pixel to which that tap
// contributed.

const WIDTH = ${WIDTH}u;
const HEIGHT = ${HEIGHT}u;
const OUTPUT_WIDTH = ${OUTPUT_WIDTH}u;
const OUTPUT_HEIGHT = ${OUTPUT_HEIGHT}u;
const STRIDE_Y = ${STRIDE_Y}u;
const STRIDE_X = ${STRIDE_X}u;

fn origin(row: u32) -> vec4<i32> {
  let x = row % WIDTH;
  let y = row / WIDTH % HEIGHT;
  let image = row / (WIDTH * HEIGHT);
  return vec4<i32>(
    i32(image * OUTPUT_HEIGHT * OUTPUT_WIDTH),
    i32(y) + ${PAD_TOP},
    i32(x) + ${PAD_LEFT},
    0,
  );
}

fn row_at(origin: vec4<i32>, tap_row: i32, tap_column: i32) -> Row {
  // Read as unsigned, a position before the image is a large number.
  let offset_y = u32(origin.y - tap_row * ${DILATION_Y});
  let offset_x = u32(origin.z - tap_column * ${DILATION_X});
  let y = offset_y / STRIDE_Y;
  let x = offset_x / STRIDE_X;
  // Without && and its branches: SwiftShader takes 20 s to compile eight of them, 0.2 s without.
  let inside = (y * STRIDE_Y == offset_y) & (y < OUTPUT_HEIGHT)
    & (x * STRIDE_X == offset_x) & (x < OUTPUT_WIDTH);
  return Row((u32(origin.x) + y * OUTPUT_WIDTH + x) * DEPTH, select(NOWHERE, 0u, inside));
}
