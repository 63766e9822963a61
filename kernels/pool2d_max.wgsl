// The largest element of each window, and where in its image (row * WIDTH + column) it is: the
// first of equals, and the first NaN if any. Padding is never the largest.

#include "common/numbers.wgsl"

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
  let bottom = min(top + ${POOL_HEIGHT}, HEIGHT);
  let right = min(left + ${POOL_WIDTH}, WIDTH);
  var position = max(top, 0) * WIDTH + max(left, 0);
  var best = images[(image * HEIGHT * WIDTH + position) * CHANNELS + channel];
  for (var y = max(top, 0); y < bottom; y++) {
    for (var x = max(left, 0); x < right; x++) {
      let value = images[((image * HEIGHT + y) * WIDTH + x) * CHANNELS + channel];
      if (value > best || (is_nan_value(value) && !is_nan_value(best))) {
        best = value;
        position = y * WIDTH + x;
      }
    }
  }
  positions[index] = position;
  store(index, best);
}
