// Product for GPUs: a workgroup stages tiles of A and B in workgroup memory.
//
// SIDE x SIDE invocations compute a tile of 4 SIDE x 4 SIDE results. Each computes four adjacent
// rows of every SIDE-th column, so that adjacent invocations read different banks and write
// adjacent elements. Depths past the end are staged as zero in both operands; rows and columns past
// the edge are not stored.

#include "common/product.wgsl"

#include "common/load_a.wgsl"

const GROUP_COLUMNS = ${GROUP_COLUMNS}u;
const GROUPS = ${GROUPS}u;
const SIDE = ${SIDE}u;
const TILE = 4u * SIDE;
const STEP = ${STEP}u;
// One more than the side of a tile, so that adjacent elements of a staged column are in different
// banks.
const PITCH = TILE + 1u;
const INVOCATIONS = SIDE * SIDE;
const LOADS = TILE * STEP / INVOCATIONS;
const FULL_DEPTH = TAPS * DEPTH;
const DEPTH_PER_SPLIT = ${DEPTH_PER_SPLIT}u;
// Whether elements adjacent in memory are along the depth; otherwise along rows (A) or columns (B).
const A_ALONG_DEPTH = ${A_ALONG_DEPTH};
const B_ALONG_DEPTH = ${B_ALONG_DEPTH};

var<workgroup> tile_a: array<f32, STEP * PITCH>;
var<workgroup> tile_b: array<f32, STEP * PITCH>;

// (position along the side of the tile, staged depth) of load number `index`.
fn place(index: u32, along_depth: bool) -> vec2<u32> {
  if (along_depth) {
    return vec2<u32>(index / STEP, index % STEP);
  }
  return vec2<u32>(index % TILE, index / TILE);
}

fn element_a(row: u32, depth: u32, batch: u32) -> f32 {
  let tap = depth / DEPTH;
  let inner = depth % DEPTH;
  let found = row_at(origin(min(row, ROWS - 1u)), i32(tap / TAP_COLUMNS), i32(tap % TAP_COLUMNS));
  return load_a(found.x + batch * A_BATCH + inner * A_STEP, found.y + inner * PLACE_STEP);
}

fn element_b(depth: u32, column: u32, batch: u32) -> f32 {
  return b[batch * B_BATCH + depth / DEPTH * B_TAP + depth % DEPTH * B_DEPTH
    + min(column, COLUMNS - 1u) * B_COLUMN];
}

fn store_row(base: u32, row: u32, column: u32, values: vec4<f32>) {
  for (var i = 0u; i < 4u; i++) {
    let at = column + i * SIDE;
    if (row < ROWS && at < COLUMNS) {
      store(base + row * COLUMNS + at, values[i]);
    }
  }
}

@compute @workgroup_size(SIDE, SIDE)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(local_invocation_id) local: vec3<u32>,
  @builtin(local_invocation_index) invocation: u32,
) {
  let number = group.y * GRID_X + group.x;
  if (number >= GROUPS) {
    return;
  }
  let first_row = number / GROUP_COLUMNS * TILE;
  let first_column = number % GROUP_COLUMNS * TILE;
  let batch = group.z / SPLITS;
  let start = group.z % SPLITS * DEPTH_PER_SPLIT;
  let end = min(start + DEPTH_PER_SPLIT, FULL_DEPTH);

  var sum0 = vec4<f32>();
  var sum1 = vec4<f32>();
  var sum2 = vec4<f32>();
  var sum3 = vec4<f32>();
  for (var depth = start; depth < end; depth += STEP) {
    for (var i = 0u; i < LOADS; i++) {
      let at_a = place(i * INVOCATIONS + invocation, A_ALONG_DEPTH);
      var value_a = 0.0;
      if (depth + at_a.y < end) {
        value_a = element_a(first_row + at_a.x, depth + at_a.y, batch);
      }
      tile_a[at_a.y * PITCH + at_a.x] = value_a;
      let at_b = place(i * INVOCATIONS + invocation, B_ALONG_DEPTH);
      var value_b = 0.0;
      if (depth + at_b.y < end) {
        value_b = element_b(depth + at_b.y, first_column + at_b.x, batch);
      }
      tile_b[at_b.y * PITCH + at_b.x] = value_b;
    }
    workgroupBarrier();
    for (var k = 0u; k < STEP; k++) {
      let at_a = k * PITCH + local.y * 4u;
      let at_b = k * PITCH + local.x;
      let values = vec4<f32>(
        tile_b[at_b],
        tile_b[at_b + SIDE],
        tile_b[at_b + 2u * SIDE],
        tile_b[at_b + 3u * SIDE],
      );
      sum0 += tile_a[at_a] * values;
      sum1 += tile_a[at_a + 1u] * values;
      sum2 += tile_a[at_a + 2u] * values;
      sum3 += tile_a[at_a + 3u] * values;
    }
    workgroupBarrier();
  }

  let base = group.z * ROWS * COLUMNS;
  let row = first_row + local.y * 4u;
  let column = first_column + local.x;
  store_row(base, row, column, sum0);
  store_row(base, row + 1u, column, sum1);
  store_row(base, row + 2u, column, sum2);
  store_row(base, row + 3u, column, sum3);
}
