"""The base class of layers: names, variables, configuration and calls."""

from __future__ import annotations

import inspect
import itertools
import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from playgrad.dtypes import dtype
from playgrad.dtypes import dtype as dtype_of
from playgrad.errors import DTypeError, GraphError, PlaygradError, ShapeError
from playgrad.graph.eager import graph_mode, is_at_once, is_building, is_detached
from playgrad.graph.graph import Graph, get_default_graph
from playgrad.graph.scopes import is_part
from playgrad.graph.source import user_source
from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Tensor
from playgrad.nn import initializers
from playgrad.nn.call_context import call_arguments, training_context
from playgrad.nn.constraints import Constraint
from playgrad.nn.deferred import deferred_call, has_open_sizes
from playgrad.nn.initializers import Initializer
from playgrad.nn.layer_calls import LayerCall, cast_with_mask, layers_of, pass_mask, remove_nodes
from playgrad.nn.layer_checks import LayerChecks
from playgrad.nn.layer_weights import LayerWeights
from playgrad.nn.regularizers import Regularizer
from playgrad.nn.sublayers import KINDS, adopt_variables, attributes
from playgrad.ops.arrays.axes import moveaxis
from playgrad.ops.arrays.shape import identity
from playgrad.ops.core.build import constant, one_or_more
from playgrad.ops.joined.call_kinds import WITHIN
from playgrad.ops.state import Variable
from playgrad.records import LayerRecord

_REGISTRY: dict[str, type[Layer]] = {}
RECORDED: dict[str, type[Layer]] = {}
"""The classes that have a record, by their kinds."""


