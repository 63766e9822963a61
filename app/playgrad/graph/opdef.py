"""The record that defines an operation, and the registry of all of them.

One record holds everything about an op: its shape and dtype rule, gradient, NumPy reference, WGSL
lowering and samples. Whatever is registered is found by autodiff, the compiler, every device and
the op contract of the tests; nothing else has to be touched.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from playgrad.errors import GraphError, PlaygradError
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
    """A valid use: input arrays and attributes. ``differentiable`` lists inputs to differentiate.

    ``tolerance`` is the relative tolerance between a GPU and the reference.
    """

    inputs: tuple[Array, ...]
    attrs: Attrs = field(default_factory=dict)
    differentiable: tuple[int, ...] | None = None
    tolerance: float = 1e-4


@dataclass(frozen=True)
class InvalidSample:
    """A wrong use, the error it must raise and words that the message must hold."""

    inputs: tuple[Array, ...]
    attrs: Attrs
    error: type[PlaygradError]
    words: str


@dataclass(frozen=True)
class OpDef:
    """An operation.

    Attributes:
        infer: input specs and attributes to output specs; dimensions may be None. Raises
            ``ShapeError`` or ``DTypeError`` when they do not fit.
        reference: NumPy arrays and attributes to output arrays. The specification.
        prepare: static input specs and attributes to a function of the arrays alone, for an op
            that the cpu device can do faster so: it gives what the reference does.
        gradient: node and output gradients (None where none flows) to input gradients, built from
            graph operations. ``None``: asking for a gradient through it is an error.
        lower: ``KernelRequest -> Lowering``; None: no GPU runs it.
        blocks_gradient: gradients stop here without an error (comparisons, argmax, ...).
        alias: the output is the input's bytes under another shape; nothing is executed.
        writes: output j is written in place into the variable ``attrs["variables"][j]``.
        specialise: input specs (static) and attributes to ``(op name, attributes, kept inputs)``
            that it becomes once shapes are known.
        epilogue: its kernel can apply an expression to each element that it stores.
        state: it reads or writes more than its inputs and outputs (variables, channels).
        elementwise: its expressions, where it has them.
        check_feed: input number and array to an error text or None; called on fed values.
    """

    name: str
    infer: Infer
    reference: Reference
    gradient: Gradient | None = None
    prepare: Prepare | None = None
    lower: Callable[[Any], Any] | None = None
    samples: tuple[Sample, ...] = ()
    invalid: tuple[InvalidSample, ...] = ()
    blocks_gradient: bool = False
    alias: bool = False
    writes: bool = False
    specialise: (
        Callable[[Sequence[TensorSpec], Attrs], tuple[str, Attrs, tuple[int, ...]] | None] | None
    ) = None
    check_feed: Callable[[int, Array, Sequence[TensorSpec]], str | None] | None = None
    elementwise: Any = None
    epilogue: bool = False
    state: bool = False


_REGISTRY: dict[str, OpDef] = {}


def register(op: OpDef) -> OpDef:
    """Make ``op`` known under its name.

    Raises:
        GraphError: the name is taken by another op.
    """
    if op.name in _REGISTRY:
        raise GraphError(f"an operation named {op.name!r} is registered already.")
    _REGISTRY[op.name] = op
    return op


def lookup(name: str) -> OpDef:
    """The op registered as ``name``.

    Raises:
        GraphError: there is none.
    """
    try:
        return _REGISTRY[name]
    except KeyError:
        raise GraphError(
            f"there is no operation {name!r}.", hint="Is the module that registers it imported?"
        ) from None


def registered() -> tuple[OpDef, ...]:
    """All ops, in the order of their registration."""
    return tuple(_REGISTRY.values())
