// Entries of a table, for the four int8 of a word.

#include "common/int8.wgsl"

fn entry(value: i32) -> i32 {
  let at = u32(value + 128);
  return int8_at(table[at / 4u], at % 4u);
}

@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let index = ${INDEX};
  if (index >= ${ITEMS}u) {
    return;
  }
  let values = unpacked(x[index]);
  result[index] = packed(
    vec4<i32>(entry(values.x), entry(values.y), entry(values.z), entry(values.w)),
  );
}
