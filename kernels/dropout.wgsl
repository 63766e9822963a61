// Keeps each element with probability 1 - rate, scaled so that the mean stays.
//
// The mask depends on seed, step and position alone: the gradient makes it again.

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
  let words = threefry(vec2<u32>(${SEED_0}u, ${SEED_1}u), vec2<u32>(step_number[0], pair));
  store(2u * pair, kept(source[2u * pair], words.x));
  if (2u * pair + 1u < ${ELEMENTS}u) {
    store(2u * pair + 1u, kept(source[2u * pair + 1u], words.y));
  }
}
