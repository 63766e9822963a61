// Product for adapters that run on a processor: no workgroup memory, no barriers.
//
// An invocation keeps a tile of 8 rows x 8 columns in registers. Rows and columns past the edge
// read the last one again and are not stored. The tile is written out, as arrays indexed in a
// loop live in memory on SwiftShader (six times slower).

#include "common/product.wgsl"

const TAPS_PER_SPLIT = ${TAPS_PER_SPLIT}u;
const DEPTH_PER_SPLIT = ${DEPTH_PER_SPLIT}u;
// Either the taps or the depth of one tap is shared among the splits.
const SPLIT_DEPTH = ${SPLIT_DEPTH};

fn store_one(base: u32, row: u32, column: u32, value: f32) {
  if ((row < ROWS) & (column < COLUMNS)) {
    store(base + row * COLUMNS + column, value);
  }
}

@compute @workgroup_size(${LANES_X}, ${LANES_Y})
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(local_invocation_id) local: vec3<u32>,
) {
  let number = group.y * GRID_X + group.x;
  if (number >= GROUPS) {
    return;
  }
  let row = (number / GROUP_COLUMNS * ${LANES_Y}u + local.y) * 8u;
  let column = (number % GROUP_COLUMNS * ${LANES_X}u + local.x) * 8u;
  if (row >= ROWS || column >= COLUMNS) {
    return;
  }
  let batch = group.z / SPLITS;
  let split = group.z % SPLITS;

  let o0 = origin(min(row, ROWS - 1u));
  let o1 = origin(min(row + 1u, ROWS - 1u));
  let o2 = origin(min(row + 2u, ROWS - 1u));
  let o3 = origin(min(row + 3u, ROWS - 1u));
  let o4 = origin(min(row + 4u, ROWS - 1u));
  let o5 = origin(min(row + 5u, ROWS - 1u));
  let o6 = origin(min(row + 6u, ROWS - 1u));
  let o7 = origin(min(row + 7u, ROWS - 1u));
  let c0 = min(column, COLUMNS - 1u) * B_COLUMN;
  let c1 = min(column + 1u, COLUMNS - 1u) * B_COLUMN;
  let c2 = min(column + 2u, COLUMNS - 1u) * B_COLUMN;
  let c3 = min(column + 3u, COLUMNS - 1u) * B_COLUMN;
  let c4 = min(column + 4u, COLUMNS - 1u) * B_COLUMN;
  let c5 = min(column + 5u, COLUMNS - 1u) * B_COLUMN;
  let c6 = min(column + 6u, COLUMNS - 1u) * B_COLUMN;
  let c7 = min(column + 7u, COLUMNS - 1u) * B_COLUMN;

  var low0 = vec4<f32>();
  var low1 = vec4<f32>();
  var low2 = vec4<f32>();
  var low3 = vec4<f32>();
  var low4 = vec4<f32>();
  var low5 = vec4<f32>();
  var low6 = vec4<f32>();
  var low7 = vec4<f32>();
  var high0 = vec4<f32>();
  var high1 = vec4<f32>();
  var high2 = vec4<f32>();
  var high3 = vec4<f32>();
  var high4 = vec4<f32>();
  var high5 = vec4<f32>();
  var high6 = vec4<f32>();
  var high7 = vec4<f32>();

  let first_tap = select(split * TAPS_PER_SPLIT, 0u, SPLIT_DEPTH);
  let last_tap = min(first_tap + TAPS_PER_SPLIT, TAPS);
  let first_depth = select(0u, split * DEPTH_PER_SPLIT, SPLIT_DEPTH);
  let last_depth = min(first_depth + DEPTH_PER_SPLIT, DEPTH);
  for (var tap = first_tap; tap < last_tap; tap++) {
    let tap_row = i32(tap / TAP_COLUMNS);
    let tap_column = i32(tap % TAP_COLUMNS);
    // Rows are stepped along: where they were computed from the depth, lavapipe's compiler computed
    // their origins again in every round of the loop.
    let begin = vec2<u32>(batch * A_BATCH, 0u) + first_depth * ROW_STEP;
    var r0 = row_at(o0, tap_row, tap_column) + begin;
    var r1 = row_at(o1, tap_row, tap_column) + begin;
    var r2 = row_at(o2, tap_row, tap_column) + begin;
    var r3 = row_at(o3, tap_row, tap_column) + begin;
    var r4 = row_at(o4, tap_row, tap_column) + begin;
    var r5 = row_at(o5, tap_row, tap_column) + begin;
    var r6 = row_at(o6, tap_row, tap_column) + begin;
    var r7 = row_at(o7, tap_row, tap_column) + begin;
    var at = batch * B_BATCH + tap * B_TAP + first_depth * B_DEPTH;
    for (var depth = first_depth; depth < last_depth; depth++) {
      let low = vec4<f32>(b[at + c0], b[at + c1], b[at + c2], b[at + c3]);
      let high = vec4<f32>(b[at + c4], b[at + c5], b[at + c6], b[at + c7]);
      at += B_DEPTH;
      let a0 = load_a(r0);
      let a1 = load_a(r1);
      let a2 = load_a(r2);
      let a3 = load_a(r3);
      let a4 = load_a(r4);
      let a5 = load_a(r5);
      let a6 = load_a(r6);
      let a7 = load_a(r7);
      r0 += ROW_STEP;
      r1 += ROW_STEP;
      r2 += ROW_STEP;
      r3 += ROW_STEP;
      r4 += ROW_STEP;
      r5 += ROW_STEP;
      r6 += ROW_STEP;
      r7 += ROW_STEP;
      low0 += a0 * low;
      low1 += a1 * low;
      low2 += a2 * low;
      low3 += a3 * low;
      low4 += a4 * low;
      low5 += a5 * low;
      low6 += a6 * low;
      low7 += a7 * low;
      high0 += a0 * high;
      high1 += a1 * high;
      high2 += a2 * high;
      high3 += a3 * high;
      high4 += a4 * high;
      high5 += a5 * high;
      high6 += a6 * high;
      high7 += a7 * high;
    }
  }

  let base = group.z * ROWS * COLUMNS;
  // Stored in a loop: written out, what is done to each element would be compiled 64 times.
  var tile = array<vec4<f32>, 16>(
    low0, high0, low1, high1, low2, high2, low3, high3,
    low4, high4, low5, high5, low6, high6, low7, high7,
  );
  for (var i = 0u; i < 64u; i++) {
    store_one(base, row + i / 8u, column + i % 8u, tile[i / 4u][i % 4u]);
  }
}
