// Gradient of grouped convolution by its image: each element of the image sums what the outputs of
// its group owe to it.

#include "common/conv2d_grouped.wgsl"

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let index = ${INDEX};
  if (index >= ${ITEMS}u) {
    return;
  }
  let group = i32(index) % CHANNELS / GROUP_CHANNELS;
  let channel = i32(index) % GROUP_CHANNELS;
  let pixel = i32(index) / CHANNELS;
  let left = pixel % WIDTH + PAD_LEFT;
  let top = pixel / WIDTH % HEIGHT + PAD_TOP;
  let item = pixel / (WIDTH * HEIGHT);
  let first = group * GROUP_OUTPUTS;
  var sum = 0.0;
  for (var row = 0; row < FILTER_HEIGHT; row++) {
    let offset_y = top - row * DILATION_Y;
    let y = offset_y / STRIDE_Y;
    if ((offset_y >= 0) & (y * STRIDE_Y == offset_y) & (y < OUTPUT_HEIGHT)) {
      for (var column = 0; column < FILTER_WIDTH; column++) {
        let offset_x = left - column * DILATION_X;
        let x = offset_x / STRIDE_X;
        if ((offset_x >= 0) & (x * STRIDE_X == offset_x) & (x < OUTPUT_WIDTH)) {
          let from_output = output_at(item, y, x) + first;
          let from_weight = weight_at(row, column, channel) + first;
          for (var output = 0; output < GROUP_OUTPUTS; output++) {
            sum += gradient[from_output + output] * filters[from_weight + output];
          }
        }
      }
    }
  }
  store(index, sum);
}
