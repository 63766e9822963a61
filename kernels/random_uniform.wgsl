// Uniform numbers in [0, 1) with 24 random bits each, two per invocation.

#include "common/threefry.wgsl"

// fn store(index: u32, value: f32)
${store}

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let pair = ${INDEX};
  if (pair >= ${ITEMS}u) {
    return;
  }
  let words = threefry(vec2<u32>(${SEED_0}u, ${SEED_1}u), vec2<u32>(step_number[0], pair));
  store(2u * pair, f32(words.x >> 8u) * 0x1p-24f);
  if (2u * pair + 1u < ${ELEMENTS}u) {
    store(2u * pair + 1u, f32(words.y >> 8u) * 0x1p-24f);
  }
}
