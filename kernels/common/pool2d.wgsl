// Shared by the kernels of pooling: sizes, and the relation of windows and pixels.

const HEIGHT = ${HEIGHT};
const WIDTH = ${WIDTH};
const CHANNELS = ${CHANNELS};
const OUTPUT_HEIGHT = ${OUTPUT_HEIGHT};
const OUTPUT_WIDTH = ${OUTPUT_WIDTH};
const POOL_HEIGHT = ${POOL_HEIGHT};
const POOL_WIDTH = ${POOL_WIDTH};
const STRIDE_Y = ${STRIDE_Y};
const STRIDE_X = ${STRIDE_X};
const PAD_TOP = ${PAD_TOP};
const PAD_LEFT = ${PAD_LEFT};

// fn store(index: u32, value: f32)
${store}

// A pixel of an image, or of the pooled image, where it represents a window.
struct Pixel {
  image: i32,
  y: i32,
  x: i32,
  channel: i32,
}

// The pixel of element `index` of a batch of images.
fn pixel_at(index: u32, height: u32, width: u32) -> Pixel {
  let channel = index % u32(CHANNELS);
  let pixel = index / u32(CHANNELS);
  let row = pixel / width;
  return Pixel(i32(row / height), i32(row % height), i32(pixel % width), i32(channel));
}

// The first and last window (x, y) that contain a pixel:
// y * STRIDE <= pixel + PAD < y * STRIDE + POOL.
fn first_window(pixel: Pixel) -> vec2<i32> {
  return vec2<i32>(
    max(pixel.x + PAD_LEFT - POOL_WIDTH + STRIDE_X, 0) / STRIDE_X,
    max(pixel.y + PAD_TOP - POOL_HEIGHT + STRIDE_Y, 0) / STRIDE_Y,
  );
}

fn last_window(pixel: Pixel) -> vec2<i32> {
  return vec2<i32>(
    min((pixel.x + PAD_LEFT) / STRIDE_X, OUTPUT_WIDTH - 1),
    min((pixel.y + PAD_TOP) / STRIDE_Y, OUTPUT_HEIGHT - 1),
  );
}
