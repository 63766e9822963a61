"""A recurrence as data: the body of its steps, and where they read and write."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from playgrad.graph.opdef import Attrs

Value = tuple[int, int]
"""A result of the body: the number of its instruction, and of the output of that."""
Ref = Sequence[Any]
"""An operand: ``("value", i, j)`` of this step, ``("before", i, j)`` of the step before it,
``("source", n)``, ``("number", value, dtype)``, or ``("input", n, first)`` for the weights of a
product, which begin with that element of an input."""


@dataclass(frozen=True)
class StepSource:
    """The part of an input that a step reads, a matrix of ``width`` columns.

    Its element in row r and column c is, in step t, the element
    ``first + t * step + r * row + c * column`` of the input.
    """

    input: int
    first: int
    step: int
    row: int
    column: int
    width: int


@dataclass(frozen=True)
class Instruction:
    """An operation of each step; all of its results have a row for each of the batch.

    Attributes:
        widths: the columns of each result.
    """

    op: str
    attrs: Mapping[str, Any]
    inputs: Sequence[Ref]
    widths: Sequence[int]


@dataclass(frozen=True)
class Carried:
    """A value that the next step reads, and the source or number that the first step reads."""

    value: Value
    initial: Ref


@dataclass(frozen=True)
class KeptValue:
    """A value that is an output of the operation.

    Attributes:
        order: "steps", "reversed" for the last step first, or "last" for the last one alone.
        initial: whether the initial value is kept as well, as that of a step before the first.
        output: the number of the output. Values that share one follow each other there.
        first: the element of the output with which the value begins.
    """

    value: Value
    order: str
    initial: bool = False
    output: int = 0
    first: int = 0


@dataclass(frozen=True)
class Recurrence:
    """What the operation computes: a body for ``steps`` steps, of ``rows`` rows."""

    rows: int
    steps: int
    sources: Sequence[StepSource]
    body: Sequence[Instruction]
    carried: Sequence[Carried]
    kept: Sequence[KeptValue]

    @classmethod
    def of(cls, attrs: Attrs) -> Recurrence:
        """Return the recurrence that the attributes of a node describe."""
        return cls(
            attrs["rows"],
            attrs["steps"],
            [StepSource(**each) for each in attrs["sources"]],
            [Instruction(**each) for each in attrs["body"]],
            [Carried(tuple(each["value"]), each["initial"]) for each in attrs["carried"]],
            [KeptValue(**{**each, "value": tuple(each["value"])}) for each in attrs["kept"]],
        )

    def attrs(self) -> dict[str, Any]:
        """Return the attributes of a node."""
        return asdict(self)

    def width(self, value: Value) -> int:
        """Return the columns of a value."""
        instruction, output = value
        return self.body[instruction].widths[output]

    def shape(self, kept: KeptValue) -> tuple[int, ...]:
        """Return the shape of what is kept: (steps, rows, width), or (rows, width) of one step."""
        shape = (self.rows, self.width(kept.value))
        return shape if kept.order == "last" else (self.steps + kept.initial, *shape)

    @cached_property
    def shapes(self) -> list[tuple[int, ...]]:
        """The shapes of the outputs; of one that several values share, its number of elements."""
        shapes: dict[int, tuple[int, ...]] = {}
        for kept in self.kept:
            shape = self.shape(kept)
            shapes[kept.output] = (kept.first + math.prod(shape),) if kept.first else shape
        return [shapes[number] for number in range(len(shapes))]
