// Cross-entropy of softmax(logits) with a class for each row, and its gradient.
//
// loss = log(sum(exp(logits))) - logits[label]; gradient = softmax(logits) - one_hot(label).
// A label outside [0, CLASSES) makes both NaN.

#include "common/numbers.wgsl"

const CLASSES = ${CLASSES}u;

#include "common/softmax.wgsl"

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let row = ${INDEX};
  if (row >= ${ITEMS}u) {
    return;
  }
  let first = row * CLASSES;
  let terms = largest_and_sum(first, 1u);
  let largest = terms.x;
  var sum = terms.y;
  // Read as unsigned, a negative label is a large number.
  let label = u32(labels[row]);
  if (label >= CLASSES) {
    loss[row] = make_nan();
    sum = make_nan();
  } else {
    // The difference of logits first: with a common offset, their digits are lost in a sum.
    loss[row] = log_of(sum) - (logits[first + label] - largest);
  }
  for (var c = 0u; c < CLASSES; c++) {
    gradient[first + c] = exp_of(logits[first + c] - largest) / sum - select(0.0, 1.0, c == label);
  }
}
