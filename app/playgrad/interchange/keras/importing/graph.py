"""The layers of a model in a file of Keras, called as the file says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from playgrad.errors import CheckpointError
from playgrad.graph.tensor import Tensor
from playgrad.interchange.keras.importing.layers import keras_class, keras_config, read_layer
from playgrad.interchange.keras.importing.operations import (
    KerasOperation,
    are_same,
    is_operation,
)
from playgrad.interchange.keras.importing.reading import Reading
from playgrad.interchange.keras.layers import snake_case
from playgrad.models.inputs import Input
from playgrad.nn.layer import Layer
from playgrad.nn.masks import mask_of, set_mask
from playgrad.ops import identity

Place: TypeAlias = tuple[str, int]
"""A call: the name of a layer, and the index of the call among the layer's calls."""
Result: TypeAlias = tuple[str, int, int]
"""A tensor: a call, and the index of the tensor among the call's results."""

_MODELS = ("Functional", "Model", "Sequential")
_DEEPEST = 8
"""Maximum number of models inside each other."""
_INPUTS = ("inputs", "sequence", "query", "value", "key")
"""Names of inputs that are not passed by position, in their order."""
_OPTIONS = ("use_causal_mask",)
_DAMAGED = "the Keras file is damaged"


@dataclass(frozen=True)
class _Arguments:
    """The arguments of a call, as the file has them.

    Attributes:
        needed: the calls whose results it takes.
        inputs: the inputs of a layer.
        masks: the masks that the file gives its inputs.
    """

    needed: list[Place]
    inputs: list[Result]
    masks: Any
    options: dict[str, Any]


