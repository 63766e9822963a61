"""Sequential models: each layer feeds the next."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np

from playgrad.data.preprocessing.base import HostPreprocessing
from playgrad.errors import GraphError
from playgrad.graph.eager import is_at_once, is_building, is_detached
from playgrad.graph.graph import Graph, at_top
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Tensor
from playgrad.graph.traversal import ancestors
from playgrad.models.inputs import Input, new_graph
from playgrad.models.model import Model
from playgrad.models.moving import move
from playgrad.networks.network import Network
from playgrad.networks.structure import find_structure
from playgrad.nn.layer import Layer, layer_type
from playgrad.nn.layer_calls import layers_of
from playgrad.ops.core.build import as_tensor, one_or_more


class Sequential(Model):
    """A chain of layers, in a graph of its own.

    It is built for the shape of the data when it is first trained, or by ``build``, or at once if
    the first item is ``pg.Input(shape)``.

    Args:
        layers: layers and models. The layers of an unbuilt `Sequential` are appended; other
            models keep their weights, which they then share with this one.
        name: shown in the summary and in errors.
    """

    def __init__(
        self, layers: Iterable[Layer | Network | Tensor] = (), name: str | None = None
    ) -> None:
        self._set_up(new_graph(), None, name)
        self._chain: list[Layer] = []
        self._items: list[Layer | Network] = []
        items = list(layers)
        first = items.pop(0) if items and isinstance(items[0], Tensor) else None
        for item in items:
            self.add(item)
        if isinstance(first, Tensor):
            self.build(first.shape[1:], first.dtype, first.shape[0])
        elif self._items and isinstance(self._items[0], Network):
            batch, *shape = self._items[0].input_shape
            self.build(shape, self._items[0].input_dtype, batch)

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
        if isinstance(layer, Network) and layer.built:
            if any(item is layer for item in self._items):
                raise GraphError(f"{layer!r} is in the chain twice.", source=layer.source)
            self._items.append(layer)
            self._chain += layer.layers
            return
        if isinstance(layer, HostPreprocessing):
            layer.refuse()
        if not isinstance(layer, Layer):
            raise GraphError(
                f"a Sequential model takes layers, got {type(layer).__name__}.",
                hint="If it is not a chain, use pg.Model(inputs, outputs).",
            )
        if any(layer is other for other in self._chain):
            raise GraphError(f"{layer!r} is in the chain twice.", source=layer.source)
        self._chain.append(layer)
        self._items.append(layer)

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
        if not isinstance(self._items[-1], Layer):
            raise GraphError(f"the last part of '{self.name}' is a model: {self._items[-1]!r}.")
        self._items.pop()
        return self._chain.pop()

    @property
    def layers(self) -> list[Layer]:
        return list(self._chain)

    @property
    def is_movable(self) -> bool:
        return True

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
        if not self.built:
            spec = TensorSpec((batch_size, *one_or_more(sample_shape)), dtype)
            self.build_in(self._home(), [spec])

    def _home(self) -> Graph:
        """Return the graph of a model in the chain that cannot leave it, or else a new one."""
        models = [item for item in self._items if isinstance(item, Network)]
        fixed = [model.graph for model in models if not isinstance(model, Sequential)]
        return fixed[0] if fixed else self.graph.empty()

    def forget(self) -> None:
        """Give up all variables and the graph, to be built in another one."""
        for item in self._items:
            if isinstance(item, Sequential):
                item.forget()
            elif isinstance(item, Layer):
                item.reset()
        self._structure = None

    def build_in(self, graph: Graph, specs: Sequence[TensorSpec]) -> None:
        """Build the model in ``graph`` for an input of ``specs``.

        Raises:
            ShapeError, GraphError: as for `build`.
        """
        if not self._chain:
            raise GraphError(f"the model '{self.name}' has no layers.", source=self.source)
        (spec,) = specs
        try:
            with at_top(graph):
                first = tensor = Input(spec.shape[1:], spec.shape[0], spec.dtype)
                for layer in self._items:
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
            for item in self._items:
                if isinstance(item, Layer):
                    item.reset()
            raise
        self.graph = graph
        self._structure = structure

    def __call__(self, inputs: Any, *more: Any, training: bool | None = None, **named: Any) -> Any:
        """Apply the model to a tensor or an array; see `Network.__call__`.

        If it is not built, it becomes part of the tensor's graph; a model that has a graph of its
        own moves there with its weights.
        """
        x = inputs[0] if isinstance(inputs, (list, tuple)) and len(inputs) == 1 else inputs
        is_symbolic = isinstance(x, Tensor) and not is_detached(x) and not is_at_once()
        if not self.built:
            spec = as_tensor(x).spec
            graph = x.graph if is_symbolic else self._home()
            self.build_in(graph, [TensorSpec((None, *spec.shape[1:]), spec.dtype)])
        elif is_symbolic and x.graph is not self.graph and (is_building() or _is_fed(x)):
            move(self, x.graph)
        return super().__call__(inputs, *more, training=training, **named)

    def ensure_built(
        self, arrays: Sequence[np.ndarray[Any, Any]], keys: Sequence[str] | None = None
    ) -> None:
        if not self.built and len(arrays) == 1:
            self.build(arrays[0].shape[1:], arrays[0].dtype.name)

    @property
    def class_in_files(self) -> str:
        """ "Model" if it has models as parts, or its layers share their numbering with others."""
        is_chain = all(isinstance(item, Layer) for item in self._items)
        if self.built and (not is_chain or any(n != each.name for n, each in self.named_layers())):
            return "Model"
        return "Sequential"

    def get_config(self) -> dict[str, Any]:
        """Return name, layers and, once it is built, the inputs as plain data, without weights."""
        if self.class_in_files == "Model":
            return super().get_config()
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
        chain._chain, chain._items = layers, list(layers)
        return chain

    def _summary_rows(self) -> list[tuple[str, Layer]]:
        if self.built:
            return self.named_layers()
        return [(layer.name or layer.kind, layer) for layer in self._chain]


def _is_fed(x: Tensor) -> bool:
    """Return whether ``x`` depends on an input, so that it has no value yet."""
    return any(node.op.name == "placeholder" for node in ancestors([x.node]))
