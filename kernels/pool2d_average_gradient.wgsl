// Gradient of average pooling: a pixel sums its share of the gradient of each window it lies in.

#include "common/pool2d.wgsl"

// The number of the `size` positions from `start` on that lie in [0, limit).
fn inside(start: i32, size: i32, limit: i32) -> i32 {
  return min(start + size, limit) - max(start, 0);
}

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let index = ${INDEX};
  if (index >= ${ITEMS}u) {
    return;
  }
  let pixel = pixel_at(index, u32(HEIGHT), u32(WIDTH));
  let first = first_window(pixel);
  let last = last_window(pixel);
  var sum = 0.0;
  for (var oy = first.y; oy <= last.y; oy++) {
    let rows = inside(oy * STRIDE_Y - PAD_TOP, POOL_HEIGHT, HEIGHT);
    for (var ox = first.x; ox <= last.x; ox++) {
      let columns = inside(ox * STRIDE_X - PAD_LEFT, POOL_WIDTH, WIDTH);
      let at = ((pixel.image * OUTPUT_HEIGHT + oy) * OUTPUT_WIDTH + ox) * CHANNELS + pixel.channel;
      sum += gradient[at] / f32(rows * columns);
    }
  }
  store(index, sum);
}
