// Product for GPUs: vectors of four elements, and tiles of up to 8 x 8 results in registers.
//
// A workgroup computes a tile of TILE_ROWS x TILE_COLUMNS results. Its invocations form SLICES
// slices of THREADS, each of which has sums for the whole tile. In a round, a slice stages STEP
// depths of its own in workgroup memory, and adds their products. At the end the sums of all slices
// are added in order. So a deep product with few results keeps many invocations busy, and its bits
// do not depend on timing.
//
// An invocation stages blocks of 4 x 4 elements (ops/lowering/block_tile.py unrolls that, and the
// sums). They are loaded as vectors along the axis on which four elements are adjacent in memory, and
// stored as vectors of four rows of A or columns of B. Some tiles load the blocks of the next round
// into registers before the products of this one, so that the loads take their time meanwhile.
// Depths past the end are staged as zero in both operands; rows and columns past the edge are not
// stored.

#include "common/product.wgsl"

const GROUP_COLUMNS = ${GROUP_COLUMNS}u;
const GROUPS = ${GROUPS}u;
const TILE_ROWS = ${TILE_ROWS}u;
const TILE_COLUMNS = ${TILE_COLUMNS}u;
const ROW_QUADS = TILE_ROWS / 4u;
const COLUMN_QUADS = TILE_COLUMNS / 4u;
// Invocations of a slice: so many down the rows of the tile, and across its columns.
const THREADS_DOWN = ${THREADS_DOWN}u;
const THREADS_ACROSS = ${THREADS_ACROSS}u;
const THREADS = THREADS_DOWN * THREADS_ACROSS;
const SLICES = ${SLICES}u;
const STEP = ${STEP}u;
const STEP_QUADS = STEP / 4u;
// Vectors of results of an invocation in a row of them, and in all rows.
const RESULT_QUADS = ${RESULT_QUADS}u;
const RESULTS = ${RESULTS}u;
const FULL_DEPTH = TAPS * DEPTH;
const DEPTH_PER_SPLIT = ${DEPTH_PER_SPLIT}u;
// Whether elements adjacent in memory are along the depth; otherwise along rows (A) or columns (B).
const A_ALONG_DEPTH = ${A_ALONG_DEPTH};
const B_ALONG_DEPTH = ${B_ALONG_DEPTH};
// Whether four of them, from a multiple of four on, always are adjacent, and lie at one.
const A_QUADS = ${A_QUADS};
const B_QUADS = ${B_QUADS};
const LAST_ROW_QUAD = ${LAST_ROW_QUAD}u;
const LAST_COLUMN_QUAD = ${LAST_COLUMN_QUAD}u;

// Depth k of slice s, row quad q: number (s * STEP + k) * ROW_QUADS + q; B likewise.
var<workgroup> tile_a: array<vec4f, ${STAGED_A}>;
var<workgroup> tile_b: array<vec4f, ${STAGED_B}>;

// Where a depth is: in a tap, and at a place in it.
struct Tap {
  number: u32,
  inner: u32,
}

fn tap_of(depth: u32) -> Tap {
  if (TAPS == 1u) {
    return Tap(0u, depth);
  }
  return Tap(depth / DEPTH, depth % DEPTH);
}

fn row_of(origin: vec4<i32>, tap: Tap) -> Row {
  return row_at(origin, i32(tap.number / TAP_COLUMNS), i32(tap.number % TAP_COLUMNS));
}

fn element_a(at: u32) -> f32 {
  return ${element_a};
}

fn quad_a(at: u32) -> vec4<f32> {
  return ${quad_a};
}

fn element_b(at: u32) -> f32 {
  return ${element_b};
}

fn quad_b(at: u32) -> vec4<f32> {
  return ${quad_b};
}

// Four depths of a row of A.
fn depths_a(origin: vec4<i32>, tap: Tap, batch: u32) -> vec4<f32> {
  let row = row_of(origin, tap);
  let value = quad_a(row.x + batch * A_BATCH + tap.inner);
  if (PADDED) {
    let place = vec4<u32>(row.y + tap.inner * PLACE_STEP) + vec4<u32>(0u, 1u, 2u, 3u) * PLACE_STEP;
    return select(vec4<f32>(), value, vec4<u32>(PLACES) > place);
  }
  return value;
}

// Four rows of A at a depth.
fn rows_a(origin: vec4<i32>, depth: u32, end: u32, batch: u32) -> vec4<f32> {
  if (depth >= end) {
    return vec4<f32>();
  }
  let tap = tap_of(depth);
  let row = row_of(origin, tap);
  if (PADDED && row.y + tap.inner * PLACE_STEP >= PLACES) {
    return vec4<f32>();
  }
  return quad_a(row.x + batch * A_BATCH + tap.inner * A_STEP);
}

