// NaN is created and detected by its bits, as a driver may assume that there is none: then x != x is
// false, and a comparison with NaN is true or false as the driver likes. max(NaN, 0) is 0.

var<private> nan_bits: u32 = 0x7fc00000u;

fn make_nan() -> f32 {
  return bitcast<f32>(nan_bits);
}

fn is_nan_value(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;
}

fn is_finite_value(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7f800000u) != 0x7f800000u;
}

// The larger number; NaN where either is NaN, as in NumPy.
fn larger(x: f32, y: f32) -> f32 {
  if (is_nan_value(x)) {
    return x;
  }
  return select(max(x, y), y, is_nan_value(y));
}

fn smaller(x: f32, y: f32) -> f32 {
  if (is_nan_value(x)) {
    return x;
  }
  return select(min(x, y), y, is_nan_value(y));
}

// exp and log of some adapters drop NaN.
fn exp_of(x: f32) -> f32 {
  return select(exp(x), x, is_nan_value(x));
}

fn log_of(x: f32) -> f32 {
  return select(log(x), x, is_nan_value(x));
}
