"""Op definitions, and the registry of all of them.

An `OpDef` holds everything about an op: its shape and dtype rule, gradient, NumPy reference, WGSL
lowering and samples. Autodiff, the compiler, every device and the op contract of the tests find it
in the registry; to add an op, nothing else has to be changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from playgrad.errors import GraphError, PlaygradError
from playgrad.graph.source import user_source
from playgrad.graph.spec import TensorSpec

if TYPE_CHECKING:
    from playgrad.graph.tensor import Node, Tensor

Array = np.ndarray[Any, Any]
Attrs = Mapping[str, Any]
Infer = Callable[[Sequence[TensorSpec], Attrs], Sequence[TensorSpec]]
Reference = Callable[[Sequence[Array], Attrs], Sequence[Array]]
Prepare = Callable[[Sequence[TensorSpec], Attrs], Callable[[Sequence[Array]], Sequence[Array]]]
Gradient = Callable[["Node", "Sequence[Tensor | None]"], "Sequence[Tensor | None]"]


@dataclass(frozen=True)
class Sample:
    """A valid use of an op, for tests.

    Attributes:
        differentiable: numbers of the inputs to differentiate; None for all of a floating dtype.
        tolerance: relative tolerance between a GPU and the reference.
    """

    inputs: tuple[Array, ...]
    attrs: Attrs = field(default_factory=dict)
    differentiable: tuple[int, ...] | None = None
    tolerance: float = 1e-4


@dataclass(frozen=True)
class InvalidSample:
    """An invalid use of an op, the error it must raise, and words that the message must contain."""

    inputs: tuple[Array, ...]
    attrs: Attrs
    error: type[PlaygradError]
    words: str


@dataclass(frozen=True)
class OpDef:
    """An operation.

    Attributes:
        infer: maps input specs and attributes to output specs; dimensions may be None. Raises
            ``ShapeError`` or ``DTypeError`` for inputs that do not fit.
        reference: maps NumPy arrays and attributes to output arrays; specifies the result.
        total: maps results of nodes of this op to one tensor, their sum, where that is cheaper than
            additions; else returns None. Autodiff sums the gradients of a tensor with it.
        prepare: maps static input specs and attributes to a faster function of the arrays alone,
            with the results of the reference, for the cpu device.
        gradient: maps a node and its output gradients (None where no gradient flows) to input
            gradients, built from graph operations. None: a gradient through the op is an error.
        lower: ``KernelRequest -> Lowering``; None if no GPU runs the op.
        on_host: why no GPU can run the op, for its users; None for want of a kernel.
        blocks_gradient: gradients stop here without an error (comparisons, argmax, ...).
        alias: the output is the input's bytes in another shape; nothing is executed.
        writes: output j is written in place into the variable ``attrs["variables"][j]``.
        specialise: maps static input specs and attributes to the ``(op name, attributes, numbers
            of the remaining inputs)`` that replace the op once shapes are known.
        expand: maps inputs of known shapes and attributes to the outputs, made of other operations
            that replace the op once shapes are known.
        epilogue: its kernel can apply an expression to each element that it stores.
        packed: its kernel reads and writes elements that are packed into words (uint8, int8,
            float16).
            For other kernels they are unpacked before and packed after.
        state: it reads or writes more than its inputs and outputs (variables, channels).
        elementwise: its expressions, if it is elementwise.
        checked: the numbers of the inputs that ``check`` reads, such as indices.
        check: maps arrays of these inputs, input specs and attributes to an error text, or None.
            ``reference`` raises DataError with it; kernels do not check.
        source: file and line of the user's program that defines the op; None for the library's.
        wgsl: the kernel that the user's program gave, for error messages.
        second_derivative: whether the gradient can be differentiated again.
    """

    name: str
    infer: Infer
    reference: Reference
    gradient: Gradient | None = None
    prepare: Prepare | None = None
    total: Callable[[Sequence[Tensor]], Tensor | None] | None = None
    lower: Callable[[Any], Any] | None = None
    on_host: str | None = None
    samples: tuple[Sample, ...] = ()
    invalid: tuple[InvalidSample, ...] = ()
    blocks_gradient: bool = False
    alias: bool = False
    writes: bool = False
    specialise: (
        Callable[[Sequence[TensorSpec], Attrs], tuple[str, Attrs, tuple[int, ...]] | None] | None
    ) = None
    expand: Callable[[Sequence[Tensor], Attrs], Sequence[Tensor]] | None = None
    checked: tuple[int, ...] = ()
    check: Callable[[Sequence[Array], Sequence[TensorSpec], Attrs], str | None] | None = None
    elementwise: Any = None
    epilogue: bool = False
    packed: bool = False
    state: bool = False
    source: tuple[str, int] | None = None
    wgsl: str | None = None
    second_derivative: bool = True


_REGISTRY: dict[str, OpDef] = {}


def register(op: OpDef) -> OpDef:
    """Register ``op`` under its name, and return it.

    Raises:
        GraphError: the name is taken by another op.
    """
    if op.name in _REGISTRY:
        raise GraphError(f"an operation named {op.name!r} is already registered.")
    _REGISTRY[op.name] = op
    return op


def register_custom(op: OpDef) -> OpDef:
    """Register an op of the user's program, in place of an earlier one of that name.

    A program that runs again, or a cell of a notebook, may define it anew. Nodes of graphs that
    exist keep their definition.

    Returns:
        The op, with the line of the program as its ``source`` unless it has one.

    Raises:
        GraphError: the library has an op of that name.
    """
    existing = _REGISTRY.get(op.name)
    op = replace(op, source=op.source or user_source() or ("<program>", 0))
    if existing is not None and existing.source is None:
        raise GraphError(
            f"the library has an operation {op.name!r} of its own.",
            source=op.source,
            hint="Choose another name.",
        )
    _REGISTRY[op.name] = op
    return op


def lookup(name: str) -> OpDef:
    """Return the op registered as ``name``.

    Raises:
        GraphError: there is no such op.
    """
    try:
        return _REGISTRY[name]
    except KeyError:
        raise GraphError(
            f"there is no operation {name!r}.", hint="Is the module that registers it imported?"
        ) from None


def registered() -> tuple[OpDef, ...]:
    """Return all ops, in the order of their registration."""
    return tuple(_REGISTRY.values())
