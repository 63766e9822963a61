// Product for adapters that run on a processor: no workgroup memory, no barriers.
//
// An invocation keeps a tile of TILE_ROWS x TILE_COLUMNS results in registers. The tile is unrolled
// by ops/lowering/register_tile.py, as SwiftShader keeps arrays that a loop indexes in memory. Rows
// and columns past the edge read the last one again and are not stored.

#include "common/product.wgsl"

#include "common/load_a.wgsl"

const TILE_ROWS = ${TILE_ROWS}u;
const TILE_COLUMNS = ${TILE_COLUMNS}u;
const TILES_ACROSS = ${TILES_ACROSS}u;
const TILES = ${TILES}u;
const TAPS_PER_SPLIT = ${TAPS_PER_SPLIT}u;
const DEPTH_PER_SPLIT = ${DEPTH_PER_SPLIT}u;
// The splits divide either the taps or the depth of the only tap.
const SPLIT_DEPTH = ${SPLIT_DEPTH};
const INVOCATIONS = ${INVOCATIONS}u;

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
  let column = tile % TILES_ACROSS * TILE_COLUMNS;
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
    // Places in A are incremented. If they are computed from the depth, lavapipe's compiler
    // computes the rows again in every iteration of the loop.
    let start = batch * A_BATCH + first_depth * A_STEP;
${starts}
    let start_b = batch * B_BATCH + tap * B_TAP;
    for (var depth = first_depth; depth < last_depth; depth++) {
      let at_b = start_b + depth * B_DEPTH;
${products}
    }
  }

  // Stored in a loop, as the epilogue may be the long expression of an optimizer's update.
  var results = array<f32, TILE_ROWS * TILE_COLUMNS>(${results});
  let base = group.z * ROWS * COLUMNS;
  for (var i = 0u; i < TILE_ROWS * TILE_COLUMNS; i++) {
    let at_row = row + i / TILE_COLUMNS;
    let at_column = column + i % TILE_COLUMNS;
    if ((at_row < ROWS) & (at_column < COLUMNS)) {
      store(base + at_row * COLUMNS + at_column, results[i]);
    }
  }
}
