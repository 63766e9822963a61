"""Elementwise operations from an expression: reference, kernel, constructor and docstring."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from playgrad.dtypes import dtype
from playgrad.graph.opdef import Array, Attrs, InvalidSample, OpDef, Sample, register
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.core.build import add_node, as_tensors, broadcast_shapes
from playgrad.ops.core.kernel import KernelRequest, Lowering
from playgrad.ops.elementwise.docstring import docstring
from playgrad.ops.elementwise.elementwise_kernel import lower_elementwise
from playgrad.ops.expression.evaluate import evaluate, full, prepare
from playgrad.ops.expression.expr import Expr, Leaf, expect_constants_fit, infer_dtype

Rule = Callable[..., Any]


@dataclass(frozen=True)
class Elementwise:
    """The expressions of an elementwise operation, one for each output, which ``fuse`` combines."""

    build: Callable[[Attrs], tuple[Expr, ...]]


def elementwise(
    name: str,
    formula: Callable[..., Expr],
    gradient: Rule | None,
    samples: Sequence[Sample] = (),
    invalid: Sequence[InvalidSample] = (),
    doc: str = "",
) -> Callable[..., Tensor]:
    """Register the operation ``name`` and return its constructor.

    Args:
        formula: the expression of the result, given its inputs.
        gradient: a function from the gradient of the result, the result and the inputs to the
            gradient of each input, or None for an input without one. These are then summed to the
            inputs' shapes. Without the function the operation has no gradient.
        doc: first line of the constructor's docstring; the dtypes and errors are added to it.
    """
    arguments = list(inspect.signature(formula).parameters)
    arity = len(arguments)
    expr = formula(*(Leaf(i) for i in range(arity)))
    conditions = [i for i, argument in enumerate(arguments) if argument == "condition"]
    op = register(elementwise_op(name, lambda attrs: (expr,), _rule(gradient), samples, invalid))

    def construct(*values: Any, name: str | None = None, **named: Any) -> Tensor:
        if named:
            values = signature.bind(*values, **named).args
        if len(values) != arity:
            raise TypeError(f"{op.name}() takes {arity} arguments, not {len(values)}")
        return add_node(op, as_tensors(*values, exact=conditions), name=name).output

    construct.__name__ = construct.__qualname__ = name
    construct.__doc__ = docstring(doc, expr, arguments, gradient is not None) if doc else None
    signature = _signature(arguments)
    construct.__signature__ = signature  # type: ignore[attr-defined]
    return construct


def _signature(arguments: Sequence[str]) -> inspect.Signature:
    Parameter = inspect.Parameter
    values = [
        Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, annotation="Any") for name in arguments
    ]
    name = Parameter("name", Parameter.KEYWORD_ONLY, default=None, annotation="str | None")
    return inspect.Signature([*values, name], return_annotation="Tensor")


def elementwise_op(
    name: str,
    build: Callable[[Attrs], tuple[Expr, ...]],
    gradient: Callable[[Node, Sequence[Tensor | None]], Sequence[Tensor | None]] | None,
    samples: Sequence[Sample] = (),
    invalid: Sequence[InvalidSample] = (),
    **flags: Any,
) -> OpDef:
    """Return the definition of an op whose outputs are expressions of its inputs, broadcast."""

    def infer(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
        shape = broadcast_shapes(*(spec.shape for spec in inputs))
        names = [spec.dtype for spec in inputs]
        exprs = build(attrs)
        specs = [TensorSpec(shape, infer_dtype(expr, names)) for expr in exprs]
        if any(dtype(name).numpy.kind in "iu" for name in names):
            for expr in exprs:
                expect_constants_fit(expr, names)
        return specs

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
        packed=True,
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
    """Sum ``tensor`` to the shape of ``like``.

    Args:
        tensor: a tensor whose shape ``like`` broadcasts to; not bool, uint8 or int8.
        like: a tensor whose shape may have unknown dimensions. Its values are not used.

    Returns:
        A tensor of the shape of ``like`` and the dtype of ``tensor``, which is summed along the
        dimensions that ``like`` does not have or has with size 1.

    Raises:
        ShapeError: ``like`` does not broadcast to the shape of ``tensor``.
        DTypeError: ``tensor`` is bool, uint8 or int8.
    """
    if tensor.shape == like.shape and None not in tensor.shape:
        return tensor
    return add_node("sum_to_like", [tensor, like]).output