fn value_a(origin: vec4<i32>, tap: Tap, batch: u32) -> f32 {
  let row = row_of(origin, tap);
  if (PADDED && row.y + tap.inner * PLACE_STEP >= PLACES) {
    return 0.0;
  }
  return element_a(row.x + batch * A_BATCH + tap.inner * A_STEP);
}

// The same, where the rows are not adjacent.
fn values_a(
  row0: vec4<i32>,
  row1: vec4<i32>,
  row2: vec4<i32>,
  row3: vec4<i32>,
  depth: u32,
  end: u32,
  batch: u32,
) -> vec4<f32> {
  if (depth >= end) {
    return vec4<f32>();
  }
  let tap = tap_of(depth);
  return vec4<f32>(
    value_a(row0, tap, batch),
    value_a(row1, tap, batch),
    value_a(row2, tap, batch),
    value_a(row3, tap, batch),
  );
}

// Four rows of A, at four depths.
fn block_a(row: u32, depth: u32, end: u32, batch: u32) -> mat4x4<f32> {
  if (A_QUADS && !A_ALONG_DEPTH) {
    let first = origin(min(row, LAST_ROW_QUAD));
    return mat4x4<f32>(
      rows_a(first, depth, end, batch),
      rows_a(first, depth + 1u, end, batch),
      rows_a(first, depth + 2u, end, batch),
      rows_a(first, depth + 3u, end, batch),
    );
  }
  let row0 = origin(min(row, ROWS - 1u));
  let row1 = origin(min(row + 1u, ROWS - 1u));
  let row2 = origin(min(row + 2u, ROWS - 1u));
  let row3 = origin(min(row + 3u, ROWS - 1u));
  if (A_QUADS) {
    if (depth >= end) {
      return mat4x4<f32>();
    }
    let tap = tap_of(depth);
    return transpose(mat4x4<f32>(
      depths_a(row0, tap, batch),
      depths_a(row1, tap, batch),
      depths_a(row2, tap, batch),
      depths_a(row3, tap, batch),
    ));
  }
  return mat4x4<f32>(
    values_a(row0, row1, row2, row3, depth, end, batch),
    values_a(row0, row1, row2, row3, depth + 1u, end, batch),
    values_a(row0, row1, row2, row3, depth + 2u, end, batch),
    values_a(row0, row1, row2, row3, depth + 3u, end, batch),
  );
}

fn start_b(tap: Tap, batch: u32) -> u32 {
  return batch * B_BATCH + tap.number * B_TAP + tap.inner * B_DEPTH;
}

// Four columns of B at a depth.
fn columns_b(column: u32, depth: u32, end: u32, batch: u32) -> vec4<f32> {
  if (depth >= end) {
    return vec4<f32>();
  }
  return quad_b(start_b(tap_of(depth), batch) + min(column, LAST_COLUMN_QUAD));
}

// The same, where they are not adjacent: `columns` is where each of them begins.
fn values_b(columns: vec4<u32>, depth: u32, end: u32, batch: u32) -> vec4<f32> {
  if (depth >= end) {
    return vec4<f32>();
  }
  let at = start_b(tap_of(depth), batch) + columns;
  return vec4<f32>(element_b(at.x), element_b(at.y), element_b(at.z), element_b(at.w));
}

// Four columns of B, at four depths.
fn block_b(column: u32, depth: u32, end: u32, batch: u32) -> mat4x4<f32> {
  if (B_QUADS && !B_ALONG_DEPTH) {
    return mat4x4<f32>(
      columns_b(column, depth, end, batch),
      columns_b(column, depth + 1u, end, batch),
      columns_b(column, depth + 2u, end, batch),
      columns_b(column, depth + 3u, end, batch),
    );
  }
  let column0 = min(column, COLUMNS - 1u) * B_COLUMN;
  let column1 = min(column + 1u, COLUMNS - 1u) * B_COLUMN;
  let column2 = min(column + 2u, COLUMNS - 1u) * B_COLUMN;
  let column3 = min(column + 3u, COLUMNS - 1u) * B_COLUMN;
  if (B_QUADS) {
    if (depth >= end) {
      return mat4x4<f32>();
    }
    let start = start_b(tap_of(depth), batch);
    return transpose(mat4x4<f32>(
      quad_b(start + column0),
      quad_b(start + column1),
      quad_b(start + column2),
      quad_b(start + column3),
    ));
  }
  let columns = vec4<u32>(column0, column1, column2, column3);
  return mat4x4<f32>(
    values_b(columns, depth, end, batch),
    values_b(columns, depth + 1u, end, batch),
    values_b(columns, depth + 2u, end, batch),
    values_b(columns, depth + 3u, end, batch),
  );
}

