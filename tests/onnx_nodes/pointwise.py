"""Elementwise operators, reductions and losses of ONNX."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

import playgrad as pg
from playgrad.graph.tensor import Tensor
from tests.onnx_nodes.translation import TRANSLATIONS, Call, NotApplicableError, translates

UNARY: dict[str, Callable[[Tensor], Tensor]] = {
    "Abs": pg.absolute,
    "Acos": pg.arccos,
    "Acosh": pg.arccosh,
    "Asin": pg.arcsin,
    "Asinh": pg.arcsinh,
    "Atan": pg.arctan,
    "Atanh": pg.arctanh,
    "Ceil": pg.ceil,
    "Cos": pg.cos,
    "Cosh": pg.cosh,
    "Erf": pg.erf,
    "Exp": pg.exp,
    "Floor": pg.floor,
    "HardSwish": pg.hard_silu,
    "Identity": pg.identity,
    "IsNaN": pg.is_nan,
    "Log": pg.log,
    "Mish": pg.mish,
    "Neg": pg.neg,
    "Not": pg.logical_not,
    "Reciprocal": pg.reciprocal,
    "Relu": pg.relu,
    "Round": pg.round,
    "Sigmoid": pg.sigmoid,
    "Sign": pg.sign,
    "Sin": pg.sin,
    "Sinh": pg.sinh,
    "Softplus": pg.softplus,
    "Softsign": pg.softsign,
    "Sqrt": pg.sqrt,
    "Tan": pg.tan,
    "Tanh": pg.tanh,
}
BINARY: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "Add": pg.add,
    "And": pg.logical_and,
    "Equal": pg.equal,
    "Greater": pg.greater,
    "GreaterOrEqual": pg.greater_equal,
    "Less": pg.less,
    "LessOrEqual": pg.less_equal,
    "Mul": pg.mul,
    "Or": pg.logical_or,
    "Sub": pg.sub,
    "Xor": pg.logical_xor,
}
SEVERAL: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "Max": pg.maximum,
    "Min": pg.minimum,
    "Sum": pg.add,
}
REDUCTIONS: dict[str, Callable[..., Tensor]] = {
    "ReduceL1": lambda x, axes, keep: pg.reduce_sum(pg.absolute(x), axes, keep),
    "ReduceL2": lambda x, axes, keep: pg.sqrt(pg.reduce_sum(pg.square(x), axes, keep)),
    "ReduceLogSum": lambda x, axes, keep: pg.log(pg.reduce_sum(x, axes, keep)),
    "ReduceLogSumExp": pg.logsumexp,
    "ReduceMax": pg.reduce_max,
    "ReduceMean": pg.reduce_mean,
    "ReduceMin": pg.reduce_min,
    "ReduceProd": pg.reduce_prod,
    "ReduceSum": pg.reduce_sum,
    "ReduceSumSquare": lambda x, axes, keep: pg.reduce_sum(pg.square(x), axes, keep),
}
NOT_OF_NOTHING = (pg.reduce_max, pg.reduce_min, pg.logsumexp)


def _unary(function: Callable[[Tensor], Tensor]) -> Callable[[Call], Tensor]:
    return lambda call: function(call.x)


def _binary(function: Callable[[Tensor, Tensor], Tensor]) -> Callable[[Call], Tensor]:
    return lambda call: function(call.x, call.inputs[1])


def _several(function: Callable[[Tensor, Tensor], Tensor]) -> Callable[[Call], Tensor]:
    return lambda call: reduce(function, call.inputs)


def _reduction(function: Callable[..., Tensor]) -> Callable[[Call], Tensor]:
    def translation(call: Call) -> Tensor:
        keep = bool(call.get("keepdims", 1))
        if call.x.dtype == "bool":
            either = pg.reduce_any if function is pg.reduce_max else pg.reduce_all
            return either(call.x, call.axes, keep)
        if function in NOT_OF_NOTHING and 0 in call.x.shape:
            raise NotApplicableError(
                "the largest or smallest of no elements: an error, as in NumPy"
            )
        if call.axes is None and call.get("noop_with_empty_axes"):
            return function(pg.expand_dims(call.x, 0), 0, False)
        return function(call.x, call.axes, keep)

    return translation


TRANSLATIONS |= {name: _unary(function) for name, function in UNARY.items()}
TRANSLATIONS |= {name: _binary(function) for name, function in BINARY.items()}
TRANSLATIONS |= {name: _several(function) for name, function in SEVERAL.items()}
TRANSLATIONS |= {name: _reduction(function) for name, function in REDUCTIONS.items()}


@translates("Mean")
def _mean(call: Call) -> Tensor:
    return reduce(pg.add, call.inputs) / float(len(call.inputs))


@translates("Div")
def _div(call: Call) -> Tensor:
    """ONNX rounds the quotient of integers towards 0."""
    if call.x.dtype.startswith("float"):
        return pg.div(call.x, call.inputs[1])
    if call.x.dtype.startswith("uint"):
        return pg.floor_divide(call.x, call.inputs[1])
    return pg.cast(pg.trunc(pg.div(call.x, call.inputs[1])), call.x.dtype)


@translates("Mod")
def _mod(call: Call) -> Tensor:
    if call.get("fmod", 0):
        raise NotApplicableError("fmod=1: the remainder has the sign of the dividend")
    return pg.mod(call.x, call.inputs[1])


@translates("Pow")
def _pow(call: Call) -> Tensor:
    other = call.inputs[1]
    assert other is not None
    if other.dtype != call.x.dtype:
        if other.dtype.startswith("float"):
            return pg.cast(pg.pow(pg.cast(call.x, other.dtype), other), call.x.dtype)
        other = pg.cast(other, call.x.dtype)
    return pg.pow(call.x, other)


@translates("Clip")
def _clip(call: Call) -> Tensor:
    x = call.x
    if (low := call.input(1)) is not None:
        x = pg.maximum(x, low)
    return x if (high := call.input(2)) is None else pg.minimum(x, high)


@translates("Where")
def _where(call: Call) -> Tensor:
    return pg.where(*call.inputs)


@translates("IsInf")
def _is_inf(call: Call) -> Tensor:
    result = pg.is_inf(call.x)
    if not call.get("detect_negative", 1):
        result = pg.logical_and(result, call.x > 0.0)
    if not call.get("detect_positive", 1):
        result = pg.logical_and(result, call.x < 0.0)
    return result


@translates("LeakyRelu")
def _leaky_relu(call: Call) -> Tensor:
    return pg.leaky_relu(call.x, call.get("alpha", 0.01))


@translates("Elu")
def _elu(call: Call) -> Tensor:
    return pg.elu(call.x, call.get("alpha", 1.0))


@translates("Celu")
def _celu(call: Call) -> Tensor:
    return pg.celu(call.x, call.get("alpha", 1.0))


@translates("Selu")
def _selu(call: Call) -> Tensor:
    if call.attributes:
        raise NotApplicableError("constants other than those of the paper")
    return pg.selu(call.x)


@translates("Gelu")
def _gelu(call: Call) -> Tensor:
    return pg.gelu(call.x, approximate=call.get("approximate", "none") == "tanh")


@translates("HardSigmoid")
def _hard_sigmoid(call: Call) -> Tensor:
    return pg.clip(call.x * call.get("alpha", 0.2) + call.get("beta", 0.5), 0.0, 1.0)


@translates("Swish")
def _swish(call: Call) -> Tensor:
    return call.x * pg.sigmoid(call.x * call.get("alpha", 1.0))


@translates("PRelu")
def _prelu(call: Call) -> Tensor:
    return pg.relu(call.x) - call.inputs[1] * pg.relu(-call.x)


@translates("ThresholdedRelu")
def _thresholded_relu(call: Call) -> Tensor:
    return pg.where(call.x > call.get("alpha", 1.0), call.x, 0.0)


@translates("Cast", "CastLike")
def _cast(call: Call) -> Tensor:
    like = call.input(1)
    return pg.cast(call.x, call.get("playgrad_dtype") if like is None else like.dtype)


@translates("Softmax")
def _softmax(call: Call) -> Tensor:
    return pg.softmax(call.x, call.get("axis", -1))


@translates("LogSoftmax")
def _log_softmax(call: Call) -> Tensor:
    return pg.log_softmax(call.x, call.get("axis", -1))


@translates("ArgMax", "ArgMin")
def _arg_best(call: Call) -> Tensor:
    call.expect("select_last_index", 0)
    axis = call.get("axis", 0)
    best = (pg.argmax if call.get("operator") == "ArgMax" else pg.argmin)(call.x, axis)
    return pg.expand_dims(best, axis) if call.get("keepdims", 1) else best


@translates("CumSum")
def _cumsum(call: Call) -> Tensor:
    options = (bool(call.get("exclusive", 0)), bool(call.get("reverse", 0)))
    return pg.cumsum(call.x, int(np.squeeze(call.value(1))), *options)


@translates("LpNormalization")
def _lp_normalization(call: Call) -> Tensor:
    axis, p = call.get("axis", -1), call.get("p", 2)
    size = pg.norm(call.x, ord=p, axis=axis, keepdims=True)
    return pg.where(pg.equal(size, 0.0), 0.0 * call.x, call.x / size)


@translates("SoftmaxCrossEntropyLoss")
def _cross_entropy(call: Call) -> Tensor | Sequence[Tensor]:
    call.expect("ignore_index")
    scores: Any = call.x
    if len(scores.shape) != 2:
        raise NotApplicableError("scores of more than two dimensions")
    loss = pg.sparse_softmax_cross_entropy(scores, call.inputs[1])
    weight = call.input(2)
    weights = None if weight is None else pg.take(weight, call.inputs[1], 0)
    loss = loss if weights is None else loss * weights
    reduction = call.get("reduction", "mean")
    if reduction == "sum":
        loss = pg.reduce_sum(loss)
    elif reduction == "mean" and weights is not None:
        loss = pg.reduce_sum(loss) / pg.reduce_sum(weights)
    elif reduction == "mean":
        loss = pg.reduce_mean(loss)
    return [loss, pg.log_softmax(scores)][: len(call.outputs)]
