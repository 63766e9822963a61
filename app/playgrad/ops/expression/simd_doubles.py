"""More functions of expressions in WebAssembly, on four float32 at once: computed in float64, two
at a time, and rounded once.

So they are within one unit in the last place of float32, special values included, which are
NumPy's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from playgrad.wasm.lanes import any_true, doubles, lanes, long_words, shifted, shuffled
from playgrad.wasm.procedure import Local, Procedure
from playgrad.wasm.values import StackValue, integer

_LN2 = math.log(2.0)
_ARCTAN = (
    -0.33333316445350647, 0.19998478889465332, -0.14243626594543457, 0.10594256967306137,
    -0.06078805401921272,
)  # fmt: skip
"""(arctan(t) / t - 1) / t² in powers of t², for |t| <= tan(pi / 8); relative error 7e-10."""
_QUARTERS = (
    0xA2F983, 0x6E4E44, 0x1529FC, 0x2757D1, 0xF534DD, 0xC0DB62, 0x95993C, 0x439041,
)  # fmt: skip
"""The first 192 bits of 2 / pi after the point, 24 at a time."""
_FAR = 2.0**20
"""From where on multiples of a quarter turn cannot be subtracted in three parts."""


def _op(name: str, *values: StackValue) -> StackValue:
    return lanes(f"f64 {name}", *values)


def _series(coefficients: Sequence[float], x: Local) -> StackValue:
    """Return a polynomial with these coefficients, by rising powers."""
    value = doubles(coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        value = _op("add", _op("mul", value, x), doubles(coefficient))
    return value


def _where(condition: StackValue, a: StackValue, b: StackValue) -> StackValue:
    return lanes("bitselect", a, b, condition)


# Functions of two float64


def _exp(f: Procedure, x: StackValue) -> Local:
    """2**n times a polynomial of the rest. Beyond +-700 the results are 0 and infinity in
    float32."""
    bounded = f.copy(_op("max", _op("min", x, doubles(700.0)), doubles(-700.0)))
    power = f.copy(_op("nearest", _op("mul", bounded, doubles(1 / _LN2))))
    rest = f.copy(_op("sub", bounded, _op("mul", power, doubles(_LN2))))
    value = _series([1 / math.factorial(n) for n in range(11)], rest)
    # The sum with 2**52 has the biased exponent as its last bits.
    biased = _op("add", power, doubles(2.0**52 + 1023))
    return f.copy(_op("mul", value, shifted("i64 shl", biased, integer(52))))


def _log(f: Procedure, x: Local) -> Local:
    """The exponent, and a series of the mantissa between the roots of 1/2 and 2."""
    exponent = lanes("or", shifted("i64 shr_u", x, integer(52)), long_words(0x433 << 52))
    power = f.copy(_op("sub", exponent, doubles(2.0**52 + 1023)))
    fraction = lanes("and", x, long_words((1 << 52) - 1))
    mantissa = f.copy(lanes("or", fraction, long_words(0x3FF << 52)))
    large = f.copy(_op("gt", mantissa, doubles(2**0.5)))
    f.set(mantissa, _where(large, _op("mul", mantissa, doubles(0.5)), mantissa))
    f.set(power, _op("add", power, lanes("and", large, doubles(1.0))))
    s = f.copy(_op("div", _op("sub", mantissa, doubles(1.0)), _op("add", mantissa, doubles(1.0))))
    z = f.copy(_op("mul", s, s))
    series = _op("mul", _series([2 / (2 * n + 1) for n in range(9)], z), s)
    value = _op("add", series, _op("mul", power, doubles(_LN2)))
    value = _where(_op("lt", x, doubles(np.inf)), value, x)  # infinity and NaN are their own
    value = _where(_op("eq", x, doubles(0.0)), doubles(-np.inf), value)
    return f.copy(_where(_op("lt", x, doubles(0.0)), doubles(np.nan), value))


def _near_zero(
    f: Procedure, x: Local, limit: float, series: Sequence[float], other: StackValue
) -> StackValue:
    """Return x times a polynomial where |x| is below a limit, else another value."""
    near = _op("mul", _series(series, x), x)
    return _where(_op("lt", _op("abs", x), doubles(limit)), near, other)


def _log1p(f: Procedure, x: Local) -> StackValue:
    far = _log(f, f.copy(_op("add", x, doubles(1.0))))
    return _near_zero(f, x, 0.01, [(-1) ** n / (n + 1) for n in range(6)], far)


def _expm1(f: Procedure, x: Local) -> StackValue:
    far = _op("sub", _exp(f, x), doubles(1.0))
    return _near_zero(f, x, 0.01, [1 / math.factorial(n + 1) for n in range(6)], far)


def _sinh(f: Procedure, x: Local) -> StackValue:
    half = f.copy(_op("mul", _exp(f, x), doubles(0.5)))
    far = _op("sub", half, _op("div", doubles(0.25), half))
    odd = [1 / math.factorial(n + 1) if n % 2 == 0 else 0.0 for n in range(7)]
    return _near_zero(f, x, 0.05, odd, far)


def _cosh(f: Procedure, x: Local) -> StackValue:
    half = f.copy(_op("mul", _exp(f, x), doubles(0.5)))
    return _op("add", half, _op("div", doubles(0.25), half))


def _arcsinh(f: Procedure, x: Local) -> StackValue:
    size = f.copy(_op("abs", x))
    root = _op("sqrt", _op("add", _op("mul", size, size), doubles(1.0)))
    far = _with_sign(_log(f, f.copy(_op("add", size, root))), x)
    return _near_zero(f, x, 0.01, [1.0, 0.0, -1 / 6, 0.0, 3 / 40], far)


def _arccosh(f: Procedure, x: Local) -> StackValue:
    root = _op("sqrt", _op("sub", _op("mul", x, x), doubles(1.0)))
    value = _log(f, f.copy(_op("add", x, root)))
    return _where(_op("lt", x, doubles(1.0)), doubles(np.nan), value)


def _arctanh(f: Procedure, x: Local) -> StackValue:
    quotient = _op("div", _op("add", doubles(1.0), x), _op("sub", doubles(1.0), x))
    far = _op("mul", _log(f, f.copy(quotient)), doubles(0.5))
    return _near_zero(f, x, 0.01, [1.0, 0.0, 1 / 3, 0.0, 1 / 5], far)


def _sine(f: Procedure, x: Local, quarters: float) -> Local:
    """The sine of ``x`` and a number of quarter turns, by that of the distance from a multiple of
    a quarter."""
    whole = f.copy(_op("nearest", _op("mul", x, doubles(2 / math.pi))))
    rest = f.copy(x)
    for part in (1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21):
        f.set(rest, _op("sub", rest, _op("mul", whole, doubles(part))))
    _reduce_far(f, x, whole, rest)
    z = f.copy(_op("mul", rest, rest))
    signs = [(-1) ** n for n in range(8)]
    sine = [sign / math.factorial(2 * n + 1) for n, sign in enumerate(signs)]
    cosine = [sign / math.factorial(2 * n) for n, sign in enumerate(signs)]
    turns = f.copy(_op("add", whole, doubles(quarters)))
    half = f.copy(_op("floor", _op("mul", turns, doubles(0.5))))
    is_odd = _op("ne", turns, _op("add", half, half))
    value = f.copy(_where(is_odd, _series(cosine, z), _op("mul", _series(sine, z), rest)))
    fourth = _op("floor", _op("mul", half, doubles(0.5)))
    negative = f.copy(_op("ne", half, _op("mul", fourth, doubles(2.0))))
    return f.copy(_where(negative, _op("neg", value), value))


def _reduce_far(f: Procedure, x: Local, whole: Local, rest: Local) -> None:
    """Set the number of quarter turns, less multiples of 4, and the rest for arguments from `_FAR`
    on, whose 24 bits times 24 bits of 2 / pi are exact (Payne and Hanek 1983).

    Next to a multiple of a quarter turn most digits of the sum go: ``low`` has what its additions
    round off (Knuth's TwoSum).
    """
    far = f.copy(_op("ge", _op("abs", x), doubles(_FAR)))
    with f.when(any_true(far)):
        turns, low = f.copy(doubles(0.0)), f.copy(doubles(0.0))
        for number, bits in enumerate(_QUARTERS, 1):
            part = f.copy(_op("mul", x, doubles(bits * 2.0 ** (-24 * number))))
            circles = _op("nearest", _op("mul", part, doubles(0.25)))
            f.set(part, _op("sub", part, _op("mul", circles, doubles(4.0))))
            total = f.copy(_op("add", turns, part))
            added = f.copy(_op("sub", total, turns))
            lost = _op("sub", turns, _op("sub", total, added))
            f.set(low, _op("add", low, _op("add", lost, _op("sub", part, added))))
            f.set(turns, total)
        nearest = f.copy(_op("nearest", turns))
        beyond = _op("add", _op("sub", turns, nearest), low)
        angle = _op("mul", beyond, doubles(math.pi / 2))
        f.set(whole, _where(far, nearest, whole))
        f.set(rest, _where(far, angle, rest))


def _sin(f: Procedure, x: Local) -> StackValue:
    return _where(_op("eq", x, doubles(0.0)), x, _sine(f, x, 0.0))  # -0 is its own


def _cos(f: Procedure, x: Local) -> StackValue:
    return _sine(f, x, 1.0)


def _tan(f: Procedure, x: Local) -> StackValue:
    return _op("div", _sin(f, x), _sine(f, x, 1.0))


def _with_sign(size: StackValue, x: Local) -> StackValue:
    """Return ``size``, at least 0, with the sign of ``x``."""
    return lanes("or", size, lanes("and", x, long_words(1 << 63)))


def _arctan(f: Procedure, x: Local) -> StackValue:
    """By the arctangent of a number up to tan(pi / 8)."""
    size = f.copy(_op("abs", x))
    beyond = f.copy(_op("gt", size, doubles(1.0)))
    f.set(size, _where(beyond, _op("div", doubles(1.0), size), size))
    upper = f.copy(_op("gt", size, doubles(2**0.5 - 1)))
    turned = _op("div", _op("sub", size, doubles(1.0)), _op("add", size, doubles(1.0)))
    t = f.copy(_where(upper, turned, size))
    z = f.copy(_op("mul", t, t))
    angle = _op("add", t, _op("mul", _op("mul", t, z), _series(_ARCTAN, z)))
    angle = f.copy(_op("add", angle, lanes("and", upper, doubles(math.pi / 4))))
    f.set(angle, _where(beyond, _op("sub", doubles(math.pi / 2), angle), angle))
    return _with_sign(_op("abs", angle), x)


def _arctan2(f: Procedure, y: Local, x: Local) -> StackValue:
    """The arctangent of the quotient of sizes, which is 1 for two infinite ones and 0 for two
    zeros."""
    down, along = f.copy(_op("abs", y)), f.copy(_op("abs", x))
    quotient = f.copy(_op("div", down, along))
    infinite = lanes("and", _op("eq", down, doubles(np.inf)), _op("eq", along, doubles(np.inf)))
    f.set(quotient, _where(infinite, doubles(1.0), quotient))
    zero = lanes("and", _op("eq", down, doubles(0.0)), _op("eq", along, along))
    f.set(quotient, _where(zero, doubles(0.0), quotient))
    angle = f.copy(_arctan(f, quotient))
    # A number with the sign of x: its comparison with 0 sees that of -0, too.
    signed = lanes("or", doubles(1.0), lanes("and", x, long_words(1 << 63)))
    is_left = _op("lt", signed, doubles(0.0))
    value = f.copy(_where(is_left, _op("sub", doubles(math.pi), angle), angle))
    is_nan = lanes("or", _op("ne", x, x), _op("ne", y, y))
    return _where(is_nan, doubles(np.nan), _with_sign(value, y))


def _arcsin(f: Procedure, x: Local) -> StackValue:
    product = _op("mul", _op("sub", doubles(1.0), x), _op("add", doubles(1.0), x))
    return _arctan(f, f.copy(_op("div", x, _op("sqrt", product))))


def _arccos(f: Procedure, x: Local) -> StackValue:
    quotient = _op("div", _op("sub", doubles(1.0), x), _op("add", doubles(1.0), x))
    return _op("mul", _arctan(f, f.copy(_op("sqrt", quotient))), doubles(2.0))


def _pow(f: Procedure, x: Local, y: Local) -> StackValue:
    """2**(y log2 x) with the special values of IEEE 754."""
    size = f.copy(_op("abs", x))
    power = f.copy(_op("mul", y, _log(f, size)))
    f.set(power, _where(_op("eq", y, doubles(0.0)), doubles(0.0), power))
    f.set(power, _where(_op("eq", size, doubles(1.0)), doubles(0.0), power))
    value = f.copy(_exp(f, power))
    f.set(value, _where(_op("gt", power, doubles(200.0)), doubles(np.inf), value))
    f.set(value, _where(_op("lt", power, doubles(-200.0)), doubles(0.0), value))
    half = f.copy(_op("mul", y, doubles(0.5)))
    is_whole = f.copy(_op("eq", y, _op("floor", y)))
    is_odd = lanes("and", is_whole, _op("ne", half, _op("floor", half)))
    f.set(value, lanes("xor", value, lanes("and", is_odd, lanes("and", x, long_words(1 << 63)))))
    # A negative finite base has powers with whole exponents only.
    negative = lanes("and", _op("lt", x, doubles(0.0)), _op("lt", size, doubles(np.inf)))
    finite = _op("lt", _op("abs", y), doubles(np.inf))
    wrong = lanes("and", lanes("and", negative, finite), lanes("not", is_whole))
    f.set(value, _where(wrong, doubles(np.nan), value))
    is_nan = lanes("or", _op("ne", x, x), _op("ne", y, y))
    f.set(value, _where(is_nan, doubles(np.nan), value))
    one = lanes("or", _op("eq", y, doubles(0.0)), _op("eq", x, doubles(1.0)))
    return _where(one, doubles(1.0), value)


# Four float32


def _by_halves(function: Callable[..., StackValue]) -> Callable[..., StackValue]:
    """Return a function of four float32 that computes two at a time in float64."""

    def computed(f: Procedure, *arguments: StackValue) -> StackValue:
        values = [f.copy(argument) for argument in arguments]

        def half(order: Sequence[int]) -> Local:
            chosen = (shuffled(value, value, order) for value in values)
            wide = [f.copy(lanes("f64 from low f32", value)) for value in chosen]
            return f.copy(lanes("f32 from f64", function(f, *wide)))

        return shuffled(half((0, 1, 2, 3)), half((2, 3, 0, 1)), (0, 1, 4, 5))

    return computed


def _scaled(function: Callable[..., StackValue], factor: float) -> Callable[..., StackValue]:
    return lambda f, x: _op("mul", function(f, x), doubles(factor))


_FUNCTIONS: dict[str, Callable[..., StackValue]] = {
        "log1p": _log1p, "expm1": _expm1, "log2": _scaled(_log, 1 / _LN2),
        "log10": _scaled(_log, 1 / math.log(10.0)), "sin": _sin, "cos": _cos, "tan": _tan,
        "arcsin": _arcsin, "arccos": _arccos, "arctan": _arctan, "arctan2": _arctan2,
        "sinh": _sinh, "cosh": _cosh, "arcsinh": _arcsinh, "arccosh": _arccosh,
        "arctanh": _arctanh, "pow": _pow,
}  # fmt: skip
DOUBLES = {name: _by_halves(function) for name, function in _FUNCTIONS.items()}
"""From the procedure and the arguments to the result."""
