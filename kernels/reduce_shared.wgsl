// Reduces some axes of a tensor; a workgroup makes one result, or one split of it, by a tree.

#include "common/reduce.wgsl"

const LANES = ${LANES}u;

var<workgroup> tree: array<Number, LANES>;

@compute @workgroup_size(LANES)
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(local_invocation_index) lane: u32,
) {
  let index = group.y * ${GRID_X}u + group.x;
  if (index >= ${ITEMS}u) {
    return;
  }
  let base = output_offset(index % OUTPUTS);
  let first = index / OUTPUTS * CHUNK;
  let end = min(first + CHUNK, REDUCED);
  // Lanes that have an element of their own: the others stay out of the tree.
  let filled = min(end - first, LANES);
  if (lane < filled) {
    var total = load(base + reduced_offset(first + lane));
    for (var i = first + lane + LANES; i < end; i += LANES) {
      total = combine(total, load(base + reduced_offset(i)));
    }
    tree[lane] = total;
  }
  workgroupBarrier();
  for (var width = LANES / 2u; width > 0u; width /= 2u) {
    if (lane < width && lane + width < filled) {
      tree[lane] = combine(tree[lane], tree[lane + width]);
    }
    workgroupBarrier();
  }
  if (lane == 0u) {
    let total = tree[0];
    store(index, ${FINISH});
  }
}
