// Merges pairs of sorted runs of indices along an axis into runs of twice the length.
//
// The place of an element is its place in its own run, plus the number of elements of the other run
// that come before it, found by bisection.

#include "common/sort_key.wgsl"

const LENGTH = ${LENGTH}u;
const INNER = ${INNER}u;
const RUN = ${RUN}u;

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
  let run = position / RUN;
  let mine = u32(runs[index]);
  let mine_key = key(row + mine * INNER);
  let start = min((run ^ 1u) * RUN, LENGTH);
  var low = start;
  var high = min(start + RUN, LENGTH);
  while (low < high) {
    let middle = (low + high) / 2u;
    let other = u32(runs[row + middle * INNER]);
    let other_key = key(row + other * INNER);
    if (other_key < mine_key || (other_key == mine_key && other < mine)) {
      low = middle + 1u;
    } else {
      high = middle;
    }
  }
  let place = (run & ~1u) * RUN + position % RUN + (low - start);
  order[row + place * INNER] = i32(mine);
}
