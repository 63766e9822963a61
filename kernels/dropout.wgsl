// Keeps each element with probability 1 - rate, scaled so that the mean does not change.
//
// The mask depends on seed, step and position only, so that the gradient can compute it again. A
// pair of random words serves two elements of the whole batch, even if these rows begin inside a
// pair.

#include "common/threefry.wgsl"

// fn store(index: u32, value: f32)
${store}

fn kept(value: f32, word: u32) -> f32 {
  return select(0.0, value * f32(${SCALE}), f32(word >> 8u) * 0x1p-24f >= f32(${RATE}));
}

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let pair = ${INDEX};
  if (pair >= ${ITEMS}u) {
    return;
  }
  let counter = vec2<u32>(step_number[0], pair + ${FIRST_PAIR}u);
  let words = threefry(vec2<u32>(${SEED_0}u, ${SEED_1}u), counter);
  if (2u * pair >= ${SKIPPED}u) {
    let index = 2u * pair - ${SKIPPED}u;
    store(index, kept(source[index], words.x));
  }
  let next = 2u * pair + 1u - ${SKIPPED}u;
  if (next < ${ELEMENTS}u) {
    store(next, kept(source[next], words.y));
  }
}
