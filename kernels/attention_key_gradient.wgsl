// The gradients of attention by its keys and values, with the terms of each query that
// attention_query_gradient.wgsl stores.

#include "common/attention.wgsl"

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let index = ${INDEX};
  if (index >= ${ITEMS}u) {
    return;
  }
  let origin = index % FROM;
  let head = index / FROM % HEADS;
  let batch = index / (FROM * HEADS);
  let at_key = ((batch * FROM + origin) * HEADS + head) * KEY_SIZE;
  let at_value = ((batch * FROM + origin) * HEADS + head) * VALUE_SIZE;
${load_key}
${load_value}
${sums}
  for (var to = select(0u, origin, CAUSAL); to < TO; to++) {
    if (!is_hidden(batch, head, to, origin)) {
      let at_query = ((batch * TO + to) * HEADS + head) * KEY_SIZE;
      let at_gradient = ((batch * TO + to) * HEADS + head) * VALUE_SIZE;
      let at_terms = 2u * ((batch * HEADS + head) * TO + to);
      var score = 0.0;
${score}
      var slope = 0.0;
${slope}
      let weight = exp_of(score * SCALE - terms[at_terms]);
      let by_score = weight * (slope - terms[at_terms + 1u]) * SCALE;
${add}
    }
  }
${results}
}
