// Index of the largest or smallest element along one axis, the first of equal ones.

alias Number = ${NUMBER};
const LENGTH = ${LENGTH}u;
const INNER = ${INNER}u;

// fn better(value: Number, best: Number) -> bool: the first NaN is better than any float, as in
// NumPy.
${better}

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let index = ${INDEX};
  if (index >= ${ITEMS}u) {
    return;
  }
  let first = index / INNER * LENGTH * INNER + index % INNER;
  var best = source[first];
  var position = 0u;
  for (var i = 1u; i < LENGTH; i++) {
    let value = source[first + i * INNER];
    if (better(value, best)) {
      best = value;
      position = i;
    }
  }
  result[index] = i32(position);
}
