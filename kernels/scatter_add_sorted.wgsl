// Gradient of gather: each row sums the updates whose index is its own, in the order of the updates.
//
// WGSL has no atomic addition of floats. The indices were sorted, equal ones in their order, so that
// each row finds its updates by bisection, and the sum is always the same.

alias Number = ${NUMBER};
const ROWS = ${ROWS}u;
const WIDTH = ${WIDTH}u;
const INDICES = ${INDICES}u;

// fn store(index: u32, value: Number)
${store}

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let index = ${INDEX};
  if (index >= ${ITEMS}u) {
    return;
  }
  let row = i32(index / WIDTH % ROWS);
  let first = index / (WIDTH * ROWS) * INDICES * WIDTH + index % WIDTH;
  var low = 0u;
  var high = INDICES;
  while (low < high) {
    let middle = (low + high) / 2u;
    if (indices[order[middle]] < row) {
      low = middle + 1u;
    } else {
      high = middle;
    }
  }
  var sum = Number();
  for (var i = low; i < INDICES; i++) {
    let at = u32(order[i]);
    if (indices[at] != row) {
      break;
    }
    sum += updates[first + at * WIDTH];
  }
  store(index, sum);
}
