// Cross-entropy of softmax(logits) with a probability for each class, and its gradient.
//
// loss = sum(labels * (log(sum(exp(logits))) - logits)); gradient = softmax * sum(labels) - labels.

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
  let sum = terms.y;
  let log_sum = log_of(sum);
  var total = 0.0;
  var weight = 0.0;
  for (var c = 0u; c < CLASSES; c++) {
    let label = labels[first + c];
    // The difference of logits first: with a common offset, their digits are lost in a sum.
    total += label * (log_sum - (logits[first + c] - largest));
    weight += label;
  }
  loss[row] = total;
  for (var c = 0u; c < CLASSES; c++) {
    let at = first + c;
    gradient[at] = exp_of(logits[at] - largest) / sum * weight - labels[at];
  }
}