// Where in a step of a slice block `number` is: its quad of rows or columns, and its first depth.
// Adjacent invocations load what is adjacent in memory.
fn place_of(number: u32, quads: u32, is_along_depth: bool) -> vec2<u32> {
  if (is_along_depth) {
    return vec2<u32>(number / STEP_QUADS, 4u * (number % STEP_QUADS));
  }
  return vec2<u32>(number % quads, 4u * (number / quads));
}

fn load_a(number: u32, row: u32, depth: u32, end: u32, batch: u32) -> mat4x4<f32> {
  let place = place_of(number, ROW_QUADS, A_ALONG_DEPTH);
  return block_a(row + 4u * place.x, depth + place.y, end, batch);
}

fn load_b(number: u32, column: u32, depth: u32, end: u32, batch: u32) -> mat4x4<f32> {
  let place = place_of(number, COLUMN_QUADS, B_ALONG_DEPTH);
  return block_b(column + 4u * place.x, depth + place.y, end, batch);
}

fn put_a(number: u32, slice: u32, block: mat4x4<f32>) {
  let place = place_of(number, ROW_QUADS, A_ALONG_DEPTH);
  let at = (slice * STEP + place.y) * ROW_QUADS + place.x;
  tile_a[at] = block[0];
  tile_a[at + ROW_QUADS] = block[1];
  tile_a[at + 2u * ROW_QUADS] = block[2];
  tile_a[at + 3u * ROW_QUADS] = block[3];
}

fn put_b(number: u32, slice: u32, block: mat4x4<f32>) {
  let place = place_of(number, COLUMN_QUADS, B_ALONG_DEPTH);
  let at = (slice * STEP + place.y) * COLUMN_QUADS + place.x;
  tile_b[at] = block[0];
  tile_b[at + COLUMN_QUADS] = block[1];
  tile_b[at + 2u * COLUMN_QUADS] = block[2];
  tile_b[at + 3u * COLUMN_QUADS] = block[3];
}

// The sum of what all slices have put into tile_a, from the first slice to the last.
fn sum_of_slices(thread: u32) -> vec4<f32> {
  var sum = tile_a[thread];
  for (var slice = 1u; slice < SLICES; slice++) {
    sum += tile_a[slice * THREADS + thread];
  }
  return sum;
}

@compute @workgroup_size(${INVOCATIONS})
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(local_invocation_index) invocation: u32,
) {
  let number = group.y * GRID_X + group.x;
  if (number >= GROUPS) {
    return;
  }
  let slice = invocation / THREADS;
  let thread = invocation % THREADS;
  let first_row = number / GROUP_COLUMNS * TILE_ROWS;
  let first_column = number % GROUP_COLUMNS * TILE_COLUMNS;
  let down = thread / THREADS_ACROSS;
  let across = thread % THREADS_ACROSS;
  let batch = group.z / SPLITS;
  let start = group.z % SPLITS * DEPTH_PER_SPLIT;
  let end = min(start + DEPTH_PER_SPLIT, FULL_DEPTH);

${sums}
${ahead}
  for (var depth = start; depth < end; depth += SLICES * STEP) {
    let first = depth + slice * STEP;
${staging}
    workgroupBarrier();
${next}
    for (var k = 0u; k < STEP; k++) {
      let at_a = (slice * STEP + k) * ROW_QUADS + down;
      let at_b = (slice * STEP + k) * COLUMN_QUADS + across;
${products}
    }
    workgroupBarrier();
  }

  // Stored in a loop, as the epilogue may be the long expression of an optimizer's update.
  var results = array<vec4<f32>, RESULTS>(${results});
  let base = group.z * ROWS * COLUMNS;
  for (var i = 0u; i < RESULTS; i++) {
${slices}
    let line = i / RESULT_QUADS;
    let row = first_row + 4u * (line / 4u * THREADS_DOWN + down) + line % 4u;
    let column = first_column + 4u * (i % RESULT_QUADS * THREADS_ACROSS + across);
    if (row < ROWS && i % SLICES == slice) {
      for (var j = 0u; j < 4u; j++) {
        if (column + j < COLUMNS) {
          store(base + row * COLUMNS + column + j, results[i][j]);
        }
      }
    }
  }
}
