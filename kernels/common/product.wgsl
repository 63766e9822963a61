// What the register and the shared-memory product have in common.
//
// result[row, column] = sum over taps and depths of A(row, tap, depth) * B(tap, depth, column).
// A matrix product has one tap; a convolution has one for each position of its filter. Padding
// and strides are met only where rows are located, once a tap and not once an element.

const ROWS = ${ROWS}u;
const COLUMNS = ${COLUMNS}u;
const TAPS = ${TAPS}u;
const TAP_COLUMNS = ${TAP_COLUMNS}u;
const DEPTH = ${DEPTH}u;
const A_STEP = ${A_STEP}u;
const A_BATCH = ${A_BATCH}u;
const B_BATCH = ${B_BATCH}u;
const B_TAP = ${B_TAP}u;
const B_DEPTH = ${B_DEPTH}u;
const B_COLUMN = ${B_COLUMN}u;
const PADDED = ${PADDED};
const SPLITS = ${SPLITS}u;
const GROUP_COLUMNS = ${GROUP_COLUMNS}u;
const GROUPS = ${GROUPS}u;
const GRID_X = ${GRID_X}u;

// One row of A at one tap: depth d is a[start + d * A_STEP], and zero unless d - first < count.
struct Row {
  start: u32,
  first: u32,
  count: u32,
}

// fn origin(row: u32) -> vec4<i32>: what of a row's place does not depend on the tap.
// fn row_at(origin: vec4<i32>, tap_row: i32, tap_column: i32) -> Row
${rows}

fn load_a(row: Row, depth: u32) -> f32 {
  if (PADDED) {
    return select(0.0, a[row.start + depth * A_STEP], depth - row.first < row.count);
  }
  return a[row.start + depth * A_STEP];
}

// fn store(index: u32, value: f32)
${store}
