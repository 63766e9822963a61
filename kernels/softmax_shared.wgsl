// Softmax or its logarithm along a long axis; a workgroup computes a row.

#include "common/numbers.wgsl"

const CLASSES = ${CLASSES}u;
const INNER = ${INNER}u;
const LOGARITHM = ${LOGARITHM};

// const INVOCATIONS, fn largest_part, fn sum_of_parts
${parts}

// fn store(index: u32, value: f32)
${store}

@compute @workgroup_size(INVOCATIONS)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(local_invocation_index) invocation: u32,${builtins}
) {
  let index = group.y * ${GRID_X}u + group.x;
  if (index >= ${ITEMS}u) {
    return;
  }
  let first = index / INNER * CLASSES * INNER + index % INNER;
  var largest = logits[first + min(invocation, CLASSES - 1u) * INNER];
  for (var c = invocation; c < CLASSES; c += INVOCATIONS) {
    largest = larger(largest, logits[first + c * INNER]);
  }
  largest = largest_part(invocation, largest${lane});
  var sum = 0.0;
  for (var c = invocation; c < CLASSES; c += INVOCATIONS) {
    sum += exp_of(logits[first + c * INNER] - largest);
  }
  sum = sum_of_parts(invocation, sum${lane});
  let log_sum = log_of(sum);
  for (var c = invocation; c < CLASSES; c += INVOCATIONS) {
    let at = first + c * INNER;
    let shifted = logits[at] - largest;
    if (LOGARITHM) {
      store(at, shifted - log_sum);
    } else {
      store(at, exp_of(shifted) / sum);
    }
  }
}
