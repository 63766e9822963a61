// Gradient of the mean of windows: a pixel collects its share from every window it lies in.

const HEIGHT = ${HEIGHT};
const WIDTH = ${WIDTH};
const CHANNELS = ${CHANNELS};
const OUTPUT_HEIGHT = ${OUTPUT_HEIGHT};
const OUTPUT_WIDTH = ${OUTPUT_WIDTH};

// fn store(index: u32, value: f32)
${store}

// How many of the `size` positions from `start` on lie in [0, limit).
fn inside(start: i32, size: i32, limit: i32) -> i32 {
  return min(start + size, limit) - max(start, 0);
}

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let index = ${INDEX};
  if (index >= ${ITEMS}u) {
    return;
  }
  let channel = i32(index) % CHANNELS;
  let x = i32(index) / CHANNELS % WIDTH;
  let y = i32(index) / (CHANNELS * WIDTH) % HEIGHT;
  let image = i32(index) / (CHANNELS * WIDTH * HEIGHT);
  // Windows oy with oy * STRIDE <= y + PAD < oy * STRIDE + POOL.
  let first_y = max(y + ${PAD_TOP} - ${POOL_HEIGHT} + ${STRIDE_Y}, 0) / ${STRIDE_Y};
  let first_x = max(x + ${PAD_LEFT} - ${POOL_WIDTH} + ${STRIDE_X}, 0) / ${STRIDE_X};
  let last_y = min((y + ${PAD_TOP}) / ${STRIDE_Y}, OUTPUT_HEIGHT - 1);
  let last_x = min((x + ${PAD_LEFT}) / ${STRIDE_X}, OUTPUT_WIDTH - 1);
  var sum = 0.0;
  for (var oy = first_y; oy <= last_y; oy++) {
    let rows = inside(oy * ${STRIDE_Y} - ${PAD_TOP}, ${POOL_HEIGHT}, HEIGHT);
    for (var ox = first_x; ox <= last_x; ox++) {
      let columns = inside(ox * ${STRIDE_X} - ${PAD_LEFT}, ${POOL_WIDTH}, WIDTH);
      let at = ((image * OUTPUT_HEIGHT + oy) * OUTPUT_WIDTH + ox) * CHANNELS + channel;
      sum += gradient[at] / f32(rows * columns);
    }
  }
  store(index, sum);
}
