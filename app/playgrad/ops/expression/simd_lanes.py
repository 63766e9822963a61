"""Functions of expressions that WebAssembly computes element by element: divisions of integers,
remainders and powers, with NumPy's results for every argument."""

from __future__ import annotations

from collections.abc import Callable

from playgrad.wasm.encoding import F32, F64, I32, I64
from playgrad.wasm.lanes import replaced, words
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


# Integers. A quotient by 0 is 0.


def _divided(f: Procedure, x: Local, y: Local) -> tuple[Local, Local]:
    """Return the floor of a quotient of signed integers, and the remainder with the sign of y."""
    safe = scalar("i32.or", is_zero(y), scalar("i32.eq", y, -1))
    divisor = f.copy(choose(safe, integer(1), y))  # the others could trap
    quotient = f.copy(scalar("i32.div_s", x, divisor))
    rest = f.copy(x - quotient * divisor)
    differ = scalar("i32.lt_s", scalar("i32.xor", rest, divisor), 0)
    below = f.copy(scalar("i32.and", scalar("i32.ne", rest, 0), differ))
    f.set(quotient, quotient - below)
    f.set(rest, choose(below, rest + divisor, rest))
    f.set(quotient, choose(scalar("i32.eq", y, -1), integer(0) - x, quotient))
    f.set(quotient, choose(is_zero(y), integer(0), quotient))
    return quotient, rest


def _floor_divide(f: Procedure, x: Local, y: Local) -> StackValue:
    return _divided(f, x, y)[0]


def _modulo(f: Procedure, x: Local, y: Local) -> StackValue:
    return _divided(f, x, y)[1]


def _floor_divide_unsigned(f: Procedure, x: Local, y: Local) -> StackValue:
    divisor = f.copy(choose(is_zero(y), integer(1), y))
    return choose(is_zero(y), integer(0), scalar("i32.div_u", x, divisor))


def _modulo_unsigned(f: Procedure, x: Local, y: Local) -> StackValue:
    divisor = f.copy(choose(is_zero(y), integer(1), y))
    return scalar("i32.rem_u", x, divisor)


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


_SIGNED = {"floor_div": _floor_divide, "mod": _modulo, "pow": _power}
_UNSIGNED = {
    "floor_div": _floor_divide_unsigned, "mod": _modulo_unsigned, "pow": _power_unsigned,
}  # fmt: skip
_FLOATING = {"floor_div": _floor_divide_float, "mod": _modulo_float}
BY_LANE: dict[str, dict[str, Callable[..., StackValue]]] = {
    name: {function: _by_lane(code, kind) for function, code in functions.items()}
    for names, kind, functions in (
        (("int32", "int8"), I32, _SIGNED),
        (("uint32", "uint8"), I32, _UNSIGNED),
        (("float32", "float16"), F32, _FLOATING),
    )
    for name in names
}
"""By dtype and name, from the procedure and two arguments to the result."""
