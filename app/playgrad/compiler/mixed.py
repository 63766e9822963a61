"""Mixed precision: operands of matrix products and convolutions are float16, sums float32.

All other values stay float32, variables too. On a GPU the kernels of products read the float16, two
in a word; a processor computes with the same rounded numbers in float32, which saves nothing there.

A float16 below 2⁻¹⁴ has fewer digits, and gradients are often that small. So an operand that is a
gradient is multiplied by a power of two first, chosen by its largest element, and the product is
divided by it: the size of the loss does not matter, and no step has to be repeated. Other operands
saturate: finite numbers beyond ±65,504 become ±65,504, since an infinity that a later operation
hides is NaN in a gradient (docs/decisions/074-mixed-precision-scales-each-gradient.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from playgrad.compiler.program import Program, Rewriter
from playgrad.devices.kinds import HOST, kind_of
from playgrad.graph.autodiff import BEGINS_GRADIENT
from playgrad.graph.graph import MIXED
from playgrad.graph.opdef import lookup
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.core.half import WIDE
from playgrad.ops.elementwise.fused import FUSED
from playgrad.ops.expression import expr as e

PRODUCTS = ("matmul", "conv2d", "conv2d_input_gradient", "conv2d_filter_gradient")
LARGEST, STEP = 15, 8
"""Scaled by `_scale`, the largest element is below 2¹⁵ and not below 2⁷."""
MOST = 65504.0
"""The largest finite float16."""


def mixed(program: Program) -> Program:
    """Round the operands of products to float16, if the program's precision is mixed."""
    if program.precision != MIXED:
        return program
    rewriter = Rewriter(program)
    operands = _RoundedOperands(rewriter)
    for node in program.order():
        if is_rounded(node):
            operands.round(node)
        elif BEGINS_GRADIENT in node.attrs and node not in program.targets:
            source = rewriter[node.inputs[0]]
            rewriter.replace(node, [source], source.node)
        else:
            rewriter.copy(node)
    return rewriter.finish()


def is_rounded(node: Node) -> bool:
    """Return whether mixed precision rounds the operands of ``node``."""
    return (
        node.op.name in PRODUCTS
        and "groups" not in node.attrs
        and all(tensor.dtype == "float32" and tensor.spec.size for tensor in node.inputs)
    )


class _RoundedOperands:
    """The float16 of tensors, each computed once for all products on a device."""

    def __init__(self, rewriter: Rewriter) -> None:
        self._rewriter = rewriter
        self._known: dict[tuple[Tensor, str | None], tuple[Tensor, Tensor | None]] = {}

    def round(self, node: Node) -> None:
        """Add ``node`` with operands that are float16."""
        reads_half = kind_of(node.device or HOST).has_kernels
        inputs, factors = [], []
        for tensor in node.inputs:
            rounded, factor = self._rounded(tensor, node, reads_half)
            inputs.append(rounded)
            factors += [factor] if factor is not None else []
        attrs = {**node.attrs, WIDE: True} if reads_half else None
        if not factors:
            self._rewriter.copy(node, inputs=inputs, attrs=attrs)
            return
        graph = self._rewriter.graph
        controls = self._rewriter.controls(node)
        name = f"{node.name}/scaled"
        scaled = graph.copy(node, inputs, attrs=attrs, name=name, control_inputs=controls).output
        if len(factors) == 2:
            attrs = {"expressions": [e.to_json(each) for each in _IN_TURN]}
            first, last = self._add(node, FUSED.name, factors, attrs, "factors")
            (scaled,) = self._add(node, "mul", [scaled, first], {}, "scaled")
            factors = [last]
        self._rewriter.copy(node, op=lookup("mul"), inputs=[scaled, *factors], attrs={})

    def _rounded(
        self, tensor: Tensor, reader: Node, reads_half: bool
    ) -> tuple[Tensor, Tensor | None]:
        """Return ``tensor`` as float16, or rounded to it if its reader cannot read that, and the
        factor to divide its scale out; None for 1."""
        key = (tensor, reader.device)
        if key not in self._known:
            value, factor = self._rewriter[tensor], None
            if tensor.node.phase == "gradient":
                scale, factor = self._scale(value, reader)
                (value,) = self._add(reader, "mul", [value, scale], {}, "scaled")
            else:
                attrs = {"expressions": [e.to_json(_SATURATED)]}
                (value,) = self._add(reader, FUSED.name, [value], attrs, "saturated")
            (value,) = self._add(reader, "cast", [value], {"dtype": "float16"}, "half")
            if not reads_half:
                (value,) = self._add(reader, "cast", [value], {"dtype": "float32"}, "rounded")
            self._known[key] = value, factor
        return self._known[key]

    def _scale(self, value: Tensor, reader: Node) -> Sequence[Tensor]:
        """Return a power of two, by the largest element of ``value``, and its inverse."""
        extremes = []
        for kind in ("reduce_max", "reduce_min"):
            # By rows first, so that a GPU has work for all its processors.
            result = value
            for axes in ([value.spec.rank - 1], list(range(value.spec.rank - 1))):
                if axes:
                    attrs = {"axes": axes, "keepdims": False}
                    (result,) = self._add(reader, kind, [result], attrs, kind)
            extremes.append(result)
        high, low = e.Leaf(0), e.Leaf(1)
        size = e.where(high < -low, -low, high)
        attrs = {"expressions": [e.to_json(_power(size, sign)) for sign in (1, -1)]}
        return self._add(reader, FUSED.name, extremes, attrs, "scale")

    def _add(
        self, reader: Node, op: str, inputs: Sequence[Tensor], attrs: Mapping[str, Any], name: str
    ) -> Sequence[Tensor]:
        """Add an operation for ``reader``, which has its device, its phase and its source."""
        graph = self._rewriter.graph
        definition, name = lookup(op), f"{reader.name}/{name}"
        return graph.copy(reader, inputs, op=definition, attrs=dict(attrs), name=name).outputs


def _power(size: e.Expr, sign: int) -> e.Expr:
    """Return the power of two that scales the number ``size``, or with ``sign`` -1 its inverse.

    It is found by comparisons, which are exact on all devices; NaN and infinity stay what they are.
    """
    steps = range(134, -107, -STEP)
    result: e.Expr = e.Const(2.0 ** (sign * (LARGEST - steps[0])), "float32")
    for bound in steps[1:]:
        power = e.Const(2.0 ** (sign * (LARGEST - bound)), "float32")
        result = e.where(size < e.Const(2.0**bound, "float32"), power, result)
    return result


_X, _Y = e.Leaf(0), e.Leaf(1)
_SATURATED = e.where(e.call("isinf", _X), _X, e.call("maximum", e.call("minimum", _X, MOST), -MOST))
"""NaN and infinity stay what they are."""
_OPPOSITE = e.call("ne", _X < 1.0, _Y < 1.0)
_IN_TURN = (e.where(_OPPOSITE, _X * _Y, _X), e.where(_OPPOSITE, 1.0, _Y))
"""Two powers of two as factors to multiply by in turn, so that no result in between overflows or
underflows unless the last one does: a large and a small one are multiplied first."""
