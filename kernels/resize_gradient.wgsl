// Gradient of resizing: each pixel sums the gradients of the pixels that were made of it, times its
// weight in them.

#include "common/resize.wgsl"

// The first and last pixel of `after` that may be made of pixel `at` of `before`: pixels within one
// pixel of it, and one more on either side for rounding.
fn range_of(at: i32, before: i32, after: i32) -> vec2<i32> {
  let first = (2 * at - 1) * after / (2 * before) - 2;
  let last = (2 * at + 3) * after / (2 * before) + 1;
  return vec2<i32>(max(first, 0), min(last, after - 1));
}

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let index = ${INDEX};
  if (index >= ${ITEMS}u) {
    return;
  }
  let channel = i32(index) % CHANNELS;
  let pixel = i32(index) / CHANNELS;
  let item = pixel / (WIDTH * HEIGHT);
  let row = pixel / WIDTH % HEIGHT;
  let column = pixel % WIDTH;
  let rows = range_of(row, HEIGHT, RESIZED_HEIGHT);
  let columns = range_of(column, WIDTH, RESIZED_WIDTH);
  var sum = 0.0;
  for (var y = rows.x; y <= rows.y; y++) {
    let weight_y = weight_at(place_of(y, HEIGHT, RESIZED_HEIGHT), row, RESIZED_HEIGHT);
    for (var x = columns.x; x <= columns.y; x++) {
      let place_x = place_of(x, WIDTH, RESIZED_WIDTH);
      let weight = weight_y * weight_at(place_x, column, RESIZED_WIDTH);
      if (weight > 0.0) {
        let at = ((item * RESIZED_HEIGHT + y) * RESIZED_WIDTH + x) * CHANNELS + channel;
        sum += weight * source[at];
      }
    }
  }
  store(index, sum);
}
