"""The program of a network, as it is written layer by layer."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

from playgrad.errors import ExportError
from playgrad.graph.tensor import Node, Tensor
from playgrad.interchange.pytorch.names import MODULE_ATTRIBUTES, Identifiers
from playgrad.nn.layer import Layer
from playgrad.nn.layer_calls import LayerCall

Array = np.ndarray[Any, Any]
Layout = Literal["last", "first"]
"""The axis of the channels: the last, as in playgrad, or the first after the batch."""

_BRANCHES = ("x", "y", "z", "u", "v", "w", "a", "b", "c", "d")
"""The names of results; one that nothing reads any more is free for the next."""

WIDTH = 88  # as ruff and Black format by default


class NetworkStructure(Protocol):
    """The layers and operations of a network between its inputs and outputs."""

    @property
    def inputs(self) -> tuple[Tensor, ...]: ...

    @property
    def outputs(self) -> tuple[Tensor, ...]: ...

    @property
    def items(self) -> tuple[LayerCall | Node, ...]: ...


@dataclass(eq=False)
class Value:
    """A local variable of ``forward``.

    Attributes:
        name: the name of the variable.
        layout: the layout of its value at this line.
        tensor: the tensor of the graph which it stands for.
    """

    name: str
    layout: Layout
    tensor: Tensor


class ProgramWriter:
    """The lines of ``__init__`` and ``forward``, and the weights.

    Attributes:
        modules: the lines of ``__init__``.
        lines: the lines of ``forward``.
        state: the state_dict.
        calls: the calls of each layer.
        flattened: images (height, width, channels) flattened channel by channel, by the tensors
            that have this order instead of playgrad's.
    """

    def __init__(
        self,
        structure: NetworkStructure,
        layers: Sequence[tuple[str, Layer]],
        weights: Mapping[str, Array],
    ) -> None:
        self.modules: list[str] = []
        self.lines: list[str] = []
        self.state: dict[str, Array] = {}
        self._constructed: set[str] = set()
        self.weights = weights
        self.layer_names = {layer: name for name, layer in layers}
        self.calls: dict[Layer, list[LayerCall]] = {}
        self._names = Identifiers(48, MODULE_ATTRIBUTES)
        self._attributes = {(layer, ""): self._names.new(name) for name, layer in layers}
        self._locals = Identifiers(24, frozenset(_BRANCHES))
        self._values: dict[Tensor, Value] = {}
        self._last_use: dict[Tensor, float] = {}
        for index, item in enumerate(structure.items):
            self._last_use.update(dict.fromkeys(item.inputs, index))
            if isinstance(item, LayerCall):
                self.calls.setdefault(item.layer, []).append(item)
        self._last_use.update(dict.fromkeys(structure.outputs, math.inf))
        self._structure = structure
        self.flattened: dict[Tensor, tuple[int, ...]] = {}
        self.position = -1  # of the item of the structure that is being written
        if len(structure.inputs) == 1:
            self.arguments = [self.bind(structure.inputs[0], _BRANCHES[0]).name]
        else:
            self.arguments = [
                self.bind(tensor, self.new_name(tensor.node.name)).name
                for tensor in structure.inputs
            ]

    def attribute(self, layer: Layer, part: str = "") -> str:
        """Return the name of the module of ``layer``, or of a ``part``, such as ``_pointwise``."""
        if (layer, part) not in self._attributes:
            self._attributes[layer, part] = self._names.new(self._attributes[layer, ""] + part)
        return self._attributes[layer, part]

    # Local variables

    def bind(self, tensor: Tensor, name: str, layout: Layout = "last") -> Value:
        """Let a new variable stand for ``tensor``."""
        value = self._values[tensor] = Value(name, layout, tensor)
        return value

    def target(self, inputs: Sequence[Tensor]) -> str:
        """Return the name for a result: that of an input no longer needed, or a free one."""
        values = [self._values[tensor] for tensor in inputs if tensor in self._values]
        for value in values:
            if value.name in _BRANCHES and not self._is_read_later(value):
                return value.name
        read = {v.name for v in self._values.values() if v in values or self._is_read_later(v)}
        free = (name for name in _BRANCHES if name not in read)
        return next(free, None) or self.new_name("y")

    def new_name(self, wish: str) -> str:
        """Return a name that no other variable has."""
        return self._locals.new(wish)

    def _is_read_later(self, value: Value) -> bool:
        return self._last_use.get(value.tensor, -1) > self.position

    def is_output(self, tensor: Tensor) -> bool:
        """Return whether ``tensor`` is a result of the network."""
        return tensor in set(self._structure.outputs)

    def readers(self, tensor: Tensor) -> list[LayerCall | Node]:
        """Return the layer calls and operations that take ``tensor``."""
        return [item for item in self._structure.items if tensor in set(item.inputs)]

    def knows(self, tensor: Tensor) -> bool:
        """Return whether a variable stands for ``tensor``."""
        return tensor in self._values

    def layout(self, tensor: Tensor) -> Layout:
        """Return where the channels of ``tensor`` are at this line."""
        return self._values[tensor].layout

    def read(self, tensor: Tensor, layout: Layout) -> str:
        """Return the variable of ``tensor``, after permuting it to ``layout`` if need be."""
        value, rank = self._values[tensor], tensor.spec.rank
        if rank > 2 and value.layout != layout:
            if layout == "first":
                axes = [0, rank - 1, *range(1, rank - 1)]
                self.comment("Channels first, as the modules of PyTorch expect them.")
            else:
                axes = [0, *range(2, rank), 1]
                self.comment("Channels last again.")
            self.assign(value.name, f"{value.name}.permute({', '.join(map(str, axes))})")
            value.layout = layout
        return value.name

    # Lines

    def comment(self, text: str) -> None:
        self.lines.append(f"# {text}")

    def assign(self, target: str, expression: str) -> None:
        self.lines.append(f"{target} = {expression}")

    def assign_call(self, target: str, function: str, arguments: Sequence[str]) -> None:
        """Append a line with a call, of several lines if it is long."""
        self.lines.append(call_text(f"{target} = {function}", arguments))

    def construct(
        self, attribute: str, module: str, arguments: Sequence[str], end: str = ""
    ) -> None:
        """Append the line of ``__init__`` that creates a module, at the first call of its layer."""
        if attribute not in self._constructed:
            self._constructed.add(attribute)
            self.modules.append(call_text(f"self.{attribute} = {module}", arguments) + end)

    def freeze(self, parameter: str) -> None:
        """Append the line of ``__init__`` that makes a parameter a constant."""
        line = f"{parameter}.requires_grad_(False)  # a constant"
        if line not in self.modules:
            self.modules.append(line)


def call_text(head: str, arguments: Sequence[str]) -> str:
    """Return ``head(arguments)``, with a line for each argument if it is too long for one."""
    text = f"{head}({', '.join(arguments)})"
    if len(text) + 8 <= WIDTH:  # in the body of a method
        return text
    if len(text) - len(head) + 10 <= WIDTH:
        return f"{head}(\n    {', '.join(arguments)}\n)"
    return "\n".join([f"{head}(", *(f"    {argument}," for argument in arguments), ")"])


def refuse(layer: str, why: str, hint: str | None = None) -> ExportError:
    """Return the error of a layer that PyTorch, or this export, has no equivalent of."""
    return ExportError(f"layer '{layer}': {why}", op=layer, hint=hint)
