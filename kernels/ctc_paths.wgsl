// The paths of CTC: an invocation follows one sample's paths forwards (the first half of the
// invocations) or backwards, through some of its times.

#include "common/numbers.wgsl"
#include "common/ctc.wgsl"
#include "common/ctc_recursions.wgsl"

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let index = ${INDEX};
  if (index >= ${ITEMS}u) {
    return;
  }
  if (index < ${SAMPLES}u) {
    forwards(index, ${BEGIN}u, ${END}u);
  } else {
    backwards(index - ${SAMPLES}u, ${BEGIN}u, ${END}u);
  }
}
