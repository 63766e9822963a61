"""CTC: the loss of a sequence whose labels are not aligned with the outputs, and its decoding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from playgrad.errors import DataError, ShapeError, shape_text
from playgrad.graph.opdef import Array, Attrs, InvalidSample, OpDef, Sample, register
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.arrays.fill import ones_like
from playgrad.ops.arrays.gather import as_indices
from playgrad.ops.arrays.shape import expand_dims
from playgrad.ops.core.build import add_node, as_tensor, expect_dtype, expect_floating
from playgrad.ops.core.samples import floats, integers
from playgrad.ops.elementwise.definitions import cast, not_equal
from playgrad.ops.lowering.ctc import lower_ctc_gradient, lower_ctc_loss
from playgrad.ops.reductions.ctc_paths import Paths, find_paths
from playgrad.ops.reductions.reduce import reduce_sum
from playgrad.ops.reductions.softmax import log_softmax


def ctc_loss(
    target: Any,
    output: Any,
    target_length: Any = None,
    output_length: Any = None,
    mask_index: int = 0,
    zero_infinity: bool = False,
    name: str | None = None,
) -> Tensor:
    """Return the CTC loss of each sample: ``-log`` of the probability of all its alignments.

    Connectionist temporal classification (Graves et al. 2006). An alignment has one class for each
    time; without repetitions, and then without blanks, it is the target.

    Args:
        target: labels of shape (batch, labels); int32, uint32 or uint8.
        output: logits of shape (batch, times, classes), before softmax; float32 or float64.
        target_length: the number of labels of each sample, (batch,); None counts the labels before
            the padding, ``mask_index``.
        output_length: the number of times of each sample, (batch,); None for all.
        mask_index: the class of the blank, which is no label.
        zero_infinity: make the loss of samples without an alignment 0, and so its gradient.

    Returns:
        A tensor of shape (batch,) and the dtype of ``output``. It is infinite, and its gradient
        NaN, if there are fewer times than labels and blanks between equal labels.

    Raises:
        ShapeError: the shapes differ from these, or ``mask_index`` is not a class.
        DTypeError: ``output`` is not floating, or the others are not integer.
        DataError: a label is not a class or is the blank, or a length is out of range, in a run.
    """
    logits = as_tensor(output)
    labels = as_indices(target, logits)
    if target_length is None:
        target_length = reduce_sum(cast(not_equal(labels, mask_index), "int32"), axis=-1)
    if output_length is None:
        output_length = reduce_sum(ones_like(cast(logits[:, :, 0], "int32")), axis=-1)
    lengths = [as_indices(length, logits) for length in (target_length, output_length)]
    attrs = {"blank": int(mask_index), "zero_infinity": bool(zero_infinity)}
    inputs = [log_softmax(logits), labels, *lengths]
    return add_node(_CTC, inputs, attrs, name=name).outputs[0]


def _infer(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    log_probs, target, *lengths = inputs
    expect_floating(log_probs, "the output of ctc_loss")
    if log_probs.rank != 3:
        raise ShapeError(
            f"the output must have the shape (batch, times, classes), not "
            f"{shape_text(log_probs.shape)}."
        )
    for spec, what, rank in (
        (target, "the target", 2),
        (lengths[0], "target_length", 1),
        (lengths[1], "output_length", 1),
    ):
        expect_dtype(spec, what, "int32")
        sizes = {log_probs.shape[0], spec.shape[0] if spec.rank else None} - {None}
        if spec.rank != rank or len(sizes) > 1:
            expected = "(batch, labels)" if rank == 2 else "(batch,)"
            raise ShapeError(
                f"{what} must have the shape {expected}, one for each sample: it is "
                f"{shape_text(spec.shape)}, the output {shape_text(log_probs.shape)}."
            )
    classes = log_probs.shape[2]
    if attrs["blank"] < 0 or (classes is not None and attrs["blank"] >= classes):
        raise ShapeError(f"the blank {attrs['blank']} must be one of the {classes} classes.")
    known = [spec.shape[0] for spec in inputs if spec.shape[0] is not None]
    batch = known[0] if known else None
    return [TensorSpec((batch,), log_probs.dtype)]


def _infer_gradient(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    (loss,) = _infer(inputs[:4], attrs)
    return [TensorSpec((*loss.shape, *inputs[0].shape[1:]), loss.dtype)]


def _check(arrays: Sequence[Array], inputs: Sequence[TensorSpec], attrs: Attrs) -> str | None:
    target, target_length, output_length = arrays
    times, classes = inputs[0].shape[1:]
    assert times is not None and classes is not None
    for what, lengths, limit in (
        ("target_length", target_length, target.shape[1]),
        ("output_length", output_length, times),
    ):
        wrong = np.flatnonzero((lengths < 0) | (lengths > limit))
        if wrong.size:
            return (
                f"{what} must lie in [0, {limit}], but is {lengths[wrong[0]]} for sample "
                f"{wrong[0]}."
            )
    used = np.arange(target.shape[1]) < target_length[:, None]
    misfits = np.argwhere(used & ((target < 0) | (target >= classes) | (target == attrs["blank"])))
    if not len(misfits):
        return None
    sample, place = misfits[0]
    return (
        f"labels must be classes in [0, {classes}) other than the blank {attrs['blank']}, but "
        f"sample {sample} has {target[sample, place]} at position {place}."
    )


def _paths(inputs: Sequence[Array], attrs: Attrs) -> Paths:
    log_probs, target, target_length, output_length = inputs[:4]
    specs = [TensorSpec(array.shape, array.dtype.name) for array in inputs]
    problem = _check(inputs[1:4], specs, attrs)
    if problem:
        raise DataError(problem)
    return find_paths(log_probs, target, target_length, output_length, attrs["blank"])


def _reference(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    loss = -_paths(inputs, attrs).total
    if attrs["zero_infinity"]:
        loss[np.isinf(loss)] = 0
    return [loss]


def _gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    assert grads[0] is not None
    derivative = add_node(_DERIVATIVE, node.inputs, node.attrs).output
    return [expand_dims(grads[0], (1, 2)) * derivative, None, None, None]


def _log_probs(*shape: int, seed: int = 0) -> Array:
    logits = floats(*shape, seed=seed).astype(np.float64)
    return (logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))).astype(np.float32)


def _numbers(*values: Any) -> Array:
    return np.array(values, np.int32)


_ATTRS = {"blank": 0, "zero_infinity": False}
_VARIED = (
    _log_probs(4, 7, 5),
    _numbers([1, 2, 3], [2, 2, 0], [0, 0, 0], [4, 0, 0]),
    _numbers(3, 2, 0, 1),
    _numbers(7, 5, 4, 1),
)
"""Samples of several lengths, with equal labels side by side, no labels, and a single time."""
_IMPOSSIBLE = (_log_probs(2, 2, 3), _numbers([1, 1], [1, 2]), _numbers(2, 2), _numbers(2, 2))
"""Two equal labels in two times, without room for the blank between them."""

_CTC = register(
    OpDef(
        name="ctc_loss",
        infer=_infer,
        reference=_reference,
        gradient=_gradient,
        checked=(1, 2, 3),
        check=_check,
        lower=lower_ctc_loss,
        samples=(
            Sample(_VARIED, _ATTRS, differentiable=(0,)),
            Sample(
                (
                    _log_probs(3, 20, 9),
                    integers(3, 8, high=8),
                    _numbers(8, 5, 3),
                    _numbers(20, 20, 11),
                ),
                {"blank": 8, "zero_infinity": False},
                differentiable=(0,),
            ),
            Sample(_IMPOSSIBLE, {"blank": 0, "zero_infinity": True}, differentiable=(0,)),
            Sample(_IMPOSSIBLE, _ATTRS, differentiable=()),
            Sample(
                (_log_probs(2, 3, 4), np.zeros((2, 0), np.int32), _numbers(0, 0), _numbers(3, 0)),
                _ATTRS,
                differentiable=(0,),
            ),
            Sample(
                (_log_probs(0, 3, 4), np.zeros((0, 2), np.int32), _numbers(), _numbers()),
                _ATTRS,
                differentiable=(),
            ),
            Sample(
                (_log_probs(2, 0, 4), _numbers([1], [0]), _numbers(1, 0), _numbers(0, 0)),
                _ATTRS,
                differentiable=(),
            ),
        ),
        invalid=(
            InvalidSample(
                (_log_probs(3, 4), *_VARIED[1:]), _ATTRS, ShapeError, "(batch, times, classes)"
            ),
            InvalidSample(
                (_VARIED[0], _VARIED[1][:3], *_VARIED[2:]), _ATTRS, ShapeError, "(batch, labels)"
            ),
            InvalidSample(
                _VARIED, {"blank": 5, "zero_infinity": False}, ShapeError, "one of the 5 classes"
            ),
        ),
    )
)


# Its derivatives


def _derivative(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    paths = _paths(inputs, attrs)
    derivative = -paths.by_class(paths.posterior(), inputs[0].shape[2])
    if attrs["zero_infinity"]:
        derivative[np.isinf(paths.total)] = 0
    return [derivative]


def _gradient_of_derivative(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    assert grads[0] is not None
    product = add_node(_CURVATURE, [*node.inputs, grads[0]], node.attrs).output
    return [product, None, None, None]


_DERIVATIVE = register(
    OpDef(
        name="ctc_loss_gradient",
        infer=_infer_gradient,
        reference=_derivative,
        gradient=_gradient_of_derivative,
        checked=(1, 2, 3),
        check=_check,
        lower=lower_ctc_gradient,
        # The contract checks its gradient as the second one of the loss; there is no third.
        samples=tuple(replace(sample, differentiable=()) for sample in _CTC.samples),
        invalid=_CTC.invalid,
    )
)


def _infer_curvature(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    (derivative,) = _infer_gradient(inputs[:4], attrs)
    direction = inputs[4]
    fits = direction.rank == 3 and all(
        None in (m, n) or m == n for m, n in zip(direction.shape, derivative.shape, strict=True)
    )
    if direction.dtype != derivative.dtype or not fits:
        raise ShapeError(
            f"the direction must be {derivative.dtype} of shape (batch, times, classes), here "
            f"{shape_text(derivative.shape)}, not {direction.dtype} {shape_text(direction.shape)}."
        )
    return [derivative]


def _curvature(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    paths = _paths(inputs, attrs)
    direction = np.take_along_axis(inputs[4], paths.states[:, None, :], 2)
    with np.errstate(invalid="ignore"):
        slope = paths.posterior_slope(direction)
    if attrs["zero_infinity"]:
        slope[np.isinf(paths.total)] = 0
    return [-paths.by_class(slope, inputs[0].shape[2])]


_CURVATURE = register(
    OpDef(
        name="ctc_loss_curvature",
        infer=_infer_curvature,
        reference=_curvature,
        samples=(Sample((*_VARIED, floats(4, 7, 5, seed=1)), _ATTRS),),
        invalid=(
            InvalidSample((*_VARIED, floats(4, 7)), _ATTRS, ShapeError, "(batch, times, classes)"),
        ),
    )
)
"""The product of the second derivative of the loss of each sample with a direction."""
