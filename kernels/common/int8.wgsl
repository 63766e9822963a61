// Four int8 in a word, the first in the lowest byte.

fn int8_at(word: u32, place: u32) -> i32 {
  return bitcast<i32>(word << (24u - 8u * place)) >> 24u;
}

fn unpacked(word: u32) -> vec4<i32> {
  return bitcast<vec4<i32>>(vec4<u32>(word) << vec4<u32>(24u, 16u, 8u, 0u)) >> vec4<u32>(24u);
}

fn packed(values: vec4<i32>) -> u32 {
  let bytes = (bitcast<vec4<u32>>(values) & vec4<u32>(0xffu)) << vec4<u32>(0u, 8u, 16u, 24u);
  return bytes.x | bytes.y | bytes.z | bytes.w;
}
