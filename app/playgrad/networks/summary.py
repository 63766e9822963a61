"""The table that ``model.summary()`` prints."""

from __future__ import annotations

import math
from collections.abc import Sequence

from playgrad.errors import shape_text
from playgrad.nn.layer import Layer


def summary_text(title: str, layers: Sequence[tuple[str, Layer]]) -> str:
    """Return a table of layers with their output shapes and numbers of parameters, and totals."""
    rows = [("layer", "output shape", "parameters")]
    trainable = fixed = 0
    for name, layer in layers:
        counts = {True: 0, False: 0}
        for variable in layer.variables.values():
            counts[variable.trainable] += math.prod(variable.spec.static_shape)
        trainable += counts[True]
        fixed += counts[False]
        shape = layer.output_shape
        text = shape_text((None, *shape[1:])) if shape is not None else "not built"
        label = f"{name} ({type(layer).__name__})"
        rows.append((label, text, f"{counts[True] + counts[False]:,}"))
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    lines = [f"{row[0]:<{widths[0]}}  {row[1]:<{widths[1]}}  {row[2]:>{widths[2]}}" for row in rows]
    rule = "-" * len(lines[0])
    total = f"{trainable + fixed:,} parameters, {trainable:,} of them trainable"
    return "\n".join([title, rule, lines[0], rule, *lines[1:], rule, total])
