"""Sequential models: each layer feeds the next."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np

from playgrad.errors import GraphError
from playgrad.graph.graph import Graph, get_default_graph
from playgrad.graph.tensor import Tensor
from playgrad.models.inputs import Input
from playgrad.models.model import Model
from playgrad.models.structure import find_structure
from playgrad.nn.layer import Layer, layer_type
from playgrad.nn.layer_calls import layers_of
from playgrad.runtime.options import get_options


class Sequential(Model):
    """A chain of layers, in a graph of its own.

    It is built for the shape of the data when it is first trained, or by ``build``, or at once if
    the first item is ``pg.Input(shape)``.

    Args:
        layers: layers, or `Sequential` models that are not built, whose layers are appended.
        name: shown in the summary and in errors.
    """

    def __init__(
        self, layers: Iterable[Layer | Sequential | Tensor] = (), name: str | None = None
    ) -> None:
        seed = get_options().seed
        graph = Graph(get_default_graph().seed if seed is None else seed)
        self._set_up(graph, None, name)
        self._chain: list[Layer] = []
        items = list(layers)
        first = items.pop(0) if items and isinstance(items[0], Tensor) else None
        for item in items:
            self.add(item)
        if isinstance(first, Tensor):
            self.build(first.shape[1:], first.dtype, first.shape[0])

    def add(self, layer: Any) -> None:
        """Append a layer, or the layers of a `Sequential` model that is not built.

        Raises:
            GraphError: it is not a layer or is in the chain already, or the model is built.
        """
        if self.built:
            raise GraphError(f"the model '{self.name}' is built: no layer can be added.")
        if isinstance(layer, Sequential) and not layer.built:
            for inner in layer._chain:
                self.add(inner)
            return
        if isinstance(layer, Sequential):
            raise GraphError(
                f"the model '{layer.name}' is built, and has its weights in a graph of its own.",
                source=layer.source,
                hint="Leave out its Input to add its layers. To train it alone as well, make both "
                "with pg.Model(inputs, outputs).",
            )
        if not isinstance(layer, Layer):
            raise GraphError(
                f"a Sequential model takes layers, got {type(layer).__name__}.",
                hint="If it is not a chain, use pg.Model(inputs, outputs).",
            )
        if any(layer is other for other in self._chain):
            raise GraphError(f"{layer!r} is in the chain twice.", source=layer.source)
        self._chain.append(layer)

    def pop(self) -> Layer:
        """Remove the last layer, and return it.

        The other layers keep their weights. A model that is compiled must be compiled again.

        Raises:
            GraphError: there is no layer, or the model is built and has no other.
        """
        if len(self._chain) <= int(self.built):
            raise GraphError(
                f"the model '{self.name}' has no layer to remove"
                f"{' but the one that it was built with' if self.built else ''}.",
                source=self.source,
            )
        if self.built:
            call = layers_of(self.graph).calls[self.outputs[0]]
            self._structure = find_structure(self.inputs, [call.inputs[0]])
            self._recipe = None
        return self._chain.pop()

    @property
    def layers(self) -> list[Layer]:
        return list(self._chain)

    def build(
        self,
        sample_shape: Sequence[int | None],
        dtype: Any = "float32",
        batch_size: int | None = None,
    ) -> None:
        """Create all variables for samples of this shape.

        Args:
            sample_shape: the shape of one sample, without the batch.
            dtype: the dtype of the samples.
            batch_size: the number of samples of every batch; None for any.

        Raises:
            ShapeError: a layer cannot take the output of the one before it; nothing is built.
            GraphError: the model has no layers.
        """
        if self.built:
            return
        if not self._chain:
            raise GraphError(f"the model '{self.name}' has no layers.", source=self.source)
        graph = Graph(self.graph.seed)
        try:
            with graph.as_default():
                first = tensor = Input(sample_shape, batch_size, dtype)
                for layer in self._chain:
                    tensor = layer(tensor)
                    if not isinstance(tensor, Tensor):
                        raise GraphError(
                            f"layer '{layer.name}' has several results, which a Sequential model "
                            "cannot pass on.",
                            source=layer.source,
                            hint="Use pg.Model(inputs, outputs).",
                        )
            structure = find_structure([first], [tensor])
        except BaseException:
            for layer in self._chain:
                layer.reset()
            raise
        self.graph = graph
        self._structure = structure

    def ensure_built(self, arrays: Sequence[np.ndarray[Any, Any]]) -> None:
        if not self.built and len(arrays) == 1:
            self.build(arrays[0].shape[1:], arrays[0].dtype.name)

    def get_config(self) -> dict[str, Any]:
        """Return name, layers and, once it is built, the inputs as plain data, without weights."""
        layers = [{"kind": layer.kind, "config": layer.get_config()} for layer in self._chain]
        config: dict[str, Any] = {"name": self.name, "layers": layers}
        if self.built:
            batch, *shape = self.input_shape
            config["build"] = {
                "sample_shape": shape, "dtype": self.input_dtype, "batch_size": batch
            }  # fmt: skip
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """Return a new chain of new layers, built if the one in ``config`` was.

        Raises:
            GraphError: the configuration is damaged, or has an unknown layer.
        """
        try:
            layers = [
                layer_type(item["kind"]).from_config(item["config"]) for item in config["layers"]
            ]
            model = cls(layers, config["name"])
            if "build" in config:
                model.build(**config["build"])
        except (KeyError, TypeError, AttributeError) as error:
            raise GraphError(
                f"the configuration of the model is damaged: {type(error).__name__} {error}."
            ) from None
        return model

    def _empty(self, layers: list[Layer]) -> Model:
        chain = Sequential.__new__(Sequential)
        chain._chain = layers
        return chain

    def _summary_rows(self) -> list[tuple[str, Layer]]:
        if self.built:
            return self.named_layers()
        return [(layer.name or layer.kind, layer) for layer in self._chain]
