// Grouped convolution of int8 images: int32 sums, one an invocation.

#include "common/int8.wgsl"
#include "common/quantized_groups.wgsl"

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let index = ${INDEX};
  if (index >= ${ITEMS}u) {
    return;
  }
  let output = index % OUTPUTS;
  let start = corner(index) + output / GROUP_OUTPUTS * GROUP_CHANNELS;
  var sum = 0;
  for (var row = 0u; row < FILTER_HEIGHT; row++) {
    for (var column = 0u; column < FILTER_WIDTH; column++) {
      let at = start + (row * DILATION_Y * WIDTH + column * DILATION_X) * CHANNELS;
      let at_w = (row * FILTER_WIDTH + column) * GROUP_CHANNELS * OUTPUTS + output;
      for (var channel = 0u; channel < GROUP_CHANNELS; channel++) {
        let place = at + channel;
        let weight = at_w + channel * OUTPUTS;
        sum += int8_at(x[place / 4u], place % 4u) * int8_at(w[weight / 4u], weight % 4u);
      }
    }
  }
  sums[index] = sum;
}
