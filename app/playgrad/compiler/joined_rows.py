"""Nodes that compute rows by rows, as the body of a recurrence of one step."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import Any

from playgrad.compiler.recurrences import DTYPES
from playgrad.compiler.roll import MOST_IN_CHAINS
from playgrad.compiler.rolled_inputs import RolledInput
from playgrad.compiler.rolled_steps import number_of
from playgrad.graph.spec import Shape
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.elementwise.fused import FUSED, WITH_EPILOGUE
from playgrad.ops.expression.expr import Leaf, to_json
from playgrad.ops.recurrent.recurrence_data import (
    Instruction,
    KeptValue,
    Recurrence,
    Ref,
    StepSource,
)
from playgrad.ops.recurrent.recurrence_normalization import NORMALIZATIONS

_PLAIN = {"transpose_a": False, "transpose_b": False}
_COPY = {"expressions": [to_json(Leaf(0))]}


def is_row_node(node: Node) -> bool:
    """Return whether each row of the results of ``node`` needs only the same row of its inputs, and
    matrices and vectors that are the same for all rows."""
    shape = node.outputs[0].shape if node.outputs else ()
    if (
        not shape
        or None in shape
        or not node.outputs[0].spec.size
        or node.op.writes
        or any(y.dtype != "float32" or y.shape != shape for y in node.outputs)
    ):
        return False
    op, inputs, extras = _structured(node)
    if op == "matmul":
        attrs = node.attrs.get("base_attrs", node.attrs)
        a, b = inputs
        if attrs["transpose_a"] or a.spec.rank < 2 or b.spec.rank != 2 or not a.spec.size:
            return False
        if (a.dtype, b.dtype) != ("float32", "float32") or a.shape[:-1] != shape[:-1]:
            return False
    elif op not in NORMALIZATIONS and node.op.elementwise is None:
        return False
    return all(
        x.dtype in DTYPES and (number_of(x) is not None or _place(x.shape, shape) is not None)
        for x in extras
    )


def matrix_of(node: Node) -> Tensor | None:
    """Return the matrix by which a product of rows multiplies; None for other operations."""
    op, inputs, _ = _structured(node)
    return inputs[1] if op == "matmul" else None


def rows_of_result(node: Node) -> int:
    """Return the rows of the results of ``node``."""
    shape = node.outputs[0].spec.static_shape
    return node.outputs[0].spec.size // shape[-1]


def _structured(node: Node) -> tuple[str, Sequence[Tensor], Sequence[Tensor]]:
    """Return the product or normalization that ``node`` is or begins with, or "", its operands, and
    those of the elementwise operations."""
    name, count = node.op.name, len(node.inputs)
    if node.op is WITH_EPILOGUE:
        name, count = node.attrs["base"], node.attrs["base_inputs"]
    if name == "matmul" or name in NORMALIZATIONS:
        return name, node.inputs[:count], node.inputs[count:]
    return "", (), node.inputs


def _place(shape: Shape, whole: Shape) -> tuple[int, int] | None:
    """Return the distances of rows and columns of a tensor that is broadcast to ``whole``; None if
    its rows are not those of ``whole``."""
    width = shape[-1] if shape else 1
    if all(size == 1 for size in shape):
        return 0, 0
    if all(size == 1 for size in shape[:-1]):
        return (0, 1) if whole[-1] == width else None
    if shape == whole:
        return width or 0, 1
    return (1, 0) if shape == (*whole[:-1], 1) else None


class JoinedRows:
    """A recurrence of one step in place of ``nodes``.

    Args:
        readers: the nodes that read each tensor of the program.
        fetches: the tensors that the program returns.

    Attributes:
        inputs: of the recurrence.
        kept: the tensors that are its outputs.
    """

    def __init__(
        self,
        nodes: Sequence[Node],
        readers: Mapping[Tensor, Sequence[Node]],
        fetches: Collection[Tensor],
    ) -> None:
        self.nodes = nodes
        self.rows = rows_of_result(nodes[0])
        self.inputs: list[RolledInput] = []
        self._numbers: dict[RolledInput, int] = {}
        self._sources: list[StepSource] = []
        self._body: list[Instruction] = []
        self._values: dict[Tensor, Ref] = {}
        for node in nodes:
            self._add(node)
        inside = set(nodes)
        self.kept = [
            tensor
            for node in nodes
            for tensor in node.outputs
            if tensor in fetches or not inside.issuperset(readers.get(tensor, ()))
        ]

    @cached_property
    def recurrence(self) -> Recurrence:
        kept = [
            KeptValue((self._values[tensor][1], self._values[tensor][2]), "last", output=number)
            for number, tensor in enumerate(self.kept)
        ]
        return Recurrence(self.rows, 1, self._sources, self._body, [], kept)

    @property
    def leader(self) -> Node:
        """The last node, in whose place the recurrence is."""
        return self.nodes[-1]

    @property
    def weights(self) -> int:
        """The numbers of all weights."""
        matrices = {each.inputs[1][1] for each in self._body if each.op == "matmul"}
        return sum(self.inputs[number].spec.size for number in matrices)

    @property
    def is_worth_a_kernel(self) -> bool:
        """True if one kernel takes the place of a normalization and products beside it."""
        widths = [each.widths[0] for each in self._body if each.op == "matmul"]
        return any(self.rows * width > MOST_IN_CHAINS for width in widths) and any(
            each.op in NORMALIZATIONS for each in self._body
        )

    @cached_property
    def outside(self) -> list[Tensor]:
        """The tensors that are read from elsewhere."""
        return list(dict.fromkeys(x for each in self.inputs for x in each.tensors))

    def _add(self, node: Node) -> None:
        """Add the instructions of a node."""
        shape = node.outputs[0].spec.static_shape
        op, inputs, extras = _structured(node)
        attrs, refs = node.attrs, [self._operand(x, shape) for x in extras]
        if op:
            attrs = attrs.get("base_attrs", attrs)
            if op == "matmul":
                operands = self._factors(inputs[0], inputs[1], attrs["transpose_b"])
                attrs = _PLAIN
            else:
                operands = [self._operand(x, shape) for x in inputs]
            results = self._instruction(op, attrs, operands, node)
            if node.op is WITH_EPILOGUE:
                attrs = {"expressions": node.attrs["expressions"]}
                results = self._instruction(FUSED.name, attrs, [results[0], *refs], node)
        else:
            results = self._instruction(node.op.name, attrs, refs, node)
        self._values.update(zip(node.outputs, results, strict=True))

    def _instruction(
        self, op: str, attrs: Mapping[str, Any], operands: Sequence[Ref], node: Node
    ) -> list[Ref]:
        """Add an instruction, and return its results."""
        count = 1 if node.op is WITH_EPILOGUE and op != FUSED.name else len(node.outputs)
        width = node.outputs[0].spec.static_shape[-1]
        self._body.append(Instruction(op, attrs, operands, [width] * count))
        return [("value", len(self._body) - 1, number) for number in range(count)]

    def _factors(self, a: Tensor, b: Tensor, is_transposed: bool) -> list[Ref]:
        """Return the operands of a product; rows from elsewhere are copied to workgroup memory."""
        if a not in self._values:
            width = a.spec.static_shape[-1]
            source = self._operand(a, a.spec.static_shape)
            self._body.append(Instruction(FUSED.name, _COPY, [source], [width]))
            self._values[a] = ("value", len(self._body) - 1, 0)
        how = "transpose" if is_transposed else ""
        return [self._values[a], ("input", self._input(RolledInput(how, (b,))), 0)]

    def _operand(self, tensor: Tensor, shape: tuple[int, ...]) -> Ref:
        """Return an operand that is broadcast to ``shape``."""
        if tensor in self._values:
            return self._values[tensor]
        number = number_of(tensor)
        if number is not None:
            return number
        place = _place(tensor.shape, shape)
        assert place is not None
        source = StepSource(self._input(RolledInput("", (tensor,))), 0, 0, *place, shape[-1])
        if source not in self._sources:
            self._sources.append(source)
        return ("source", self._sources.index(source))

    def _input(self, each: RolledInput) -> int:
        """Return the number of an input."""
        if each not in self._numbers:
            self._numbers[each] = len(self.inputs)
            self.inputs.append(each)
        return self._numbers[each]