class Layer(LayerChecks, LayerWeights):
    """A named part of a network that owns variables.

    To write a layer, set its ``kind``, create variables in ``build`` and compute the result in
    ``call``. Layers, models and variables among its attributes belong to it. That is enough to
    name, save and copy it; where an argument of the constructor has been converted, keep it in an
    attribute of the same name.

    Args:
        name: unique in the model; None for ``<kind>_<n>``, assigned at the first call.

    Attributes:
        kind: the name of this class of layers in configurations, and in the names of layers; the
            name of the class, in lower case, if a program does not set it.
        record: the facts about the class for other packages and the page. Subclasses need their
            own.
        takes_floats: whether integer inputs are cast to float32 before ``call``.
        passes_mask: whether it treats each step of a sequence alone, so that its result has the
            mask of its input.
        uses_mask: whether ``call`` cares for masks itself.
        activity_regularizer: a penalty on the size of the results, which is added to the loss of
            each sample in ``fit``, ``evaluate`` and ``train_on_batch``.
        name: the name in the graph. If layers of several models have one name, a number is added.
        given_name: the name that the user gave; None for none.
        variables: the layer's variables by name (``kernel``, ``bias``).
        regularizers: the regularizers of variables, by their names.
        output_shape: the shape of the last result; None before the first call.
        device: the device scope the layer was created in; the device scope of a call overrides it.
        source: (file, line) where the user created the layer.
    """

    kind: ClassVar[str] = ""
    record: ClassVar[LayerRecord]
    takes_floats: ClassVar[bool] = True
    passes_mask: ClassVar[bool] = False
    uses_mask: ClassVar[bool] = False
    activity_regularizer: Regularizer | None = None

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if not cls.kind and not cls.__module__.startswith("playgrad."):
            cls.kind = cls.__name__.lower()
            if getattr(_REGISTRY.get(cls.kind), "__module__", "").startswith("playgrad."):
                return  # files mean the library's layer by this name
        if "kind" in cls.__dict__:
            _REGISTRY[cls.kind] = cls
        if isinstance(cls.__dict__.get("record"), LayerRecord):
            RECORDED.setdefault(cls.kind, cls)

    def __init__(self, name: str | None = None, trainable: bool = True, dtype: Any = None) -> None:
        if name is not None and not is_part(name):
            raise GraphError(
                f"{name!r} cannot name a layer: names must not be empty, contain colons, slashes, "
                "tabs or line breaks, nor begin or end with a blank."
            )
        self.name = name
        self.given_name = name
        self.graph: Graph | None = None
        self.built = False
        self.variables: dict[str, Variable] = {}
        self.regularizers: dict[str, Regularizer] = {}
        self._trainable = bool(trainable)
        self._fixed: set[str] = set()
        self.output_shape: Shape | None = None
        self.device = get_default_graph().current_device
        self.source = user_source()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name or '(unnamed)'}>"

    @property
    def trainable(self) -> bool:
        """True if training changes the layer.

        Set it to False to freeze the layer: its variables keep their values, and their gradients
        are not computed. A frozen `BatchNormalization` normalizes by its moving averages. It can be
        set at any time; the next `Model.fit` follows it.
        """
        return self._trainable

    @trainable.setter
    def trainable(self, trainable: bool) -> None:
        self._trainable = bool(trainable)
        for name, variable in self.variables.items():
            variable.trainable = self._trainable and name not in self._fixed

    @property
    def input(self) -> Tensor | list[Tensor]:
        """The input of the first call: a tensor, or a list if there are several.

        A model that ends here, or continues with other layers, is built from it:
        ``pg.Model(model.inputs, nn.Dense(5)(model.get_layer("fc").input))`` replaces a last layer.

        Raises:
            GraphError: the layer has not been called yet.
        """
        return _one_or_list(self._first_call().inputs)

    @property
    def output(self) -> Tensor | list[Tensor]:
        """The result of the first call: a tensor, or a list if there are several.

        Raises:
            GraphError: the layer has not been called yet.
        """
        return _one_or_list(self._first_call().outputs)

    def _first_call(self) -> LayerCall:
        calls = () if self.graph is None else layers_of(self.graph).calls.values()
        for call in calls:
            if call.layer is self:
                return call
        raise GraphError(
            f"{self!r} has not been called, so it has no input and no output yet.",
            source=self.source,
            hint="Call it on a tensor, or build its model.",
        )

    # Methods to override

    def build(self, *shapes: Shape) -> None:
        """Create the variables for inputs of these shapes; the batch dimension may be None."""

    def call(self, *inputs: Tensor, training: bool = False) -> Tensor:
        """Return the result as graph operations; a list if there are several.

        Args:
            training: whether this call is part of a training step.
        """
        raise NotImplementedError

    # Methods of every layer

    def __call__(
        self, *inputs: Tensor | Sequence[Tensor], training: bool | None = None, **options: Any
    ) -> Tensor:
        """Apply the layer to ``inputs``: tensors or NumPy arrays, or one list of them.

        The first call creates the variables; later calls use the same ones. A layer with several
        results returns a list.

        Args:
            training: whether this call is part of a training step; None takes it from the layer
                or model that makes the call, or else False.
            options: plain data that ``build`` and ``call`` of the layer take in addition. A model
                that replays the call passes it again.

        Raises:
            ShapeError, DTypeError: the inputs do not fit; the error names the layer and the shapes.
            GraphError: the layer belongs to another graph.
        """
        tensors = _flatten(inputs, self)
        graph = tensors[0].graph
        if self.graph is not None and all(map(is_detached, tensors)) and not is_building():
            graph = self.graph
        self._join_graph(graph)
        first_new_node = len(graph.nodes)
        device = graph.current_device or self.device
        try:
            with (
                graph.as_default(),
                graph.reenter_scope(f"{self.name}/"),
                graph.device(device),
                training_context(training) as is_training,
            ):
                arguments = [self._as_floats(tensor) for tensor in tensors]
                if not self.built:
                    self.build(*(tensor.shape for tensor in arguments), **options)
                result: Any = self._result(arguments, is_training, options)
                if not self.built:
                    self.built = True
                    adopt_variables(self)
                outputs = list(result) if isinstance(result, (list, tuple)) else [result]
                outputs = [self._in_data_format(output) for output in outputs]
                for i, output in enumerate(outputs):
                    if any(output is tensor for tensor in tensors):
                        outputs[i] = identity(output)  # models find a call by its outputs
                self._penalize(outputs)
                pass_mask(self.name or "", tensors, outputs, self.passes_mask, self.uses_mask)
        except PlaygradError as error:
            error.op = error.op or self.name
            error.source = self.source or error.source
            raise
        for node in graph.nodes[first_new_node:]:
            node.source = self.source or node.source
        self.output_shape = outputs[0].shape
        if not any(map(is_detached, outputs)):
            call = LayerCall(self, tuple(tensors), tuple(outputs), device, options)
            layers_of(graph).calls.update(dict.fromkeys(outputs, call))
        several: Any = outputs  # the type is that of most layers
        return outputs[0] if isinstance(result, Tensor) else several

    def _result(self, tensors: Sequence[Tensor], training: bool, options: Mapping[str, Any]) -> Any:
        """Return the result of ``call``, which is deferred if it needs sizes that are unknown."""
        call = partial(self.call, **call_arguments(self.call, training, dict(options)))
        graph, keeps_states = tensors[0].graph, bool(getattr(self, "states", ()))
        if training or keeps_states or is_at_once() or not has_open_sizes(tensors):
            return call(*tensors)
        before = len(graph.nodes)
        try:
            return call(*tensors)
        except ShapeError as error:
            new = graph.nodes[before:]
            if any(node.phase == "variable" for node in new):
                raise
            remove_nodes(graph, set(new))
            try:
                return deferred_call(self, call, tensors)
            except PlaygradError:
                raise error from None

    def _penalize(self, outputs: Sequence[Tensor]) -> None:
        """Add the penalties of ``outputs`` to the penalties of the step that is being built."""
        collected = layers_of(outputs[0].graph).penalties
        if collected is not None and self.activity_regularizer is not None:
            if WITHIN.label is not None:
                raise GraphError(
                    f"layer '{self.name}' has an activity regularizer, whose penalties cannot "
                    f"leave the batched function {WITHIN.label}().",
                    hint="Use it on the result of the Fold.",
                )
            collected += [self.activity_regularizer.of_samples(output) for output in outputs]

    def reset(self) -> None:
        """Remove the layer from its graph, with its variables, as before the first call."""
        for _, inner in attributes(self, (Layer,)):
            inner.reset()
        self.name = self.given_name
        self.graph = None
        self.built = False
        self.variables = {}
        self.regularizers = {}
        self._fixed = set()
        self.output_shape = None

    def add_weight(
        self,
        name: Any = None,
        shape: Any = (),
        initializer: str | Initializer | None = None,
        trainable: bool = True,
        regularizer: Regularizer | None = None,
        constraint: Constraint | None = None,
        dtype: Any = None,
    ) -> Variable:
        """Create the float32 variable ``<layer>/<name>``. For use in ``build``.

        Its random numbers depend on its full name, not on the order in which layers are built.
        Keras' order of arguments, (shape, initializer), is taken, too.

        Args:
            name: unique in the layer; None for ``weight``, ``weight_1`` and so on.
            shape: the sizes of its dimensions.
            initializer: name or `Initializer`; None for "glorot_uniform".
            dtype: as in Keras; only float32 is trained.
            trainable: whether training changes it, unless the layer is frozen.
            regularizer: a penalty on its size, which is added to the loss.
            constraint: applied to it after each update.
        """
        if name is not None and not isinstance(name, str):
            name, shape, initializer = None, name, initializer or (shape or None)
        if dtype is not None and dtype_of(dtype).name != "float32":
            raise DTypeError(
                f"the weights of {self!r} are float32, got {dtype_of(dtype).name}.",
                source=self.source,
                hint="Use pg.Variable for values of another dtype.",
            )
        name, shape = name or self._free_name(), one_or_more(shape)
        initializer = initializer or "glorot_uniform"
        if self.graph is None:
            self._join_graph(get_default_graph())  # in a constructor
        assert self.graph is not None
        with graph_mode(), self.graph.control_dependencies(None), self.graph.phase("variable"):
            initial = self.initial_value(name, shape, initializer)
            variable = Variable(
                initial, name, trainable=trainable and self.trainable, constraint=constraint
            )
        self.variables[name] = variable
        if not trainable:
            self._fixed.add(name)
        if regularizer is not None:
            self.regularizers[name] = regularizer
        return variable

    def _free_name(self) -> str:
        numbered = (f"weight_{number}" for number in itertools.count(1))
        return next(n for n in itertools.chain(["weight"], numbered) if n not in self.variables)

    def keep_fixed(self, name: str) -> None:
        """Never train the variable called ``name``, also if the layer is trained."""
        self._fixed.add(name)

    def initial_value(
        self, name: str, shape: Sequence[int], initializer: str | Initializer
    ) -> Tensor:
        """Return the initial value of the variable ``<layer>/<name>``."""
        assert self.graph is not None
        full_name = f"{self.name}/{name}"
        with self.graph.reenter_scope(f"{full_name}/"):
            seed = zlib.crc32(full_name.encode())
            return initializers.get(initializer)(tuple(shape), seed)

    def add_update(self, variable: Variable, update: Callable[[Tensor], Tensor]) -> None:
        """Have each training step set ``variable`` to ``update(variable)``. For use in ``call``.

        A step whose loss is not finite does not change it. If the layer is called several times in
        a step, each update is applied to the result of the one before. Outside of training steps
        this does nothing, nor for a frozen layer.
        """
        updates = layers_of(variable.graph).updates
        if is_at_once() and self.trainable:
            variable.assign(update(variable))
        elif updates is not None and self.trainable:
            with variable.graph.phase("update"):
                updates[variable] = update(updates.get(variable, variable))

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments as plain data, for ``from_config``.

        Raises:
            GraphError: an argument is a function, which is not plain data.
        """
        config = {name: _plain(value, self) for name, value in self._arguments().items()}
        return config if self.trainable else {**config, "trainable": False}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """Return a new layer with those constructor arguments; ``trainable`` may be among them."""
        arguments = dict(config)
        trainable = arguments.pop("trainable", True)
        layer = cls(**arguments)
        layer.trainable = trainable
        return layer

    def clone(self) -> Self:
        """Return a new layer with the same constructor arguments, not called yet."""
        layer = type(self)(**self._arguments())
        layer.device, layer.source = self.device, self.source
        layer.trainable = self.trainable
        return layer

    def _arguments(self) -> dict[str, Any]:
        passed = self._passed_by_name()
        parameters = list(inspect.signature(type(self).__init__).parameters.values())[1:]
        arguments = {
            p.name: getattr(self, p.name)
            if hasattr(self, p.name)
            else passed.get(p.name, p.default)
            for p in parameters
            if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)
        }
        if any(p.kind is p.VAR_KEYWORD for p in parameters):
            arguments = {**passed, **arguments}
        if "name" in arguments:
            arguments["name"] = self.given_name
        return arguments

    def _passed_by_name(self) -> dict[str, Any]:
        """Return the arguments that the constructor was called with."""
        args, kwargs = self._passed
        bound = inspect.signature(type(self).__init__).bind(self, *args, **kwargs)
        variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        named = {
            name: value
            for name, value in list(bound.arguments.items())[1:]
            if bound.signature.parameters[name].kind not in variadic
        }
        return named | kwargs

    def _join_graph(self, graph: Graph) -> None:
        """Register with ``graph``: under the user's name, numbered if another layer has it."""
        if self.graph is graph:
            return
        if self.graph is not None:
            raise GraphError(
                f"layer '{self.name}' belongs to another model's graph.",
                op=self.name,
                source=self.source,
                hint="Create a new layer: type(layer).from_config(layer.get_config()).",
            )
        layers = layers_of(graph)
        name = self.name or layers.next_name(self.kind or type(self).__name__.lower())
        if name in layers.by_name:  # of another model, or the model is an error
            name = layers.next_name(name)
        self.name, self.graph = name, graph
        layers.by_name[name] = self

    def _as_floats(self, tensor: Tensor) -> Tensor:
        if self._is_channels_first and tensor.spec.rank > 2:
            tensor = moveaxis(tensor, 1, -1)
        if not self.takes_floats or dtype(tensor.dtype).floating:
            return tensor
        return cast_with_mask(tensor, "float32")

    @property
    def _is_channels_first(self) -> bool:
        return vars(self).get("data_format") == "channels_first"

    def _in_data_format(self, output: Any) -> Any:
        """Return a result of ``call``, where channels are last, in the layer's data format."""
        if self._is_channels_first and output.spec.rank > 2:
            return moveaxis(output, -1, 1)
        return output


