"""The base of all layers: names, variables, configuration, and calls that can be replayed."""

from __future__ import annotations

import inspect
import zlib
from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any, ClassVar, Self

from playgrad.dtypes import dtype
from playgrad.errors import DTypeError, GraphError, PlaygradError, ShapeError, shape_text
from playgrad.graph.graph import Graph, get_default_graph
from playgrad.graph.opdef import Array
from playgrad.graph.source import user_source
from playgrad.graph.spec import Shape, TensorSpec
from playgrad.graph.tensor import Tensor
from playgrad.nn import initializers
from playgrad.nn.initializers import Initializer
from playgrad.nn.layer_calls import LayerCall, layers_of
from playgrad.ops.arrays.shape import identity
from playgrad.ops.elementwise.definitions import cast
from playgrad.ops.state import Variable

_REGISTRY: dict[str, type[Layer]] = {}


class Layer:
    """A named piece of a network that owns its variables.

    To write one: give it a ``kind``, keep every constructor argument in an attribute of the same
    name, make variables in ``build`` and the result in ``call``. That is enough to name, save and
    copy it.

    Attributes:
        kind: the name of this sort of layer, in configurations and, numbered, for its instances.
        takes_floats: integer inputs are cast to float32 before ``call``.
        name: unique in the graph; ``<kind>_<n>`` unless given. None until the first call.
        variables: the layer's variables by their own names (``kernel``, ``bias``).
        device: the device scope that the layer was made in; that of a call goes before it.
        source: (file, line) where the user made the layer.
    """

    kind: ClassVar[str] = ""
    takes_floats: ClassVar[bool] = True

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "kind" in cls.__dict__:
            _REGISTRY[cls.kind] = cls

    def __init__(self, name: str | None = None) -> None:
        if name is not None and (not name or any(mark in name for mark in "/: ")):
            raise GraphError(f"{name!r} cannot name a layer: no blank, colon or slash, not empty.")
        self.name = name
        self.named_by_user = name is not None
        self.graph: Graph | None = None
        self.built = False
        self.variables: dict[str, Variable] = {}
        self.output_shape: Shape | None = None
        self.device = get_default_graph().current_device
        self.source = user_source()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name or '(unnamed)'}>"

    # What a layer defines.

    def build(self, *shapes: Shape) -> None:
        """Make the variables for inputs of these shapes; the batch dimension may be None."""

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        """The layer's result as graph operations."""
        raise NotImplementedError

    # What every layer can do.

    def __call__(self, *inputs: Tensor | Sequence[Tensor], training: bool = False) -> Tensor:
        """Add the layer to the graph of ``inputs`` (tensors, or one list of them).

        The first call builds the variables; later ones share them.

        Raises:
            ShapeError, DTypeError: the inputs do not fit; names the layer and the shapes.
            GraphError: the layer already lives in another graph.
        """
        tensors = _flatten(inputs, self)
        graph = tensors[0].graph
        self._join_graph(graph)
        first_new_node = len(graph.nodes)
        device = graph.current_device or self.device
        try:
            with (
                graph.as_default(),
                graph.reenter_scope(f"{self.name}/"),
                graph.device(device),
            ):
                ready = [self._as_floats(tensor) for tensor in tensors]
                if not self.built:
                    self.build(*(tensor.shape for tensor in ready))
                    self.built = True
                output = self.call(*ready, training=training)
                if any(output is tensor for tensor in tensors):
                    output = identity(output)  # a result of its own, that a model can find
        except PlaygradError as error:
            error.op = error.op or self.name
            error.source = self.source or error.source
            raise
        for node in graph.nodes[first_new_node:]:
            node.source = self.source or node.source
        self.output_shape = output.shape
        call = LayerCall(self, tuple(tensors), output, device)
        layers_of(graph).calls[output] = call
        return output

    def reset(self) -> None:
        """Forget graph and variables, as before the first call."""
        self.name = self.name if self.named_by_user else None
        self.graph = None
        self.built = False
        self.variables = {}
        self.output_shape = None

    def add_weight(
        self,
        name: str,
        shape: Sequence[int],
        initializer: str | Initializer,
        trainable: bool = True,
    ) -> Variable:
        """Make the variable ``<layer>/<name>``, float32. For use in ``build``.

        The random key comes from the full name, so that it does not matter in which order the
        layers of a network are built.
        """
        assert self.graph is not None
        with self.graph.control_dependencies(None), self.graph.phase("variable"):
            initial = self.initial_value(name, shape, initializer)
            variable = Variable(initial, name=name, trainable=trainable)
        self.variables[name] = variable
        return variable

    def initial_value(
        self, name: str, shape: Sequence[int], initializer: str | Initializer
    ) -> Tensor:
        """What the variable ``<layer>/<name>`` holds at first."""
        assert self.graph is not None
        full_name = f"{self.name}/{name}"
        with self.graph.reenter_scope(f"{full_name}/"):
            seed = zlib.crc32(full_name.encode())
            return initializers.get(initializer)(tuple(shape), seed)

    # How weights are written down: by default one for each variable.

    def weight_specs(self) -> dict[str, TensorSpec]:
        """Shapes and types of the weights by name."""
        return {name: variable.spec for name, variable in self.variables.items()}

    def joined(self, values: Mapping[str, Array]) -> dict[str, Array]:
        """The weights, from the values of the variables."""
        return dict(values)

    def divided(self, weights: Mapping[str, Array]) -> dict[str, Array]:
        """The values of the variables, from the weights."""
        return dict(weights)

    def add_update(self, variable: Variable, update: Callable[[Tensor], Tensor]) -> None:
        """Have each training step set ``variable`` to ``update(variable)``. For use in ``call``.

        A step whose loss is not finite leaves it as it is. Where the layer is called several times
        in a step, each update takes on the result of the one before. Nothing is added outside of
        training steps.
        """
        updates = layers_of(variable.graph).updates
        if updates is not None:
            with variable.graph.phase("update"):
                updates[variable] = update(updates.get(variable, variable))

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments as plain data; ``from_config`` makes an equal layer.

        Raises:
            GraphError: an argument is a function without a name to find it by.
        """
        return {name: _plain(value, self) for name, value in self._arguments().items()}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """A new layer with those constructor arguments."""
        return cls(**config)

    def clone(self) -> Self:
        """A new layer with the same constructor arguments, not called yet."""
        layer = type(self)(**self._arguments())
        layer.device, layer.source = self.device, self.source
        return layer

    def _arguments(self) -> dict[str, Any]:
        parameters = list(inspect.signature(type(self).__init__).parameters)[1:]
        arguments = {name: getattr(self, name) for name in parameters}
        if "name" in arguments and not self.named_by_user:
            arguments["name"] = None
        return arguments

    # Helpers for ``build`` and ``call``.

    def expect_rank(self, shape: Shape, rank: int, layout: str) -> None:
        """Raise ShapeError unless ``shape`` has ``rank`` dimensions, laid out as ``layout``."""
        if len(shape) != rank:
            raise ShapeError(
                f"layer '{self.name}' takes inputs of {rank} dimensions {layout}, "
                f"but got shape {shape_text(shape)}.",
                op=self.name,
                hint=_rank_hint(shape, rank),
            )

    def expect_width(self, shape: Shape, width: int) -> None:
        """Raise ShapeError unless the last dimension is the one the layer was built for."""
        if shape[-1] != width:
            raise ShapeError(
                f"layer '{self.name}' was built for inputs with a last dimension of {width}, "
                f"but got shape {shape_text(shape)}.",
                op=self.name,
            )

    def positive(self, what: str, value: Any) -> int:
        """``value`` as a whole number of at least 1, or ShapeError."""
        number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else 0.0
        if number < 1 or number % 1 != 0:
            raise ShapeError(
                f"{what} of a {type(self).__name__} layer must be a whole number of at least 1, "
                f"not {value!r}.",
                source=self.source,
            )
        return int(number)

    def pair(self, what: str, value: Any) -> tuple[int, int]:
        """``value``, one number or two, as (vertical, horizontal), each at least 1."""
        items = tuple(value) if isinstance(value, (list, tuple)) else (value, value)
        if len(items) != 2:
            raise ShapeError(
                f"{what} of a {type(self).__name__} layer must be one number or two, "
                f"not {value!r}.",
                source=self.source,
            )
        return self.positive(what, items[0]), self.positive(what, items[1])

    def known(self, shape: Shape, axis: int) -> int:
        """The size of ``shape`` along ``axis``, which must be known."""
        size = shape[axis]
        if size is None:
            raise ShapeError(
                f"layer '{self.name}' needs to know dimension {axis} of its input, "
                f"but its shape is {shape_text(shape)}.",
                op=self.name,
            )
        return size

    def _join_graph(self, graph: Graph) -> None:
        """Register with ``graph``, under a numbered name unless the user chose one."""
        if self.graph is graph:
            return
        if self.graph is not None:
            raise GraphError(
                f"layer '{self.name}' already belongs to another model's graph.",
                op=self.name,
                source=self.source,
                hint="Make a new layer: type(layer).from_config(layer.get_config()).",
            )
        layers = layers_of(graph)
        name = self.name or layers.next_name(self.kind or type(self).__name__.lower())
        if name in layers.by_name:
            raise GraphError(
                f"two layers of the model are named '{name}'.", op=name, source=self.source
            )
        self.name, self.graph = name, graph
        layers.by_name[name] = self

    def _as_floats(self, tensor: Tensor) -> Tensor:
        if not self.takes_floats or dtype(tensor.dtype).floating:
            return tensor
        return cast(tensor, "float32")


def layer_type(kind: str) -> type[Layer]:
    """The layer class registered as ``kind``.

    Raises:
        GraphError: there is none.
    """
    if kind not in _REGISTRY:
        raise GraphError(
            f"there is no layer {kind!r}.", hint=f"Use one of: {', '.join(sorted(_REGISTRY))}."
        )
    return _REGISTRY[kind]


def _flatten(inputs: Sequence[Tensor | Sequence[Tensor]], layer: Layer) -> list[Tensor]:
    tensors: list[Any] = []
    for item in inputs:
        tensors.extend(item if isinstance(item, (list, tuple)) else [item])
    wrong = next((item for item in tensors if not isinstance(item, Tensor)), None)
    if wrong is not None or not tensors:
        raise DTypeError(
            f"{layer!r} was called on {type(wrong).__name__}, but layers take tensors.",
            source=layer.source,
            hint="Use pg.Input(shape), or model.predict(array) for arrays.",
        )
    return tensors


def _plain(value: Any, layer: Layer) -> Any:
    if isinstance(value, Initializer):
        return value.config()
    if isinstance(value, tuple):
        return [_plain(item, layer) for item in value]
    if callable(value):
        raise GraphError(
            f"{layer!r} holds the function {getattr(value, '__name__', value)!r}, which has no "
            "place in a configuration.",
            hint="Name the activation instead, or write a layer for it.",
        )
    return value


def _rank_hint(shape: Shape, rank: int) -> str | None:
    if rank == 4 and len(shape) == 3:
        rows, columns = shape[1], shape[2]
        return f"For grey images put nn.Reshape(({rows}, {columns}, 1)) before it."
    if rank == 2 and len(shape) > 2:
        return "Put nn.Flatten() before it."
    return None
