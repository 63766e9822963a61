// Gradient of max pooling: a pixel sums the gradients of the windows whose maximum it is.

#include "common/pool2d.wgsl"

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let index = ${INDEX};
  if (index >= ${ITEMS}u) {
    return;
  }
  let pixel = pixel_at(index, u32(HEIGHT), u32(WIDTH));
  let here = pixel.y * WIDTH + pixel.x;
  let first = first_window(pixel);
  let last = last_window(pixel);
  var sum = 0.0;
  for (var oy = first.y; oy <= last.y; oy++) {
    for (var ox = first.x; ox <= last.x; ox++) {
      let at = ((pixel.image * OUTPUT_HEIGHT + oy) * OUTPUT_WIDTH + ox) * CHANNELS + pixel.channel;
      if (positions[at] == here) {
        sum += gradient[at];
      }
    }
  }
  store(index, sum);
}
