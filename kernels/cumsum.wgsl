// Running sums along one axis; an invocation computes one line, in order.

alias Number = ${NUMBER};
const LENGTH = ${LENGTH}u;
const INNER = ${INNER}u;

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let index = ${INDEX};
  if (index >= ${ITEMS}u) {
    return;
  }
  let first = index / INNER * LENGTH * INNER + index % INNER;
  var total = Number();
  for (var i = 0u; i < LENGTH; i++) {
    let position = first + (${POSITION}) * INNER;
    let value = source[position];
    result[position] = ${STORED};
    total += value;
  }
}
