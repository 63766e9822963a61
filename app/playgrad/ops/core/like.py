"""Operations that take attributes from the shapes of their inputs, derived from static operations.

A gradient often needs a shape that is unknown until the graph is fed: the gradient of ``slice`` has
the shape of the sliced tensor. ``pad_like`` is therefore ``pad`` with one more input, from whose
shape its padding follows. Once shapes are known it becomes ``pad``, and that input is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from playgrad.dtypes import dtype
from playgrad.graph.opdef import (
    Array,
    Attrs,
    Gradient,
    Infer,
    InvalidSample,
    OpDef,
    Sample,
    register,
)
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Node, Tensor

Specialised = tuple[str, Attrs, tuple[int, ...]]
"""Name and attributes of an operation, and the numbers of the inputs that it keeps."""
StaticAttrs = Callable[[Sequence[TensorSpec], Attrs], dict[str, Any]]
"""From the specs of all inputs and the attributes to the attributes of the static operation."""


def register_like(
    name: str,
    static: OpDef,
    operands: int,
    static_attrs: StaticAttrs,
    samples: Sequence[Sample],
    invalid: Sequence[InvalidSample] = (),
    infer: Infer | None = None,
    gradient: Gradient | None = None,
    identity_if_equal: bool = False,
    total: Callable[[Sequence[Tensor]], Tensor | None] | None = None,
) -> OpDef:
    """Register ``name``, which becomes ``static`` once the shapes of its inputs are known.

    Shape rule, reference and gradient are the same as of ``static``. Inputs after the operands are
    used for their shapes only and have no gradient.

    Args:
        operands: number of inputs of ``static``; they come first.
        static_attrs: its attributes. For the shape rule of ``static`` they may contain None where
            a dimension is unknown.
        infer, gradient: in place of ``static``'s own.
        total: as in `OpDef`.
        identity_if_equal: become ``identity`` where the shapes of the first and last input agree.
    """

    def inferred(inputs: Sequence[TensorSpec], attrs: Attrs) -> Sequence[TensorSpec]:
        return static.infer(inputs[:operands], static_attrs(inputs, attrs))

    def reference(inputs: Sequence[Array], attrs: Attrs) -> Sequence[Array]:
        specs = [TensorSpec(array.shape, array.dtype.name) for array in inputs]
        return static.reference(inputs[:operands], static_attrs(specs, attrs))

    by_operands = gradient or static.gradient

    def by_inputs(node: Node, grads: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
        assert by_operands is not None
        return [*by_operands(node, grads), *[None] * (len(node.inputs) - operands)]

    def specialise(inputs: Sequence[TensorSpec], attrs: Attrs) -> Specialised:
        if identity_if_equal and inputs[0].shape == inputs[-1].shape:
            return "identity", {}, (0,)
        return static.name, static_attrs(inputs, attrs), tuple(range(operands))

    def differentiable(sample: Sample) -> tuple[int, ...]:
        return tuple(i for i in range(operands) if dtype(sample.inputs[i].dtype).floating)

    return register(
        OpDef(
            name=name,
            infer=infer or inferred,
            reference=reference,
            gradient=by_inputs if by_operands else None,
            total=total,
            blocks_gradient=static.blocks_gradient,
            alias=static.alias,
            specialise=specialise,
            samples=tuple(replace(s, differentiable=differentiable(s)) for s in samples),
            invalid=tuple(invalid),
        )
    )
