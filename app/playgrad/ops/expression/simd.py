"""The functions of expressions in WebAssembly, on four float32 at once.

Most are one instruction. The others are polynomials as in Cephes (Moshier, 1989), within 2 units in
the last place; their special values are NumPy's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from playgrad.ops.expression.error_function import DENOMINATOR, NUMERATOR
from playgrad.ops.expression.simd_doubles import DOUBLES
from playgrad.wasm.lanes import floats, lanes, shifted, words
from playgrad.wasm.procedure import Local, Procedure
from playgrad.wasm.values import StackValue, integer, multiply_add

INSTRUCTIONS = {
    "add": "add", "sub": "sub", "mul": "mul", "div": "div", "neg": "neg", "abs": "abs",
    "sqrt": "sqrt", "maximum": "max", "minimum": "min", "floor": "floor", "ceil": "ceil",
    "round": "nearest", "trunc": "trunc", "lt": "lt", "le": "le", "gt": "gt", "ge": "ge",
    "eq": "eq", "ne": "ne", "and": "and", "or": "or", "xor": "xor", "not": "not",
}  # fmt: skip
"""Functions that are one instruction, and its name."""

_LOG2_E = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 0.693359375, -2.12194440e-4
"""ln(2) as a sum of which the first term has few bits, so that its multiples are exact."""
_EXP = (4.9999988414e-1, 1.6666516880e-1, 4.1669563034e-2, 8.3691059889e-3, 1.3750719294e-3)
"""Of ``(exp(r) - 1 - r) / r**2`` for ``r`` between -ln(2)/2 and ln(2)/2, by least squares at
Chebyshev's points: the exponential is within 4e-9."""
_LOG = (
    3.3333331174e-1, -2.4999993993e-1, 2.0000714765e-1, -1.6668057665e-1, 1.4249322787e-1,
    -1.2420140846e-1, 1.1676998740e-1, -1.1514610310e-1, 7.0376836292e-2,
)  # fmt: skip
_ROUNDING = 1.5 * 2.0**23
"""A number that rounds a small one to a whole one when it is added. The bits of the sum, as an
integer, are the sum of its own bits and the whole number."""
_SMALLEST_NORMAL = float(np.finfo(np.float32).tiny)
_SIGN = 0x80000000


def polynomial(f: Procedure, coefficients: Sequence[float], x: Local) -> StackValue:
    """Return a polynomial with these coefficients, by rising powers.

    Pairs of terms are joined first, then pairs of pairs (Estrin 1960): a processor computes them at
    the same time, where a nest of sums would have it wait.
    """
    terms: list[StackValue] = [floats(coefficient) for coefficient in coefficients]
    power: StackValue = x
    while len(terms) > 1:
        if len(terms) < len(coefficients):
            power = f.copy(lanes("mul", power, power))
        joined = [
            multiply_add(high, power, low, f.relaxed)
            for low, high in zip(terms[::2], terms[1::2], strict=False)
        ]
        terms = joined + terms[2 * len(joined) :]
    return terms[0]


def exp(f: Procedure, x: StackValue) -> StackValue:
    """2**n times a polynomial of the rest; the power in two factors, for results near the limits
    of float32."""
    # Of these two, the first operand is the result if it is NaN.
    bounded = f.copy(lanes("pmax", lanes("pmin", x, floats(89.0)), floats(-104.0)))
    value, whole = _exp_parts(f, bounded)
    value = lanes("add", value, floats(1.0))
    half = f.copy(shifted("i32 shr_s", whole, integer(1)))
    value = lanes("mul", value, _power_of_two(half))
    return lanes("mul", value, _power_of_two(lanes("i32 sub", whole, half)))


def _exp_parts(f: Procedure, x: Local) -> tuple[StackValue, Local]:
    """Return ``exp(rest) - 1`` and the whole number n of ``exp(x) = 2**n exp(rest)``."""
    shifted_power = f.copy(lanes("add", lanes("mul", x, floats(_LOG2_E)), floats(_ROUNDING)))
    power = f.copy(lanes("sub", shifted_power, floats(_ROUNDING)))
    rest = multiply_add(power, floats(-_LN2_HIGH), x, f.relaxed)
    r = f.copy(multiply_add(power, floats(-_LN2_LOW), rest, f.relaxed))
    value = multiply_add(polynomial(f, _EXP, r), lanes("mul", r, r), r, f.relaxed)
    return value, f.copy(lanes("i32 sub", shifted_power, floats(_ROUNDING)))


def _power_of_two(exponent: StackValue) -> StackValue:
    return shifted("i32 shl", lanes("i32 add", exponent, words(127)), integer(23))


