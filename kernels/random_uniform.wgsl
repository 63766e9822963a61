// Uniform numbers in [0, 1) with 24 random bits each, two per invocation.
//
// A pair of random words serves two elements of the whole batch, even if these rows begin inside a
// pair.

#include "common/threefry.wgsl"

// fn store(index: u32, value: f32)
${store}

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let pair = ${INDEX};
  if (pair >= ${ITEMS}u) {
    return;
  }
  let counter = vec2<u32>(step_number[0], pair + ${FIRST_PAIR}u);
  let words = threefry(vec2<u32>(${SEED_0}u, ${SEED_1}u), counter);
  if (2u * pair >= ${SKIPPED}u) {
    store(2u * pair - ${SKIPPED}u, f32(words.x >> 8u) * 0x1p-24f);
  }
  let next = 2u * pair + 1u - ${SKIPPED}u;
  if (next < ${ELEMENTS}u) {
    store(next, f32(words.y >> 8u) * 0x1p-24f);
  }
}
