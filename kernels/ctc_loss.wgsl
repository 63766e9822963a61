// The CTC loss: an invocation follows the paths of one sample. A label that is not a class, or is the
// blank, and a length out of range make it NaN.

#include "common/numbers.wgsl"
#include "common/ctc.wgsl"
#include "common/ctc_recursions.wgsl"

var<private> infinity_bits: u32 = 0x7f800000u;

fn loss_of(sample: u32) -> f32 {
  if (!is_valid(sample)) {
    return make_nan();
  }
  var total = NO_PATH;
  if (time_count(sample) > 0u) {
    total = all_paths(sample);
  } else if (label_count(sample) == 0u) {
    total = 0.0;
  }
  if (has_path(total)) {
    return -total;
  }
  return ${IMPOSSIBLE};
}

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let sample = ${INDEX};
  if (sample >= ${ITEMS}u) {
    return;
  }
  forwards(sample, ${BEGIN}u, ${END}u);
  loss[sample] = loss_of(sample);
}
