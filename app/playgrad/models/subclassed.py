"""Models that are classes of the user's program, with a method ``call``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from playgrad.errors import GraphError
from playgrad.graph.eager import at_once, is_at_once, is_building, is_detached
from playgrad.graph.graph import Graph, at_top
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Node, Tensor
from playgrad.models.inputs import Input
from playgrad.models.moving import move
from playgrad.models.trainable import TrainableNetwork
from playgrad.models.without_call import structure_of_parts
from playgrad.networks.network import Network
from playgrad.networks.structure import Structure, find_structure
from playgrad.nn.call_context import call_arguments, training_context
from playgrad.nn.layer import Layer
from playgrad.nn.layer_calls import cast_with_mask
from playgrad.nn.sublayers import KINDS, attributes
from playgrad.ops.core.build import as_tensor, one_or_more
from playgrad.ops.state import Variable

KINDS.append(Network)


class ModelWeights(Layer):
    """The variables that a model has without a layer."""

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        raise GraphError("the variables of a model cannot be called.")


class SubclassedNetwork(TrainableNetwork):
    """A network that may compute its outputs in a method ``call`` of its own.

    Layers, models and variables that are its attributes, alone or in lists, belong to it.
    """

    without_call = False
    _own: ModelWeights | None = None
    _within_functions: Sequence[Layer] = ()
    """Layers that are called in functions of joined calls only."""
    _arrange: Callable[[Sequence[Any]], Any]

    @property
    def is_subclassed(self) -> bool:
        """True if its class has a ``call`` of its own, or it has neither inputs nor a ``call``."""
        return self.without_call or type(self).call is not Network.call

    @property
    def is_movable(self) -> bool:
        """True if it can be built anew in another graph."""
        return self.is_subclassed

    def add_weight(self, *args: Any, **kwargs: Any) -> Variable:
        """Create a variable of the model itself; see `playgrad.nn.Layer.add_weight`."""
        if self._own is None:
            self._own = ModelWeights()
            if self.built or self.graph.nodes:
                self._own._join_graph(self.graph)
        return self._own.add_weight(*args, **kwargs)

    # Building

    def build(
        self, input_shape: Any, dtype: Any = "float32", batch_size: int | None = None
    ) -> None:
        """Create all variables.

        Args:
            input_shape: the shape of a batch, with None for the number of samples, as in Keras; a
                list of them if ``call`` takes a list.
            dtype: the dtype of the inputs.
            batch_size: in place of the first None; None for any.

        Raises:
            ShapeError, DTypeError, GraphError: a layer cannot take its input.
        """
        if self.built:
            return
        several = isinstance(input_shape, list) and any(
            isinstance(each, (list, tuple)) for each in input_shape
        )
        shapes = list(input_shape) if several else [input_shape]
        specs = [TensorSpec((batch_size, *one_or_more(shape)[1:]), dtype) for shape in shapes]
        self._build_in(self._home(), specs, _as_list if several else _first)

    def ensure_built(
        self, arrays: Sequence[np.ndarray[Any, Any]], keys: Sequence[str] | None = None
    ) -> None:
        if self.is_subclassed and not self.built:
            specs = [TensorSpec((None, *array.shape[1:]), array.dtype.name) for array in arrays]
            arrange = _first if len(arrays) == 1 else _as_list
            self._build_in(self._home(), specs, arrange if keys is None else AsDictionary(keys))

    def _home(self) -> Graph:
        """Return the graph of the model's parts."""
        movable: list[Graph] = []
        for _, each in attributes(self, (*KINDS, Variable)):
            if isinstance(each, SubclassedNetwork):
                if each.built:
                    movable.insert(len(movable) if each.is_movable else 0, each.graph)
            elif each.graph is not None:
                graph: Graph = each.graph
                return graph
        return movable[0] if movable else self.graph

    def build_in(self, graph: Graph, specs: Sequence[TensorSpec]) -> None:
        """Build the model in ``graph``, for inputs of the structure that it had before."""
        self._build_in(graph, specs, self._arrange)

    def _build_in(
        self, graph: Graph, specs: Sequence[TensorSpec], arrange: Callable[[Sequence[Any]], Any]
    ) -> None:
        unbuilt = [each for _, each in attributes(self, (Layer,)) if not each.built]
        try:
            with at_top(graph):
                inputs = [Input(spec.shape[1:], spec.shape[0], spec.dtype) for spec in specs]
                if self.without_call:
                    structure = structure_of_parts(self, graph, inputs)
                else:
                    outputs = _flat(self._run(graph, arrange(inputs), False, {}))
                    structure = find_structure(inputs, outputs)
        except BaseException:
            for layer in unbuilt:
                layer.reset()
            raise
        self.graph, self._structure, self._arrange = graph, structure, arrange
        self.input_keys = arrange.keys if isinstance(arrange, AsDictionary) else None
        self._within_functions = self._captured_layers(structure)
        called = (*structure.layers, *self._within_functions)
        known = {v for layer in called for v in layer.variables.values()}
        for path, variable in attributes(self, (Variable,)):
            if variable not in known:
                self._own = self._own or ModelWeights()
                if variable not in self._own.variables.values():
                    self._own.variables[path] = variable
                    if not variable.trainable:
                        self._own.keep_fixed(path)
        if self._own is not None:
            self._own.built = True
            self._own._join_graph(graph)

    def _captured_layers(self, structure: Structure) -> list[Layer]:
        """Return the layers among the attributes whose variables joined calls use."""
        nodes = (
            item
            for item in structure.items
            if isinstance(item, Node) and item.op.name == "joined_calls"
        )
        captured = {tensor for node in nodes for tensor in node.inputs}
        layers = [each for _, each in attributes(self, (Layer,)) if each not in structure.layers]
        return [each for each in layers if captured.intersection(each.variables.values())]

    def forget(self) -> None:
        """Give up all variables and the graph, to be built in another one.

        Raises:
            GraphError: the model has variables without a layer.
        """
        if self._own is not None:
            raise GraphError(
                f"the model '{self.name}' has variables in another graph.",
                source=self.source,
                hint="Create the model inside `with graph.as_default():`.",
            )
        for layer in self.layers:
            layer.reset()
        self._structure = None

    # Calls

    def __call__(self, inputs: Any, *more: Any, training: bool | None = None, **named: Any) -> Any:
        """Apply the model to tensors or arrays, with the same weights; see `Network.__call__`.

        Further arguments go to ``call`` of a subclass.
        """
        if not self.is_subclassed:
            return super().__call__(inputs, training, *more, **named)
        leaves, arrange = _taken_apart(inputs)
        tensors = [x for x in leaves if isinstance(x, Tensor) and not is_detached(x)]
        if is_building() or (tensors and not is_at_once()):
            graph = next((x.graph for x in tensors), self.graph)
            if not self.built:
                self._build_in(graph, [as_tensor(x, graph).spec for x in leaves], arrange)
            elif graph is not self.graph:
                move(self, graph)
            return self._run(graph, inputs, training, named, *more)
        if not self.built:
            specs = [_open_batch(as_tensor(x).spec) for x in leaves]
            self._build_in(self._home(), specs, arrange)
        with at_once():
            inputs = arrange([as_tensor(self._computed(x), self.graph) for x in leaves])
            return self._run(self.graph, inputs, training, named, *more)

    def _run(
        self,
        graph: Graph,
        inputs: Any,
        training: bool | None,
        named: dict[str, Any],
        *more: Any,
    ) -> Any:
        if self.without_call:
            self.expect_outputs()
        with training_context(training) as is_training, graph.as_default():
            return self.call(inputs, *more, **call_arguments(self.call, is_training, named))

    def apply(
        self, inputs: Sequence[Tensor], training: bool, devices: Sequence[str | None] = ()
    ) -> list[Tensor]:
        if not self.is_subclassed or devices:
            with training_context(training):
                return super().apply(inputs, training, devices)
        pairs = zip(inputs, self.inputs, strict=True)
        cast = [cast_with_mask(x, tensor.dtype) for x, tensor in pairs]
        return _flat(self._run(self.graph, self._arrange(cast), training, {}))

    # Layers

    @property
    def layers(self) -> list[Layer]:
        """The layers in the order of their first calls; in a subclass, in that of attributes."""
        if not self.is_subclassed:
            return super().layers
        tracked: list[Layer] = []
        for _, each in attributes(self, tuple(KINDS)):
            tracked += each.layers if isinstance(each, Network) else [each]
        if self._structure is not None:
            called = self.called_layers()
            tracked = [layer for layer in tracked if layer in called] + called
        return list(dict.fromkeys(layer for layer in tracked if layer is not self._own))

    def called_layers(self) -> list[Layer]:
        return [*self._within_functions, *self.structure.layers]

    def layers_in_order(self) -> list[Layer]:
        if not self.is_subclassed:
            return super().layers_in_order()
        called = set(self.called_layers())
        own = [] if self._own is None else [self._own]
        return own + [layer for layer in self.layers if layer in called]

    def named_layers(self) -> list[tuple[str, Layer]]:
        named = super().named_layers()
        return named if self._own is None else [(self.name, self._own), *named]

    def _summary_rows(self) -> list[tuple[str, Layer]]:
        if self.built or not self.is_subclassed:
            return super()._summary_rows()
        return [(layer.name or layer.kind or type(layer).__name__, layer) for layer in self.layers]


