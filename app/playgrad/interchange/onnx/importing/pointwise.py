"""Elementwise operators, reductions and losses of ONNX."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from playgrad import ops
from playgrad.graph.tensor import Tensor
from playgrad.interchange.onnx.importing.call import (
    TRANSLATIONS,
    NotApplicableError,
    OperatorCall,
    translates,
)

UNARY: dict[str, Callable[[Tensor], Tensor]] = {
    "Abs": ops.absolute,
    "Acos": ops.arccos,
    "Acosh": ops.arccosh,
    "Asin": ops.arcsin,
    "Asinh": ops.arcsinh,
    "Atan": ops.arctan,
    "Atanh": ops.arctanh,
    "Ceil": ops.ceil,
    "Cos": ops.cos,
    "Cosh": ops.cosh,
    "Erf": ops.erf,
    "Exp": ops.exp,
    "Floor": ops.floor,
    "HardSwish": ops.hard_silu,
    "Identity": ops.identity,
    "IsNaN": ops.is_nan,
    "Log": ops.log,
    "Mish": ops.mish,
    "Neg": ops.neg,
    "Not": ops.logical_not,
    "Reciprocal": ops.reciprocal,
    "Relu": ops.relu,
    "Round": ops.round,
    "Sigmoid": ops.sigmoid,
    "Sign": ops.sign,
    "Sin": ops.sin,
    "Sinh": ops.sinh,
    "Softplus": ops.softplus,
    "Softsign": ops.softsign,
    "Sqrt": ops.sqrt,
    "Tan": ops.tan,
    "Tanh": ops.tanh,
}
BINARY: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "Add": ops.add,
    "And": ops.logical_and,
    "Equal": ops.equal,
    "Greater": ops.greater,
    "GreaterOrEqual": ops.greater_equal,
    "Less": ops.less,
    "LessOrEqual": ops.less_equal,
    "Mul": ops.mul,
    "Or": ops.logical_or,
    "Sub": ops.sub,
    "Xor": ops.logical_xor,
}
SEVERAL: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "Max": ops.maximum,
    "Min": ops.minimum,
    "Sum": ops.add,
}
REDUCTIONS: dict[str, Callable[..., Tensor]] = {
    "ReduceL1": lambda x, axes, keep: ops.reduce_sum(ops.absolute(x), axes, keep),
    "ReduceL2": lambda x, axes, keep: ops.sqrt(ops.reduce_sum(ops.square(x), axes, keep)),
    "ReduceLogSum": lambda x, axes, keep: ops.log(ops.reduce_sum(x, axes, keep)),
    "ReduceLogSumExp": ops.logsumexp,
    "ReduceMax": ops.reduce_max,
    "ReduceMean": ops.reduce_mean,
    "ReduceMin": ops.reduce_min,
    "ReduceProd": ops.reduce_prod,
    "ReduceSum": ops.reduce_sum,
    "ReduceSumSquare": lambda x, axes, keep: ops.reduce_sum(ops.square(x), axes, keep),
}
_SELU = np.asarray([1.6732632423543772, 1.0507009873554805], np.float32)
NOT_OF_NOTHING = (ops.reduce_max, ops.reduce_min, ops.logsumexp)


def _unary(function: Callable[[Tensor], Tensor]) -> Callable[[OperatorCall], Tensor]:
    return lambda call: function(call.x)


def _binary(function: Callable[[Tensor, Tensor], Tensor]) -> Callable[[OperatorCall], Tensor]:
    return lambda call: function(call.x, call.required(1))


def _several(function: Callable[[Tensor, Tensor], Tensor]) -> Callable[[OperatorCall], Tensor]:
    return lambda call: reduce(function, call.all)


def _reduction(function: Callable[..., Tensor]) -> Callable[[OperatorCall], Tensor]:
    def translation(call: OperatorCall) -> Tensor:
        keep = bool(call.get("keepdims", 1))
        if call.x.dtype == "bool":
            either = ops.reduce_any if function is ops.reduce_max else ops.reduce_all
            return either(call.x, call.axes, keep)
        if function in NOT_OF_NOTHING and 0 in call.x.shape:
            raise NotApplicableError(
                "the largest or smallest of no elements: an error, as in NumPy"
            )
        if call.axes is None and call.get("noop_with_empty_axes"):
            return function(ops.expand_dims(call.x, 0), 0, False)
        return function(call.x, call.axes, keep)

    return translation


TRANSLATIONS |= {name: _unary(function) for name, function in UNARY.items()}
TRANSLATIONS |= {name: _binary(function) for name, function in BINARY.items()}
TRANSLATIONS |= {name: _several(function) for name, function in SEVERAL.items()}
TRANSLATIONS |= {name: _reduction(function) for name, function in REDUCTIONS.items()}


@translates("Mean")
def _mean(call: OperatorCall) -> Tensor:
    return reduce(ops.add, call.all) / float(len(call.all))


@translates("Div")
def _div(call: OperatorCall) -> Tensor:
    """ONNX rounds the quotient of integers towards 0."""
    x, y = call.x, call.required(1)
    if x.dtype.startswith("float"):
        return ops.div(x, y)
    quotient = ops.floor_divide(x, y)
    if x.dtype.startswith("uint"):
        return quotient
    rounded_down = ops.logical_and(ops.not_equal(quotient * y, x), ops.logical_xor(x < 0, y < 0))
    return quotient + ops.cast(rounded_down, x.dtype)


@translates("Mod")
def _mod(call: OperatorCall) -> Tensor:
    x, y = call.x, call.required(1)
    if not call.get("fmod", 0) or x.dtype.startswith("uint"):
        return ops.mod(x, y)
    rest = ops.mod(ops.absolute(x), ops.absolute(y))
    return ops.where(x < 0, -rest, rest)  # with the sign of the dividend


@translates("Pow")
def _pow(call: OperatorCall) -> Tensor:
    other = call.required(1)
    if other.dtype != call.x.dtype:
        if other.dtype.startswith("float"):
            return ops.cast(ops.pow(ops.cast(call.x, other.dtype), other), call.x.dtype)
        other = ops.cast(other, call.x.dtype)
    return ops.pow(call.x, other)


@translates("Clip")
def _clip(call: OperatorCall) -> Tensor:
    x = call.x
    if (low := call.input(1)) is not None:
        x = ops.maximum(x, low)
    return x if (high := call.input(2)) is None else ops.minimum(x, high)


@translates("Where")
def _where(call: OperatorCall) -> Tensor:
    return ops.where(*call.all)


@translates("IsInf")
def _is_inf(call: OperatorCall) -> Tensor:
    result = ops.is_inf(call.x)
    if not call.get("detect_negative", 1):
        result = ops.logical_and(result, call.x > 0.0)
    if not call.get("detect_positive", 1):
        result = ops.logical_and(result, call.x < 0.0)
    return result


@translates("LeakyRelu")
def _leaky_relu(call: OperatorCall) -> Tensor:
    return ops.leaky_relu(call.x, call.get("alpha", 0.01))


@translates("Elu")
def _elu(call: OperatorCall) -> Tensor:
    return ops.elu(call.x, call.get("alpha", 1.0))


@translates("Celu")
def _celu(call: OperatorCall) -> Tensor:
    return ops.celu(call.x, call.get("alpha", 1.0))


@translates("Selu")
def _selu(call: OperatorCall) -> Tensor:
    alpha, gamma = call.get("alpha", _SELU[0]), call.get("gamma", _SELU[1])
    if np.array_equal(np.asarray([alpha, gamma], np.float32), _SELU):
        return ops.selu(call.x)
    return ops.elu(call.x, alpha) * gamma


@translates("Gelu")
def _gelu(call: OperatorCall) -> Tensor:
    return ops.gelu(call.x, approximate=call.get("approximate", "none") == "tanh")


@translates("HardSigmoid")
def _hard_sigmoid(call: OperatorCall) -> Tensor:
    return ops.clip(call.x * call.get("alpha", 0.2) + call.get("beta", 0.5), 0.0, 1.0)


@translates("Swish")
def _swish(call: OperatorCall) -> Tensor:
    return call.x * ops.sigmoid(call.x * call.get("alpha", 1.0))


@translates("PRelu")
def _prelu(call: OperatorCall) -> Tensor:
    return ops.relu(call.x) - call.required(1) * ops.relu(-call.x)


@translates("ThresholdedRelu")
def _thresholded_relu(call: OperatorCall) -> Tensor:
    return ops.where(call.x > call.get("alpha", 1.0), call.x, 0.0)


@translates("Cast", "CastLike")
def _cast(call: OperatorCall) -> Tensor:
    like = call.input(1)
    return ops.cast(call.x, call.get("playgrad_dtype") if like is None else like.dtype)


@translates("Softmax")
def _softmax(call: OperatorCall) -> Tensor:
    return ops.softmax(call.x, call.get("axis", -1))


@translates("LogSoftmax")
def _log_softmax(call: OperatorCall) -> Tensor:
    return ops.log_softmax(call.x, call.get("axis", -1))


@translates("ArgMax", "ArgMin")
def _arg_best(call: OperatorCall) -> Tensor:
    call.expect("select_last_index", 0)
    axis = call.get("axis", 0)
    best = (ops.argmax if call.get("operator") == "ArgMax" else ops.argmin)(call.x, axis)
    return ops.expand_dims(best, axis) if call.get("keepdims", 1) else best


@translates("CumSum")
def _cumsum(call: OperatorCall) -> Tensor:
    options = (bool(call.get("exclusive", 0)), bool(call.get("reverse", 0)))
    return ops.cumsum(call.x, int(np.squeeze(call.numbers(1))), *options)


@translates("LpNormalization")
def _lp_normalization(call: OperatorCall) -> Tensor:
    axis, p = call.get("axis", -1), call.get("p", 2)
    size = ops.norm(call.x, ord=p, axis=axis, keepdims=True)
    return ops.where(ops.equal(size, 0.0), 0.0 * call.x, call.x / size)


@translates("SoftmaxCrossEntropyLoss")
def _cross_entropy(call: OperatorCall) -> Tensor | Sequence[Tensor]:
    call.expect("ignore_index")
    scores: Any = call.x
    if len(scores.shape) != 2:
        raise NotApplicableError("scores of more than two dimensions")
    loss = ops.sparse_softmax_cross_entropy(scores, call.required(1))
    weight = call.input(2)
    weights = None if weight is None else ops.take(weight, call.required(1), 0)
    loss = loss if weights is None else loss * weights
    reduction = call.get("reduction", "mean")
    if reduction == "sum":
        loss = ops.reduce_sum(loss)
    elif reduction == "mean" and weights is not None:
        loss = ops.reduce_sum(loss) / ops.reduce_sum(weights)
    elif reduction == "mean":
        loss = ops.reduce_mean(loss)
    return [loss, ops.log_softmax(scores)][: len(call.outputs)]
