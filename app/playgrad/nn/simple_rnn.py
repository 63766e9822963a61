"""The simple recurrent layer."""

from __future__ import annotations

from typing import Any

from playgrad.graph.tensor import Tensor
from playgrad.nn.recurrent import RecurrentLayer, States, recurrent_record
from playgrad.ops.products.matmul import matmul


class SimpleRNN(RecurrentLayer):
    """Recurrent layer whose output is its state: ``activation(x @ kernel + h @ recurrent_kernel)``.

    Elman 1990. Inputs (batch, steps, features), result (batch, units). ``kernel`` is
    (features, units), ``recurrent_kernel`` (units, units) and ``bias`` (units,).

    Args:
        units: number of outputs per step.
        activation: name or function; None for none.
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
        zero_output_for_mask: whether the output of a masked step is 0, rather than that of the
            step before it.

    Raises:
        UnsupportedOpError: cuDNN is asked for.
    """

    kind = "simple_rnn"
    record = recurrent_record(
        "SimpleRNN",
        "Reads a sequence step by step; its memory fades soon.",
        place=4,
        blocks=1,
        tfjs="",
        module="RNN",
    )
    blocks = 1

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
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
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        seed: int | None = None,
        zero_output_for_mask: bool = False,
        name: str | None = None,
    ) -> None:
        arguments = dict(locals())
        super().__init__(name)
        self.configure(arguments)

    def step(self, x: Tensor, states: States | None, *weights: Tensor) -> States:
        return (self._activate(x if states is None else matmul(states[0], weights[0]) + x),)
