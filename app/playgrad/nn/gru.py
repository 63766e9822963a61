"""Gated recurrent units."""

from __future__ import annotations

from typing import Any

from playgrad.graph.tensor import Tensor
from playgrad.nn.recurrent import RecurrentLayer, States, recurrent_record
from playgrad.ops.arrays.fill import zeros_like
from playgrad.ops.arrays.getitem import getitem
from playgrad.ops.arrays.join import split
from playgrad.ops.products.matmul import matmul
from playgrad.ops.recurrent.cells import gru_cell


class GRU(RecurrentLayer):
    """Gated recurrent unit (Cho et al. 2014), as in Keras.

    Inputs (batch, steps, features), result (batch, units). ``kernel`` is (features, 3 * units) and
    ``recurrent_kernel`` (units, 3 * units), with the columns of update gate, reset gate and
    candidate in this order. ``bias`` is (2, 3 * units), of which the second row is added to the
    recurrent product; (3 * units,) without ``reset_after``. With the default activations and
    ``reset_after``, a step is one product and one kernel.

    Args:
        units: number of outputs per step.
        activation: the activation of the candidate; name or function, None for none.
        recurrent_activation: the activation of the gates.
        use_bias: whether to add a bias.
        kernel_initializer, recurrent_initializer, bias_initializer: name or `Initializer`.
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
        reset_after: whether the reset gate multiplies the recurrent product, as in cuDNN and
            PyTorch, rather than the state before it, as in the paper.
        zero_output_for_mask: whether the output of a masked step is 0, rather than that of the
            step before it.

    Raises:
        UnsupportedOpError: cuDNN is asked for.
    """

    kind = "gru"
    record = recurrent_record(
        "GRU",
        "Reads a sequence step by step with a memory; simpler than LSTM, and often as good.",
        place=3,
        blocks=3,
        tfjs="recurrent_activation reset_after",
        module="GRU",
    )
    blocks = 3

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        recurrent_activation: Any = "sigmoid",
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        bias_initializer: Any = "zeros",
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
        reset_after: bool = True,
        use_cudnn: Any = "auto",
        zero_output_for_mask: bool = False,
        name: str | None = None,
    ) -> None:
        arguments = dict(locals())
        super().__init__(name)
        self.configure(arguments)

    def bias_shape(self) -> tuple[int, ...]:
        return (2, 3 * self.units) if self.reset_after else (3 * self.units,)

    def input_bias(self) -> Tensor:
        bias = self.variables["bias"]
        return getitem(bias, 0) if self.reset_after else bias

    def recurrent_weights(self) -> tuple[Tensor, ...]:
        kernel = self.variables["recurrent_kernel"]
        if not self.reset_after:
            return tuple(split(kernel, [2 * self.units], axis=1))
        return (kernel, getitem(self.variables["bias"], 1)) if self.use_bias else (kernel,)

    def step(self, x: Tensor, states: States | None, *weights: Tensor) -> States:
        columns = (slice(None), slice(self.units))
        state = states[0] if states else zeros_like(getitem(x, columns))
        if not self.reset_after:
            return (self._reset_before(x, state, *weights),)
        recurrent = zeros_like(x) if states is None else matmul(state, weights[0])
        for bias in weights[1:]:
            recurrent = recurrent + bias
        if (self.activation, self.recurrent_activation) == ("tanh", "sigmoid"):
            return (gru_cell(x, recurrent, state),)
        z, r, n = split(x, 3, axis=1)
        hz, hr, hn = split(recurrent, 3, axis=1)
        candidate = self._activate(n + self._gate(r + hr) * hn)
        return (_mixed(self._gate(z + hz), state, candidate),)

    def _reset_before(
        self, x: Tensor, state: Tensor, by_gates: Tensor, by_candidate: Tensor
    ) -> Tensor:
        z, r, n = split(x, 3, axis=1)
        hz, hr = split(matmul(state, by_gates), 2, axis=1)
        reset = self._gate(r + hr) * state
        candidate = self._activate(n + matmul(reset, by_candidate))
        return _mixed(self._gate(z + hz), state, candidate)


def _mixed(update: Tensor, state: Tensor, candidate: Tensor) -> Tensor:
    return update * state + (1.0 - update) * candidate
