// Sums over the invocations of a workgroup, by a tree. All invocations get the result.

const INVOCATIONS = ${INVOCATIONS}u;

var<workgroup> parts: array<f32, INVOCATIONS>;

fn sum_of_parts(invocation: u32, value: f32) -> f32 {
  parts[invocation] = value;
  workgroupBarrier();
  for (var width = INVOCATIONS / 2u; width > 0u; width /= 2u) {
    if (invocation < width) {
      parts[invocation] += parts[invocation + width];
    }
    workgroupBarrier();
  }
  let total = parts[0];
  workgroupBarrier();
  return total;
}
