"""The base class of layers that contain other layers."""

from __future__ import annotations

from typing import Any, Self

from playgrad.graph.spec import Shape
from playgrad.nn.layer import Layer, layer_type


class WrapperLayer(Layer):
    """A layer that calls other layers, and owns their variables.

    The variables of an inner layer are named ``<layer>/<part>/<name>``, for example
    ``bidirectional_1/forward/kernel``.
    """

    def contain(self, part: str, inner: Layer, *shapes: Shape) -> None:
        """Build ``inner`` as a part of this layer. For use in ``build``."""
        assert self.graph is not None
        inner.graph, inner.name = self.graph, f"{self.name}/{part}"
        inner.trainable = inner.trainable and self.trainable
        with self.graph.reenter_scope(f"{inner.name}/"):
            inner.build(*shapes)
        inner.built = True
        for name, variable in inner.variables.items():
            self.variables[f"{part}/{name}"] = variable
            if name in inner._fixed or not inner.trainable:
                self._fixed.add(f"{part}/{name}")
        for name, regularizer in inner.regularizers.items():
            self.regularizers[f"{part}/{name}"] = regularizer

    def get_config(self) -> dict[str, Any]:
        config = {
            name: {"kind": value.kind, "config": value.get_config()}
            if isinstance(value, Layer)
            else value
            for name, value in self._arguments().items()
        }
        return config if self.trainable else {**config, "trainable": False}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """Return a new layer of new layers."""
        arguments = {
            name: layer_type(value["kind"]).from_config(value["config"])
            if isinstance(value, dict) and value.keys() == {"kind", "config"}
            else value
            for name, value in config.items()
        }
        return super().from_config(arguments)
