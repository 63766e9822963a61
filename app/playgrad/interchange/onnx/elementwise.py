"""Elementwise operations in ONNX."""

from __future__ import annotations

import math

from playgrad.interchange.onnx.builder import TYPES
from playgrad.interchange.onnx.translation import Translation, translates

SAME = {
    "abs": "Abs", "add": "Add", "arccos": "Acos", "arccosh": "Acosh", "arcsin": "Asin",
    "arcsinh": "Asinh", "arctan": "Atan", "arctanh": "Atanh", "ceil": "Ceil", "cos": "Cos",
    "cosh": "Cosh", "div": "Div", "equal": "Equal", "erf": "Erf", "exp": "Exp", "floor": "Floor",
    "greater": "Greater", "greater_equal": "GreaterOrEqual", "hard_silu": "HardSwish",
    "identity": "Identity", "is_inf": "IsInf", "is_nan": "IsNaN", "less": "Less",
    "less_equal": "LessOrEqual", "log": "Log", "logical_and": "And", "logical_not": "Not",
    "logical_or": "Or", "logical_xor": "Xor", "maximum": "Max", "minimum": "Min", "mish": "Mish",
    "mul": "Mul", "neg": "Neg", "reciprocal": "Reciprocal", "relu": "Relu",
    "round": "Round", "selu": "Selu", "sigmoid": "Sigmoid", "sign": "Sign", "sin": "Sin",
    "sinh": "Sinh", "softplus": "Softplus", "softsign": "Softsign", "sqrt": "Sqrt",
    "stop_gradient": "Identity", "sub": "Sub", "tan": "Tan", "tanh": "Tanh", "where": "Where",
}  # fmt: skip
"""Operations that ONNX has under another name."""


@translates(*SAME)
def _same(t: Translation) -> None:
    t.last(SAME[t.node.op.name], *t.inputs)


@translates("cast")
def _cast(t: Translation) -> None:
    t.last("Cast", *t.inputs, to=TYPES[t.attrs["dtype"]])


@translates("square")
def _square(t: Translation) -> None:
    t.last("Mul", t.inputs[0], t.inputs[0])


@translates("squared_difference")
def _squared_difference(t: Translation) -> None:
    difference = t.op("Sub", *t.inputs)
    t.last("Mul", difference, difference)


@translates("rsqrt")
def _rsqrt(t: Translation) -> None:
    t.last("Reciprocal", t.op("Sqrt", *t.inputs))


@translates("trunc")
def _trunc(t: Translation) -> None:
    t.last("Mul", t.op("Sign", *t.inputs), t.op("Floor", t.op("Abs", *t.inputs)))


@translates("clip")
def _clip(t: Translation) -> None:
    x, low, high = t.inputs
    t.last("Min", t.op("Max", x, low), high)


@translates("relu6")
def _relu6(t: Translation) -> None:
    t.last("Clip", t.inputs[0], t.like(0), t.like(6))


@translates("hard_tanh")
def _hard_tanh(t: Translation) -> None:
    t.last("Clip", t.inputs[0], t.like(-1), t.like(1))


@translates("hard_sigmoid")
def _hard_sigmoid(t: Translation) -> None:
    t.last("HardSigmoid", *t.inputs, alpha=1 / 6, beta=0.5)


@translates("elu")
def _elu(t: Translation) -> None:
    t.last("Elu", *t.inputs, alpha=1.0)


@translates("gelu")
def _gelu(t: Translation) -> None:
    t.last("Gelu", *t.inputs, approximate="none")


@translates("gelu_tanh")
def _gelu_tanh(t: Translation) -> None:
    t.last("Gelu", *t.inputs, approximate="tanh")


@translates("silu")
def _silu(t: Translation) -> None:
    t.last("Mul", t.inputs[0], t.op("Sigmoid", *t.inputs))


@translates("log_sigmoid")
def _log_sigmoid(t: Translation) -> None:
    t.last("Neg", t.op("Softplus", t.op("Neg", *t.inputs)))


@translates("expm1")
def _expm1(t: Translation) -> None:
    """As 2 sinh(x/2) exp(x/2), which keeps the digits near 0."""
    half = t.op("Mul", t.inputs[0], t.like(0.5))
    twice = t.op("Mul", t.op("Sinh", half), t.like(2))
    t.last("Mul", twice, t.op("Exp", half))


@translates("log1p")
def _log1p(t: Translation) -> None:
    """As 2 artanh(x / (x + 2)) up to 1, which keeps the digits near 0."""
    (x,) = t.inputs
    near = t.op("Atanh", t.op("Div", x, t.op("Add", x, t.like(2))))
    far = t.op("Log", t.op("Add", x, t.like(1)))
    is_near = t.op("Less", t.op("Abs", x), t.like(1))
    t.last("Where", is_near, t.op("Mul", near, t.like(2)), far)


@translates("log2")
def _log2(t: Translation) -> None:
    t.last("Mul", t.op("Log", *t.inputs), t.like(1 / math.log(2)))


@translates("log10")
def _log10(t: Translation) -> None:
    t.last("Mul", t.op("Log", *t.inputs), t.like(1 / math.log(10)))


@translates("arctan2")
def _arctan2(t: Translation) -> None:
    y, x = t.inputs
    zero = t.like(0)
    slope = t.op("Atan", t.op("Div", y, x))
    behind = t.op(
        "Where",
        t.op("GreaterOrEqual", y, zero),
        t.op("Add", slope, t.like(math.pi)),
        t.op("Sub", slope, t.like(math.pi)),
    )
    angle = t.op("Where", t.op("Less", x, zero), behind, slope)
    at_origin = t.op("And", t.op("Equal", x, zero), t.op("Equal", y, zero))
    t.last("Where", at_origin, zero, angle)


@translates("floor_divide")
def _floor_divide(t: Translation) -> None:
    x, y = t.inputs
    if t.dtype.kind == "f":
        t.last("Floor", t.op("Div", x, y))
    else:  # integers are divided towards 0
        t.last("Div", t.op("Sub", x, t.op("Mod", x, y)), y)


@translates("mod")
def _mod(t: Translation) -> None:
    x, y = t.inputs
    if t.dtype.kind == "f":
        whole = t.op("Floor", t.op("Div", x, y))
        t.last("Sub", x, t.op("Mul", whole, y))
    else:
        t.last("Mod", x, y)


@translates("not_equal")
def _not_equal(t: Translation) -> None:
    t.last("Not", t.op("Equal", *t.inputs))


@translates("is_finite")
def _is_finite(t: Translation) -> None:
    t.last("Not", t.op("Or", t.op("IsNaN", *t.inputs), t.op("IsInf", *t.inputs)))


@translates("pow")
def _pow(t: Translation) -> None:
    if t.dtype.kind == "u":
        raise t.refusal("ONNX has no powers of unsigned numbers.")
    t.last("Pow", *t.inputs)
