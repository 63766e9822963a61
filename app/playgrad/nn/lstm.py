"""Long short-term memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from playgrad.graph.tensor import Tensor
from playgrad.nn.initializers import Initializer
from playgrad.nn.recurrent import RecurrentLayer, States, recurrent_record
from playgrad.ops.arrays.concat import concat
from playgrad.ops.arrays.fill import ones_like, zeros_like
from playgrad.ops.arrays.getitem import getitem
from playgrad.ops.arrays.join import split
from playgrad.ops.products.matmul import matmul
from playgrad.ops.recurrent.cells import lstm_cell


class LSTM(RecurrentLayer):
    """Long short-term memory (Hochreiter and Schmidhuber 1997) with forget gates, as in Keras.

    Inputs (batch, steps, features), result (batch, units). ``kernel`` is (features, 4 * units),
    ``recurrent_kernel`` (units, 4 * units) and ``bias`` (4 * units,), with the columns of input
    gate, forget gate, candidate and output gate in this order. The states are hidden state and cell
    state. With the default activations, a step is one product and one kernel.

    Args:
        units: number of outputs per step.
        activation: the activation of candidate and cell state; name or function, None for none.
        recurrent_activation: the activation of the gates.
        use_bias: whether to add a bias.
        kernel_initializer, recurrent_initializer, bias_initializer: name or `Initializer`.
        unit_forget_bias: whether the bias of the forget gate starts at 1 (Jozefowicz et al. 2015).
        kernel_regularizer, recurrent_regularizer, bias_regularizer: name or `Regularizer`.
        activity_regularizer: a penalty on the outputs: name or `Regularizer`; None for none.
        kernel_constraint, recurrent_constraint, bias_constraint: name or `Constraint`; None for
            none.
        dropout: the fraction of inputs set to 0 in a training step, the same ones in all steps.
        recurrent_dropout: the dropout of the hidden state.
        seed: the seed of dropout; None derives one from the layer's name.
        return_sequences: whether to return the outputs of all steps, (batch, steps, units).
        return_state: whether to return a list of the output and the states.
        go_backwards: whether to go through the sequence from its end; outputs are in this order.
        stateful: whether a batch starts with the states after the batch before it. Batches then
            have one size, ``pg.Input(shape, batch_size=...)``; ``reset_states()`` of the layer
            or the model sets the states to 0.
        unroll: has no effect: steps are always unrolled, and their number must be known.
        zero_output_for_mask: whether the output of a masked step is 0, rather than that of the
            step before it.

    Raises:
        UnsupportedOpError: cuDNN is asked for.
    """

    kind = "lstm"
    record = recurrent_record(
        "LSTM",
        "Reads a sequence step by step, and learns what to remember and what to forget.",
        place=2,
        blocks=4,
        tfjs="recurrent_activation",
        module="LSTM",
    )
    blocks = 4
    state_count = 2

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        recurrent_activation: Any = "sigmoid",
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        bias_initializer: Any = "zeros",
        unit_forget_bias: bool = True,
        kernel_regularizer: Any = None,
        recurrent_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        recurrent_constraint: Any = None,
        bias_constraint: Any = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        seed: int | None = None,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        use_cudnn: Any = "auto",
        zero_output_for_mask: bool = False,
        name: str | None = None,
    ) -> None:
        arguments = dict(locals())
        super().__init__(name)
        self.configure(arguments)

    def first_bias(self) -> Any:
        others = self.bias_initializer
        return _WithForgetBias(others) if self.unit_forget_bias else others

    def step(self, x: Tensor, states: States | None, *weights: Tensor) -> States:
        gates = x if states is None else matmul(states[0], weights[0]) + x
        memory = states[1] if states else zeros_like(getitem(x, (slice(None), slice(self.units))))
        if (self.activation, self.recurrent_activation) == ("tanh", "sigmoid"):
            return lstm_cell(gates, memory)
        i, f, g, o = split(gates, 4, axis=1)
        memory = self._gate(f) * memory + self._gate(i) * self._activate(g)
        return self._gate(o) * self._activate(memory), memory


@dataclass(frozen=True)
class _WithForgetBias(Initializer):
    """``others``, and 1 for the second of four blocks."""

    others: Initializer

    def __call__(self, shape: tuple[int, ...], seed: int) -> Tensor:
        i, f, g, o = split(self.others(shape, seed), 4)
        return concat([i, ones_like(f), g, o], 0)
