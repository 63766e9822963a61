// Images of another size: each pixel is the weighted mean of the nearest pixels.

#include "common/resize.wgsl"

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let index = ${INDEX};
  if (index >= ${ITEMS}u) {
    return;
  }
  let channel = i32(index) % CHANNELS;
  let pixel = i32(index) / CHANNELS;
  let item = pixel / (RESIZED_WIDTH * RESIZED_HEIGHT);
  let place_y = place_of(pixel / RESIZED_WIDTH % RESIZED_HEIGHT, HEIGHT, RESIZED_HEIGHT);
  let place_x = place_of(pixel % RESIZED_WIDTH, WIDTH, RESIZED_WIDTH);
  let top = place_y / (2 * RESIZED_HEIGHT);
  let left = place_x / (2 * RESIZED_WIDTH);
  var sum = 0.0;
  for (var y = top; y <= min(top + 1, HEIGHT - 1); y++) {
    let weight_y = weight_at(place_y, y, RESIZED_HEIGHT);
    for (var x = left; x <= min(left + 1, WIDTH - 1); x++) {
      let weight = weight_y * weight_at(place_x, x, RESIZED_WIDTH);
      // A pixel without weight may be infinite.
      if (weight > 0.0) {
        sum += weight * source[((item * HEIGHT + y) * WIDTH + x) * CHANNELS + channel];
      }
    }
  }
  store(index, sum);
}
