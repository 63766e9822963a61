// The mean of each window of int8 images, over its pixels inside the image, in a scale of its own. An
// invocation computes the four results of a word.

#include "common/int8.wgsl"
#include "common/int8_results.wgsl"
#include "common/pool2d.wgsl"
#include "common/requantize.wgsl"

const FACTORS = ${FACTORS};

fn int8_result(index: u32) -> i32 {
  let window = pixel_at(index, u32(OUTPUT_HEIGHT), u32(OUTPUT_WIDTH));
  let top = window.y * STRIDE_Y - PAD_TOP;
  let left = window.x * STRIDE_X - PAD_LEFT;
  let first_y = max(top, 0);
  let first_x = max(left, 0);
  let end_y = min(top + POOL_HEIGHT, HEIGHT);
  let end_x = min(left + POOL_WIDTH, WIDTH);
  var sum = 0;
  for (var y = first_y; y < end_y; y++) {
    for (var x = first_x; x < end_x; x++) {
      let at = u32(((window.image * HEIGHT + y) * WIDTH + x) * CHANNELS + window.channel);
      sum += int8_at(images[at / 4u], at % 4u) - (${INPUT_ZERO_POINT});
    }
  }
  // By the number of pixels outside the image.
  var multipliers = array<i32, FACTORS>(${MULTIPLIERS});
  var shifts = array<i32, FACTORS>(${SHIFTS});
  let outside = POOL_HEIGHT * POOL_WIDTH - (end_y - first_y) * (end_x - first_x);
  return requantize(sum, multipliers[outside], shifts[outside]);
}