class AsDictionary:
    """Puts the tensors of a dictionary together again."""

    def __init__(self, keys: Iterable[str]) -> None:
        self.keys = list(keys)

    def __call__(self, leaves: Sequence[Any]) -> dict[str, Any]:
        return dict(zip(self.keys, leaves, strict=True))


def _first(leaves: Sequence[Any]) -> Any:
    return leaves[0]


def _as_list(leaves: Sequence[Any]) -> Any:
    return list(leaves)


def _taken_apart(inputs: Any) -> tuple[list[Any], Callable[[Sequence[Any]], Any]]:
    """Return the tensors of an argument, and a function that replaces them."""
    if isinstance(inputs, Mapping):
        return list(inputs.values()), AsDictionary(inputs)
    several = isinstance(inputs, (list, tuple))
    if several and any(isinstance(x, Tensor) or np.ndim(x) for x in inputs):
        return list(inputs), type(inputs)
    return [inputs], _first


def _open_batch(spec: TensorSpec) -> TensorSpec:
    return TensorSpec((None, *spec.shape[1:]), spec.dtype)


def _flat(result: Any) -> list[Tensor]:
    """Return the tensors that ``call`` of a model returned.

    Raises:
        GraphError: it returned something else.
    """
    if isinstance(result, Mapping):
        result = list(result.values())
    found = list(result) if isinstance(result, (list, tuple)) else [result]
    for each in found:
        if not isinstance(each, Tensor):
            raise GraphError(
                f"call of a model must return tensors, got {type(each).__name__}.",
                hint="Use operations of pg in place of NumPy's.",
            )
    return found
