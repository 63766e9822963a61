"""The restricted Boltzmann machine, trained by contrastive divergence."""

from __future__ import annotations

from typing import Any

from playgrad.errors import ShapeError, shape_text
from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.nn import initializers
from playgrad.nn.layer import Layer
from playgrad.nn.seeds import seed_of
from playgrad.ops.arrays.shape import reshape, stop_gradient
from playgrad.ops.elementwise.activations import sigmoid, softplus
from playgrad.ops.elementwise.definitions import cast
from playgrad.ops.products.matmul import matmul
from playgrad.ops.random.uniform_like import random_uniform_like
from playgrad.ops.reductions.reduce import reduce_mean, reduce_sum
from playgrad.ops.reductions.softmax import softmax


class RestrictedBoltzmannMachine(Layer):
    """Restricted Boltzmann machine: binary hidden units that explain the visible ones.

    As a layer, it returns the probability that each hidden unit is on, so that a stack of trained
    machines, a deep belief net (Hinton et al. 2006), is a model that `fit` can fine-tune. To train
    one alone, minimize `contrastive_divergence`.

    The visible units are either binary, of shape (batch, visible), with values from 0 to 1; or
    groups of which one unit is on, one-hot of shape (batch, groups, choices), such as ratings. A
    group of zeros is unknown: it has no effect on the hidden units, nor on the training
    (Salakhutdinov et al. 2007). The result has the shape (batch, units).

    Args:
        units: number of hidden units.
        kernel_initializer: the initializer of the weights between visible and hidden units.
        hidden_initializer, visible_initializer: the initializers of the biases.
        seed: the seed of the sampled hidden units; None derives one from the layer's name.
    """

    kind = "restricted_boltzmann_machine"

    def __init__(
        self,
        units: int,
        kernel_initializer: Any = "glorot_uniform",
        hidden_initializer: Any = "zeros",
        visible_initializer: Any = "zeros",
        seed: int | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        self.units = self.positive("units", units)
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.hidden_initializer = initializers.get(hidden_initializer)
        self.visible_initializer = initializers.get(visible_initializer)
        self.seed = seed

    def build(self, *shapes: Shape) -> None:
        visible = shapes[0]
        if len(visible) not in (2, 3):
            raise ShapeError(
                f"{self.name} takes (batch, visible) or (batch, groups, choices), "
                f"got {shape_text(visible)}."
            )
        sizes = [self.known(visible, axis) for axis in range(1, len(visible))]
        width = sizes[0] if len(sizes) == 1 else sizes[0] * sizes[1]
        self.add_weight("kernel", (width, self.units), self.kernel_initializer)
        self.add_weight("hidden_bias", (self.units,), self.hidden_initializer)
        self.add_weight("visible_bias", tuple(sizes), self.visible_initializer)

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        return sigmoid(self._hidden_input(inputs[0]))

    def visible(self, hidden: Tensor) -> Tensor:
        """Return the probability that each visible unit is on, given ``hidden``.

        Args:
            hidden: states or probabilities of the hidden units, (batch, units).

        Returns:
            (batch, visible), or (batch, groups, choices) with a sum of 1 for each group.
        """
        bias = self.variables["visible_bias"]
        x = matmul(hidden, self.variables["kernel"], transpose_b=True)
        if bias.spec.rank == 1:
            return sigmoid(x + bias)
        return softmax(reshape(x, (-1, *bias.spec.static_shape)) + bias)

    def reconstruct(self, visible: Tensor) -> Tensor:
        """Return the probabilities of the visible units, computed from the probabilities of the
        hidden units given ``visible``. Unknown groups get probabilities too."""
        return self.visible(self(visible))

    def free_energy(self, visible: Tensor) -> Tensor:
        """Return the free energy of each sample, of shape (batch,).

        It is -log of the probability of ``visible``, up to a constant of the machine.
        """
        hidden = reduce_sum(softplus(self._hidden_input(visible)), axis=1)
        bias = self.variables["visible_bias"]
        return -reduce_sum(visible * bias, axis=tuple(range(1, visible.spec.rank))) - hidden

    def contrastive_divergence(self, visible: Tensor, steps: int = 1) -> Tensor:
        """Return a scalar whose gradient is that of contrastive divergence (Hinton 2002).

        It is the mean difference of free energy between ``visible`` and its reconstruction after
        ``steps`` steps of Gibbs sampling. The hidden units are sampled; for the visible ones
        their probabilities are used. The value itself says little: watch the error of
        `reconstruct`.

        Args:
            visible: (batch, visible) or (batch, groups, choices).
            steps: number of steps, at least 1.

        Raises:
            ShapeError: ``steps`` is not a whole number of at least 1, or ``visible`` does not fit.
        """
        count = self.positive("steps", steps)
        data = self._as_floats(visible)
        hidden, made = self(data), data
        known = reduce_sum(data, axis=2, keepdims=True) if data.spec.rank == 3 else None
        for step in range(count):
            drawn = random_uniform_like(hidden, seed=seed_of(self, step))
            made = self.visible(cast(drawn < hidden, "float32"))
            made = made if known is None else made * known
            hidden = sigmoid(self._hidden_input(made))
        return reduce_mean(self.free_energy(data) - self.free_energy(stop_gradient(made)))

    def _hidden_input(self, visible: Tensor) -> Tensor:
        """Return ``visible @ kernel + hidden_bias``, of shape (batch, units)."""
        shape = self.variables["visible_bias"].shape
        if visible.shape[1:] != shape:
            raise ShapeError(
                f"layer '{self.name}' was built for visible units of shape {shape_text(shape)}, "
                f"but got {shape_text(visible.shape)}.",
                op=self.name,
            )
        kernel = self.variables["kernel"]
        flat = reshape(visible, (-1, kernel.spec.static_shape[0]))
        return matmul(flat, kernel) + self.variables["hidden_bias"]
