// Product of int8 matrices, and convolution of int8 images.
//
// sum[row, column] = sum over taps and depths of x(row, tap, depth) * w(tap, depth, column). A
// matrix product has one tap; the taps of a convolution are rows or positions of its filter. An
// invocation keeps a tile of TILE_ROWS x 4 sums in registers. At each step it loads four depths:
// a word of x for each row, and of w a word for each depth, with four columns. The tile is unrolled
// by ops/lowering/quantized_product.py.

#include "common/int8.wgsl"

// alias Quad, fn quad, fn dot4, fn columns_of
${quads}

const ROWS = ${ROWS}u;
const COLUMNS = ${COLUMNS}u;
// Elements of x and w are bytes of words.
const DEPTH = ${DEPTH}u;
const STEPS_PER_TAP = ${STEPS_PER_TAP}u;
const STEPS = ${STEPS}u;
const STEPS_PER_SPLIT = ${STEPS_PER_SPLIT}u;
const TAP_COLUMNS = ${TAP_COLUMNS}u;
const TAP_ROW = ${TAP_ROW}u;
const TAP_COLUMN = ${TAP_COLUMN}u;
const OUTPUT_WIDTH = ${OUTPUT_WIDTH}u;
const OUTPUT_HEIGHT = ${OUTPUT_HEIGHT}u;
const X_COLUMN = ${X_COLUMN}u;
const X_ROW = ${X_ROW}u;
const X_IMAGE = ${X_IMAGE}u;
// Whether all words of x, and of w, that are read begin at words of the buffer.
const X_ALIGNED = ${X_ALIGNED};
const W_ALIGNED = ${W_ALIGNED};
// The bytes of the last step of a tap that are elements.
const LAST = ${LAST}u;
const TILE_ROWS = ${TILE_ROWS}u;
const TILES_ACROSS = ${TILES_ACROSS}u;
const TILES = ${TILES}u;
const GRID_X = ${GRID_X}u;
const INVOCATIONS = ${INVOCATIONS}u;

// alias Channels: what four columns from `column` on are stored with.
// fn channels_at(column: u32) -> Channels
// fn store(row: u32, column: u32, split: u32, sums: vec4<i32>, channels: Channels)
${store}

// The place of a row's first element.
fn row_at(row: u32) -> u32 {
  return row / (OUTPUT_WIDTH * OUTPUT_HEIGHT) * X_IMAGE
    + row / OUTPUT_WIDTH % OUTPUT_HEIGHT * X_ROW
    + row % OUTPUT_WIDTH * X_COLUMN;
}

// The four elements from `at` on.
fn x_word(at: u32) -> u32 {
  let word = x[at / 4u];
  if (X_ALIGNED) {
    return word;
  }
  let bits = at % 4u * 8u;
  return select((word >> bits) | (x[at / 4u + 1u] << (32u - max(bits, 8u))), word, bits == 0u);
}

fn w_word(at: u32) -> u32 {
  let word = w[at / 4u];
  if (W_ALIGNED) {
    return word;
  }
  let bits = at % 4u * 8u;
  return select((word >> bits) | (w[at / 4u + 1u] << (32u - max(bits, 8u))), word, bits == 0u);
}

@compute @workgroup_size(INVOCATIONS)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(local_invocation_index) invocation: u32,
) {
  let tile = (group.y * GRID_X + group.x) * INVOCATIONS + invocation;
  if (tile >= TILES) {
    return;
  }
  let row = tile / TILES_ACROSS * TILE_ROWS;
  let column = tile % TILES_ACROSS * 4u;
  // Rows past the last one read it again and are not stored.
${starts}
${sums}

  let first = group.z * STEPS_PER_SPLIT;
  for (var stage = first; stage < min(first + STEPS_PER_SPLIT, STEPS); stage++) {
    let tap = stage / STEPS_PER_TAP;
    let depth = stage % STEPS_PER_TAP * 4u;
    let at = tap / TAP_COLUMNS * TAP_ROW + tap % TAP_COLUMNS * TAP_COLUMN + depth;
    let at_w = (tap * DEPTH + depth) * COLUMNS + column;
    // Past the depth x counts as 0, so that it does not matter what w is.
    let mask = select(0xffffffffu, LAST, depth + 4u > DEPTH);
    let columns = columns_of(vec4<u32>(
      w_word(at_w), w_word(at_w + COLUMNS), w_word(at_w + 2u * COLUMNS), w_word(at_w + 3u * COLUMNS),
    ));
${products}
  }

  let channels = channels_at(column);
${stores}
}
