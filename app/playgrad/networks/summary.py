"""The table that ``model.summary()`` prints."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping, Sequence

from playgrad.errors import shape_text
from playgrad.graph.spec import Shape
from playgrad.nn.layer import Layer
from playgrad.runtime.phrases import phrase


def summary_text(
    title: str, layers: Sequence[tuple[str, Layer]], shapes: Mapping[Layer, Shape]
) -> str:
    """Return a table of layers with their output shapes and numbers of parameters, and totals.

    Args:
        shapes: the shapes of the results in the model, where it is built.
    """
    rows = [(phrase("layer"), phrase("outputShape"), phrase("parameters"))]
    trainable = fixed = 0
    for name, layer in layers:
        counts = {True: 0, False: 0}
        for variable in layer.variables.values():
            counts[variable.trainable] += math.prod(variable.spec.static_shape)
        trainable += counts[True]
        fixed += counts[False]
        shape = shapes.get(layer, layer.output_shape)
        text = shape_text((None, *shape[1:])) if shape is not None else phrase("notBuilt")
        label = f"{name} ({type(layer).__name__})"
        rows.append((label, text, f"{counts[True] + counts[False]:,}"))
    widths = [max(_columns(row[i]) for row in rows) for i in range(3)]
    lines = []
    for row in rows:
        blanks = [" " * (width - _columns(text)) for width, text in zip(widths, row, strict=True)]
        lines.append(f"{row[0]}{blanks[0]}  {row[1]}{blanks[1]}  {blanks[2]}{row[2]}")
    rule = "-" * _columns(lines[0])
    total = phrase("total", total=f"{trainable + fixed:,}", trainable=f"{trainable:,}")
    return "\n".join([title, rule, lines[0], rule, *lines[1:], rule, total])


def _columns(text: str) -> int:
    """Return the width of ``text`` in a terminal, where Chinese characters are twice as wide."""
    return sum(1 + (unicodedata.east_asian_width(character) in "WF") for character in text)
