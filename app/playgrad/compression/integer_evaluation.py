"""Evaluating an integer program with the references of its operations, which define it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from playgrad.compression.integer_program import IntegerProgram, IntegerStep
from playgrad.graph.opdef import lookup

Array = np.ndarray[Any, Any]

_CONSTANTS = ("kernel", "bias", "multiplier", "shift", "table")


def evaluate(program: IntegerProgram, feeds: Mapping[str, Array]) -> list[Array]:
    """Return the outputs of a program.

    Args:
        feeds: the inputs by name, with the batch as the first axis.
    """
    values = dict(feeds)
    for step in program.steps:
        inputs = [values[name] for name in step.inputs]
        compute = _MOVES.get(step.op, _reference)
        values[step.output] = compute(step, inputs, program.tensors[step.output].shape)
    return [values[name] for name in program.outputs]


def _reference(step: IntegerStep, inputs: Sequence[Array], shape: tuple[int, ...]) -> Array:
    constants = [step.constants[name] for name in _CONSTANTS if name in step.constants]
    (result,) = lookup(step.op).reference([*inputs, *constants], step.attrs)
    return result


def _transpose(step: IntegerStep, inputs: Sequence[Array], shape: tuple[int, ...]) -> Array:
    return inputs[0].transpose(step.attrs["permutation"])


def _upsample(step: IntegerStep, inputs: Sequence[Array], shape: tuple[int, ...]) -> Array:
    height, width = step.attrs["factors"]
    return inputs[0].repeat(height, axis=1).repeat(width, axis=2)


_MOVES: dict[str, Callable[[IntegerStep, Sequence[Array], tuple[int, ...]], Array]] = {
    "reshape": lambda step, inputs, shape: inputs[0].reshape(len(inputs[0]), *shape),
    "transpose": _transpose,
    "concat": lambda step, inputs, shape: np.concatenate(inputs, step.attrs["axis"]),
    "gather": lambda step, inputs, shape: step.constants["table"][inputs[0]],
    "upsample": _upsample,
}
