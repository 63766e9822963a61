"""Checks of labels, and the words of their errors."""

from __future__ import annotations

from typing import Any

import numpy as np

from playgrad.errors import DataError
from playgrad.graph.spec import Shape

Array = np.ndarray[Any, Any]


def check_labels(labels: Array, classes: int, what: str, layer: str) -> None:
    """Raise DataError unless all labels are in [0, classes)."""
    outside = (labels < 0) | (labels >= classes)
    if not outside.any():
        return
    position, last = int(np.argmax(outside)), int(labels.max())
    sample = position // (labels.size // len(labels))
    if labels.min() < 0:
        hint = "Labels count from 0: renumber the classes, or remove such samples."
    elif labels.min() > 0 and last == classes:
        hint = f"Labels count from 0: subtract 1 from the labels in {what}."
    else:
        hint = outputs_hint(layer, last + 1, "correct the labels")
    raise DataError(
        f"{what} contains the label {labels.flat[position]:g} (sample {sample}), but the model's "
        f"output has {classes} class{'es' * (classes != 1)}: labels must be "
        f"{'0' if classes == 1 else f'0 to {classes - 1}'}.",
        hint=hint,
        code="labels-outside",
        values={"layer": layer, "outputs": classes, "least": int(labels.min()), "most": last},
    )


def outputs_hint(layer: str, count: int, otherwise: str) -> str:
    """Return a hint to give ``layer`` as many outputs, or to do ``otherwise``."""
    return f"Give '{layer}' {count} output{'s' * (count != 1)}, or {otherwise}."


def fits(sizes: tuple[int, ...], shape: Shape) -> bool:
    """Return whether a sample of these ``sizes`` has ``shape``, of which sizes may be unknown."""
    return len(sizes) == len(shape) and all(
        known in (None, size) for size, known in zip(sizes, shape, strict=True)
    )


def count_of(shape: Shape) -> int:
    """Return the number of values of a sample; unknown sizes count as 1."""
    count = 1
    for size in shape:
        count *= 1 if size is None else size
    return count
