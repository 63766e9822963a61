"""The probe of recurrent layers: all steps of an LSTM, by a dispatch for each or by one for all."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from playgrad.graph.opdef import Array, Attrs, OpDef, lookup
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Tensor
from playgrad.ops.arrays.join import stack, unstack
from playgrad.ops.products.matmul import matmul
from playgrad.ops.recurrent.cells import lstm_cell


def _infer(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    steps, rows, _ = inputs[0].static_shape
    return [TensorSpec((steps, rows, inputs[1].static_shape[0]), "float32")]


def _expand(inputs: Sequence[Tensor], attrs: Attrs) -> list[Tensor]:
    products, kernel, hidden, memory = inputs
    outputs = []
    for product in unstack(products):
        hidden, memory = lstm_cell(matmul(hidden, kernel) + product, memory)
        outputs.append(hidden)
    return [stack(outputs)]


def _reference(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    products, kernel, hidden, memory = inputs
    outputs = []
    for product in products:
        gates = hidden @ kernel + product
        hidden, memory = lookup("lstm_cell").reference([gates, memory], {})
        outputs.append(hidden)
    return [np.stack(outputs)]


LSTM_STEPS = OpDef("lstm_steps", _infer, _reference, expand=_expand)
"""Hidden states (steps, rows, units) of the products of the inputs (steps, rows, 4 * units), the
recurrent kernel and the first hidden and cell states. It becomes the graph that a layer has."""


def lstm_shapes(rows: int, steps: int, units: int) -> tuple[tuple[int, ...], ...]:
    """Return the shapes of the inputs of ``LSTM_STEPS``."""
    return (steps, rows, 4 * units), (units, 4 * units), (rows, units), (rows, units)


def lstm_work(rows: int, steps: int, units: int) -> int:
    """Return the number of arithmetic operations of the products."""
    return 2 * steps * rows * units * 4 * units
