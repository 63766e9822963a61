// Gradient of gather: each row sums the updates whose index is its own, in the order of the updates.
//
// WGSL has no atomic addition of floats. The indices were sorted, equal ones in their order, so that
// each row finds its updates by bisection, and the sum is always the same. All columns may share one
// line of indices, or have a line each, as in the gradient of take_along_axis.

alias Number = ${NUMBER};
const ROWS = ${ROWS}u;
const WIDTH = ${WIDTH}u;
const INDICES = ${INDICES}u;
const STRIDE = ${STRIDE}u;

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
  let line = ${LINE};
  var low = 0u;
  var high = INDICES;
  while (low < high) {
    let middle = (low + high) / 2u;
    if (indices[line + u32(order[line + middle * STRIDE]) * STRIDE] < row) {
      low = middle + 1u;
    } else {
      high = middle;
    }
  }
  var sum = Number();
  for (var i = low; i < INDICES; i++) {
    let at = u32(order[line + i * STRIDE]);
    if (indices[line + at * STRIDE] != row) {
      break;
    }
    sum += updates[first + at * WIDTH];
  }
  store(index, sum);
}
