"""The kinds of calls that an operation joins, with the specs of what they take and return."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from playgrad.errors import DataError, DTypeError, ShapeError, shape_text
from playgrad.graph.opdef import Array, Attrs
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import specs_of
from playgrad.ops.control.subgraph import Subgraph, from_text
from playgrad.ops.joined.table import COLUMNS, Calls, expect_earlier, joined_calls_of

ON_HOST = "how many calls are joined is known only when the graph runs"
"""Why no GPU computes them."""


@dataclass(frozen=True)
class JoinedKind:
    """One function of rows, with how its arguments are found.

    Attributes:
        label: its name for users.
        code: what stands for it in a table.
        function: its operations (ops/control/subgraph.py). It takes the arguments and captures.
        arguments: of each argument ``["value", k]``: the values that kind k and others of its type
            return; ``["input", i]``: a row of input i of the samples; or ``["number", dtype,
            shape]``: numbers of the table.
        captures: the numbers of the captured tensors that it uses.
        type: the number of the type of its value.
    """

    label: str
    code: int
    function: str
    arguments: list[list[Any]]
    captures: list[int]
    type: int

    def to_json(self) -> dict[str, Any]:
        """Return it as an attribute of a node."""
        return dict(vars(self))

    @cached_property
    def columns(self) -> list[int]:
        """The first column of the table for each argument."""
        widths = [width_of(argument) for argument in self.arguments]
        return [COLUMNS + sum(widths[:place]) for place in range(len(widths))]


def width_of(argument: Sequence[Any]) -> int:
    """Return the number of columns that an argument takes in a table."""
    if argument[0] == "number":
        return int(np.prod(argument[2], dtype=np.int64))
    return 1 if argument[0] == "value" else 0


class Layout:
    """The kinds, and the specs of their values, for inputs of these specs.

    The inputs are the table, the inputs of the samples, and captured tensors.

    Raises:
        ShapeError, DTypeError: the inputs do not fit the kinds.
    """

    def __init__(self, inputs: Sequence[TensorSpec], attrs: Attrs) -> None:
        self.kinds = [JoinedKind(**each) for each in attrs["kinds"]]
        self.root: int = attrs["root"]
        count = 1 + attrs["inputs"]
        self.table, self.inputs = inputs[0], tuple(inputs[1:count])
        self.captures = tuple(inputs[count:])
        width = max((k.columns[-1] + width_of(k.arguments[-1]) for k in self.kinds), default=0)
        if self.table.dtype != "int32":
            raise DTypeError(f"a table of calls must be int32, got {self.table.dtype}.")
        columns = self.table.shape[-1] if self.table.rank == 3 else None
        if self.table.rank != 3 or (columns is not None and columns < width):
            raise ShapeError(
                f"a table of calls must have the shape (samples, calls, {width}), got "
                f"{shape_text(self.table.shape)}.",
                hint="Fold.read makes it.",
            )
        for spec in self.inputs:
            if spec.rank == 0:
                raise ShapeError("an input of a Fold needs a row for each sample, got a scalar.")
            same = {self.table.shape[0], spec.shape[0]} - {None}
            if len(same) > 1:
                raise ShapeError(
                    f"an input of a Fold has {spec.shape[0]} rows for {self.table.shape[0]} "
                    "samples."
                )
        for spec in (*self.inputs, *self.captures):
            if spec.dtype == "float16":
                raise DTypeError(
                    "joined calls do not take float16.", hint='Convert it with cast(x, "float32").'
                )
        self.outputs: list[list[TensorSpec]] = []
        """The specs of the value of each kind, whose first dimension is open."""
        for kind in self.kinds:
            self.outputs.append(specs_of(self.subgraph(kind, None).outputs))

    @cached_property
    def types(self) -> list[list[TensorSpec]]:
        """The specs of the values of each type, in the order of the types."""
        by_type = {kind.type: out for kind, out in zip(self.kinds, self.outputs, strict=True)}
        return [by_type[number] for number in sorted(by_type)]

    def argument_specs(self, kind: JoinedKind, rows: int | None) -> list[TensorSpec]:
        """Return the specs of the arguments of ``kind`` for calls of ``rows``."""
        specs = []
        for form, *detail in kind.arguments:
            if form == "value":
                specs += [(out.shape[1:], out.dtype) for out in self.outputs[detail[0]]]
            elif form == "input":
                specs.append((self.inputs[detail[0]].shape[1:], self.inputs[detail[0]].dtype))
            else:
                specs.append((tuple(detail[1]), detail[0]))
        return [TensorSpec((rows, *shape), dtype) for shape, dtype in specs]

    def capture_specs(self, kind: JoinedKind) -> list[TensorSpec]:
        """Return the specs of the captured tensors that ``kind`` uses."""
        return [self.captures[place] for place in kind.captures]

    def subgraph(self, kind: JoinedKind, rows: int | None) -> Subgraph:
        """Return the operations of ``kind`` for ``rows`` calls; None for any number."""
        specs = (*self.argument_specs(kind, rows), *self.capture_specs(kind))
        return from_text(kind.function, specs)

    def calls_of(self, table: Array) -> Calls:
        """Return the calls of a table, checked.

        Raises:
            DataError: the table was not made for these kinds.
        """
        calls, numbers = joined_calls_of(table, [kind.code for kind in self.kinds])
        types = np.asarray([kind.type for kind in self.kinds])
        if np.any(types[numbers[calls.roots]] != types[self.root]):
            raise DataError(
                "the result of a sample has another type than those that the graph was built for."
            )
        for number, kind in enumerate(self.kinds):
            taken = [place for place, form in enumerate(kind.arguments) if form[0] == "value"]
            of_kind = np.flatnonzero(numbers == number)
            for place in taken if len(of_kind) else []:
                wanted = types[kind.arguments[place][1]]
                expect_earlier(calls, numbers, of_kind, kind.columns[place], types, wanted)
        return calls
