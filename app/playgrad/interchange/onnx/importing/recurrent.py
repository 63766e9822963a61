"""Recurrent operators of ONNX, as the operations of each step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from playgrad import ops
from playgrad.graph.tensor import Tensor
from playgrad.interchange.onnx.importing.call import (
    NotApplicableError,
    OperatorCall,
    translates,
)

_COST = 2048
"""Part of the budget of a call that a step takes: its operations need memory, too."""

States = list[Tensor]
_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "Relu": ops.relu,
    "Sigmoid": ops.sigmoid,
    "Tanh": ops.tanh,
}


@dataclass(frozen=True)
class _Cell:
    """The weights of one direction.

    Attributes:
        inputs: the products of the inputs with their weights (steps, batch, gates * size).
        recurrent: the weights of the state (gates * size, size).
        bias: the bias of the products of the state (gates * size,), or None.
        size: the size of the state.
        activations: the functions of the gates, in ONNX's order.
        reset_after: whether a GRU resets the product of the state, not the state.
    """

    inputs: Tensor
    recurrent: Tensor
    bias: Tensor | None
    size: int
    activations: Sequence[Callable[[Tensor], Tensor]]
    reset_after: bool

    def of_inputs(self, step: int, first: int, last: int) -> Tensor:
        """Return the part of the gates from ``first`` until ``last``, of the inputs."""
        return self.inputs[step, :, first * self.size : last * self.size]

    def of_state(self, state: Tensor, first: int, last: int) -> Tensor:
        """Return the part of the gates from ``first`` until ``last``, of the state."""
        part = slice(first * self.size, last * self.size)
        result = ops.matmul(state, self.recurrent[part, :], transpose_b=True)
        return result if self.bias is None else result + self.bias[part]


def _rnn(cell: _Cell, step: int, states: States) -> States:
    (f,) = cell.activations
    return [f(cell.of_inputs(step, 0, 1) + cell.of_state(states[0], 0, 1))]


def _gru(cell: _Cell, step: int, states: States) -> States:
    f, g = cell.activations
    (state,) = states
    gates = f(cell.of_inputs(step, 0, 2) + cell.of_state(state, 0, 2))
    update, reset = gates[:, : cell.size], gates[:, cell.size :]
    if cell.reset_after:
        candidate = g(cell.of_inputs(step, 2, 3) + reset * cell.of_state(state, 2, 3))
    else:
        candidate = g(cell.of_inputs(step, 2, 3) + cell.of_state(reset * state, 2, 3))
    return [(1.0 - update) * candidate + update * state]


def _lstm(cell: _Cell, step: int, states: States) -> States:
    f, g, h = cell.activations
    state, memory = states
    sums = cell.of_inputs(step, 0, 4) + cell.of_state(state, 0, 4)
    size = cell.size
    enter, leave, keep = (f(sums[:, i * size : (i + 1) * size]) for i in range(3))
    memory = keep * memory + enter * g(sums[:, 3 * size :])
    return [leave * h(memory), memory]


_CELLS = {
    "RNN": (_rnn, 1, 1, ["Tanh"]),
    "GRU": (_gru, 3, 1, ["Sigmoid", "Tanh"]),
    "LSTM": (_lstm, 4, 2, ["Sigmoid", "Tanh", "Tanh"]),
}
"""The step of each operator, its numbers of gates and states, and its activations."""


@translates(*_CELLS)
def _recurrent(call: OperatorCall) -> Sequence[Tensor]:
    advance, gates, count, usual = _CELLS[call.get("operator")]
    call.expect("input_forget", 0)
    for name in ("clip", "activation_alpha", "activation_beta"):
        call.expect(name)
    if call.input(4) is not None or call.input(7) is not None:
        raise NotApplicableError("sequence_lens or peepholes")
    batch_first = bool(call.get("layout", 0))
    x = ops.transpose(call.x, [1, 0, 2]) if batch_first else call.x
    steps = x.shape[0]
    directions = {"forward": [1], "reverse": [-1], "bidirectional": [1, -1]}
    orders = directions[call.get("direction", "forward")]
    if steps is None or steps == 0:
        raise NotApplicableError("sequences of unknown length")
    call.budget.spend(_COST * steps * len(orders))
    names = call.get("activations") or usual * len(orders)
    results, lasts = [], []
    for number, order in enumerate(orders):
        chosen = names[number * len(usual) : (number + 1) * len(usual)]
        cell = _cell(call, x, number, gates, chosen)
        states = _initial(call, cell, number, count)
        outputs: dict[int, Tensor] = {}
        for step in range(steps)[::order]:
            states = advance(cell, step, states)
            outputs[step] = states[0]
        results.append(ops.stack([outputs[step] for step in range(steps)], 0))
        lasts.append(states)
    final = [ops.stack([states[i] for states in lasts], 0) for i in range(count)]
    every = ops.stack(results, 1)
    if not batch_first:
        return [every, *final][: len(call.outputs)]
    every = ops.transpose(every, [2, 0, 1, 3])
    return [every, *(ops.transpose(each, [1, 0, 2]) for each in final)][: len(call.outputs)]


def _cell(call: OperatorCall, x: Tensor, number: int, gates: int, names: Sequence[str]) -> _Cell:
    unknown = next((name for name in names if name not in _ACTIVATIONS), None)
    if unknown is not None:
        raise NotApplicableError(f"activation {unknown}")
    weights, recurrent = (call.required(i)[number] for i in (1, 2))
    size = recurrent.shape[1] or 0
    inputs = ops.matmul(x, weights, transpose_b=True)
    bias = None
    if (biases := call.input(3)) is not None:
        inputs = inputs + biases[number, : gates * size]
        bias = biases[number, gates * size :]
    functions = [_ACTIVATIONS[name] for name in names]
    after = bool(call.get("linear_before_reset", 0))
    return _Cell(inputs, recurrent, bias, size, functions, after)


def _initial(call: OperatorCall, cell: _Cell, number: int, count: int) -> States:
    """Return the states before the first step."""
    zeros = ops.zeros_like(cell.of_inputs(0, 0, 1))
    given = [call.input(i) for i in (5, 6)[:count]]
    place = (slice(None), number) if call.get("layout", 0) else number
    return [zeros if states is None else states[place] for states in given]
