// Int8 images with PAD_VALUE around them and between their pixels. An invocation assembles a word.

#include "common/int8.wgsl"

const HEIGHT = ${HEIGHT}u;
const WIDTH = ${WIDTH}u;
const CHANNELS = ${CHANNELS}u;
const RESULT_HEIGHT = ${RESULT_HEIGHT}u;
const RESULT_WIDTH = ${RESULT_WIDTH}u;
const PAD_TOP = ${PAD_TOP}u;
const PAD_LEFT = ${PAD_LEFT}u;
const STEP_Y = ${STEP_Y}u;
const STEP_X = ${STEP_X}u;
const ELEMENTS = ${ELEMENTS}u;
const NOWHERE = 0xffffffffu;

// The place in the images of element `index` of the result.
fn place(index: u32) -> u32 {
  let pixel = index / CHANNELS;
  let row = pixel / RESULT_WIDTH;
  // Unsigned: pixels above or left of the image are far below or right of it.
  let y = row % RESULT_HEIGHT - PAD_TOP;
  let x = pixel % RESULT_WIDTH - PAD_LEFT;
  let is_inside = y % STEP_Y == 0u && x % STEP_X == 0u && y / STEP_Y < HEIGHT && x / STEP_X < WIDTH;
  let at = ((row / RESULT_HEIGHT * HEIGHT + y / STEP_Y) * WIDTH + x / STEP_X) * CHANNELS
    + index % CHANNELS;
  return select(NOWHERE, at, is_inside);
}

fn byte_at(index: u32) -> u32 {
  let at = place(index);
  if (at == NOWHERE) {
    return ${PAD_BYTE}u;
  }
  return (images[at / 4u] >> (8u * (at % 4u))) & 0xffu;
}

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let index = ${INDEX};
  if (index >= ${ITEMS}u) {
    return;
  }
  let first = 4u * index;
  if (CHANNELS % 4u == 0u) {
    let at = place(first);
    surrounded[index] = ${PAD_BYTE}u * 0x01010101u;
    if (at != NOWHERE) {
      surrounded[index] = images[at / 4u];
    }
    return;
  }
  var word = 0u;
  for (var i = 0u; i < min(4u, ELEMENTS - first); i++) {
    word |= byte_at(first + i) << (8u * i);
  }
  surrounded[index] = word;
}
