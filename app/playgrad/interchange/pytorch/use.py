"""`LayerUse`: a call of a layer, with the means of its translation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.dtypes import dtype
from playgrad.errors import ExportError
from playgrad.graph.tensor import Tensor
from playgrad.interchange.pytorch.activations import activation_expression
from playgrad.interchange.pytorch.writer import WIDTH, Layout, ProgramWriter, refuse
from playgrad.nn.layer_calls import LayerCall

Array = np.ndarray[Any, Any]


class LayerUse:
    """A call of a layer.

    Attributes:
        layer: the layer.
        attribute: the name of its module.
        inputs, outputs: tensors of the graph.
        writer: where its lines go.
    """

    def __init__(self, writer: ProgramWriter, call: LayerCall) -> None:
        self.writer = writer
        self.call = call
        self.layer: Any = call.layer
        self.attribute = writer.attribute(call.layer)
        self.inputs, self.outputs = call.inputs, call.outputs
        self._prefix = f"{writer.layer_names[call.layer]}/"

    @property
    def x(self) -> Tensor:
        return self.inputs[0]

    @property
    def rank(self) -> int:
        return self.inputs[0].spec.rank

    def refuse(self, why: str, hint: str | None = None) -> ExportError:
        """Return the error that this layer cannot be exported."""
        return refuse(str(self.layer.name), why, hint)

    # Weights

    def weight(self, name: str) -> Array:
        """Return a weight of the layer by its name."""
        return self.writer.weights[self._prefix + name]

    def has(self, name: str) -> bool:
        return self._prefix + name in self.writer.weights

    def store(self, name: str, array: Array, part: str = "") -> None:
        """Put an array into the state_dict, as ``name`` of the module or buffer."""
        module = self.writer.attribute(self.layer, part)
        self.writer.state[f"{module}.{name}" if name else module] = np.ascontiguousarray(array)

    # Modules

    def module(
        self, kind: str, *arguments: Any, part: str = "", end: str = "", **named: Any
    ) -> str:
        """Create the module of the layer, or a ``part`` of it; return the text that refers to it.

        Named arguments of None are left out.
        """
        texts = [literal(argument) for argument in arguments]
        texts += [f"{name}={literal(v)}" for name, v in named.items() if v is not None]
        attribute = self.writer.attribute(self.layer, part)
        self.writer.construct(attribute, kind, texts, end)
        return f"self.{attribute}"

    # Values

    def read(self, layout: Layout, index: int = 0, as_floats: bool | None = None) -> str:
        """Return the text of an input in this layout.

        Args:
            as_floats: whether integers are converted; None to ask the layer.
        """
        tensor = self.inputs[index]
        name = self.writer.read(tensor, layout)
        if as_floats is None:
            as_floats = self.layer.takes_floats
        return f"{name}.float()" if as_floats and not dtype(tensor.dtype).floating else name

    def read_as_is(self, index: int = 0) -> str:
        """Return the text of an input in the layout that it has."""
        return self.read(self.layout_of(index), index)

    def layout_of(self, index: int = 0) -> Layout:
        return self.writer.layout(self.inputs[index])

    def target(self) -> str:
        """Return the name of the result."""
        return self.writer.target(self.inputs)

    def give(self, expression: str, layout: Layout) -> None:
        """Append the line of a result that is an expression."""
        target = self.target()
        self.writer.assign(target, expression)
        self.bind(target, layout)

    def give_call(self, function: str, arguments: Sequence[str], layout: Layout) -> None:
        """Append the line of a result that is a call."""
        target = self.target()
        self.writer.assign_call(target, function, arguments)
        self.bind(target, layout)

    def give_active(
        self, function: str, arguments: Sequence[str], layout: Layout, target: str | None = None
    ) -> None:
        """Append the lines of a call and of the layer's activation on its result."""
        target = target or self.target()
        active = self._active(f"{function}({', '.join(arguments)})", layout)
        if len(target) + len(active) + 11 <= WIDTH:
            self.writer.assign(target, active)
            self.bind(target, layout)
        else:
            self.writer.assign_call(target, function, arguments)
            self.activate(target, layout)

    def activate(self, target: str, layout: Layout) -> None:
        """Append the line of the layer's activation, if it has one, on its result."""
        active = self._active(target, layout)
        if active != target:
            self.writer.assign(target, active)
        self.bind(target, layout)

    def _active(self, text: str, layout: Layout) -> str:
        axis = self.axis(-1, layout, self.outputs[0].spec.rank)
        active = activation_expression(self.layer.activation, text, axis)
        if active is None:
            raise self.refuse(f"the activation {self.layer.activation!r} has no equivalent.")
        return active

    def bind(self, target: str, layout: Layout, output: int = 0) -> None:
        """Let ``target`` stand for a result from here on."""
        if self.outputs[output].spec.rank < 3:
            layout = "last"
        self.writer.bind(self.outputs[output], target, layout)

    @staticmethod
    def axis(axis: int, layout: Layout, rank: int) -> int:
        """Return where ``axis`` of playgrad's layout is in this one."""
        axis %= rank
        if layout == "last" or axis == 0 or rank < 3:
            return axis
        return 1 if axis == rank - 1 else axis + 1


def literal(value: Any) -> str:
    """Return the Python text of an argument; one number or two equal ones are a number."""
    if isinstance(value, (tuple, list)):
        alike = len(value) < 3 and len(set(value)) == 1
        return literal(value[0]) if alike else f"({', '.join(map(literal, value))})"
    return f'"{value}"' if isinstance(value, str) else repr(value)
