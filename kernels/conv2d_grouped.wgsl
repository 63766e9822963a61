// Grouped convolution: each element of the result sums the products of its group.

#include "common/conv2d_grouped.wgsl"

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let index = ${INDEX};
  if (index >= ${ITEMS}u) {
    return;
  }
  let output = i32(index) % OUTPUTS;
  let pixel = i32(index) / OUTPUTS;
  let left = pixel % OUTPUT_WIDTH * STRIDE_X - PAD_LEFT;
  let top = pixel / OUTPUT_WIDTH % OUTPUT_HEIGHT * STRIDE_Y - PAD_TOP;
  let item = pixel / (OUTPUT_WIDTH * OUTPUT_HEIGHT);
  let first = output / GROUP_OUTPUTS * GROUP_CHANNELS;
  var sum = 0.0;
  for (var row = 0; row < FILTER_HEIGHT; row++) {
    let y = top + row * DILATION_Y;
    if ((y >= 0) & (y < HEIGHT)) {
      for (var column = 0; column < FILTER_WIDTH; column++) {
        let x = left + column * DILATION_X;
        if ((x >= 0) & (x < WIDTH)) {
          let at = image_at(item, y, x) + first;
          for (var channel = 0; channel < GROUP_CHANNELS; channel++) {
            sum += image[at + channel] * filters[weight_at(row, column, channel) + output];
          }
        }
      }
    }
  }
  store(index, sum);
}
