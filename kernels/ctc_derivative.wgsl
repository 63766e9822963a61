// The derivative of the CTC loss by the log probabilities: minus the probability that an alignment
// is in a state of that class. An invocation computes one time of a sample.

#include "common/numbers.wgsl"
#include "common/ctc.wgsl"

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let index = ${INDEX};
  if (index >= ${ITEMS}u) {
    return;
  }
  let sample = index / TIMES;
  let time = index % TIMES;
  for (var c = 0u; c < CLASSES; c++) {
    derivative[index * CLASSES + c] = 0.0;
  }
  if (time >= time_count(sample)) {
    return;
  }
  let valid = is_valid(sample);
  let total = all_paths(sample);
  for (var s = 0u; s < 2u * label_count(sample) + 1u; s++) {
    let column = state_class(sample, s);
    if (column < CLASSES) {
      let through = paths[place(0u, sample, time, s)] + paths[place(1u, sample, time, s)];
      var share = ${IMPOSSIBLE};
      if (!valid) {
        share = make_nan();
      } else if (has_path(total)) {
        share = exp_of(through - total);
      }
      derivative[index * CLASSES + column] -= share;
    }
  }
}
