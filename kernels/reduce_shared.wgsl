// Reduction along axes; a workgroup computes one result, or one part of it, by a tree.

#include "common/reduce.wgsl"

const INVOCATIONS = ${INVOCATIONS}u;

var<workgroup> tree: array<Number, INVOCATIONS>;

@compute @workgroup_size(INVOCATIONS)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(local_invocation_index) invocation: u32,
) {
  let index = group.y * ${GRID_X}u + group.x;
  if (index >= ${ITEMS}u) {
    return;
  }
  let base = output_offset(index % OUTPUTS);
  let first = index / OUTPUTS * CHUNK;
  let end = min(first + CHUNK, REDUCED);
  // Invocations without an element take no part in the tree.
  let filled = min(end - first, INVOCATIONS);
  if (invocation < filled) {
    var total = load(base + reduced_offset(first + invocation));
    for (var i = first + invocation + INVOCATIONS; i < end; i += INVOCATIONS) {
      total = combine(total, load(base + reduced_offset(i)));
    }
    tree[invocation] = total;
  }
  workgroupBarrier();
  for (var width = INVOCATIONS / 2u; width > 0u; width /= 2u) {
    if (invocation < width && invocation + width < filled) {
      tree[invocation] = combine(tree[invocation], tree[invocation + width]);
    }
    workgroupBarrier();
  }
  if (invocation == 0u) {
    let total = tree[0];
    store(index, ${FINISH});
  }
}
