// Four int8 as a word, for devices whose WGSL has packed_4x8_integer_dot_product.

alias Quad = u32;

fn quad(word: u32) -> Quad {
  return word;
}

fn dot4(a: Quad, b: Quad) -> i32 {
  return dot4I8Packed(a, b);
}

// The columns of the 4 x 4 matrix whose rows are words.
fn columns_of(rows: vec4<u32>) -> array<Quad, 4> {
  let even = (rows.xz & vec2<u32>(0x00ff00ffu)) | ((rows.yw & vec2<u32>(0x00ff00ffu)) << vec2<u32>(8u));
  let odd = ((rows.xz >> vec2<u32>(8u)) & vec2<u32>(0x00ff00ffu)) | (rows.yw & vec2<u32>(0xff00ff00u));
  return array<Quad, 4>(
    (even.x & 0xffffu) | (even.y << 16u),
    (odd.x & 0xffffu) | (odd.y << 16u),
    (even.x >> 16u) | (even.y & 0xffff0000u),
    (odd.x >> 16u) | (odd.y & 0xffff0000u),
  );
}
