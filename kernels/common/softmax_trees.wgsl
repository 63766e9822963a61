#include "common/largest_part.wgsl"

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
