// The gradient of attention by its queries, and two terms of each query that the other gradients
// need: the logarithm of its sum of powers, and the mean of (gradient . value) over what it sees.
//
// Weights are computed again from the scores: none are stored.

#include "common/attention.wgsl"

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let index = ${INDEX};
  if (index >= ${ITEMS}u) {
    return;
  }
  let to = index % TO;
  let head = index / TO % HEADS;
  let batch = index / (TO * HEADS);
  let at_gradient = ((batch * TO + to) * HEADS + head) * VALUE_SIZE;
  let at_query = ((batch * TO + to) * HEADS + head) * KEY_SIZE;
${load_query}
${load_gradient}
  var largest = -3e38;
  var total = 0.0;
  var along = 0.0;
  let end = select(FROM, min(FROM, to + 1u), CAUSAL);
  for (var origin = 0u; origin < end; origin++) {
    if (!is_hidden(batch, head, to, origin)) {
      let at_key = ((batch * FROM + origin) * HEADS + head) * KEY_SIZE;
      let at_value = ((batch * FROM + origin) * HEADS + head) * VALUE_SIZE;
      var score = 0.0;
${score}
      score *= SCALE;
      var slope = 0.0;
${slope}
      if (score > largest) {
        let shrink = exp(max(largest - score, -100.0));
        total *= shrink;
        along *= shrink;
        largest = score;
      }
      let weight = exp_of(score - largest);
      total += weight;
      along += weight * slope;
    }
  }
  if (!is_nan_value(total) && total == 0.0) {
    total = 1.0;
  }
  let log_sum = largest + log_of(total);
  along /= total;
  terms[2u * index] = log_sum;
  terms[2u * index + 1u] = along;

${sums}
  for (var origin = 0u; origin < end; origin++) {
    if (!is_hidden(batch, head, to, origin)) {
      let at_key = ((batch * FROM + origin) * HEADS + head) * KEY_SIZE;
      let at_value = ((batch * FROM + origin) * HEADS + head) * VALUE_SIZE;
      var score = 0.0;
${score}
      var slope = 0.0;
${slope}
      let by_score = exp_of(score * SCALE - log_sum) * (slope - along) * SCALE;
${add}
    }
  }
${results}
}
