#include "common/row_parts.wgsl"

// The largest value of the invocations of a workgroup, by a tree; NaN where any is NaN.
fn largest_part(invocation: u32, value: f32) -> f32 {
  parts[invocation] = value;
  workgroupBarrier();
  for (var width = INVOCATIONS / 2u; width > 0u; width /= 2u) {
    if (invocation < width) {
      parts[invocation] = larger(parts[invocation], parts[invocation + width]);
    }
    workgroupBarrier();
  }
  let largest = parts[0];
  workgroupBarrier();
  return largest;
}
