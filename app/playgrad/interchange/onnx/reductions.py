"""Sums, extremes and normalizations in ONNX."""

from __future__ import annotations

from playgrad.interchange.onnx.builder import TYPES
from playgrad.interchange.onnx.opsets import REDUCTIONS
from playgrad.interchange.onnx.translation import Translation, translates

_REDUCTIONS = {
    "reduce_sum": "ReduceSum", "reduce_mean": "ReduceMean", "reduce_prod": "ReduceProd",
    "reduce_max": "ReduceMax", "reduce_min": "ReduceMin",
}  # fmt: skip
_ALONG_AXIS = {"softmax": "Softmax", "log_softmax": "LogSoftmax"}
_PLACES = {"argmax": "ArgMax", "argmin": "ArgMin"}


@translates(*_REDUCTIONS)
def _reduce(t: Translation) -> None:
    kind, axes, keepdims = _REDUCTIONS[t.node.op.name], t.attrs["axes"], int(t.attrs["keepdims"])
    if not axes:
        t.last("Identity", t.inputs[0])
    elif kind in REDUCTIONS:  # which the file may need in another form
        t.last(kind, t.inputs[0], axes=axes, keepdims=keepdims)
    else:
        t.last(kind, t.inputs[0], t.ints(axes), keepdims=keepdims)


@translates(*_ALONG_AXIS)
def _along_axis(t: Translation) -> None:
    t.last(_ALONG_AXIS[t.node.op.name], t.inputs[0], axis=t.attrs["axis"])


@translates(*_PLACES)
def _place(t: Translation) -> None:
    place = t.op(_PLACES[t.node.op.name], t.inputs[0], axis=t.attrs["axis"], keepdims=0)
    t.last("Cast", place, to=TYPES[t.dtype.name])


@translates("cumsum")
def _cumsum(t: Translation) -> None:
    exclusive, reverse = int(t.attrs["exclusive"]), int(t.attrs["reverse"])
    t.last("CumSum", t.inputs[0], t.ints([t.attrs["axis"]]), exclusive=exclusive, reverse=reverse)


@translates("layer_normalization")
def _layer_normalization(t: Translation) -> None:
    t.last("LayerNormalization", *t.inputs, axis=-1, epsilon=t.attrs["epsilon"])
