"""A program on its way to TensorFlow Lite: tensors, padding, and limits of results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from playgrad.compression.integer_program import IntegerProgram, IntegerStep, IntegerTensor
from playgrad.interchange.tflite.builder import Quantization, TFLiteBuilder

Padding = Sequence[Sequence[int]]

_ACTIVATIONS = {
    "NONE": (-np.inf, np.inf),
    "RELU": (0, np.inf),
    "RELU6": (0, 6),
    "RELU_N1_TO_1": (-1, 1),
}
"""The real numbers to which activation functions limit."""


class TFLiteWriter:
    """A program, and the file that grows from it.

    Attributes:
        numbers: the number of each tensor.
    """

    def __init__(self, program: IntegerProgram, builder: TFLiteBuilder) -> None:
        self.program = program
        self.builder = builder
        self.numbers: dict[str, int] = {}

    def tensor(self, name: str) -> int:
        """Return the number of a tensor of the program."""
        if name not in self.numbers:
            kept = self.program.tensors[name]
            self.numbers[name] = self._add(name, kept.shape, kept)
        return self.numbers[name]

    def inputs(self, step: IntegerStep) -> list[int]:
        return [self.tensor(name) for name in step.inputs]

    def temporary(
        self, step: IntegerStep, shape: Sequence[int], like: str, dtype: str = "int8"
    ) -> int:
        """Append a tensor with the scale of ``like``."""
        return self._add(step.name, shape, self.program.tensors[like]._replace(dtype=dtype))

    def _add(self, name: str, shape: Sequence[int], kept: IntegerTensor) -> int:
        return self.builder.tensor(name, shape, kept.dtype, quantization(kept))

    def ints(self, step: IntegerStep, values: Any) -> int:
        return self.builder.constant(f"{step.name}/ints", np.array(values, np.int32))

    def limited(
        self, step: IntegerStep, add: Callable[[int, int], None], bare: bool = False
    ) -> None:
        """Add an operator whose output is limited to ``low`` and ``high``.

        Args:
            add: adds it, for the number of its output and its activation function.
            bare: whether it has no activation function.
        """
        kept, output = self.program.tensors[step.output], self.tensor(step.output)
        limits = (step.attrs["low"], step.attrs["high"])
        name = _activation(kept, *limits)
        if name is not None and (not bare or name == "NONE"):
            add(output, self.builder.enum("ActivationFunctionType", name))
            return
        ends: list[tuple[str, int]] = []
        if limits[0] > -128:
            ends.append(("MAXIMUM", limits[0]))
        if limits[1] < 127:
            ends.append(("MINIMUM", limits[1]))
        numbers = [self.temporary(step, kept.shape, step.output) for _ in ends] + [output]
        add(numbers[0], self.builder.enum("ActivationFunctionType", "NONE"))
        for position, (kind, limit) in enumerate(ends):
            end = self.builder.constant(
                f"{step.name}/{kind}", np.array([limit], np.int8), quantization(kept)
            )
            self.builder.operator(
                kind, [numbers[position], end], numbers[position + 1], 2, "MaximumMinimumOptions"
            )

    def padded(
        self, step: IntegerStep, padding: Padding, window: Sequence[int], value: int
    ) -> tuple[int, str]:
        """Return the input with padding that is not the operator's own, and that one's name.

        Args:
            window: height and width of the pixels that an output depends on.
            value: the number that is put around.
        """
        height, width, channels = self.program.tensors[step.inputs[0]].shape
        strides, x = step.attrs["strides"], self.tensor(step.inputs[0])
        sides = [list(pair) for pair in padding]
        if sides == [[0, 0], [0, 0]]:
            return x, "VALID"
        same = [
            _same(size, taken, stride)
            for size, taken, stride in zip((height, width), window, strides, strict=True)
        ]
        if sides == same:
            return x, "SAME"
        shape = (height + sum(sides[0]), width + sum(sides[1]), channels)
        wider = self.temporary(step, shape, step.inputs[0])
        kept = quantization(self.program.tensors[step.inputs[0]])
        filler = self.builder.constant(f"{step.name}/value", np.array([value], np.int8), kept)
        around = self.ints(step, [[0, 0], *sides, [0, 0]])
        self.builder.operator("PADV2", [x, around, filler], wider, 2, "PadV2Options")
        return wider, "VALID"

    def padding(self, name: str) -> int:
        return self.builder.enum("Padding", name)


def quantization(tensor: IntegerTensor) -> Quantization | None:
    """Return the scale of a tensor of int8."""
    if tensor.dtype != "int8":
        return None
    return Quantization(np.array([tensor.scale]), np.array([tensor.zero_point]))


def _same(size: int, window: int, stride: int) -> list[int]:
    total = max(0, (-(-size // stride) - 1) * stride + window - size)
    return [total // 2, total - total // 2]


def _activation(tensor: IntegerTensor, low: int, high: int) -> str | None:
    """Return the activation function that limits a tensor to [low, high]."""
    scale, zero_point = np.float32(tensor.scale), tensor.zero_point
    for name, (least, most) in _ACTIVATIONS.items():
        bottom = -128 if least == -np.inf else max(-128, zero_point + _round(least / scale))
        top = 127 if most == np.inf else min(127, zero_point + _round(most / scale))
        if (bottom, top) == (low, high):
            return name
    return None


def _round(value: Any) -> int:
    """Round halves away from 0, as the runtime does."""
    return int(np.copysign(np.floor(abs(value) + 0.5), value))
