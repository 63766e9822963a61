"""The gates of LSTM and GRU cells: everything of a step but its matrix products."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.errors import DTypeError, ShapeError
from playgrad.graph.autodiff import gradients
from playgrad.graph.opdef import Gradient, InvalidSample, OpDef, Sample, register
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.arrays.concat import concat
from playgrad.ops.arrays.fill import zeros_like
from playgrad.ops.core.build import add_node, as_tensors
from playgrad.ops.core.samples import floats
from playgrad.ops.elementwise import activations
from playgrad.ops.expression import expr as e
from playgrad.ops.expression.logistic import logistic
from playgrad.ops.recurrent.blockwise import Blockwise, blockwise_op


def lstm_cell(gates: Any, cell: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Return the states after one step of a long short-term memory.

    Hochreiter and Schmidhuber 1997, with forget gates (Gers et al. 2000). With
    ``i, f, g, o = gates``, the new cell state is ``sigmoid(f) * cell + sigmoid(i) * tanh(g)``, and
    the hidden state is ``sigmoid(o) * tanh(new cell state)``. One kernel computes both, and one
    their gradient.

    Args:
        gates: sums of the products of input and hidden state, shape (batch, 4 * units), in the
            order of Keras: input gate, forget gate, candidate, output gate. float32 or float64.
        cell: the cell state before the step, shape (batch, units).

    Returns:
        The hidden state and the cell state, each (batch, units).

    Raises:
        ShapeError: the shapes differ from these.
        DTypeError: the element types differ or are not floating.
    """
    hidden, memory = add_node(_LSTM, as_tensors(gates, cell), name=name).outputs
    return hidden, memory


def gru_cell(inputs: Any, recurrent: Any, state: Any, name: str | None = None) -> Tensor:
    """Return the state after one step of a gated recurrent unit.

    Cho et al. 2014, with the reset gate after the recurrent product, as in cuDNN, PyTorch and
    Keras (``reset_after=True``): with ``z, r, n = inputs`` and ``hz, hr, hn = recurrent``, the
    candidate is ``c = tanh(n + sigmoid(r + hr) * hn)``, and the new state is
    ``u * state + (1 - u) * c`` where ``u = sigmoid(z + hz)``. One kernel computes it, and one its
    gradient.

    Args:
        inputs: products of the input, shape (batch, 3 * units), in the order of Keras: update
            gate, reset gate, candidate. float32 or float64.
        recurrent: products of the state, of the same shape and order.
        state: the state before the step, shape (batch, units).

    Returns:
        The state after the step, (batch, units).

    Raises:
        ShapeError: the shapes differ from these.
        DTypeError: the element types differ or are not floating.
    """
    return add_node(_GRU, as_tensors(inputs, recurrent, state), name=name).output


def _sigmoid(x: Any) -> Any:
    return activations.sigmoid(x) if isinstance(x, Tensor) else logistic(x)


def _tanh(x: Any) -> Any:
    return activations.tanh(x) if isinstance(x, Tensor) else e.tanh(x)


def _squashed(i: Any, f: Any, g: Any, o: Any) -> tuple[Any, ...]:
    return _sigmoid(i), _sigmoid(f), _tanh(g), _sigmoid(o)


_SMALLEST = float(np.finfo(np.float32).tiny)
"""Added to a divisor that may be 0: it changes no number from 1e-30."""


def _lstm(i: Any, f: Any, g: Any, o: Any, cell: Any) -> tuple[Any, ...]:
    enter, keep, candidate, leave = _squashed(i, f, g, o)
    memory = keep * cell + enter * candidate
    return leave * _tanh(memory), memory


def lstm_and_squashed(i: Any, f: Any, g: Any, o: Any, cell: Any) -> tuple[Any, ...]:
    """Return the results of an LSTM cell, and its gates squashed."""
    return *_lstm(i, f, g, o, cell), *_squashed(i, f, g, o)


def _lstm_gradient(
    i: Any, f: Any, g: Any, o: Any, cell: Any, by_hidden: Any, by_memory: Any
) -> tuple[Any, ...]:
    enter, keep, candidate, leave = _squashed(i, f, g, o)
    seen = _tanh(keep * cell + enter * candidate)
    return _lstm_gradient_of(enter, keep, candidate, leave, cell, by_hidden, by_memory, seen)


def lstm_gradient_of_squashed(
    enter: Any,
    keep: Any,
    candidate: Any,
    leave: Any,
    cell: Any,
    by_hidden: Any,
    by_memory: Any,
    hidden: Any,
) -> tuple[Any, ...]:
    """Return the gradient of an LSTM cell by its gates, which are given squashed, and its state.

    ``hidden`` is its first result, ``leave * tanh(memory)``. If ``leave`` is so small that the
    quotient is not exact, or 0, all products of the two in the gradient are almost 0.
    """
    seen = hidden / (leave + _SMALLEST)
    return _lstm_gradient_of(enter, keep, candidate, leave, cell, by_hidden, by_memory, seen)


