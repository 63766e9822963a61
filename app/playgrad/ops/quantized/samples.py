"""Biases, multipliers and shifts for the samples of op definitions."""

from __future__ import annotations

import numpy as np

from playgrad.graph.opdef import Array


def channels(outputs: int, depth: int) -> tuple[Array, Array, Array]:
    """Return a bias, multiplier and shift for sums of ``depth`` products, most not too large.

    The first channels have extreme ones.
    """
    random = np.random.default_rng((outputs, depth))
    bias = random.integers(-5000, 5000, outputs)
    multiplier = random.integers(1 << 30, 1 << 31, outputs)
    shift = random.integers(36, 39, outputs) + round(np.log2(depth + 1) / 2)
    for place, edge in enumerate(((1 << 30, 1), ((1 << 31) - 1, 62), (1 << 30, 32), (1 << 30, 33))):
        if place + 2 < outputs:
            multiplier[place], shift[place] = edge
    return bias.astype(np.int32), multiplier.astype(np.int32), shift.astype(np.int32)
