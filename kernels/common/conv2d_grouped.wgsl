// Shared by the kernels of grouped convolution: sizes, and where elements lie.

const HEIGHT = ${HEIGHT};
const WIDTH = ${WIDTH};
const CHANNELS = ${CHANNELS};
const FILTER_HEIGHT = ${FILTER_HEIGHT};
const FILTER_WIDTH = ${FILTER_WIDTH};
const GROUP_CHANNELS = ${GROUP_CHANNELS};
const OUTPUT_HEIGHT = ${OUTPUT_HEIGHT};
const OUTPUT_WIDTH = ${OUTPUT_WIDTH};
const OUTPUTS = ${OUTPUTS};
const GROUP_OUTPUTS = ${GROUP_OUTPUTS};
const STRIDE_Y = ${STRIDE_Y};
const STRIDE_X = ${STRIDE_X};
const DILATION_Y = ${DILATION_Y};
const DILATION_X = ${DILATION_X};
const PAD_TOP = ${PAD_TOP};
const PAD_LEFT = ${PAD_LEFT};

// fn store(index: u32, value: f32)
${store}

// The first channel of a pixel of the image.
fn image_at(image: i32, y: i32, x: i32) -> i32 {
  return ((image * HEIGHT + y) * WIDTH + x) * CHANNELS;
}

// The first channel of a pixel of the result.
fn output_at(image: i32, y: i32, x: i32) -> i32 {
  return ((image * OUTPUT_HEIGHT + y) * OUTPUT_WIDTH + x) * OUTPUTS;
}

// The weight of the first output for a channel of each group.
fn weight_at(row: i32, column: i32, channel: i32) -> i32 {
  return ((row * FILTER_WIDTH + column) * GROUP_CHANNELS + channel) * OUTPUTS;
}
