// Attention: softmax(queries @ keys^T * SCALE) @ values, for each head.
//
// The softmax is streamed (Milakov and Gimelshein 2018; Dao et al. 2022): the sums are multiplied
// by a power whenever a larger score comes along, so that no score is stored. The
// elements of a row are unrolled by ops/lowering/attention.py. A query that sees no key gets zeros.

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
  let at_result = ((batch * TO + to) * HEADS + head) * VALUE_SIZE;
  let at_query = ((batch * TO + to) * HEADS + head) * KEY_SIZE;
${load_query}
${sums}
  var largest = -3e38;
  var total = 0.0;
  let end = select(FROM, min(FROM, to + 1u), CAUSAL);
  for (var origin = 0u; origin < end; origin++) {
    if (!is_hidden(batch, head, to, origin)) {
      let at_key = ((batch * FROM + origin) * HEADS + head) * KEY_SIZE;
      let at_value = ((batch * FROM + origin) * HEADS + head) * VALUE_SIZE;
      var score = 0.0;
${score}
      score *= SCALE;
      if (score > largest) {
        let shrink = exp(max(largest - score, -100.0));
        total *= shrink;
${shrink}
        largest = score;
      }
      let weight = exp_of(score - largest);
      total += weight;
${add}
    }
  }
  if (!is_nan_value(total) && total == 0.0) {
    total = 1.0;
  }
${results}
}
