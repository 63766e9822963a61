// Sorts blocks of elements along an axis: order[b] are the indices of block b, in sorted order.
//
// The place of an element is the number of elements of its block that come before it, so that an
// invocation needs no other. Of equal elements, the first comes first.

#include "common/sort_key.wgsl"

const LENGTH = ${LENGTH}u;
const INNER = ${INNER}u;
const BLOCK = ${BLOCK}u;

fn key(at: u32) -> u32 {
  return ${KEY};
}

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let index = ${INDEX};
  if (index >= ${ITEMS}u) {
    return;
  }
  let position = index / INNER % LENGTH;
  let row = index / (INNER * LENGTH) * (INNER * LENGTH) + index % INNER;
  let start = position / BLOCK * BLOCK;
  let end = min(start + BLOCK, LENGTH);
  let mine = key(index);
  var place = start;
  for (var i = start; i < end; i++) {
    let other = key(row + i * INNER);
    place += select(0u, 1u, other < mine || (other == mine && i < position));
  }
  order[row + place * INNER] = i32(position);
}