def tanh(f: Procedure, x: Local) -> StackValue:
    """``y / (y + 2)`` with ``y = exp(2 x) - 1``, in which the polynomial's own 1 does not occur, so
    that no digits are lost near 0."""
    size = f.copy(lanes("abs", x))
    bounded = f.copy(lanes("pmin", lanes("add", size, size), floats(20.0)))  # then it is 1
    value, whole = _exp_parts(f, bounded)
    scale = f.copy(_power_of_two(whole))
    grown = f.copy(multiply_add(f.copy(value), scale, lanes("sub", scale, floats(1.0)), f.relaxed))
    quotient = lanes("div", grown, lanes("add", grown, floats(2.0)))
    return lanes("or", quotient, lanes("and", x, words(_SIGN)))


def sigmoid(f: Procedure, x: Local) -> StackValue:
    """``1 / (1 + exp(-x))``, with both terms of the sum, and so the 1 above, divided by half of the
    power of two: a result that is almost 0 has all digits that float32 has for it."""
    bounded = lanes("pmax", lanes("pmin", lanes("neg", x), floats(104.0)), floats(-104.0))
    value, whole = _exp_parts(f, f.copy(bounded))
    half = f.copy(shifted("i32 shr_s", whole, integer(1)))
    scale = f.copy(_power_of_two(half))
    one = f.copy(_power_of_two(lanes("i32 sub", half, whole)))
    power = multiply_add(f.copy(value), scale, scale, f.relaxed)
    return lanes("div", one, lanes("add", power, one))


def log(f: Procedure, x: Local) -> StackValue:
    """The exponent, and a polynomial of a mantissa between the roots of 1/2 and 2."""
    tiny = f.copy(lanes("lt", x, floats(_SMALLEST_NORMAL)))
    scaled = lanes("mul", x, floats(2.0**23))
    normal = f.copy(lanes("bitselect", scaled, x, tiny))
    biased = shifted("i32 shr_u", normal, integer(23))
    bias = lanes("bitselect", words(126 + 23), words(126), tiny)
    exponent = f.copy(lanes("f32 from i32", lanes("i32 sub", biased, bias)))
    fraction = lanes("or", lanes("and", normal, words(0x007FFFFF)), words(0x3F000000))
    mantissa = f.copy(fraction)  # from 1/2 to 1
    low = f.copy(lanes("lt", mantissa, floats(0.5**0.5)))
    f.set(exponent, lanes("sub", exponent, lanes("and", low, floats(1.0))))
    doubled = lanes("add", mantissa, lanes("and", low, mantissa))
    m = f.copy(lanes("sub", doubled, floats(1.0)))
    square = f.copy(lanes("mul", m, m))
    value = lanes("mul", lanes("mul", polynomial(f, _LOG, m), square), m)
    value = lanes("add", value, lanes("mul", exponent, floats(_LN2_LOW)))
    value = lanes("sub", value, lanes("mul", square, floats(0.5)))
    value = lanes("add", lanes("add", value, m), lanes("mul", exponent, floats(_LN2_HIGH)))
    # Infinity and NaN are their own logarithms; then 0, and negative numbers.
    finite = lanes("lt", x, floats(np.inf))
    value = lanes("bitselect", value, x, finite)
    value = lanes("bitselect", floats(-np.inf), value, lanes("eq", x, floats(0.0)))
    return lanes("bitselect", floats(np.nan), value, lanes("lt", x, floats(0.0)))


def erf(f: Procedure, x: Local) -> StackValue:
    """The same quotient as in NumPy (`playgrad.ops.expression.error_function`)."""
    bounded = f.copy(lanes("max", lanes("min", x, floats(4.0)), floats(-4.0)))
    square = f.copy(lanes("mul", bounded, bounded))
    quotient = lanes("mul", polynomial(f, NUMERATOR, square), bounded)
    quotient = lanes("div", quotient, polynomial(f, DENOMINATOR, square))
    return lanes("max", lanes("min", quotient, floats(1.0)), floats(-1.0))


def sign(f: Procedure, x: Local) -> StackValue:
    one = lanes("or", floats(1.0), lanes("and", x, words(_SIGN)))
    return lanes("bitselect", one, x, lanes("gt", lanes("abs", x), floats(0.0)))


def isnan(f: Procedure, x: Local) -> StackValue:
    return lanes("ne", x, x)


def isinf(f: Procedure, x: Local) -> StackValue:
    return lanes("eq", lanes("abs", x), floats(np.inf))


def isfinite(f: Procedure, x: Local) -> StackValue:
    return lanes("lt", lanes("abs", x), floats(np.inf))


def select(f: Procedure, condition: Local, a: Local, b: Local) -> StackValue:
    return lanes("bitselect", a, b, condition)


COMPOSED: dict[str, Callable[..., StackValue]] = {
    **{
        function.__name__: function
        for function in (exp, tanh, log, erf, sign, isnan, isinf, isfinite, select)
    },
    **DOUBLES,
}
"""Functions of several instructions: from the procedure and its arguments to the result."""