def _lstm_gradient_of(
    enter: Any, keep: Any, candidate: Any, leave: Any, cell: Any, by_hidden: Any, by_memory: Any,
    seen: Any,
) -> tuple[Any, ...]:  # fmt: skip
    slope = by_memory + by_hidden * leave * (1.0 - seen * seen)
    return (
        slope * candidate * enter * (1.0 - enter),
        slope * cell * keep * (1.0 - keep),
        slope * enter * (1.0 - candidate * candidate),
        by_hidden * seen * leave * (1.0 - leave),
        slope * keep,
    )


def _gru(z: Any, r: Any, n: Any, hz: Any, hr: Any, hn: Any, state: Any) -> tuple[Any, ...]:
    update = _sigmoid(z + hz)
    return (update * state + (1.0 - update) * _tanh(n + _sigmoid(r + hr) * hn),)


def _gru_gradient(
    z: Any, r: Any, n: Any, hz: Any, hr: Any, hn: Any, state: Any, by_state: Any
) -> tuple[Any, ...]:
    update, reset = _sigmoid(z + hz), _sigmoid(r + hr)
    candidate = _tanh(n + reset * hn)
    by_n = by_state * (1.0 - update) * (1.0 - candidate * candidate)
    by_z = by_state * (state - candidate) * update * (1.0 - update)
    by_r = by_n * hn * reset * (1.0 - reset)
    return by_z, by_r, by_n, by_z, by_r, by_n * reset, by_state * update


def _by_kernel(op: str) -> Gradient:
    """Return a gradient rule: the op ``op`` of the inputs and the gradients of the outputs."""

    def gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
        flowing = [
            zeros_like(output) if grad is None else grad
            for output, grad in zip(node.outputs, grads, strict=True)
        ]
        return list(add_node(op, [*node.inputs, *flowing]).outputs)

    return gradient


def _by_composition(blockwise: Blockwise) -> Gradient:
    """Return a gradient rule that differentiates the formula as a composition of operations."""

    def gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
        blocks = blockwise.apply(node.inputs)
        results, seeds, first = [], [], 0
        for count, grad in zip(blockwise.outputs, grads, strict=True):
            parts = blocks[first : first + count]
            first += count
            if grad is not None:
                results.append(concat(parts, 1) if count > 1 else parts[0])
                seeds.append(grad)
        return gradients(results, node.inputs, seeds)

    return gradient


def _samples(inputs: Sequence[int], *sizes: tuple[int, int]) -> tuple[Sample, ...]:
    return tuple(
        Sample(tuple(floats(rows, n * units, seed=i) for i, n in enumerate(inputs)))
        for rows, units in sizes
    )


def _cell(
    name: str,
    inputs: dict[str, int],
    formula: Any,
    derivative: Any,
    outputs: tuple[int, ...],
    invalid: Sequence[InvalidSample],
) -> OpDef:
    """Register a cell and its gradient; return the cell."""
    blocks = tuple(inputs.values())
    kernel = f"{name}_gradient"
    flowing = {f"gradient {j}": count for j, count in enumerate(outputs)}
    backward = Blockwise({**inputs, **flowing}, blocks, derivative)
    sizes = ((3, 5), (1, 1), (70, 2), (0, 3))
    register(
        blockwise_op(
            kernel,
            backward,
            _by_composition(backward),
            _samples((*blocks, *outputs), (3, 5), (0, 3)),
        )
    )
    return register(
        blockwise_op(
            name,
            Blockwise(inputs, outputs, formula),
            _by_kernel(kernel),
            (
                *_samples(blocks, *sizes),
                Sample(tuple(floats(2, n * 3) * np.float32(50) for n in blocks), differentiable=()),
            ),
            invalid,
        )
    )


_LSTM = _cell(
    "lstm_cell",
    {"gates": 4, "cell": 1},
    _lstm,
    _lstm_gradient,
    (1, 1),
    (
        InvalidSample(
            (floats(3, 8), floats(3, 4)), {}, ShapeError, "got the shapes (3, 8), (3, 4)"
        ),
        InvalidSample((floats(3, 9), floats(3, 2)), {}, ShapeError, "gates (batch, 4 * units)"),
        InvalidSample((floats(8), floats(2)), {}, ShapeError, "cell (batch, units)"),
        InvalidSample((floats(3, 8), np.ones((3, 2), np.int32)), {}, DTypeError, "not int32"),
        InvalidSample((floats(3, 8), np.ones((3, 2))), {}, DTypeError, "types differ"),
    ),
)
_GRU = _cell(
    "gru_cell",
    {"inputs": 3, "recurrent": 3, "state": 1},
    _gru,
    _gru_gradient,
    (1,),
    (
        InvalidSample(
            (floats(3, 6), floats(2, 6), floats(3, 2)), {}, ShapeError, "(3, 6), (2, 6), (3, 2)"
        ),
        InvalidSample(
            (floats(3, 6), floats(3, 6), np.ones((3, 2), np.int32)), {}, DTypeError, "not int32"
        ),
    ),
)
