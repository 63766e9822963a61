"""Defines an elementwise operation from one expression: reference, kernel and node constructor."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from playgrad.graph.opdef import Array, Attrs, InvalidSample, OpDef, Sample, register
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.core.build import add_node, as_tensors, broadcast_shapes
from playgrad.ops.core.kernel import KernelRequest, Lowering
from playgrad.ops.elementwise.elementwise_kernel import lower_elementwise
from playgrad.ops.expression.evaluate import evaluate, full, prepare
from playgrad.ops.expression.expr import Expr, Leaf, infer_dtype

Rule = Callable[..., Any]


@dataclass(frozen=True)
class Elementwise:
    """The expressions of an elementwise op, one an output; what ``fuse`` composes."""

    build: Callable[[Attrs], tuple[Expr, ...]]


def elementwise(
    name: str,
    formula: Callable[..., Expr],
    gradient: Rule | None,
    samples: Sequence[Sample] = (),
    invalid: Sequence[InvalidSample] = (),
    doc: str = "",
) -> Callable[..., Tensor]:
    """Register the op ``name`` and return its constructor.

    Args:
        formula: expression of the result in terms of its inputs.
        gradient: ``(grad, result, *inputs)`` to a gradient for each input (None where none
            flows), before it is summed to the input's shape; None: gradients stop here.
        doc: docstring of the constructor.
    """
    names = list(inspect.signature(formula).parameters)
    arity = len(names)
    expr = formula(*(Leaf(i) for i in range(arity)))
    op = register(elementwise_op(name, lambda attrs: (expr,), _rule(gradient), samples, invalid))

    def construct(*values: Any, name: str | None = None) -> Tensor:
        if len(values) != arity:
            raise TypeError(f"{op.name}() takes {arity} values, not {len(values)}")
        return add_node(op, as_tensors(*values), name=name).output

    construct.__name__ = construct.__qualname__ = name
    construct.__doc__ = doc
    construct.__signature__ = _constructor_signature(names)  # type: ignore[attr-defined]
    return construct


def _constructor_signature(names: Sequence[str]) -> inspect.Signature:
    """The signature that documentation and completion show: the formula's parameters."""
    kinds = inspect.Parameter
    inputs = [kinds(each, kinds.POSITIONAL_ONLY, annotation="Any") for each in names]
    label = kinds("name", kinds.KEYWORD_ONLY, default=None, annotation="str | None")
    return inspect.Signature([*inputs, label], return_annotation="Tensor")


def elementwise_op(
    name: str,
    build: Callable[[Attrs], tuple[Expr, ...]],
    gradient: Callable[[Node, Sequence[Tensor | None]], Sequence[Tensor | None]] | None,
    samples: Sequence[Sample] = (),
    invalid: Sequence[InvalidSample] = (),
    **flags: Any,
) -> OpDef:
    """The record of an op whose outputs are expressions of its inputs, broadcast together."""

    def infer(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
        shape = broadcast_shapes(*(spec.shape for spec in inputs))
        names = [spec.dtype for spec in inputs]
        return [TensorSpec(shape, infer_dtype(expr, names)) for expr in build(attrs)]

    def reference(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
        shape = np.broadcast_shapes(*(array.shape for array in inputs))
        names = [array.dtype.name for array in inputs]
        return [
            full(evaluate(expr, inputs), shape, infer_dtype(expr, names)) for expr in build(attrs)
        ]

    def lower(request: KernelRequest) -> Lowering:
        return lower_elementwise(request, build(request.attrs))

    return OpDef(
        name=name,
        infer=infer,
        reference=reference,
        gradient=gradient,
        prepare=lambda specs, attrs: prepare(build(attrs), specs),
        lower=lower,
        samples=tuple(samples),
        invalid=tuple(invalid),
        blocks_gradient=gradient is None,
        elementwise=Elementwise(build),
        **flags,
    )


def _rule(gradient: Rule | None) -> Any:
    if gradient is None:
        return None

    def apply(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
        parts = gradient(grads[0], node.outputs[0], *node.inputs)
        if not isinstance(parts, (list, tuple)):
            parts = [parts]
        return [
            None if part is None else sum_to_like(part, tensor)
            for part, tensor in zip(parts, node.inputs, strict=True)
        ]

    return apply


def sum_to_like(tensor: Tensor, like: Tensor) -> Tensor:
    """``tensor`` summed over the dimensions along which ``like`` was broadcast to it."""
    if tensor.shape == like.shape and None not in tensor.shape:
        return tensor
    return add_node("sum_to_like", [tensor, like]).output