KINDS.append(Layer)


def record_of(kind: str) -> LayerRecord:
    """Return the record of a kind of layers; an empty one for a kind without a record."""
    return RECORDED[kind].record if kind in RECORDED else LayerRecord()


_late: list[Callable[[], object]] = []


def provide_layers(load: Callable[[], object]) -> None:
    """Have ``load`` define more layers when one is not known. The package itself calls this."""
    _late[:] = [load]


def layer_type(kind: str) -> type[Layer]:
    """Return the layer class registered as ``kind``.

    Raises:
        GraphError: there is no such class.
    """
    if kind not in _REGISTRY:
        for load in _late:
            load()
    if kind not in _REGISTRY:
        raise GraphError(
            f"there is no layer {kind!r}.", hint=f"Use one of: {', '.join(sorted(_REGISTRY))}."
        )
    return _REGISTRY[kind]


def _one_or_list(tensors: Sequence[Tensor]) -> Tensor | list[Tensor]:
    return tensors[0] if len(tensors) == 1 else list(tensors)


def _flatten(inputs: Sequence[Tensor | Sequence[Tensor]], layer: Layer) -> list[Tensor]:
    tensors: list[Any] = []
    for item in inputs:
        tensors.extend(item if isinstance(item, (list, tuple)) else [item])
    tensors = [constant(item) if isinstance(item, np.ndarray) else item for item in tensors]
    wrong = next((item for item in tensors if not isinstance(item, Tensor)), None)
    if wrong is not None or not tensors:
        raise DTypeError(
            f"{layer!r} takes tensors, got {type(wrong).__name__}.",
            source=layer.source,
            hint="Use pg.Input(shape), or an array for a result at once.",
        )
    return tensors


def _plain(value: Any, layer: Layer) -> Any:
    if isinstance(value, (Initializer, Regularizer, Constraint)):
        return value.config()
    if isinstance(value, tuple):
        return [_plain(item, layer) for item in value]
    if callable(value):
        raise GraphError(
            f"{layer!r} holds the function {getattr(value, '__name__', value)!r}, which cannot be "
            "saved in a configuration.",
            hint="Pass the name of an activation instead, or write a layer for it.",
        )
    return value
