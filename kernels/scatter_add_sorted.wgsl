// Each row sums the updates whose index is its own, in the order of the updates, or takes the largest
// or smallest of them: segment operations, and the gradient of gather.
//
// WGSL has no atomic addition of floats. The indices are in order, or were sorted, equal ones in their
// order, so that each row finds its updates by bisection, and the sum is always the same. All columns
// may share one line of indices, or have a line each, as in the gradient of take_along_axis.

alias Number = ${NUMBER};
const ROWS = ${ROWS}u;
const WIDTH = ${WIDTH}u;
const INDICES = ${INDICES}u;
const STRIDE = ${STRIDE}u;

// fn combine(x: Number, y: Number) -> Number
${combine}

// fn store(index: u32, value: Number)
${store}

${update_of}

fn place_of(line: u32, i: u32) -> u32 {
  return ${PLACE};
}

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
    if (indices[line + place_of(line, middle) * STRIDE] < row) {
      low = middle + 1u;
    } else {
      high = middle;
    }
  }
  var total = Number();
  for (var i = low; i < INDICES; i++) {
    let at = place_of(line, i);
    if (indices[line + at * STRIDE] != row) {
      break;
    }
    let update = ${UPDATE};
    total = ${NEXT};
  }
  store(index, total);
}
