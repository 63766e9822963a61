// The parts of a result that invocations have computed, joined within subgroups and then among them.
//
// Subgroups may have any size and number their invocations in any way, as long as they are full. The
// order of additions is the adapter's, and the same in every run.

alias Part = ${PART};

var<workgroup> of_subgroups: array<Part, INVOCATIONS>;

fn part_of(x: Number) -> Part {
  return ${PART_OF};
}

fn number_of(part: Part) -> Number {
  return ${NUMBER_OF};
}

#include "common/float_keys.wgsl"

// The result, for all invocations of a workgroup. An invocation without elements has ${NEUTRAL}.
fn joined(own: Part, invocation: u32, lane: u32, lanes: u32) -> Part {
  let of_subgroup = ${JOIN}(own);
  // One entry for each subgroup; which one does not matter.
  of_subgroups[invocation] = select(${NEUTRAL}, of_subgroup, lane == 0u);
  workgroupBarrier();
  var rest: Part = ${NEUTRAL};
  for (var i = lane; i < INVOCATIONS; i += lanes) {
    rest = ${COMBINE};
  }
  return ${JOIN}(rest);
}
