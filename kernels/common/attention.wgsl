// Shared by attention and its gradients. Each invocation handles one head at one position.
//
// Queries and gradients are (batch, TO, HEADS, size), keys and values (batch, FROM, HEADS, size).

#include "common/numbers.wgsl"

const TO = ${TO}u;
const FROM = ${FROM}u;
const HEADS = ${HEADS}u;
const KEY_SIZE = ${KEY_SIZE}u;
const VALUE_SIZE = ${VALUE_SIZE}u;
const SCALE = f32(${SCALE});
const CAUSAL = ${CAUSAL};

// Whether the query at `to` must not see the key at `origin`, by the mask.
fn is_hidden(batch: u32, head: u32, to: u32, origin: u32) -> bool {
  return ${HIDDEN};
}
