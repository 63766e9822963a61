"""The samples of all registered operations as test cases, for every host."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

import playgrad.compiler.compile
import playgrad.ops
from playgrad.dtypes import dtype
from playgrad.errors import DTypeError
from playgrad.graph.graph import Graph
from playgrad.graph.opdef import Array, InvalidSample, OpDef, Sample, registered
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.state import Variable, placeholder

assert playgrad.ops and playgrad.compiler.compile  # imported to register all operations


@dataclass(frozen=True)
class Case:
    """Sample number ``number`` of an operation."""

    op: OpDef
    number: int
    sample: Sample

    def __str__(self) -> str:
        return f"{self.op.name}-{self.number}"

    @property
    def specs(self) -> list[TensorSpec]:
        return specs_of(self.sample.inputs)

    @property
    def written(self) -> range:
        """The inputs that are written variables; the inputs of a fused base op come before them."""
        attrs = self.sample.attrs
        first = attrs.get("base_inputs", 0)
        return range(first, first + len(attrs["variables"])) if self.op.writes else range(0)

    @property
    def differentiable(self) -> tuple[int, ...]:
        """The inputs for which the op has a gradient."""
        if self.op.gradient is None or self.op.blocks_gradient:
            return ()
        if self.sample.differentiable is not None:
            return self.sample.differentiable
        inputs = enumerate(self.sample.inputs)
        return tuple(i for i, array in inputs if dtype(array.dtype).floating)


@dataclass
class CaseNode:
    """A case as a node of a graph, with its inputs and their values."""

    case: Case
    node: Node
    values: dict[Tensor, Array] = field(default_factory=dict)

    @property
    def inputs(self) -> list[Tensor]:
        return list(self.values)

    @property
    def feeds(self) -> dict[Tensor, Array]:
        """The values of the inputs that are placeholders."""
        return {t: v for t, v in self.values.items() if t.node.op.name == "placeholder"}


def operations() -> list[OpDef]:
    """Return the library's operations that compute something, without those of sessions."""
    ops = [op for op in registered() if op.source is None]
    return [op for op in ops if not op.state and op.name != "no_op"]


def cases() -> list[Case]:
    return [case for op in operations() for case in cases_of(op)]


def cases_of(op: OpDef) -> list[Case]:
    return [Case(op, number, sample) for number, sample in enumerate(op.samples)]


def invalid_cases() -> list[tuple[OpDef, int, InvalidSample]]:
    return [(op, number, sample) for op in operations() for number, sample in enumerate(op.invalid)]


def specs_of(arrays: Sequence[Array]) -> list[TensorSpec]:
    return [TensorSpec(array.shape, array.dtype.name) for array in arrays]


def as_float64(arrays: Sequence[Array]) -> list[Array]:
    """Return ``arrays`` with floats as float64."""
    return [array.astype(np.float64) if dtype(array.dtype).floating else array for array in arrays]


def in_float16(case: Case) -> Case | None:
    """Return ``case`` with float16 in place of float32, or None if the operation refuses it.

    On a GPU its results may be rounded the other way, to a neighbour: 2⁻¹⁰ of a number.
    """
    sample = case.sample
    attrs = {
        name: "float16" if name == "dtype" and value == "float32" else value
        for name, value in sample.attrs.items()
    }
    with np.errstate(over="ignore"):
        inputs = tuple(x.astype(np.float16) if x.dtype == np.float32 else x for x in sample.inputs)
    if specs_of(inputs) == case.specs and attrs == sample.attrs:
        return None
    tolerance = max(sample.tolerance, 2.0**-10)
    half = Case(case.op, case.number, Sample(inputs, attrs, sample.differentiable, tolerance))
    try:
        case.op.infer(half.specs, attrs)
    except DTypeError:
        return None
    return half


def add_case(
    case: Case, graph: Graph, arrays: Sequence[Array] | None = None, device: str | None = None
) -> CaseNode:
    """Add ``case`` to ``graph`` with placeholders as inputs, or variables where it writes them.

    Args:
        arrays: values of the inputs; None takes the sample's.
        device: the device to run on; None lets the session choose.
    """
    arrays = case.sample.inputs if arrays is None else arrays
    attrs = dict(case.sample.attrs)
    values: dict[Tensor, Array] = {}
    scope = f"{case.op.name}_case_{case.number}"
    with graph.as_default(), graph.name_scope(scope), graph.device(device):
        for number, array in enumerate(arrays):
            if number in case.written:
                tensor: Tensor = Variable(array, name=f"state_{number}", dtype=array.dtype)
            else:
                tensor = placeholder(array.dtype, array.shape, name=f"input_{number}")
            values[tensor] = array
        if case.written:
            tensors = list(values)
            attrs["variables"] = [tensors[number].node.name for number in case.written]
        node = graph.add(case.op, list(values), attrs)
    return CaseNode(case, node, values)