class ModelReader:
    """A model of a file, or one inside another, whose layers are new.

    Args:
        data: its description.
        reading: the layers so far.
        path: the path of its weights.
        depth: the number of models around it.

    Attributes:
        layers: the layers by the paths of their weights, such as ``layers/conv2d_1``, including
            the layers of models inside it.

    Raises:
        CheckpointError: the description is damaged, or has a layer that playgrad does not have.
    """

    def __init__(self, data: Any, reading: Reading, path: str = "", depth: int = 0) -> None:
        if depth > _DEEPEST:
            raise CheckpointError(f"the Keras file has more than {_DEEPEST} models in each other.")
        class_name = keras_class(data, "")
        if class_name not in _MODELS:
            raise CheckpointError(
                f"the Keras file has a model of class {class_name[:80]}.",
                hint="Sequential and functional models are read.",
            )
        self.is_chain = class_name == "Sequential"
        self.config = keras_config(data)
        self.name = str(self.config.get("name"))
        self.layers: dict[str, Layer] = {}
        self._reading = reading
        self._members: dict[str, Layer | ModelReader | KerasOperation | Mapping[str, Any]] = {}
        self._nodes: dict[str, list[Any]] = {}
        self._read: dict[Place, _Arguments] = {}
        counts: dict[str, int] = {}
        for each in _listed(self.config.get("layers")):
            if is_operation(each):
                self._add_operation(each)
                continue
            kind = snake_case(keras_class(each, ""))
            number = counts[kind] = counts.get(kind, -1) + 1
            place = f"{path}layers/{kind}_{number}" if number else f"{path}layers/{kind}"
            self._add(each, place, depth)

    def _named(self, data: Mapping[str, Any]) -> str:
        """Return the name of a new member, whose calls are taken from ``data``."""
        self._reading.add_layer()
        name = str(data.get("name") or keras_config(data).get("name"))
        if name in self._members:
            raise CheckpointError(f"{_DAMAGED}: two layers are named '{name[:80]}'.")
        self._nodes[name] = _listed(data.get("inbound_nodes", []))
        return name

    def _add_operation(self, data: Mapping[str, Any]) -> None:
        keras_class(data, "ops")
        self._members[self._named(data)] = KerasOperation(data, keras_config(data))

    def _add(self, data: Any, place: str, depth: int) -> None:
        name = self._named(data)
        class_name = keras_class(data, "")
        if class_name == "InputLayer":
            self._members[name] = keras_config(data)
        elif class_name in _MODELS:
            model = ModelReader(data, self._reading, f"{place}/", depth + 1)
            self._members[name] = model
            self.layers |= model.layers
        else:
            unique = self._reading.unique(name, self.name)
            self._members[name] = self.layers[place] = read_layer(data, unique)

    # Calls

    def inputs(self) -> list[Tensor]:
        """Return new inputs.

        Raises:
            CheckpointError: the file does not tell their shapes.
        """
        if not self.is_chain:
            return [self._input(name) for name, _, _ in _places(self.config.get("input_layers"))]
        for name, member in self._members.items():
            if isinstance(member, Mapping):
                return [self._input(name)]
            break
        shape = self.config.get("build_input_shape")
        if shape is None:
            raise CheckpointError(
                f"the model '{self.name[:80]}' of the Keras file has not been built.",
                hint="Save it after its first training step, or begin it with keras.Input(shape).",
            )
        return [_input({"batch_shape": shape, "name": "input"}, self._reading)]

    def _input(self, name: str) -> Tensor:
        config = self._members.get(name)
        if not isinstance(config, Mapping):
            raise CheckpointError(f"{_DAMAGED}: '{name[:80]}' is not an input.")
        return _input(config, self._reading)

    def outputs(self, inputs: Sequence[Tensor]) -> list[Tensor]:
        """Return the results for ``inputs``.

        Raises:
            CheckpointError: the description is damaged, or has a call that playgrad does not have.
        """
        if self.is_chain:
            tensors = list(inputs)
            for member in self._members.values():
                if isinstance(member, Layer | ModelReader):
                    tensors = self._call(member, tensors, {})
                else:
                    self._reading.add_call(0)
            return tensors
        places = _places(self.config.get("input_layers"))
        wanted = [self._own(place) for place in _places(self.config.get("output_layers"))]
        self._reading.add_call(len(places) + len(wanted))
        if len(places) != len(inputs):
            raise CheckpointError(
                f"{_DAMAGED}: the model '{self.name[:80]}' is called with {len(inputs)} inputs."
            )
        values: dict[Place, list[Tensor]] = {
            (name, 0): [tensor] for (name, _, _), tensor in zip(places, inputs, strict=True)
        }
        for name, call, _ in wanted:
            self._compute((name, call), values)
        return [_result(values, place) for place in wanted]

    def _compute(self, target: Place, values: dict[Place, list[Tensor]]) -> None:
        """Compute the results of a call and of all that it needs, without recursion."""
        stack, begun = [target], set[Place]()
        while stack:
            place = stack[-1]
            if place in values:
                stack.pop()
                continue
            arguments = self._arguments(place)
            missing = [each for each in arguments.needed if each not in values]
            if missing:
                if place in begun:
                    raise CheckpointError(f"{_DAMAGED}: layer '{place[0][:80]}' needs itself.")
                begun.add(place)
                stack += missing
                continue
            member = self._members[place[0]]
            assert not isinstance(member, Mapping)
            if isinstance(member, KerasOperation):
                given = _listed(self._node(place).get("args"))
                values[place] = [member(self._resolved(given, values))]
            else:
                tensors = [_result(values, each) for each in arguments.inputs]
                masks = self._resolved(arguments.masks, values)
                values[place] = self._call(member, _with_masks(tensors, masks), arguments.options)

    def _own(self, place: Result) -> Result:
        """Return a result as that of a call in the file.

        Functional models inside others have a call of their own that is not in the file.
        """
        name, call, number = place
        member = self._members.get(name)
        is_shifted = isinstance(member, ModelReader) and not member.is_chain
        return (name, call - 1 if is_shifted and call else call, number)

    def _resolved(self, value: Any, values: Mapping[Place, list[Tensor]]) -> Any:
        """Return an argument with tensors in place of their descriptions."""
        if isinstance(value, list):
            self._reading.add_call(len(value))
            return [self._resolved(each, values) for each in value]
        if isinstance(value, Mapping):
            places = list(_histories(value))
            if len(places) != 1:
                raise CheckpointError(
                    f"the Keras file has an argument that playgrad does not read: {value!s:.80}"
                )
            return _result(values, self._own(places[0]))
        return value

    def _node(self, place: Place) -> Mapping[str, Any]:
        name, call = place
        nodes = self._nodes.get(name, [])
        if not 0 <= call < len(nodes) or isinstance(self._members[name], Mapping):
            raise CheckpointError(f"{_DAMAGED}: call {call} of layer '{name[:80]}' is missing.")
        node = nodes[call]
        if not isinstance(node, Mapping):
            raise CheckpointError(
                "the Keras file was written by Keras 2.", hint="Load and save it with Keras 3."
            )
        return node

    def _arguments(self, place: Place) -> _Arguments:
        """Return the arguments of a call, which are read once: a model may be called often."""
        if place not in self._read:
            self._read[place] = self._read_arguments(self._node(place), place[0])
        return self._read[place]

    def _read_arguments(self, node: Mapping[str, Any], name: str) -> _Arguments:
        needed = [self._own(each)[:2] for each in _histories(node)]
        if isinstance(self._members[name], KerasOperation):
            return _Arguments(needed, [], None, {})
        kwargs = dict(node.get("kwargs") or {})
        parts = [node.get("args"), *(kwargs.pop(key, None) for key in _INPUTS)]
        options = {key: kwargs.pop(key) for key in _OPTIONS if kwargs.get(key)}
        kwargs.pop("training", None)  # models of Keras pass their own on
        masks = kwargs.pop("mask", None)
        for key, value in kwargs.items():
            if value is not None and value is not False:
                raise CheckpointError(
                    f"layer '{name[:80]}' of the Keras file is called with {key[:80]}, which "
                    "playgrad does not read."
                )
        return _Arguments(needed, [self._own(each) for each in _histories(parts)], masks, options)

    def _call(
        self, member: Layer | ModelReader, tensors: Sequence[Tensor], options: Mapping[str, Any]
    ) -> list[Tensor]:
        if isinstance(member, ModelReader):
            return member.outputs(tensors)
        self._reading.add_call(len(tensors))
        if not tensors:
            raise CheckpointError(f"{_DAMAGED}: layer '{member.name}' is called without inputs.")
        result: Any = member(*tensors, **options)
        return [result] if isinstance(result, Tensor) else list(result)


