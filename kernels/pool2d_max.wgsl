// Largest element of each window, and its position in the image (row * WIDTH + column): the first
// of equal elements, or the first NaN if there is one. Padding is never the largest.

#include "common/numbers.wgsl"
#include "common/pool2d.wgsl"

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let index = ${INDEX};
  if (index >= ${ITEMS}u) {
    return;
  }
  let window = pixel_at(index, u32(OUTPUT_HEIGHT), u32(OUTPUT_WIDTH));
  let top = window.y * STRIDE_Y - PAD_TOP;
  let left = window.x * STRIDE_X - PAD_LEFT;
  let bottom = min(top + POOL_HEIGHT, HEIGHT);
  let right = min(left + POOL_WIDTH, WIDTH);
  var position = max(top, 0) * WIDTH + max(left, 0);
  var best = images[(window.image * HEIGHT * WIDTH + position) * CHANNELS + window.channel];
  for (var y = max(top, 0); y < bottom; y++) {
    for (var x = max(left, 0); x < right; x++) {
      let value = images[((window.image * HEIGHT + y) * WIDTH + x) * CHANNELS + window.channel];
      if (!is_nan_value(best) && (value > best || is_nan_value(value))) {
        best = value;
        position = y * WIDTH + x;
      }
    }
  }
  positions[index] = position;
  store(index, best);
}
