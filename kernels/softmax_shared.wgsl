// Softmax or its logarithm along one long axis; a workgroup does one row of it.

#include "common/numbers.wgsl"

const CLASSES = ${CLASSES}u;
const INNER = ${INNER}u;
const LOGARITHM = ${LOGARITHM};
const LANES = ${LANES}u;

var<workgroup> parts: array<f32, LANES>;

// fn store(index: u32, value: f32)
${store}

fn largest_part(lane: u32, value: f32) -> f32 {
  parts[lane] = value;
  workgroupBarrier();
  for (var width = LANES / 2u; width > 0u; width /= 2u) {
    if (lane < width) {
      parts[lane] = larger(parts[lane], parts[lane + width]);
    }
    workgroupBarrier();
  }
  let result = parts[0];
  workgroupBarrier();
  return result;
}

fn sum_of_parts(lane: u32, value: f32) -> f32 {
  parts[lane] = value;
  workgroupBarrier();
  for (var width = LANES / 2u; width > 0u; width /= 2u) {
    if (lane < width) {
      parts[lane] += parts[lane + width];
    }
    workgroupBarrier();
  }
  return parts[0];
}

@compute @workgroup_size(LANES)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(local_invocation_index) lane: u32,
) {
  let index = group.y * ${GRID_X}u + group.x;
  if (index >= ${ITEMS}u) {
    return;
  }
  let first = index / INNER * CLASSES * INNER + index % INNER;
  var largest = logits[first + min(lane, CLASSES - 1u) * INNER];
  for (var c = lane; c < CLASSES; c += LANES) {
    largest = larger(largest, logits[first + c * INNER]);
  }
  largest = largest_part(lane, largest);
  var sum = 0.0;
  for (var c = lane; c < CLASSES; c += LANES) {
    sum += exp(logits[first + c * INNER] - largest);
  }
  sum = sum_of_parts(lane, sum);
  let log_sum = log(max(sum, 1e-30));
  for (var c = lane; c < CLASSES; c += LANES) {
    let at = first + c * INNER;
    let shifted = logits[at] - largest;
    if (LOGARITHM) {
      store(at, shifted - log_sum);
    } else {
      store(at, exp(shifted) / sum);
    }
  }
}
