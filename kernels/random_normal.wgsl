// Normal numbers of mean 0 and standard deviation 1 by the Box-Muller transform, two per
// invocation.

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
  // In (0, 1], so that the logarithm is finite.
  let first = f32((words.x >> 8u) + 1u) * 0x1p-24f;
  let angle = 6.283185307179586f * f32(words.y >> 8u) * 0x1p-24f;
  let radius = sqrt(max(-2.0 * log(first), 0.0));
  store(2u * pair, radius * cos(angle));
  if (2u * pair + 1u < ${ELEMENTS}u) {
    store(2u * pair + 1u, radius * sin(angle));
  }
}
