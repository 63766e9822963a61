// The four int8 of a word in another scale.

#include "common/int8.wgsl"
#include "common/requantize.wgsl"

fn rescaled(value: i32) -> i32 {
  return requantize(value - ${INPUT_ZERO_POINT}, ${MULTIPLIER}, ${SHIFT});
}

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let index = ${INDEX};
  if (index >= ${ITEMS}u) {
    return;
  }
  let values = unpacked(x[index]);
  result[index] = packed(
    vec4<i32>(rescaled(values.x), rescaled(values.y), rescaled(values.z), rescaled(values.w)),
  );
}
