// Softmax or its logarithm along a long axis; a workgroup computes a row.

#include "common/numbers.wgsl"

const CLASSES = ${CLASSES}u;
const INNER = ${INNER}u;
const LOGARITHM = ${LOGARITHM};
const INVOCATIONS = ${INVOCATIONS}u;

var<workgroup> parts: array<f32, INVOCATIONS>;

// fn store(index: u32, value: f32)
${store}

fn largest_part(invocation: u32, value: f32) -> f32 {
  parts[invocation] = value;
  workgroupBarrier();
  for (var width = INVOCATIONS / 2u; width > 0u; width /= 2u) {
    if (invocation < width) {
      parts[invocation] = larger(parts[invocation], parts[invocation + width]);
    }
    workgroupBarrier();
  }
  let result = parts[0];
  workgroupBarrier();
  return result;
}

fn sum_of_parts(invocation: u32, value: f32) -> f32 {
  parts[invocation] = value;
  workgroupBarrier();
  for (var width = INVOCATIONS / 2u; width > 0u; width /= 2u) {
    if (invocation < width) {
      parts[invocation] += parts[invocation + width];
    }
    workgroupBarrier();
  }
  return parts[0];
}

@compute @workgroup_size(INVOCATIONS)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(local_invocation_index) invocation: u32,
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
  largest = largest_part(invocation, largest);
  var sum = 0.0;
  for (var c = invocation; c < CLASSES; c += INVOCATIONS) {
    sum += exp_of(logits[first + c * INNER] - largest);
  }
  sum = sum_of_parts(invocation, sum);
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