def _with_masks(tensors: list[Tensor], masks: Any) -> list[Tensor]:
    """Return the inputs of a call with the masks that the file gives them, where theirs differ."""
    given = masks if isinstance(masks, list) else [masks]
    for number, (x, mask) in enumerate(zip(tensors, given, strict=False)):
        before = mask_of(x)
        if mask is None or (before is not None and are_same(before, mask)):
            continue
        if not isinstance(mask, Tensor) or mask.dtype != "bool" or mask.spec.rank >= x.spec.rank:
            raise CheckpointError(f"{_DAMAGED}: a mask is not bool, or not of steps.")
        tensors[number] = identity(x)
        set_mask(tensors[number], mask)
    return tensors


def _input(config: Mapping[str, Any], reading: Reading) -> Tensor:
    shape = config.get("batch_shape") or config.get("batch_input_shape")
    dtype = "int32" if config.get("dtype") == "int64" else config.get("dtype", "float32")
    if config.get("sparse") or config.get("ragged"):
        raise CheckpointError("the model of the Keras file takes sparse or ragged inputs.")
    if not isinstance(shape, list) or not shape or not all(_is_size(size) for size in shape):
        raise CheckpointError(f"{_DAMAGED}: an input has the shape {str(shape)[:80]}.")
    batch, *sizes = shape
    if sizes and sizes[0] is None and None not in sizes[1:]:  # other open sizes belong to images
        reading.is_open = True
        sizes[0] = reading.sequence_length
    return Input(sizes, batch, dtype, str(config.get("name")))


def _is_size(size: Any) -> bool:
    return size is None or (type(size) is int and 0 < size < 1 << 31)


def _listed(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise CheckpointError(f"{_DAMAGED}: a list is missing.")
    return value


def _places(value: Any) -> list[Result]:
    """Return tensors as (layer, number of the call, number of the result)."""
    items = _listed(value)
    several = items if not items or isinstance(items[0], list) else [items]
    return [_place(each) for each in several]


def _place(value: Any) -> Result:
    if not isinstance(value, list) or [type(part) for part in value] != [str, int, int]:
        raise CheckpointError(f"{_DAMAGED}: {str(value)[:80]} is not the result of a layer.")
    return value[0], value[1], value[2]


def _histories(value: Any) -> Iterator[Result]:
    """Yield the tensors in the arguments of a call."""
    if isinstance(value, Mapping) and value.get("class_name") == "__keras_tensor__":
        yield _place(keras_config(value).get("keras_history"))
    elif isinstance(value, (Mapping, list)):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from _histories(each)


def _result(values: Mapping[Place, list[Tensor]], place: Result) -> Tensor:
    name, call, number = place
    results = values[name, call]
    if not 0 <= number < len(results):
        raise CheckpointError(f"{_DAMAGED}: layer '{name[:80]}' has no result {number}.")
    return results[number]
