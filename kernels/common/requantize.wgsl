// From an int32 sum to an int8, as docs/quantized-arithmetic.md specifies, with 64 bits in between.

const ZERO_POINT = ${ZERO_POINT};
const LOW = ${LOW};
const HIGH = ${HIGH};
// Results beyond it are LOW or HIGH, whatever the zero point.
const BEYOND = 1024;

// The product of two u32: its low word and its high word.
fn wide_product(a: u32, b: u32) -> vec2<u32> {
  let low = (a & 0xffffu) * (b & 0xffffu);
  let middle = (a >> 16u) * (b & 0xffffu) + (low >> 16u);
  let other = (a & 0xffffu) * (b >> 16u) + (middle & 0xffffu);
  return vec2<u32>(a * b, (a >> 16u) * (b >> 16u) + (middle >> 16u) + (other >> 16u));
}

// The 64 bits (low, high) shifted right by 1 to 62, limited to 32 bits.
fn shifted_right(low: u32, high: u32, shift: u32) -> i32 {
  let top = bitcast<i32>(high);
  if (shift >= 32u) {
    return top >> (shift - 32u);
  }
  let result = bitcast<i32>((low >> shift) | (high << (32u - shift)));
  let rest = top >> shift;
  return select(select(BEYOND, -BEYOND, rest < 0), result, rest == (result >> 31u));
}

fn requantize(sum: i32, multiplier: i32, shift: i32) -> i32 {
  let a = bitcast<u32>(sum);
  let b = bitcast<u32>(multiplier);
  let product = wide_product(a, b);
  let bits = u32(clamp(shift, 1, 62));
  let half = 1u << ((bits - 1u) % 32u);
  let half_low = select(0u, half, bits <= 32u);
  let low = product.x + half_low;
  let carry = select(0u, 1u, low < half_low);
  let high = product.y - select(0u, b, sum < 0) - select(0u, a, multiplier < 0)
    + select(half, 0u, bits <= 32u) + carry;
  return clamp(clamp(shifted_right(low, high, bits), -BEYOND, BEYOND) + ZERO_POINT, LOW, HIGH);
}
