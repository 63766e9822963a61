"""The calls of a network's layers as Keras describes them, and the order that Keras keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from playgrad.errors import ExportError
from playgrad.interchange.keras.layers import snake_case
from playgrad.interchange.keras.weights import weight_places
from playgrad.nn.layer import record_of

_CALL_OPTIONS = {"use_causal_mask"}


@dataclass
class KerasCall:
    """A call of a layer.

    Attributes:
        layer: its number; None for an input of the network.
        number: the index of the call among the calls of the layer.
        inputs, outputs: the names of tensors.
        options: the options of the call; for an input its shape and dtype.
    """

    layer: int | None
    number: int
    inputs: list[str]
    outputs: list[str]
    options: dict[str, Any]


class CallGraph:
    """The calls between the inputs and the outputs of a network.

    Args:
        config: as ``model.layer_graph`` returns it.
        without: a mark that names in the file must not have; "_" is in its place.

    Attributes:
        renamed: the names in the file of the layers whose own names have that mark.

    Raises:
        ExportError: an operation does not belong to a layer.
    """

    def __init__(self, config: Mapping[str, Any], without: str = "") -> None:
        self.config = config
        self.names: list[str] = [layer["name"] for layer in config["layers"]]
        self.renamed: dict[str, str] = {}
        self._input_names: dict[str, str] = {}
        for name in self.names:
            if without and without in name:
                self.renamed[name] = self._free_name(name.replace(without, "_"))
        self.calls: list[KerasCall] = []
        self._made: dict[str, KerasCall] = {}
        counts: dict[int, int] = {}
        for step in config["steps"]:
            if "node" in step:
                self._add(self._input(step["node"]))
                continue
            layer = step["layer"]
            number = counts[layer] = counts.get(layer, -1) + 1
            options = _options(config["layers"][layer], step.get("options", {}))
            self._add(KerasCall(layer, number, step["inputs"], step["outputs"], options))

    def _input(self, node: Mapping[str, Any]) -> KerasCall:
        if node["op"] != "placeholder":
            raise ExportError(
                f"operation '{node['name']}' ({node['op']}) is not part of a layer, and files of "
                "this format have layers only.",
                hint="Use a layer, such as nn.Add, or export the model as ONNX.",
            )
        tensor = f"{node['name']}:0"
        self._input_names[tensor] = self._free_name(node["name"].replace("/", "_"))
        return KerasCall(None, 0, [], [tensor], node["attrs"])

    def _free_name(self, base: str) -> str:
        """Return a name that nothing else has; Keras counts inputs among the layers."""
        taken = {*self.names, *self.renamed.values(), *self._input_names.values()}
        name, number = base, 1
        while name in taken:
            name, number = f"{base}_{number}", number + 1
        return name

    def _add(self, call: KerasCall) -> None:
        self.calls.append(call)
        self._made.update(dict.fromkeys(call.outputs, call))

    def name(self, call: KerasCall) -> str:
        """Return the name of the layer that is called, or of an input."""
        if call.layer is None:
            return self._input_names[call.outputs[0]]
        return self.names[call.layer]

    def name_in_file(self, call: KerasCall) -> str:
        """Return the name in the file of the layer that is called, or of an input."""
        name = self.name(call)
        return self.renamed.get(name, name)

    def place(self, tensor: str) -> list[Any]:
        """Return a tensor as [name in the file, number of the call, number of the output]."""
        call = self._made[tensor]
        return [self.name_in_file(call), call.number, call.outputs.index(tensor)]

    def arguments(self, call: KerasCall) -> list[Any]:
        """Return the positional arguments of a call."""
        tensors = [self._argument(tensor) for tensor in call.inputs]
        assert call.layer is not None
        kind = self.config["layers"][call.layer]["kind"]
        if record_of(kind).is_merge:
            return [tensors]
        # Of itself alone, playgrad's attention takes one input.
        alone = kind == "multi_head_attention" and len(tensors) == 1
        return tensors * 2 if alone else tensors

    def _argument(self, tensor: str) -> dict[str, Any]:
        shape, dtype = self.config["tensors"][tensor]
        config = {"shape": shape, "dtype": dtype, "keras_history": self.place(tensor)}
        return {"class_name": "__keras_tensor__", "config": config}

    def layers(self) -> list[KerasCall]:
        """Return the first call of each layer, and the inputs, in the order of Keras' models.

        Keras sorts layers by their distance from the outputs, and layers of the same distance in
        the order of a depth-first search from the outputs.
        """
        met: dict[str, int] = {}
        for tensor in self.config["outputs"]:
            self._visit(self._made[tensor], met)
        depths: dict[str, int] = {}
        of_calls: dict[int, int] = {}
        for call in reversed(self.calls):
            name = self.name(call)
            depth = max(of_calls.get(id(call), 0), depths.get(name, 0))
            depths[name] = depth
            for tensor in call.inputs:
                before = id(self._made[tensor])
                of_calls[before] = max(of_calls.get(before, 0), depth + 1)
        first: dict[str, KerasCall] = {}
        for call in self.calls:
            first.setdefault(self.name(call), call)
        order = sorted(first, key=lambda name: (-depths[name], met.get(name, -1)))
        return [first[name] for name in order]

    def kind(self, call: KerasCall) -> str:
        """Return the kind of a layer; "input" for an input."""
        return "input" if call.layer is None else self.config["layers"][call.layer]["kind"]

    def groups(self, order: Sequence[KerasCall]) -> dict[str, str]:
        """Return the paths of the layers' groups of weights by name.

        Keras calls them after the classes.
        """
        counts: dict[str, int] = {}
        groups: dict[str, str] = {}
        for call in order:
            name = snake_case(record_of(self.kind(call)).keras or "InputLayer")
            number = counts[name] = counts.get(name, -1) + 1
            groups[self.name(call)] = f"layers/{name}_{number}" if number else f"layers/{name}"
        return groups

    def weight_places(
        self, order: Sequence[KerasCall], shapes: Mapping[str, Sequence[int]]
    ) -> dict[str, tuple[str, tuple[int, ...]]]:
        """Return the path and the shape that weights of these ``shapes`` have in Keras."""
        groups = self.groups(order)
        places: dict[str, tuple[str, tuple[int, ...]]] = {}
        for call in order:
            if call.layer is None:
                continue
            layer, prefix = self.config["layers"][call.layer], f"{self.name(call)}/"
            own = {
                name.removeprefix(prefix): shape
                for name, shape in shapes.items()
                if name.startswith(prefix)
            }
            for name, (path, stored) in weight_places(layer["kind"], layer["config"], own).items():
                places[prefix + name] = (f"{groups[self.name(call)]}/{path}", stored)
        return places

    def _visit(self, call: KerasCall, met: dict[str, int]) -> None:
        name = self.name(call)
        if name in met and call.number == 0:
            return
        met.setdefault(name, len(met))
        for tensor in call.inputs:
            self._visit(self._made[tensor], met)


def _options(layer: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a call that Keras has.

    Raises:
        ExportError: it has no equivalent of one.
    """
    kept = {key: value for key, value in options.items() if key in _CALL_OPTIONS and value}
    others = {key: value for key, value in options.items() if key not in _CALL_OPTIONS and value}
    if others:
        raise ExportError(
            f"layer '{layer['name']}': the format has no call with {', '.join(others)}."
        )
    if layer["config"].get("causal"):
        kept["use_causal_mask"] = True
    return kept
