// Grouped convolution of int8 images. An invocation computes the four results of a word.

#include "common/int8.wgsl"
#include "common/requantize.wgsl"

const HEIGHT = ${HEIGHT}u;
const WIDTH = ${WIDTH}u;
const CHANNELS = ${CHANNELS}u;
const FILTER_HEIGHT = ${FILTER_HEIGHT}u;
const FILTER_WIDTH = ${FILTER_WIDTH}u;
const GROUP_CHANNELS = ${GROUP_CHANNELS}u;
const OUTPUT_HEIGHT = ${OUTPUT_HEIGHT}u;
const OUTPUT_WIDTH = ${OUTPUT_WIDTH}u;
const OUTPUTS = ${OUTPUTS}u;
const GROUP_OUTPUTS = ${GROUP_OUTPUTS}u;
const STRIDE_Y = ${STRIDE_Y}u;
const STRIDE_X = ${STRIDE_X}u;
const DILATION_Y = ${DILATION_Y}u;
const DILATION_X = ${DILATION_X}u;
const ELEMENTS = ${ELEMENTS}u;
// Whether each channel has one output, and four channels share a word.
const BY_WORDS = GROUP_CHANNELS == 1u && GROUP_OUTPUTS == 1u && CHANNELS % 4u == 0u;

// The place of the first channel of the pixel under the first weights, for result `index`.
fn corner(index: u32) -> u32 {
  let pixel = index / OUTPUTS;
  let y = pixel / OUTPUT_WIDTH % OUTPUT_HEIGHT * STRIDE_Y;
  let x = pixel % OUTPUT_WIDTH * STRIDE_X;
  return ((pixel / (OUTPUT_WIDTH * OUTPUT_HEIGHT) * HEIGHT + y) * WIDTH + x) * CHANNELS;
}

fn sum_of(index: u32) -> i32 {
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
  return sum;
}

fn sums_by_words(first: u32) -> vec4<i32> {
  let start = corner(first) + first % OUTPUTS;
  var sums = vec4<i32>();
  for (var row = 0u; row < FILTER_HEIGHT; row++) {
    for (var column = 0u; column < FILTER_WIDTH; column++) {
      let at = start + (row * DILATION_Y * WIDTH + column * DILATION_X) * CHANNELS;
      let at_w = (row * FILTER_WIDTH + column) * OUTPUTS + first % OUTPUTS;
      sums += unpacked(x[at / 4u]) * unpacked(w[at_w / 4u]);
    }
  }
  return sums;
}

fn finished(index: u32, sum: i32) -> u32 {
  let output = index % OUTPUTS;
  let value = requantize(sum + bias[output], multiplier[output], shift[output]);
  return (bitcast<u32>(value) & 0xffu) << (8u * (index % 4u));
}

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let index = ${INDEX};
  if (index >= ${ITEMS}u) {
    return;
  }
  let first = 4u * index;
  var word = 0u;
  if (BY_WORDS) {
    let sums = sums_by_words(first);
    word = finished(first, sums.x) | finished(first + 1u, sums.y) | finished(first + 2u, sums.z)
      | finished(first + 3u, sums.w);
  } else {
    for (var i = 0u; i < min(4u, ELEMENTS - first); i++) {
      word |= finished(first + i, sum_of(first + i));
    }
  }
  result[index] = word;
}
