// Four int8 as a vector, for devices whose WGSL lacks packed_4x8_integer_dot_product.

alias Quad = vec4<i32>;

fn quad(word: u32) -> Quad {
  return bitcast<vec4<i32>>(vec4<u32>(word) << vec4<u32>(24u, 16u, 8u, 0u)) >> vec4<u32>(24u);
}

fn dot4(a: Quad, b: Quad) -> i32 {
  return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}

// The columns of the 4 x 4 matrix whose rows are words.
fn columns_of(rows: vec4<u32>) -> array<Quad, 4> {
  return array<Quad, 4>(
    bitcast<vec4<i32>>(rows << vec4<u32>(24u)) >> vec4<u32>(24u),
    bitcast<vec4<i32>>(rows << vec4<u32>(16u)) >> vec4<u32>(24u),
    bitcast<vec4<i32>>(rows << vec4<u32>(8u)) >> vec4<u32>(24u),
    bitcast<vec4<i32>>(rows) >> vec4<u32>(24u),
  );
}
