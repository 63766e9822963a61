#include "common/float_keys.wgsl"

const INVOCATIONS = ${INVOCATIONS}u;

var<workgroup> keys: array<u32, INVOCATIONS>;
var<workgroup> sums: array<f32, INVOCATIONS>;

// Joined within subgroups first, as in common/subgroup_parts.wgsl.
fn largest_part(invocation: u32, value: f32, lane: u32, lanes: u32) -> f32 {
  let of_subgroup = subgroupMax(key_of(value));
  keys[invocation] = select(0u, of_subgroup, lane == 0u);
  workgroupBarrier();
  var rest = 0u;
  for (var i = lane; i < INVOCATIONS; i += lanes) {
    rest = max(rest, keys[i]);
  }
  return float_of(subgroupMax(rest));
}

fn sum_of_parts(invocation: u32, value: f32, lane: u32, lanes: u32) -> f32 {
  let of_subgroup = subgroupAdd(value);
  sums[invocation] = select(0.0, of_subgroup, lane == 0u);
  workgroupBarrier();
  var rest = 0.0;
  for (var i = lane; i < INVOCATIONS; i += lanes) {
    rest += sums[i];
  }
  return subgroupAdd(rest);
}
