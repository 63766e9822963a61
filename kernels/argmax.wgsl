// Index of the largest or smallest element along one axis, the first of equal ones.
//
// An invocation compares one chunk of candidates for an output; of several chunks, the winners are
// the candidates of a second dispatch.

alias Number = ${NUMBER};
const LENGTH = ${LENGTH}u;
const INNER = ${INNER}u;
const OUTPUTS = ${OUTPUTS}u;
const CANDIDATES = ${CANDIDATES}u;
const CHUNK = ${CHUNK}u;

// fn better(value: Number, best: Number) -> bool: the first NaN is better than any float, as in
// NumPy.
${better}

// The place along the axis of a candidate.
fn place(candidate: u32, output: u32) -> u32 {
  return ${PLACE};
}

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let index = ${INDEX};
  if (index >= ${ITEMS}u) {
    return;
  }
  let output = index % OUTPUTS;
  let begin = index / OUTPUTS * CHUNK;
  let end = min(begin + CHUNK, CANDIDATES);
  let first = output / INNER * LENGTH * INNER + output % INNER;
  var position = place(begin, output);
  var best = source[first + position * INNER];
  for (var i = begin + 1u; i < end; i++) {
    let other = place(i, output);
    let value = source[first + other * INNER];
    if (better(value, best)) {
      best = value;
      position = other;
    }
  }
  winners[index] = i32(position);
}
