// Each row sums the updates whose index is its own, or takes the largest or smallest of them: segment
// operations, and the gradient of gather.
//
// WGSL has no atomic addition of floats. Each row goes through all indices in order instead, so
// that the sum is always the same.

alias Number = ${NUMBER};
const ROWS = ${ROWS}u;
const WIDTH = ${WIDTH}u;
const INDICES = ${INDICES}u;

// fn combine(x: Number, y: Number) -> Number
${combine}

// fn store(index: u32, value: Number)
${store}

${update_of}

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let index = ${INDEX};
  if (index >= ${ITEMS}u) {
    return;
  }
  let row = i32(index / WIDTH % ROWS);
  let first = index / (WIDTH * ROWS) * INDICES * WIDTH + index % WIDTH;
  var total = Number();
  var low = INDICES;  // of the first update of the row
  for (var i = 0u; i < INDICES; i++) {
    let at = first + i * WIDTH;
    if (indices[${PLACE}] == row) {
      low = min(low, i);
      let update = ${UPDATE};
      total = ${NEXT};
    }
  }
  store(index, total);
}
