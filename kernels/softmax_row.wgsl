// Softmax or its logarithm along the last axis; a workgroup computes a row, and reads it once.
//
// An invocation keeps its elements, every INVOCATIONS-th of the row, in registers.
// ops/lowering/row_kernel.py unrolls the loops over them. The order of summation is that of
// softmax_shared.wgsl.

#include "common/numbers.wgsl"
#include "common/largest_part.wgsl"

const CLASSES = ${CLASSES}u;

// fn store(index: u32, value: f32)
${store}

@compute @workgroup_size(INVOCATIONS)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(local_invocation_index) invocation: u32,
) {
  let row = group.y * ${GRID_X}u + group.x;
  if (row >= ${ITEMS}u) {
    return;
  }
  let first = row * CLASSES;
${loads}
  var largest = x0;
${maxima}
  largest = largest_part(invocation, largest);
  var sum = 0.0;
${sums}
  sum = sum_of_parts(invocation, sum);
  let log_sum = log_of(sum);
${stores}
}
