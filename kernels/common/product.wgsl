// Shared by the families of products.
//
// result[row, column] = sum over taps and depths of A(row, tap, depth) * B(tap, depth, column). A
// matrix product has one tap; the taps of a convolution are rows or positions of its filter.
// Padding and strides are handled where rows are located, once for each tap and not for each
// element.

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
const PLACES = ${PLACES}u;
const PLACE_STEP = ${PLACE_STEP}u;
const SPLITS = ${SPLITS}u;
const GRID_X = ${GRID_X}u;

// One row of A at one tap, as (start, place): depth d is a[start + d * A_STEP], and zero unless
// place + d * PLACE_STEP < PLACES (unsigned, so that no place is negative).
alias Row = vec2<u32>;
const NOWHERE = 0x80000000u;

// fn origin(row: u32) -> vec4<i32>: the part of a row's place that does not depend on the tap.
// fn row_at(origin: vec4<i32>, tap_row: i32, tap_column: i32) -> Row
${rows}

// fn store(index: u32, value: f32)
${store}
