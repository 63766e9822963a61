// Mean of each window, over its pixels inside the image.

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
  let first_y = max(top, 0);
  let first_x = max(left, 0);
  let end_y = min(top + POOL_HEIGHT, HEIGHT);
  let end_x = min(left + POOL_WIDTH, WIDTH);
  var sum = 0.0;
  for (var y = first_y; y < end_y; y++) {
    for (var x = first_x; x < end_x; x++) {
      sum += images[((window.image * HEIGHT + y) * WIDTH + x) * CHANNELS + window.channel];
    }
  }
  store(index, sum / f32((end_y - first_y) * (end_x - first_x)));
}
