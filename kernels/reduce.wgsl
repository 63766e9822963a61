// Reduction along axes; an invocation computes one result, or one part of it.

#include "common/reduce.wgsl"

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let index = ${INDEX};
  if (index >= ${ITEMS}u) {
    return;
  }
  let base = output_offset(index % OUTPUTS);
  let first = index / OUTPUTS * CHUNK;
  let end = min(first + CHUNK, REDUCED);
  var total = load(base + reduced_offset(first));
  for (var i = first + 1u; i < end; i++) {
    total = combine(total, load(base + reduced_offset(i)));
  }
  store(index, ${FINISH});
}
