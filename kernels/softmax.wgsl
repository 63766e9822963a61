// Softmax or its logarithm along one axis; an invocation computes a whole row.
//
// Element c of row (outer, inner) is number (outer * CLASSES + c) * INNER + inner.

#include "common/numbers.wgsl"

const CLASSES = ${CLASSES}u;
const INNER = ${INNER}u;
const LOGARITHM = ${LOGARITHM};

#include "common/softmax.wgsl"

// fn store(index: u32, value: f32)
${store}

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let index = ${INDEX};
  if (index >= ${ITEMS}u) {
    return;
  }
  let first = index / INNER * CLASSES * INNER + index % INNER;
  let terms = largest_and_sum(first, INNER);
  let largest = terms.x;
  let sum = terms.y;
  let log_sum = log_of(sum);
  for (var c = 0u; c < CLASSES; c++) {
    let at = first + c * INNER;
    let shifted = logits[at] - largest;
    if (LOGARITHM) {
      store(at, shifted - log_sum);
    } else {
      store(at, exp_of(shifted) / sum);
    }
  }
}
