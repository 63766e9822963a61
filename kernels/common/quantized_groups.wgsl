// Shared by the kernels of grouped convolution of int8 images: sizes, and where elements lie.

const HEIGHT = ${HEIGHT}u;
const WIDTH = ${WIDTH}u;
const CHANNELS = ${CHANNELS}u;
const FILTER_HEIGHT = ${FILTER_HEIGHT}u;
const FILTER_WIDTH = ${FILTER_WIDTH}u;
const GROUP_CHANNELS = ${GROUP_CHANNELS}u;
const OUTPUT_HEIGHT = ${OUTPUT_HEIGHT}u;
const OUTPUT_WIDTH = ${OUTPUT_WIDTH}u;
const OUTPUTS = ${OUTPUTS}u;
const GROUP_OUTPUTS = ${GROUP_OUTPUTS}u;
const STRIDE_Y = ${STRIDE_Y}u;
const STRIDE_X = ${STRIDE_X}u;
const DILATION_Y = ${DILATION_Y}u;
const DILATION_X = ${DILATION_X}u;

// The place of the first channel of the first pixel under the filter, for result `index`.
fn corner(index: u32) -> u32 {
  let pixel = index / OUTPUTS;
  let y = pixel / OUTPUT_WIDTH % OUTPUT_HEIGHT * STRIDE_Y;
  let x = pixel % OUTPUT_WIDTH * STRIDE_X;
  return ((pixel / (OUTPUT_WIDTH * OUTPUT_HEIGHT) * HEIGHT + y) * WIDTH + x) * CHANNELS;
}
