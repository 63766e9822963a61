// Product for adapters that run on a processor and have quad operations.
//
// As in matmul_register.wgsl an invocation keeps a tile of TILE_ROWS x TILE_COLUMNS results in
// registers. Four invocations, a quad, work on 2 x 2 tiles. Two of them share rows, and two share
// columns; each loads one half of these and gets the other half from its neighbour. A load costs as
// much as about twenty products, a swap next to nothing.
//
// An invocation starts with the half that it loads itself, so the order of rows and columns differs
// between invocations; the sums do not. ops/lowering/quad_tile.py unrolls the tile.

#include "common/product.wgsl"

#include "common/load_a.wgsl"

const TILE_ROWS = ${TILE_ROWS}u;
const TILE_COLUMNS = ${TILE_COLUMNS}u;
const QUADS_ACROSS = ${QUADS_ACROSS}u;
const TAPS_PER_SPLIT = ${TAPS_PER_SPLIT}u;
const DEPTH_PER_SPLIT = ${DEPTH_PER_SPLIT}u;
// The splits divide either the taps or the depth of the only tap.
const SPLIT_DEPTH = ${SPLIT_DEPTH};
const UNROLLED = ${UNROLLED}u;

// A workgroup is one quad. No invocation returns early, as all four must take part in a swap. Tiles
// past the last row are computed from that row and not stored.
@compute @workgroup_size(4)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(subgroup_invocation_id) corner: u32,
) {
  let quad = group.y * GRID_X + group.x;
  let right = corner % 2u;
  let lower = corner / 2u % 2u;
  let row = (quad / QUADS_ACROSS * 2u + lower) * TILE_ROWS;
  let column = (quad % QUADS_ACROSS * 2u + right) * TILE_COLUMNS;
  let own_rows = right * (TILE_ROWS / 2u);
  let own_columns = lower * (TILE_COLUMNS / 2u);
  let batch = group.z / SPLITS;
  let split = group.z % SPLITS;

${origins}
${sums}

  let first_tap = select(split * TAPS_PER_SPLIT, 0u, SPLIT_DEPTH);
  let last_tap = min(first_tap + TAPS_PER_SPLIT, TAPS);
  let first_depth = select(0u, split * DEPTH_PER_SPLIT, SPLIT_DEPTH);
  let last_depth = min(first_depth + DEPTH_PER_SPLIT, DEPTH);
  for (var tap = first_tap; tap < last_tap; tap++) {
    let tap_row = i32(tap / TAP_COLUMNS);
    let tap_column = i32(tap % TAP_COLUMNS);
    let start = batch * A_BATCH + first_depth * A_STEP;
${starts}
    let start_b = batch * B_BATCH + tap * B_TAP;
    for (var depth = first_depth; depth < last_depth; depth += UNROLLED) {
      let at_b = start_b + depth * B_DEPTH;
${products}
    }
  }

  var results = array<f32, TILE_ROWS * TILE_COLUMNS>(${results});
  let base = group.z * ROWS * COLUMNS;
  for (var i = 0u; i < TILE_ROWS * TILE_COLUMNS; i++) {
    let at_row = row + (i / TILE_COLUMNS + own_rows) % TILE_ROWS;
    let at_column = column + (i + own_columns) % TILE_COLUMNS;
    if ((at_row < ROWS) & (at_column < COLUMNS)) {
      store(base + at_row * COLUMNS + at_column, results[i]);
    }
  }
}
