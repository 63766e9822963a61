// Copies elements whose neighbours in the source and in the result are along different axes.
//
// A workgroup copies a square of both axes by way of workgroup memory, so that it reads and writes
// whole lines. Axis "across" is contiguous in the source, "down" in the result; other axes are
// counted by `index`.

const TILE = 32u;
// One more than the side of a square, so that elements of a column are in different banks.
const PITCH = TILE + 1u;
const LINES = 8u;
const GROUPS = ${GROUPS}u;
const TILES_ACROSS = ${TILES_ACROSS}u;
const TILES_DOWN = ${TILES_DOWN}u;
const SIZE_ACROSS = ${SIZE_ACROSS}u;
const SIZE_DOWN = ${SIZE_DOWN}u;
const SOURCE_DOWN = ${SOURCE_DOWN}u;
const TARGET_ACROSS = ${TARGET_ACROSS}u;

var<workgroup> tile: array<${NUMBER}, 1056>;

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(local_invocation_index) invocation: u32,
) {
  let number = group.y * ${GRID_X}u + group.x;
  if (number >= GROUPS) {
    return;
  }
  let across = number % TILES_ACROSS * TILE;
  let down = number / TILES_ACROSS % TILES_DOWN * TILE;
  let index = number / (TILES_ACROSS * TILES_DOWN);
  let column = invocation % TILE;
  let from_base = ${SOURCE};
  for (var line = invocation / TILE; line < TILE; line += LINES) {
    if (across + column < SIZE_ACROSS && down + line < SIZE_DOWN) {
      tile[line * PITCH + column] = source[from_base + across + column + (down + line) * SOURCE_DOWN];
    }
  }
  workgroupBarrier();
  let to_base = ${TARGET};
  for (var line = invocation / TILE; line < TILE; line += LINES) {
    if (down + column < SIZE_DOWN && across + line < SIZE_ACROSS) {
      result[to_base + down + column + (across + line) * TARGET_ACROSS] = tile[column * PITCH + line];
    }
  }
}
