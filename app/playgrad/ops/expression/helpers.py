"""WGSL functions with the values of NumPy where WGSL's built-in functions differ.

NaN and infinity are detected and made by their bits: a driver may assume that neither exists, so
that a comparison with NaN is true or false as it likes, ``select(x, 0.0, x < 0.0)`` is a maximum,
and ``x != x`` is false. ``max`` and ``min`` drop NaN, as do ``exp``, ``log`` and ``sqrt`` of some
adapters. The built-in ``tanh``, ``atan`` and ``exp(x) - 1`` may be wrong by 1e-5
and more, which is the whole result for a small one; a series near 0 is not.
"""

from __future__ import annotations

from playgrad.ops.expression.error_function import DENOMINATOR, NUMERATOR, wgsl_polynomial

_ARCTAN = (
    -0.33333316445350647,
    0.19998478889465332,
    -0.14243626594543457,
    0.10594256967306137,
    -0.06078805401921272,
)
"""(arctan(t) / t - 1) / t² in powers of t², for |t| <= tan(pi / 8); relative error 7e-10."""

# None uses the name of a buffer of a kernel with an epilogue, such as a and b, the factors of
# products: such a kernel could not become a part of a group.
WGSL_HELPERS: dict[str, str] = {
    "pg_isnan": "fn pg_isnan(x: f32) -> bool "
    "{ return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }",
    "pg_isinf": "fn pg_isinf(x: f32) -> bool "
    "{ return (bitcast<u32>(x) & 0x7fffffffu) == 0x7f800000u; }",
    "pg_isfinite": "fn pg_isfinite(x: f32) -> bool "
    "{ return (bitcast<u32>(x) & 0x7f800000u) != 0x7f800000u; }",
    "pg_ordered": "fn pg_ordered(x: f32, y: f32) -> bool { return "
    "max(bitcast<u32>(x) & 0x7fffffffu, bitcast<u32>(y) & 0x7fffffffu) <= 0x7f800000u; }",
    "pg_lt": "fn pg_lt(x: f32, y: f32) -> bool { return (x < y) & pg_ordered(x, y); }",
    "pg_le": "fn pg_le(x: f32, y: f32) -> bool { return (x <= y) & pg_ordered(x, y); }",
    "pg_gt": "fn pg_gt(x: f32, y: f32) -> bool { return (x > y) & pg_ordered(x, y); }",
    "pg_ge": "fn pg_ge(x: f32, y: f32) -> bool { return (x >= y) & pg_ordered(x, y); }",
    "pg_eq": "fn pg_eq(x: f32, y: f32) -> bool { return (x == y) & pg_ordered(x, y); }",
    # x < 0 and x > 0, of which activations consist: the bits of all such numbers follow each other.
    "pg_negative": "fn pg_negative(x: f32) -> bool "
    "{ return bitcast<u32>(x) - 0x80000001u < 0x7f800000u; }",
    "pg_positive": "fn pg_positive(x: f32) -> bool { return bitcast<u32>(x) - 1u < 0x7f800000u; }",
    "pg_ne": "fn pg_ne(x: f32, y: f32) -> bool { return x != y || pg_isnan(x) || pg_isnan(y); }",
    "pg_max": "fn pg_max(x: f32, y: f32) -> f32 "
    "{ return select(select(y, x, x > y), x + y, pg_isnan(x) || pg_isnan(y)); }",
    "pg_min": "fn pg_min(x: f32, y: f32) -> f32 "
    "{ return select(select(y, x, x < y), x + y, pg_isnan(x) || pg_isnan(y)); }",
    "pg_sign": "fn pg_sign(x: f32) -> f32 { return select(sign(x), x, pg_isnan(x)); }",
    # ``magnitude`` with the sign of ``x``, that of -0.0 included; NaN where x is NaN.
    "pg_signed": "fn pg_signed(magnitude: f32, x: f32) -> f32 { return "
    "select(select(magnitude, -magnitude, (bitcast<u32>(x) >> 31u) == 1u), x, pg_isnan(x)); }",
    # The remainder of positive floats by long division, whose differences have no error. There is
    # a step for each exponent at most.
    "pg_rest": """fn pg_rest(x: f32, y: f32) -> f32 {
  var rest = x;
  for (var step_number = 0; step_number < 300 && rest >= y; step_number++) {
    let power = (bitcast<u32>(rest) >> 23u) - (bitcast<u32>(y) >> 23u);
    let step = bitcast<f32>(bitcast<u32>(y) + (power << 23u));
    rest -= select(step, step * 0.5, step > rest);
  }
  return rest;
}""",
    "pg_mod": """fn pg_mod(x: f32, y: f32) -> f32 {
  if (pg_isnan(y) || y == 0.0 || !pg_isfinite(x)) { return bitcast<f32>(pg_nan); }
  if (pg_isinf(y)) { return select(y, x, x == 0.0 || (x < 0.0) == (y < 0.0)); }
  let r = select(1.0, -1.0, x < 0.0) * pg_rest(abs(x), abs(y));
  return select(r, r + y, r != 0.0 && (r < 0.0) != (y < 0.0));
}""",
    "pg_floor_div": """fn pg_floor_div(x: f32, y: f32) -> f32 {
  if (pg_isnan(x) || pg_isnan(y)) { return bitcast<f32>(pg_nan); }
  if (y == 0.0 && x != 0.0) {
    return select(bitcast<f32>(pg_inf), bitcast<f32>(pg_minus_inf),
      (bitcast<u32>(x) ^ bitcast<u32>(y)) >> 31u == 1u);
  }
  if (y == 0.0 || pg_isinf(x)) { return bitcast<f32>(pg_nan); }
  if (pg_isinf(y)) { return select(-1.0, 0.0, x == 0.0 || (x < 0.0) == (y < 0.0)); }
  return round((x - pg_mod(x, y)) / y);
}""",
    # Integers are divided as unsigned ones: Vulkan does not define the remainder of a negative
    # number. Nor is a quotient believed: it is corrected by the remainder, if it is wrong by one.
    "pg_quotient": """fn pg_quotient(x: u32, y: u32) -> u32 {
  if (y == 0u) { return 0u; }
  let q = x / y;
  if (q * y > x) { return q - 1u; }
  return q + select(0u, 1u, x - q * y >= y);
}""",
    "pg_size": "fn pg_size(x: i32) -> u32 { return select(u32(x), 0u - u32(x), x < 0); }",
    "pg_mod_i32": """fn pg_mod_i32(x: i32, y: i32) -> i32 {
  let r = i32(pg_mod_u32(pg_size(x), pg_size(y)));
  let signed = select(r, -r, x < 0);
  return select(signed, signed + y, r != 0 && (x < 0) != (y < 0));
}""",
    "pg_mod_u32": """fn pg_mod_u32(x: u32, y: u32) -> u32 {
  return select(x - pg_quotient(x, y) * y, 0u, y == 0u);
}""",
    "pg_floor_div_i32": """fn pg_floor_div_i32(x: i32, y: i32) -> i32 {
  let q = pg_quotient(pg_size(x), pg_size(y));
  if ((x < 0) == (y < 0)) { return i32(q); }
  return i32(0u - q) - select(0, 1, y != 0 && q * pg_size(y) != pg_size(x));
}""",
    "pg_floor_div_u32": """fn pg_floor_div_u32(x: u32, y: u32) -> u32 {
  return pg_quotient(x, y);
}""",
    # Exponentials and logarithms. log(1 + x) is 2 artanh(x / (2 + x)).
    "pg_exp": "fn pg_exp(x: f32) -> f32 { return select(exp(x), x, pg_isnan(x)); }",
    "pg_sqrt": "fn pg_sqrt(x: f32) -> f32 { "
    "return select(sqrt(x), bitcast<f32>(pg_nan), x < 0.0 || pg_isnan(x)); }",
    # The logarithm ``y`` of ``x``, as some adapters compute it, with NumPy's special values.
    "pg_logarithm": """fn pg_logarithm(x: f32, y: f32) -> f32 {
  if (pg_isnan(x) || x < 0.0) { return bitcast<f32>(pg_nan); }
  if (x == 0.0) { return bitcast<f32>(pg_minus_inf); }
  return select(y, x, pg_isinf(x));
}""",
    "pg_log": "fn pg_log(x: f32) -> f32 { return pg_logarithm(x, log(x)); }",
    "pg_log2": "fn pg_log2(x: f32) -> f32 { return pg_logarithm(x, log2(x)); }",
    "pg_log1p": """fn pg_log1p(x: f32) -> f32 {
  if (!(abs(x) < 0.375)) { return pg_log(1.0 + x); }
  let s = x / (2.0 + x);
  let z = s * s;
  let series = 0.33333333 + z * (0.2 + z * (0.14285714 + z * (0.11111111 + z * 0.09090909)));
  return 2.0 * s + 2.0 * s * z * series;
}""",
    "pg_expm1": """fn pg_expm1(x: f32) -> f32 {
  if (!(abs(x) < 0.5)) { return pg_exp(x) - 1.0; }
  return x + x * x * (0.5 + x * (0.16666667 + x * (0.041666667 + x * (0.008333333 +
    x * (0.0013888889 + x * (1.984127e-4 + x * 2.4801587e-5))))));
}""",
    # WGSL does not define pow of a negative base, but NumPy does for whole exponents.
    "pg_pow": """fn pg_pow(x: f32, y: f32) -> f32 {
  if ((!pg_isnan(y) && y == 0.0) || (!pg_isnan(x) && x == 1.0)) { return 1.0; }
  if (pg_isnan(x) || pg_isnan(y)) { return bitcast<f32>(pg_nan); }
  let large = abs(x) > 1.0;
  if (pg_isinf(y)) {
    return select(select(0.0, bitcast<f32>(pg_inf), large == (y > 0.0)), 1.0, abs(x) == 1.0);
  }
  let odd = y == floor(y) && floor(y * 0.5) * 2.0 != y;
  if (x == 0.0 || pg_isinf(x)) {
    let magnitude = select(0.0, bitcast<f32>(pg_inf), large == (y > 0.0));
    return select(magnitude, pg_signed(magnitude, x), odd);
  }
  let p = pow(abs(x), y);
  if (x > 0.0) { return p; }
  if (y != floor(y)) { return bitcast<f32>(pg_nan); }
  return select(p, -p, odd);
}""",
    # By repeated squaring: a round for each bit of the exponent.
    "pg_pow_u32": """fn pg_pow_u32(x: u32, y: u32) -> u32 {
  var product = 1u;
  var factor = x;
  for (var rest = y; rest != 0u; rest = rest >> 1u) {
    product *= select(1u, factor, (rest & 1u) == 1u);
    factor *= factor;
  }
  return product;
}""",
    "pg_pow_i32": """fn pg_pow_i32(x: i32, y: i32) -> i32 {
  if (y >= 0) { return i32(pg_pow_u32(u32(x), u32(y))); }
  return select(0, select(1, x, (y & 1) == 1), x == 1 || x == -1);
}""",
    # Hyperbolic functions. The square of exp(|x| / 2) is finite where exp(|x|) / 2 is. The limits
    # of tanh and erf are exact, though a quotient is not: gelu multiplies them by large numbers.
    "pg_tanh": """fn pg_tanh(x: f32) -> f32 {
  let size = abs(x);
  let t = pg_expm1(-2.0 * min(size, 15.0));
  return pg_signed(select(-t / (t + 2.0), 1.0, size > 9.1), x);
}""",
    "pg_sinh": """fn pg_sinh(x: f32) -> f32 {
  if (abs(x) < 1.0) {
    let z = x * x;
    return x + x * z * (0.16666667 + z * (0.008333333 + z * (1.984127e-4 + z * 2.7557319e-6)));
  }
  let root = pg_exp(0.5 * abs(x));
  return pg_signed(0.5 * root * root - 0.5 / root / root, x);
}""",
    "pg_cosh": """fn pg_cosh(x: f32) -> f32 {
  let root = pg_exp(0.5 * abs(x));
  return 0.5 * root * root + 0.5 / root / root;
}""",
    "pg_arcsinh": """fn pg_arcsinh(x: f32) -> f32 {
  let size = abs(x);
  if (size > 1e8) { return pg_signed(pg_log(size) + 0.6931472, x); }
  return pg_signed(pg_log1p(size + size * size / (1.0 + sqrt(1.0 + size * size))), x);
}""",
    "pg_arccosh": """fn pg_arccosh(x: f32) -> f32 {
  if (x < 1.0 || pg_isnan(x)) { return bitcast<f32>(pg_nan); }
  if (x > 1e8) { return pg_log(x) + 0.6931472; }
  let t = x - 1.0;
  return pg_log1p(t + sqrt(t * (t + 2.0)));
}""",
    "pg_arctanh": """fn pg_arctanh(x: f32) -> f32 {
  let size = abs(x);
  if (size > 1.0) { return bitcast<f32>(pg_nan); }
  if (size == 1.0) { return pg_signed(bitcast<f32>(pg_inf), x); }
  return pg_signed(0.5 * pg_log1p(2.0 * size / (1.0 - size)), x);
}""",
    # The sine of x and ``shift`` quarter turns, by that of x less the nearest quarters. These are
    # subtracted in three parts, exactly while |x| is below some thousands. WGSL's own functions
    # may be wrong by 5e-4.
    "pg_sine": """fn pg_sine(x: f32, shift: i32) -> f32 {
  if (!pg_isfinite(x)) { return bitcast<f32>(pg_nan); }
  let quarters = round(x * 0.63661977);
  let r = ((x - quarters * 1.5703125) - quarters * 4.837513e-4) - quarters * 7.549790e-8;
  let z = r * r;
  let sine = r + r * z * (-0.16666667 + z * (0.008333333 + z * (-1.984127e-4 + z * 2.7557319e-6)));
  let cosine = 1.0 - z * (0.5 - z * (0.041666667 - z * (0.0013888889 - z * 2.4801587e-5)));
  let quadrant = (i32(quarters) + shift) & 3;
  let value = select(sine, cosine, (quadrant & 1) == 1);
  return select(value, -value, quadrant >= 2);
}""",
    "pg_sin": "fn pg_sin(x: f32) -> f32 { return pg_sine(x, 0); }",
    "pg_cos": "fn pg_cos(x: f32) -> f32 { return pg_sine(x, 1); }",
    # Inverse trigonometric functions, all by the arctangent of a number between 0 and 1.
    "pg_arctan_unit": f"""fn pg_arctan_unit(x: f32) -> f32 {{
  let upper = x > 0.41421356;
  let t = select(x, (x - 1.0) / (x + 1.0), upper);
  let z = t * t;
  return select(0.0, 0.78539816, upper) + (t + t * z * {wgsl_polynomial(_ARCTAN, "z")});
}}""",
    "pg_arctan": """fn pg_arctan(x: f32) -> f32 {
  let size = abs(x);
  if (size > 1.0) { return pg_signed(1.5707963 - pg_arctan_unit(1.0 / size), x); }
  return pg_signed(pg_arctan_unit(size), x);
}""",
    "pg_arctan2": """fn pg_arctan2(y: f32, x: f32) -> f32 {
  if (pg_isnan(x)) { return x; }
  let along = abs(x);
  let down = abs(y);
  var angle = 0.0;
  if (pg_isinf(x) && pg_isinf(y)) {
    angle = 0.78539816;
  } else if (down > along) {
    angle = 1.5707963 - pg_arctan_unit(along / down);
  } else if (down > 0.0) {
    angle = pg_arctan_unit(down / along);
  }
  return pg_signed(select(angle, 3.1415927 - angle, (bitcast<u32>(x) >> 31u) == 1u), y);
}""",
    "pg_arcsin": """fn pg_arcsin(x: f32) -> f32 {
  if (abs(x) > 1.0) { return bitcast<f32>(pg_nan); }
  return pg_arctan2(x, sqrt((1.0 - x) * (1.0 + x)));
}""",
    "pg_arccos": """fn pg_arccos(x: f32) -> f32 {
  if (abs(x) > 1.0) { return bitcast<f32>(pg_nan); }
  return 2.0 * pg_arctan2(sqrt(1.0 - x), sqrt(1.0 + x));
}""",
    "pg_erf": f"""fn pg_erf(x: f32) -> f32 {{
  let size = min(abs(x), 4.0);
  let z = size * size;
  let p = {wgsl_polynomial(NUMERATOR, "z")};
  let q = {wgsl_polynomial(DENOMINATOR, "z")};
  return pg_signed(select(min(size * p / q, 1.0), 1.0, size == 4.0), x);
}}""",
    # A float16, the low 16 bits of ``bits``. All of them are f32 numbers, also those
    # below 2⁻¹⁴, which are multiples of 2⁻²⁴.
    "pg_from_half": """fn pg_from_half(bits: u32) -> f32 {
  let sign = (bits & 0x8000u) << 16u;
  let size = bits & 0x7fffu;
  var word = (size << 13u) + 0x38000000u;
  if (size < 0x400u) { word = bitcast<u32>(f32(size) * 5.9604645e-8); }
  if (size >= 0x7c00u) { word = 0x7f800000u | (size << 13u); }
  return bitcast<f32>(sign | word);
}""",
    # The float16 nearest to ``x``, of two the even one; infinity from 65520 on, NaN for NaN.
    "pg_to_half": """fn pg_to_half(x: f32) -> u32 {
  let sign = (bitcast<u32>(x) >> 16u) & 0x8000u;
  let word = bitcast<u32>(x) & 0x7fffffffu;
  var size = (word - 0x38000000u + 0xfffu + ((word >> 13u) & 1u)) >> 13u;
  if (word < 0x38800000u) { size = u32(round(bitcast<f32>(word) * 16777216.0)); }
  if (word >= 0x477ff000u) { size = 0x7c00u; }
  if (word > 0x7f800000u) { size = 0x7e00u; }
  return sign | size;
}""",
    "pg_minus_inf": "var<private> pg_minus_inf: u32 = 0xff800000u;",
    "pg_inf": "var<private> pg_inf: u32 = 0x7f800000u;",
    "pg_nan": "var<private> pg_nan: u32 = 0x7fc00000u;",
}
"""Declarations by name. A declaration may use any other."""
