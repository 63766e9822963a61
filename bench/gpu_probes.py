"""The probes of `bench.gpu_kernels`, and the comparison of their variants.

The file needs only the library: it is also part of a program that runs in playgrad's page. Sizes
are rows × depth × columns; ᵀ says that an operand is stored transposed. "mixed" is mixed precision,
with the time to round the operands.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from playgrad.graph.graph import MIXED
from playgrad.graph.opdef import lookup
from playgrad.runtime.recurrent_probe import LSTM_STEPS, lstm_shapes, lstm_work
from playgrad.runtime.row_probe import FEED_FORWARD, feed_forward_shapes, feed_forward_work
from playgrad.runtime.tuner import Probe, Tuner

WINDOW = {"strides": [1, 1], "padding": [[0, 0], [0, 0]]}
SAME = {"strides": [1, 1], "padding": [[2, 2], [2, 2]]}


def product(name: str, rows: int, depth: int, columns: int, a: str = "", b: str = "") -> Probe:
    """Return the probe of a product; ``a`` or ``b`` is "T" where the operand is transposed."""
    shapes = (
        (depth, rows) if a else (rows, depth),
        (columns, depth) if b else (depth, columns),
    )
    size = f"{rows} × {depth} × {columns}".replace(" × ", "ᵀ × ", 1 if a else 0)
    attrs = {"transpose_a": bool(a), "transpose_b": bool(b)}
    text = f"{name} {size}{'ᵀ' if b else ''}".strip()
    return Probe(text, "product", lookup("matmul"), shapes, 2 * rows * depth * columns, attrs)


def convolutions(
    name: str, image: Sequence[int], size: int, outputs: int, attrs: dict[str, Any]
) -> list[Probe]:
    """Return the probes of a convolution and its two gradients."""
    batch, height, width, channels = image
    shrink = size - 1 - sum(attrs["padding"][0])
    pixels = (batch, height - shrink, width - shrink, outputs)
    filters = (size, size, channels, outputs)
    work = 2 * math.prod(pixels) * math.prod(filters[:3])
    text = f"{name} {size} × {size} × {channels} × {outputs}"

    def probe(what: str, op: str, *shapes: tuple[int, ...], **more: Any) -> Probe:
        inputs = tuple(shapes)
        return Probe(f"{text}{what}", "convolution", lookup(op), inputs, work, {**attrs, **more})

    images = (batch, height, width, channels)
    probes = [
        probe("", "conv2d", images, filters),
        probe(", by filters", "conv2d_filter_gradient", images, pixels, kernel_size=[size, size]),
    ]
    if channels > 1:
        size_of_image = {"image_size": [height, width]}
        probes.append(
            probe(", by image", "conv2d_input_gradient", filters, pixels, **size_of_image)
        )
    return probes


def memory(name: str, op: str, shape: tuple[int, ...], passes: int = 2, **attrs: Any) -> Probe:
    """Return a probe whose work is the bytes that must be moved: ``passes`` times the tensor."""
    shapes = (shape, *((shape[-1:],) * 2 if op == "layer_normalization" else ()))
    return Probe(
        f"{name}, {4 * math.prod(shape) >> 20} MiB", "memory", lookup(op), shapes,
        4 * passes * math.prod(shape), attrs,
    )  # fmt: skip


def reduction(name: str, shape: tuple[int, ...], axes: list[int]) -> Probe:
    """Return the probe of a sum along ``axes``, whose work is the bytes that it reads."""
    attrs = {"axes": axes, "keepdims": False}
    size = 4 * math.prod(shape)
    text = f"{name}, {size >> 20} MiB"
    return Probe(text, "reduction", lookup("reduce_sum"), (shape,), size, attrs)


def rounded(probes: Sequence[Probe]) -> list[Probe]:
    """Return ``probes`` in mixed precision; rounding the operands is part of their time."""
    return [replace(each, name=f"mixed {each.name}", precision=MIXED) for each in probes]


def recurrence(name: str, rows: int, steps: int, units: int) -> Probe:
    """Return the probe of the steps of an LSTM, forwards."""
    return Probe(
        f"{name} LSTM {steps} steps × {rows} × {units}".strip(), "recurrence", LSTM_STEPS,
        lstm_shapes(rows, steps, units), lstm_work(rows, steps, units), scale=0.1,
    )  # fmt: skip


def feed_forward(name: str, rows: int, units: int, wide: int) -> Probe:
    """Return the probe of the network in a block of a transformer, with its normalizations."""
    return Probe(
        f"{name} network {rows} × {units} × {wide}".strip(), "rows", FEED_FORWARD,
        feed_forward_shapes(rows, units, wide), feed_forward_work(rows, units, wide), scale=0.3,
    )  # fmt: skip


PROBES = (
    *(product("", n, n, n) for n in (256, 512, 1024, 2048)),
    product("W1", 64, 784, 128),
    product("W1", 784, 64, 128, a="T"),
    product("W1B", 128, 784, 512),
    product("W1B", 128, 512, 512, b="T"),
    product("W4", 256, 64, 256),
    product("W5", 64, 128, 512),
    product("W5", 128, 1792, 512, a="T"),
    product("deep", 64, 8192, 64),
    *convolutions("W3", (32, 28, 28, 1), 3, 32, WINDOW),
    *convolutions("W3", (32, 26, 26, 32), 3, 64, WINDOW),
    memory("negative", "neg", (8192, 4096)),
    memory("reversed rows", "strided_slice", (8192, 4096), slices=[[None, None, -1], [None] * 3]),
    memory("transposed", "transpose", (8192, 4096), perm=[1, 0]),
    memory("heads", "transpose", (32, 512, 32, 64), perm=[0, 2, 1, 3]),
    memory("softmax", "softmax", (32768, 1024), axis=1),
    memory("layer normalization", "layer_normalization", (32768, 1024), epsilon=1e-5),
    recurrence("W5", 64, 28, 128),
    recurrence("", 256, 28, 128),
    recurrence("", 64, 28, 64),
    recurrence("", 32, 100, 256),
    feed_forward("W4", 256, 64, 256),
    feed_forward("", 2048, 64, 256),
    feed_forward("", 512, 128, 512),
    product("", 4096, 4096, 4096),
    *rounded([product("", n, n, n) for n in (256, 1024, 2048, 4096)]),
    *rounded([product("W1B", 128, 784, 512), product("W1B", 128, 512, 512, b="T")]),
    *rounded(convolutions("W3", (32, 26, 26, 32), 3, 64, WINDOW)),
    *convolutions("W2", (64, 28, 28, 1), 5, 6, SAME),
    *convolutions("W2", (64, 14, 14, 6), 5, 16, WINDOW),
    reduction("sums of rows", (32768, 1024), [1]),
    reduction("sums of columns", (32768, 1024), [0]),
)
"""The most important ones first, as time may end."""


@dataclass
class Measured:
    """The seconds of each variant in one probe."""

    probe: Probe
    seconds: dict[str, float]

    def rates(self) -> dict[str, float]:
        """Return GFLOP/s, or for memory GB/s, by variant."""
        return {name: self.probe.work / seconds / 1e9 for name, seconds in self.seconds.items()}


def compare(device: Any, probes: Sequence[Probe], seconds: float) -> Iterator[Measured]:
    """Measure ``probes`` in turn, as long as there is time."""
    started = time.perf_counter()
    tuner = Tuner(device, probes)
    while not tuner.is_done and time.perf_counter() - started < seconds:
        probe = tuner.measure_next()
        yield Measured(probe, dict(tuner.times[probe.name]))


def chosen(kinds: Sequence[str], largest: float) -> list[Probe]:
    """Return the probes of ``kinds``, or of all, with at most ``largest`` · 10⁹ operations."""
    return [
        probe
        for probe in PROBES
        if (not kinds or probe.kind in kinds) and probe.work <= 1e9 * largest
    ]
