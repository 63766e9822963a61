// The mean of each window, over the pixels of it that lie in the image.

const HEIGHT = ${HEIGHT};
const WIDTH = ${WIDTH};
const CHANNELS = ${CHANNELS};
const OUTPUT_HEIGHT = ${OUTPUT_HEIGHT}u;
const OUTPUT_WIDTH = ${OUTPUT_WIDTH}u;

// fn store(index: u32, value: f32)
${store}

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let index = ${INDEX};
  if (index >= ${ITEMS}u) {
    return;
  }
  let channel = i32(index % u32(CHANNELS));
  let pixel = index / u32(CHANNELS);
  let image = i32(pixel / (OUTPUT_WIDTH * OUTPUT_HEIGHT));
  let top = i32(pixel / OUTPUT_WIDTH % OUTPUT_HEIGHT) * ${STRIDE_Y} - ${PAD_TOP};
  let left = i32(pixel % OUTPUT_WIDTH) * ${STRIDE_X} - ${PAD_LEFT};
  let first_y = max(top, 0);
  let first_x = max(left, 0);
  let end_y = min(top + ${POOL_HEIGHT}, HEIGHT);
  let end_x = min(left + ${POOL_WIDTH}, WIDTH);
  var sum = 0.0;
  for (var y = first_y; y < end_y; y++) {
    for (var x = first_x; x < end_x; x++) {
      sum += images[((image * HEIGHT + y) * WIDTH + x) * CHANNELS + channel];
    }
  }
  store(index, sum / f32((end_y - first_y) * (end_x - first_x)));
}
