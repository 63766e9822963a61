// Depthwise convolution of int8 images with one output for each channel, four of which share a word.
// An invocation computes a word.

#include "common/int8.wgsl"
#include "common/requantize.wgsl"
#include "common/quantized_groups.wgsl"

fn finished(output: u32, sum: i32) -> i32 {
  return requantize(sum + bias[output], multiplier[output], shift[output]);
}

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let index = ${INDEX};
  if (index >= ${ITEMS}u) {
    return;
  }
  let output = 4u * index % OUTPUTS;
  let start = corner(4u * index) + output;
  var sum = vec4<i32>();
  for (var row = 0u; row < FILTER_HEIGHT; row++) {
    for (var column = 0u; column < FILTER_WIDTH; column++) {
      let at = start + (row * DILATION_Y * WIDTH + column * DILATION_X) * CHANNELS;
      let at_w = (row * FILTER_WIDTH + column) * OUTPUTS + output;
      sum += unpacked(x[at / 4u]) * unpacked(w[at_w / 4u]);
    }
  }
  result[index] = packed(vec4<i32>(
    finished(output, sum.x), finished(output + 1u, sum.y), finished(output + 2u, sum.z),
    finished(output + 3u, sum.w),
  ));
}
