"""The steps of a recurrent layer as a recurrence, with the tensors that it needs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from playgrad.compiler.places_in_tensors import part_of, without_aliases
from playgrad.compiler.recurrences import Steps
from playgrad.compiler.rolled_inputs import FlatInput, RolledInput
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.recurrent.blockwise import BLOCKWISE
from playgrad.ops.recurrent.recurrence_data import (
    Carried,
    Instruction,
    KeptValue,
    Recurrence,
    Ref,
    StepSource,
    Value,
)

Readers = Mapping[Tensor, Sequence[Node]]
"""The nodes that read each tensor."""


@dataclass
class RolledSteps:
    """A recurrence for ``steps``.

    Args:
        readers: of the program that the steps are part of.
        fetched: the tensors that the program returns.
        flat_outputs: whether all outputs are one, so that the kernel binds fewer buffers.
        flat_inputs: whether inputs that are the same in all steps are one.

    Attributes:
        inputs: of the recurrence.
        is_possible: whether a recurrence can compute the steps.
        joined: the number of inputs that have to be joined, as the steps read them from places
            that follow no rule.
        kept: by value that is kept, its tensors, the initial one first if that is kept.
    """

    steps: Steps
    readers: Readers
    fetched: Iterable[Tensor]
    flat_outputs: bool = False
    flat_inputs: bool = False
    inputs: list[RolledInput | FlatInput] = field(init=False, default_factory=list)
    is_possible: bool = field(init=False, default=True)
    joined: int = field(init=False, default=0)
    kept: list[list[Tensor]] = field(init=False, default_factory=list)
    _sources: list[StepSource] = field(init=False, default_factory=list)
    _numbers: dict[Any, int] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.nodes = {node for each in self.steps.nodes for node in each}
        self.rows = self.steps.nodes[0][0].outputs[0].spec.static_shape[0]
        self.recurrence = self._recurrence()

    def _recurrence(self) -> Recurrence:
        body = [self._instruction(number) for number in range(len(self.steps.reads))]
        initial = self._initial()
        kept = self._kept(initial)
        carried = self._carried(initial)
        return Recurrence(self.rows, len(self.steps.nodes), self._sources, body, carried, kept)

    @property
    def leader(self) -> Node:
        """The last node of the last step, in whose place the recurrence is."""
        return self.steps.nodes[-1][-1]

    @property
    def weights(self) -> int:
        """The numbers of all weights of a step."""
        widths = {
            tuple(each.inputs[1]): self.recurrence.width(tuple(each.inputs[0][1:])) * each.widths[0]
            for each in self.recurrence.body
            if each.op == "matmul"
        }
        return sum(widths.values())

    @cached_property
    def outside(self) -> list[Tensor]:
        """The tensors that the steps read from elsewhere."""
        return list(
            dict.fromkeys(
                x
                for each in self.steps.nodes
                for node in each
                for x in node.inputs
                if x.node not in self.nodes
            )
        )

    # The body

    def _instruction(self, number: int) -> Instruction:
        node = self.steps.nodes[0][number]
        widths = [y.spec.static_shape[1] for y in node.outputs]
        refs: list[Ref] = []
        for operand, read in enumerate(self.steps.reads[number]):
            tensors = self.steps.inputs(number, operand)
            if read is not None:
                refs.append(read)
            elif node.op.name == "matmul":
                refs.append(self._weights(tensors, node.attrs["transpose_b"]))
            else:
                own = tensors[0].spec.static_shape
                width = own[1] if node.op.name in BLOCKWISE else widths[0]
                refs.append(self._outside(tensors, width))
        attrs: Mapping[str, Any] = node.attrs
        if node.op.name == "matmul":
            attrs = {"transpose_a": False, "transpose_b": False}
        return Instruction(node.op.name, attrs, refs, widths)

    def _weights(self, tensors: Sequence[Tensor], is_transposed: bool) -> Ref:
        if any(x is not tensors[0] for x in tensors):
            self.is_possible = False
        return ("input", *self._constant(tensors[0], "transpose" if is_transposed else ""))

    def _constant(self, tensor: Tensor, how: str = "") -> tuple[int, int]:
        """Return the input that is the same in all steps, and the element where it begins."""
        if not self.flat_inputs or tensor.dtype != "float32":
            return self._input(how, (tensor if how else without_aliases(tensor),)), 0
        numbers = [n for n, each in enumerate(self.inputs) if isinstance(each, FlatInput)]
        if not numbers:
            numbers.append(len(self.inputs))
            self.inputs.append(FlatInput())
        flat = self.inputs[numbers[0]]
        assert isinstance(flat, FlatInput)
        return numbers[0], flat.place(RolledInput(how, (tensor,)))

    def _input(self, how: str, tensors: tuple[Tensor, ...]) -> int:
        """Return the number of an input."""
        key = (how, tensors)
        if key not in self._numbers:
            self._numbers[key] = len(self.inputs)
            self.inputs.append(RolledInput(how, tensors))
        return self._numbers[key]

    def _source(self, source: StepSource) -> Ref:
        if source not in self._sources:
            self._sources.append(source)
        return ("source", self._sources.index(source))

    def _outside(self, tensors: Sequence[Tensor], width: int) -> Ref:
        """Return the operand that is one of ``tensors`` in each step."""
        numbers = [number_of(x) for x in tensors]
        if numbers[0] is not None and all(n == numbers[0] for n in numbers):
            return numbers[0]
        if all(x is tensors[0] for x in tensors):
            return self._same(tensors[0], width)
        parts = [part_of(x, width) for x in tensors]
        first = parts[0]
        step = (parts[-1].first - first.first) // (len(parts) - 1)
        if all(
            part.is_like(first) and part.first == first.first + t * step
            for t, part in enumerate(parts)
        ):
            number = self._input("", (first.base,))
            places = (first.first, step, first.row, first.column)
            return self._source(StepSource(number, *places, width))
        self.joined += 1
        number = self._input("concat", tuple(tensors))
        height, wide = (1, 1, *tensors[0].spec.static_shape)[-2:]
        places = (0, height * wide, wide if height > 1 else 0, int(wide > 1))
        return self._source(StepSource(number, *places, width))

    def _same(self, tensor: Tensor, width: int) -> Ref:
        """Return the operand that is ``tensor`` in each step."""
        if not self.flat_inputs or tensor.dtype != "float32":
            part = part_of(tensor, width)
            number = self._input("", (part.base,))
            return self._source(StepSource(number, part.first, 0, part.row, part.column, width))
        number, first = self._constant(tensor)
        height, wide = (1, 1, *tensor.spec.static_shape)[-2:]
        row = wide if height > 1 else 0
        return self._source(StepSource(number, first, 0, row, int(wide > 1), width))

    # States

    def _initial(self) -> dict[Value, Tensor]:
        """Return the tensors that the first step reads in place of a step before it."""
        found: dict[Value, Tensor] = {}
        for node, reads in zip(self.steps.nodes[0], self.steps.reads, strict=True):
            for x, read in zip(node.inputs, reads, strict=True):
                if read is None or read[0] == "value":
                    continue
                if found.setdefault((read[1], read[2]), x) is not x:
                    self.is_possible = False
        return found

    def _carried(self, initial: Mapping[Value, Tensor]) -> list[Carried]:
        return [
            Carried(value, number_of(x) or self._same(x, x.spec.static_shape[1]))
            for value, x in initial.items()
        ]

    def _kept(self, initial: Mapping[Value, Tensor]) -> list[KeptValue]:
        """Return the values that others read."""
        found: list[KeptValue] = []
        fetched = set(self.fetched)
        for number, node in enumerate(self.steps.nodes[0]):
            for index in range(len(node.outputs)):
                tensors = [each[number].outputs[index] for each in self.steps.nodes]
                used = [
                    x in fetched or any(r not in self.nodes for r in self.readers.get(x, ()))
                    for x in tensors
                ]
                if not any(used):
                    continue
                value = (number, index)
                if not any(used[:-1]):
                    found.append(KeptValue(value, "last"))
                    self.kept.append(tensors[-1:])
                    continue
                begins = value in initial and number_of(initial[value]) is None
                found.append(KeptValue(value, self._order(tensors), begins))
                self.kept.append([initial[value], *tensors] if begins else tensors)
        return self._numbered(found)

    def _numbered(self, found: Sequence[KeptValue]) -> list[KeptValue]:
        """Return what is kept with its places in the outputs."""
        if not self.flat_outputs:
            return [replace(kept, output=number) for number, kept in enumerate(found)]
        result, first = [], 0
        for kept, tensors in zip(found, self.kept, strict=True):
            result.append(replace(kept, first=first))
            first += len(tensors) * tensors[0].spec.size
        return result

    def _order(self, tensors: Sequence[Tensor]) -> str:
        """Return the order in which a concat of most of ``tensors`` has them."""
        middle = len(tensors) // 2
        for reader in self._joins(tensors[middle]):
            places = [without_aliases(x) for x in reader.inputs]
            one, other = (
                next((n for n, x in enumerate(places) if x is tensor), None)
                for tensor in tensors[middle - 1 : middle + 1]
            )
            if one is not None and other is not None:
                return "steps" if one < other else "reversed"
        return "steps"

    def _joins(self, tensor: Tensor) -> list[Node]:
        """Return the concats that read ``tensor``, also in another shape."""
        found = []
        for reader in self.readers.get(tensor, ()):
            if reader.op.alias:
                found += self._joins(reader.outputs[0])
            elif reader.op.name == "concat" and reader.attrs["axis"] == 0:
                found.append(reader)
        return found


def number_of(tensor: Tensor) -> Ref | None:
    """Return the number that all elements of a constant are; None for any other tensor."""
    node = without_aliases(tensor).node
    if node.op.name != "constant" or not tensor.spec.size:
        return None
    value = np.asarray(node.attrs["value"]).reshape(-1)
    if value.tobytes() != value[:1].tobytes() * value.size:
        return None
    return ("number", value[0].item(), tensor.dtype)
