// The order of floats as that of whole numbers. NaN is beyond all others.
fn key_of(x: f32) -> u32 {
  let bits = bitcast<u32>(x);
  if ((bits & 0x7fffffffu) > 0x7f800000u) {
    return ${KEY_OF_NAN};
  }
  return select(bits | 0x80000000u, ~bits, bits >> 31u == 1u);
}

fn float_of(key: u32) -> f32 {
  return bitcast<f32>(select(~key, key & 0x7fffffffu, key >> 31u == 1u));
}
