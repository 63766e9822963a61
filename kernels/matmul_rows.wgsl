// Rows of a matrix: row r starts at r * ${A_ROW}.

fn origin(row: u32) -> vec4<i32> {
  return vec4<i32>(i32(row * ${A_ROW}u), 0, 0, 0);
}

fn row_at(origin: vec4<i32>, tap_row: i32, tap_column: i32) -> Row {
  return Row(u32(origin.x), 0u);
}
