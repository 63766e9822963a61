"""Functions of expressions that vectors do not have: divisions of integers, remainders and powers,
with NumPy's results for every argument. Most are computed lane by lane."""

from __future__ import annotations

from collections.abc import Callable

from playgrad.wasm.encoding import F32, F64, I32, I64
from playgrad.wasm.lanes import lanes, replaced, shuffled, words
from playgrad.wasm.procedure import Local, Procedure
from playgrad.wasm.scalars import choose, is_zero, number, scalar
from playgrad.wasm.values import StackValue, integer
from playgrad.wasm.vectors import extract

ScalarFunction = Callable[[Procedure, Local, Local], StackValue]


def _by_lane(function: ScalarFunction, kind: int) -> Callable[..., StackValue]:
    """Return a function of vectors that computes one lane after the other."""

    def computed(f: Procedure, a: Local, b: Local) -> StackValue:
        result = f.copy(words(0))
        for lane in range(4):
            x, y = f.copy(extract(a, lane, kind)), f.copy(extract(b, lane, kind))
            f.set(result, replaced(result, lane, function(f, x, y)))
        return result

    return computed


# Integers. A quotient by 0 is 0, and so is a remainder.


def _quotients(f: Procedure, x: Local, y: Local, kind: str) -> Local:
    """Return the floors of quotients of int32 or uint32 ("i32" or "u32").

    They are computed in float64, two at a time: the distance of a quotient from a whole number is
    larger than its rounding error.
    """
    halves = []
    for order in ((0, 1, 2, 3), (2, 3, 0, 1)):
        a, b = (lanes(f"f64 from low {kind}", shuffled(each, each, order)) for each in (x, y))
        whole = lanes("f64 floor", lanes("f64 div", a, b))
        halves.append(f.copy(lanes(f"{kind} from f64", whole)))
    quotient = shuffled(halves[0], halves[1], (0, 1, 4, 5))
    return f.copy(lanes("and", quotient, lanes("i32 ne", y, words(0))))


def _rest_of(x: Local, y: Local, quotient: Local) -> StackValue:
    rest = lanes("i32 sub", x, lanes("i32 mul", quotient, y))
    return lanes("and", rest, lanes("i32 ne", y, words(0)))


def _floor_divide(f: Procedure, x: Local, y: Local) -> StackValue:
    negated = lanes("i32 sub", words(0), x)  # whose wrapping a quotient would not have
    return lanes("bitselect", negated, _quotients(f, x, y, "i32"), lanes("i32 eq", y, words(-1)))


def _modulo(f: Procedure, x: Local, y: Local) -> StackValue:
    return _rest_of(x, y, f.copy(_floor_divide(f, x, y)))


def _floor_divide_unsigned(f: Procedure, x: Local, y: Local) -> StackValue:
    return _quotients(f, x, y, "u32")


def _modulo_unsigned(f: Procedure, x: Local, y: Local) -> StackValue:
    return _rest_of(x, y, _quotients(f, x, y, "u32"))


def _power_unsigned(f: Procedure, x: Local, y: Local) -> StackValue:
    """By repeated squaring: a round for each bit of the exponent."""
    product, factor, rest = f.copy(integer(1)), f.copy(x), f.copy(y)
    with f.repeat_while(rest):
        is_odd = scalar("i32.and", rest, 1)
        f.set(product, choose(is_odd, product * factor, product))
        f.set(factor, factor * factor)
        f.set(rest, scalar("i32.shr_u", rest, 1))
    return product


def _power(f: Procedure, x: Local, y: Local) -> StackValue:
    """Of a negative exponent 0, unless the base is 1 or -1."""
    negative = f.copy(scalar("i32.lt_s", y, 0))
    exponent = f.copy(choose(negative, scalar("i32.and", y, 1), y))
    value = f.copy(_power_unsigned(f, x, exponent))
    is_unit = scalar("i32.or", scalar("i32.eq", x, 1), scalar("i32.eq", x, -1))
    lost = scalar("i32.and", negative, is_zero(is_unit))
    return choose(lost, integer(0), value)


# Floats

_ZERO = number(F32, 0.0)


