"""Made-up integer programs with every operation, for the writers of files."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from playgrad.compression.integer_program import IntegerProgram, IntegerStep, IntegerTensor

Array = np.ndarray[Any, Any]
Shape = tuple[int, ...]

_ANYWHERE = (
    "matmul", "rescale", "add", "lookup", "softmax", "reshape", "transpose", "concat",
)  # fmt: skip
_OF_IMAGES = ("conv2d", "conv2d", "transposed_conv2d", "pool", "pool", "upsample")
KINDS = sorted({*_ANYWHERE, *_OF_IMAGES, "embedding"})
"""Kinds of steps: methods of `RandomProgram`."""


class RandomProgram:
    """A program that grows by operations of random attributes.

    The numbers of each step fit the scales of its tensors, as those of a trained network do.
    """

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.tensors: dict[str, IntegerTensor] = {}
        self.inputs: list[str] = []
        self.steps: list[IntegerStep] = []

    def int(self, low: int, high: int) -> int:
        """Return a number in [low, high]."""
        return int(self.random.integers(low, high + 1))

    def real(self, low: float, high: float) -> float:
        """Return a float32 between the ends, by its logarithm."""
        return float(np.float32(np.exp(self.random.uniform(np.log(low), np.log(high)))))

    def input(self, shape: Shape, dtype: str = "int8") -> str:
        name = f"input {len(self.inputs)}"
        self.inputs.append(name)
        ends = (self.real(0.001, 0.1), self.int(-128, 127)) if dtype == "int8" else (1.0, 0)
        self.tensors[name] = IntegerTensor(shape, *ends, dtype)
        return name

    def shape(self, name: str) -> Shape:
        return self.tensors[name].shape

    def step(
        self,
        op: str,
        inputs: list[str],
        shape: Shape,
        attrs: dict[str, Any] | None = None,
        constants: dict[str, Array] | None = None,
        scale: float | None = None,
    ) -> str:
        """Append a step, whose output has the scale and zero point of the input by default."""
        attrs = attrs or {}
        kept = self.tensors[inputs[0]]
        zero_point = attrs.get("zero_point", kept.zero_point)
        output = f"{op}/{len(self.steps)}"
        self.tensors[output] = IntegerTensor(shape, scale or kept.scale, zero_point, "int8")
        layer = f"{op} {self.int(0, 3)}"  # some layers are called twice
        self.steps.append(IntegerStep(op, layer, tuple(inputs), output, attrs, constants or {}))
        return output

    def kernel(self, *shape: int) -> Array:
        """Return dense, clustered or pruned weights."""
        values = self.random.integers(-127, 128, self.int(2, 40))
        kind = self.int(0, 5)
        weights = self.random.integers(-127, 128, shape)
        if kind in (1, 3):
            weights = self.random.choice(values, shape)
        if kind == 5:  # each unit has values of its own
            weights = self.random.choice(values[:9], shape) * self.random.uniform(0, 1, shape[-1])
        if kind in (2, 3):
            weights = np.where(self.random.random(shape) < 0.85, 0, weights)
        return (weights * (kind != 4 or self.int(0, 3) > 0)).astype(np.int8)

    def ends(self) -> dict[str, int]:
        low, high = (-128, 127) if self.int(0, 1) else sorted((self.int(-128, 0), self.int(1, 127)))
        return {"zero_point": self.int(-128, 127), "low": low, "high": high}

    def products(self, x: str, kernel: Array) -> tuple[dict[str, Array], float]:
        """Return the constants of a product, and the scale of its output."""
        units, size = kernel.shape[-1], kernel[..., 0].size
        scales = np.float32([self.real(0.001, 0.02) for _ in range(units)])
        kept = self.tensors[x]
        scale = self.real(0.5, 2) * kept.scale * float(scales.mean()) * 90 * math.sqrt(size)
        factors = [multiplier_and_shift(kept.scale * float(each) / scale) for each in scales]
        bias = self.random.integers(-9000, 9000, units)
        folded = bias - kept.zero_point * kernel.reshape(-1, units).sum(0, dtype=np.int64)
        constants = {
            "kernel": kernel,
            "bias": folded.astype(np.int32),
            "multiplier": np.int32([multiplier for multiplier, _ in factors]),
            "shift": np.int32([shift for _, shift in factors]),
            "weight_scale": scales,
        }
        return constants, scale

    def matmul(self, x: str) -> str:
        shape = self.shape(x)
        kernel = self.kernel(shape[-1], self.int(1, 12))
        constants, scale = self.products(x, kernel)
        shape = (*shape[:-1], kernel.shape[-1])
        return self.step("quantized_matmul", [x], shape, self.ends(), constants, scale)

    def conv2d(self, x: str) -> str:
        strides, dilations = [self.int(1, 3), self.int(1, 2)], [self.int(1, 2), self.int(1, 2)]
        channels = self.shape(x)[2]
        groups = int(self.random.choice([g for g in (1, 2, channels) if channels % g == 0]))
        return self.convolution(x, strides, dilations, [1, 1], groups)

    def transposed_conv2d(self, x: str) -> str:
        dilations, spread = [self.int(1, 2), self.int(1, 2)], [self.int(1, 2), self.int(1, 3)]
        return self.convolution(x, [1, 1], dilations, spread, 1)

    def convolution(
        self, x: str, strides: list[int], dilations: list[int], spread: list[int], groups: int
    ) -> str:
        height, width, channels = self.shape(x)
        size = [self.int(1, 3), self.int(1, 4)]
        padding, out = [], []
        for extent, apart, gap, stride, taps in zip(
            (height, width), spread, dilations, strides, size, strict=True
        ):
            window, inside = (taps - 1) * gap + 1, (extent - 1) * apart + 1
            most = window - 1 if apart == 1 else window + 1  # with rows of the bias alone
            before, after = self.int(0, most), self.int(0, most)
            after += max(0, window - inside - before - after)
            padding.append([before, after])
            out.append((inside + before + after - window) // stride + 1)
        kernel = self.kernel(*size, channels // groups, groups * self.int(1, 3))
        attrs = {
            "strides": strides, "padding": padding, "dilation": dilations, "groups": groups,
            "input_dilation": spread, "pad_value": self.tensors[x].zero_point, **self.ends(),
        }  # fmt: skip
        constants, scale = self.products(x, kernel)
        shape = (*out, kernel.shape[-1])
        return self.step("quantized_conv2d", [x], shape, attrs, constants, scale)

    def pool(self, x: str) -> str:
        height, width, channels = self.shape(x)
        window = [self.int(1, min(3, height)), self.int(1, min(3, width))]
        strides = [self.int(1, 2), self.int(1, 3)]
        padding = [[self.int(0, size - 1), self.int(0, size - 1)] for size in window]
        out = [
            (extent + sum(pad) - size) // stride + 1
            for extent, pad, size, stride in zip(
                (height, width), padding, window, strides, strict=True
            )
        ]
        op = ("quantized_max_pool2d", "quantized_avg_pool2d")[self.int(0, 1)]
        attrs: dict[str, Any] = {"window": window, "strides": strides, "padding": padding}
        scale = self.tensors[x].scale
        if op == "quantized_avg_pool2d":
            scale *= self.real(0.3, 1)
            pixels, padded = window[0] * window[1], any(map(any, padding))
            factors = mean_factors(self.tensors[x].scale / scale, pixels, padded)
            attrs |= {**factors, **self.ends()}
            attrs["input_zero_point"] = self.tensors[x].zero_point
        return self.step(op, [x], (*out, channels), attrs, scale=scale)

    def rescale(self, x: str) -> str:
        scale = self.tensors[x].scale * self.real(0.3, 2)
        return self.rescaled(x, scale, self.ends())

    def rescaled(self, x: str, scale: float, ends: dict[str, int]) -> str:
        kept = self.tensors[x]
        multiplier, shift = multiplier_and_shift(kept.scale / scale)
        attrs = {
            "input_zero_point": kept.zero_point, "multiplier": multiplier, "shift": shift, **ends
        }  # fmt: skip
        return self.step("rescale", [x], self.shape(x), attrs, scale=scale)

    def add(self, x: str) -> str:
        others = [name for name in self.int8() if self.shape(name) == self.shape(x)]
        other = others[self.int(0, len(others) - 1)]
        left, right = self.tensors[x], self.tensors[other]
        scale = max(left.scale, right.scale) * self.real(0.6, 2)
        attrs = {
            "left_zero_point": left.zero_point, "right_zero_point": right.zero_point,
            "left_multiplier": round(left.scale / scale * 2**20),
            "right_multiplier": round(right.scale / scale * 2**20),
            "shift": 20, **self.ends(),
        }  # fmt: skip
        return self.step("quantized_add", [x, other], self.shape(x), attrs, scale=scale)

    def lookup(self, x: str) -> str:
        table = self.random.integers(-128, 128, 256).astype(np.int8)
        return self.step("lookup", [x], self.shape(x), {}, {"table": table})

    def softmax(self, x: str) -> str:
        powers = np.exp(self.tensors[x].scale * (np.arange(256) - 255.0))
        constants = {"table": np.rint(2.0**20 * powers).astype(np.int32)}
        output = self.step("quantized_softmax", [x], self.shape(x), {}, constants)
        self.tensors[output] = IntegerTensor(self.shape(x), 1 / 256, -128, "int8")
        return output

    def reshape(self, x: str) -> str:
        shape = self.shape(x)
        flat = (math.prod(shape),)
        return self.step("reshape", [x], flat if len(shape) > 1 else (1, *shape))

    def transpose(self, x: str) -> str:
        order = [int(axis) for axis in self.random.permutation(len(self.shape(x)))]
        shape = tuple(self.shape(x)[axis] for axis in order)
        permutation = (0, *(axis + 1 for axis in order))
        return self.step("transpose", [x], shape, {"permutation": permutation})

    def concat(self, x: str) -> str:
        shape = self.shape(x)
        axis = self.int(0, len(shape) - 1)
        fits = [
            name for name in self.int8()
            if len(self.shape(name)) == len(shape)
            and self.shape(name)[:axis] == shape[:axis]
            and self.shape(name)[axis + 1 :] == shape[axis + 1 :]
        ]  # fmt: skip
        parts = [x, *(fits[self.int(0, len(fits) - 1)] for _ in range(self.int(1, 2)))]
        kept = self.tensors[x]
        ends = {"zero_point": kept.zero_point, "low": -128, "high": 127}
        parts = [
            name if self.tensors[name][1:] == kept[1:] else self.rescaled(name, kept.scale, ends)
            for name in parts
        ]
        total = sum(self.shape(name)[axis] for name in parts)
        shape = (*shape[:axis], total, *shape[axis + 1 :])
        return self.step("concat", parts, shape, {"axis": axis + 1})

    def upsample(self, x: str) -> str:
        height, width, channels = self.shape(x)
        factors = (self.int(1, 2), self.int(1, 3))
        shape = (height * factors[0], width * factors[1], channels)
        return self.step("upsample", [x], shape, {"factors": factors})

    def embedding(self) -> str:
        indices = self.input((self.int(1, 5),), "int32")
        table = self.kernel(self.int(1, 20), self.int(1, 7))
        shape = (*self.shape(indices), table.shape[1])
        return self.step("gather", [indices], shape, {}, {"table": table})

    def int8(self) -> list[str]:
        return [name for name, tensor in self.tensors.items() if tensor.dtype == "int8"]

    def program(self) -> IntegerProgram:
        """Return a program of a few steps, and sometimes with several inputs and outputs."""
        if self.int(0, 4):
            self.image()
        else:
            self.embedding()
        for _ in range(self.int(2, 9)):
            names = self.int8()
            x = names[-1] if self.int(0, 2) else names[self.int(0, len(names) - 1)]
            fitting = _ANYWHERE + _OF_IMAGES * (len(self.shape(x)) == 3)
            name = getattr(self, fitting[self.int(0, len(fitting) - 1)])(x)
            if math.prod(self.shape(name)) > 3000:
                break
        names = self.int8()
        return self.finished(names[-1], *self.random.choice(names, self.int(0, 2)).tolist())

    def single(self, kind: str) -> IntegerProgram:
        """Return a program of one step, beside the rescaling of what is concatenated."""
        if kind == "embedding":
            return self.finished(self.embedding())
        x = self.image()
        if kind in ("add", "concat"):
            shape = self.shape(x)
            self.input((*shape[:-1], self.int(1, 3)) if kind == "concat" else shape)
        return self.finished(getattr(self, kind)(x))

    def image(self) -> str:
        return self.input((self.int(2, 7), self.int(2, 6), self.int(1, 4)))

    def finished(self, *outputs: str) -> IntegerProgram:
        names = tuple(dict.fromkeys(outputs))
        return IntegerProgram(tuple(self.inputs), names, self.tensors, tuple(self.steps))


def mean_factors(factor: float, pixels: int, padded: bool) -> dict[str, list[int]]:
    """Return the factors of a mean over so many pixels, fewer where there is padding."""
    counts = range(pixels, 0, -1) if padded else [pixels]
    pairs = [multiplier_and_shift(factor / count) for count in counts]
    return {"multipliers": [a for a, _ in pairs], "shifts": [b for _, b in pairs]}


def multiplier_and_shift(factor: float) -> tuple[int, int]:
    """Return (multiplier, shift) with a multiplier in [2^30, 2^31)."""
    mantissa, exponent = math.frexp(factor)
    multiplier = round(mantissa * 2**31)
    return (multiplier, 31 - exponent) if multiplier < 2**31 else (2**30, 30 - exponent)


def feeds_of(program: IntegerProgram, cases: int, seed: int) -> dict[str, Array]:
    """Return made-up inputs, with the cases as the first axis."""
    random = np.random.default_rng(seed)
    rows = {
        name: step.constants["table"].shape[0]
        for step in program.steps
        if step.op == "gather"
        for name in step.inputs
    }
    feeds = {}
    for name in program.inputs:
        tensor = program.tensors[name]
        low, high = (0, rows[name]) if name in rows else (-128, 128)
        feeds[name] = random.integers(low, high, (cases, *tensor.shape)).astype(tensor.dtype)
    return feeds
