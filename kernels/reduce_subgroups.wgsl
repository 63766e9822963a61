// Reduction along axes; a workgroup computes one result, or one part of it, with one barrier.

#include "common/reduce.wgsl"

const INVOCATIONS = ${INVOCATIONS}u;

#include "common/subgroup_parts.wgsl"

@compute @workgroup_size(INVOCATIONS)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(local_invocation_index) invocation: u32,
  @builtin(subgroup_invocation_id) lane: u32,
  @builtin(subgroup_size) lanes: u32,
) {
  let index = group.y * ${GRID_X}u + group.x;
  if (index >= ${ITEMS}u) {
    return;
  }
  let base = output_offset(index % OUTPUTS);
  let first = index / OUTPUTS * CHUNK;
  let end = min(first + CHUNK, REDUCED);
  var part: Part = ${NEUTRAL};
  if (first + invocation < end) {
    var total = load(base + reduced_offset(first + invocation));
    for (var i = first + invocation + INVOCATIONS; i < end; i += INVOCATIONS) {
      total = combine(total, load(base + reduced_offset(i)));
    }
    part = part_of(total);
  }
  part = joined(part, invocation, lane, lanes);
  if (invocation == 0u) {
    let total = number_of(part);
    store(index, ${FINISH});
  }
}