def _rest(f: Procedure, x: Local, y: Local) -> Local:
    """Return the remainder of the sizes of float32 in float64, without an error.

    A product of the divisor and the first 28 bits of a quotient is exact.
    """
    rest, size = (f.copy(scalar("f64.abs", scalar("f64.promote_f32", each))) for each in (x, y))
    infinite = scalar("f64.eq", size, number(F64, float("inf")))
    usable = scalar("f64.gt", size, number(F64, 0.0))
    finite = scalar("f64.lt", rest, number(F64, float("inf")))
    ordinary = scalar("i32.and", scalar("i32.and", usable, finite), is_zero(infinite))
    with f.when(ordinary), f.repeat_while(scalar("f64.ge", rest, size)):
        part = _first_bits(f.copy(scalar("f64.div", rest, size)))
        f.set(rest, scalar("f64.sub", rest, scalar("f64.mul", part, size)))
        with f.when(scalar("f64.lt", rest, number(F64, 0.0))):
            f.set(rest, scalar("f64.add", rest, size))
    with f.otherwise():
        wrong = scalar("i32.or", is_zero(usable), is_zero(finite))
        f.set(rest, choose(wrong, number(F64, float("nan")), rest))
    return rest


def _first_bits(quotient: Local) -> StackValue:
    """Return a whole number of at most 28 significant bits, up to a quotient of at least 1."""
    cut = scalar("i64.and", scalar("i64.reinterpret_f64", quotient), number(I64, -(1 << 25)))
    return scalar("f64.trunc", scalar("f64.reinterpret_i64", cut))


def _fmod(f: Procedure, x: Local, y: Local) -> Local:
    """Return the remainder with the sign of x, which float32 holds exactly."""
    return f.copy(scalar("f32.copysign", scalar("f32.demote_f64", _rest(f, x, y)), x))


def _signs_differ(rest: Local, y: Local) -> StackValue:
    """Return whether a remainder is not 0 and has another sign than the divisor."""
    differ = scalar("i32.ne", scalar("f32.lt", rest, _ZERO), scalar("f32.lt", y, _ZERO))
    return scalar("i32.and", scalar("f32.ne", rest, _ZERO), differ)


def _modulo_float(f: Procedure, x: Local, y: Local) -> StackValue:
    rest = _fmod(f, x, y)
    signed = choose(_signs_differ(rest, y), rest + y, rest)
    return choose(scalar("f32.eq", rest, _ZERO), scalar("f32.copysign", _ZERO, y), signed)


def _floor_divide_float(f: Procedure, x: Local, y: Local) -> StackValue:
    """NumPy's steps, each rounded to float32."""
    rest, quotient = _fmod(f, x, y), f.copy(scalar("f32.div", x, y))
    whole = f.copy(scalar("f32.div", x - rest, y))
    f.set(whole, choose(_signs_differ(rest, y), whole - number(F32, 1.0), whole))
    below = f.copy(scalar("f32.floor", whole))
    rounds_up = scalar("f32.gt", whole - below, number(F32, 0.5))
    f.set(below, choose(rounds_up, below + number(F32, 1.0), below))
    is_zero_result = scalar("f32.eq", whole, _ZERO)
    result = choose(is_zero_result, scalar("f32.copysign", _ZERO, quotient), below)
    return choose(scalar("f32.eq", y, _ZERO), quotient, result)


_OF_INT32 = {"floor_div": _floor_divide, "mod": _modulo, "pow": _by_lane(_power, I32)}
_OF_UINT32 = {
    "floor_div": _floor_divide_unsigned,
    "mod": _modulo_unsigned,
    "pow": _by_lane(_power_unsigned, I32),
}
_OF_FLOAT32 = {
    "floor_div": _by_lane(_floor_divide_float, F32),
    "mod": _by_lane(_modulo_float, F32),
}
BY_LANE: dict[str, dict[str, Callable[..., StackValue]]] = {
    "int32": _OF_INT32, "int8": _OF_INT32, "uint32": _OF_UINT32, "uint8": _OF_UINT32,
    "float32": _OF_FLOAT32, "float16": _OF_FLOAT32,
}  # fmt: skip
"""By dtype and name, from the procedure and two arguments to the result."""
