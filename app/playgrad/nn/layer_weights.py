"""The weights of layers, by the names of Keras."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from playgrad.constructed import Recorded
from playgrad.errors import GraphError
from playgrad.graph.eager import assign_values
from playgrad.graph.spec import TensorSpec
from playgrad.io.tensor_entry import as_numbers, converted
from playgrad.ops.state import Variable

Array = np.ndarray[Any, Any]


class LayerWeights(Recorded):
    """The weights of a layer, and their values.

    Attributes:
        variables: the layer's variables by name.
        built: whether it has them.
        source: (file, line) where the user created the layer.
    """

    variables: dict[str, Variable]
    built: bool
    source: tuple[str, int] | None

    def __getattr__(self, name: str) -> Any:
        variables = vars(self).get("variables", {})
        if name in variables:  # layer.kernel
            return variables[name]
        hint = "; weights exist after its first call" if name in ("kernel", "bias") else ""
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{hint}")

    @property
    def weights(self) -> list[Variable]:
        """The variables of the layer; empty before the first call."""
        return list(self.variables.values())

    @property
    def trainable_variables(self) -> list[Variable]:
        """The variables that training changes."""
        return [variable for variable in self.weights if variable.trainable]

    @property
    def trainable_weights(self) -> list[Variable]:
        """The variables that training changes."""
        return self.trainable_variables

    @property
    def non_trainable_weights(self) -> list[Variable]:
        """The variables that training does not change, such as moving averages."""
        return [variable for variable in self.weights if not variable.trainable]

    def count_params(self) -> int:
        """Return the number of weights, trainable or not."""
        return sum(variable.spec.size for variable in self.weights)

    def get_weights(self) -> list[Array]:
        """Return the values of the layer's weights, in their order."""
        values = {name: variable.numpy() for name, variable in self.variables.items()}
        return list(self.joined(values).values())

    def set_weights(self, weights: Sequence[Any]) -> None:
        """Replace the values of the layer's weights.

        Args:
            weights: arrays in the order of `get_weights`.

        Raises:
            GraphError: their number is wrong, or the layer has not been called yet.
            ShapeError: one does not fit.
            CheckpointError: one is not an array of numbers, or its dtype cannot hold a value.
        """
        specs = self.weight_specs()
        if len(weights) != len(specs) or not self.built:
            raise GraphError(
                f"{self!r} has {len(specs)} weights, got {len(weights)} arrays.",
                source=self.source,
                hint=None if self.built else "Call the layer, or build its model, first.",
            )
        pairs = zip(specs.items(), weights, strict=True)
        arrays = {
            name: converted(name, as_numbers(name, value), spec.dtype)
            for (name, spec), value in pairs
        }
        parts = self.divided(arrays)
        assign_values({self.variables[name]: array for name, array in parts.items()})

    # In files: by default, one weight for each variable

    def weight_specs(self) -> dict[str, TensorSpec]:
        """Return shapes and dtypes of the weights by name."""
        return {name: variable.spec for name, variable in self.variables.items()}

    def weight_parts(self) -> dict[str, tuple[list[Variable], int]]:
        """Return the variables that make up each weight, and the axis along which they do."""
        return {name: ([variable], 0) for name, variable in self.variables.items()}

    def joined(self, values: Mapping[str, Array]) -> dict[str, Array]:
        """Return the weights, from the values of the variables."""
        return dict(values)

    def divided(self, weights: Mapping[str, Array]) -> dict[str, Array]:
        """Return the values of the variables, from the weights."""
        return dict(weights)
