// The sum of each block of each line along one axis: sums[block * LINES + line].

alias Number = ${NUMBER};
const LENGTH = ${LENGTH}u;
const INNER = ${INNER}u;
const LINES = ${LINES}u;
const BLOCK = ${BLOCK}u;

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let index = ${INDEX};
  if (index >= ${ITEMS}u) {
    return;
  }
  let line = index % LINES;
  let block = index / LINES;
  let first = line / INNER * LENGTH * INNER + line % INNER;
  var total = Number();
  for (var i = block * BLOCK; i < min(block * BLOCK + BLOCK, LENGTH); i++) {
    total += source[first + (${POSITION}) * INNER];
  }
  sums[index] = total;
}
