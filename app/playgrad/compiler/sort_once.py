"""Sorts the numbers of segments once, for all operations on a GPU that use the same ones.

A kernel that adds up rows by the number of their segment finds the rows of a segment by bisection,
so it sorts the numbers first. The edges of a graph are the same in every layer, forwards and
backwards: a network of two graph convolutions would sort the same two rows nine times.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.compiler.program import Program, Rewriter
from playgrad.devices.kinds import HOST, kind_of
from playgrad.graph.opdef import lookup
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.lowering.gather import SORTED_FROM

_SUMS = ("scatter_add", "gather_sum", "weighted_gather_sum")
_EXTREMES = ("segment_max", "segment_min")


def sort_once(program: Program) -> Program:
    """Have operations on GPUs that sort the numbers of their segments take them in order.

    Sums become sums of the rows in the order of their segments, picked by it: the same additions in
    the same order. Extremes get their rows in that order. Numbers that are constants are sorted
    here, others by an operation that all with these numbers share.
    """
    chosen = [node for node in program.order() if _sorts(node)]
    if not chosen:
        return program
    rewriter = Rewriter(program)
    orders = _Orders(rewriter)
    for node in program.order():
        if node in chosen:
            _in_order(rewriter, orders, node)
        else:
            rewriter.copy(node)
    return rewriter.finish()


def _sorts(node: Node) -> bool:
    """Return whether ``node`` would sort the numbers of its segments."""
    if node.op.name not in (*_SUMS, *_EXTREMES) or not kind_of(node.device or HOST).has_kernels:
        return False
    ids = _ids(node)
    if ids.spec.rank != 1 or node.attrs.get("axis", 0) or node.attrs.get("sorted"):
        return False
    return node.outputs[0].spec.size * ids.spec.size >= SORTED_FROM


def _ids(node: Node) -> Tensor:
    return node.inputs[2 if "gather" in node.op.name else 1]


class _Orders:
    """Orders of segments' numbers, and tensors in these orders, each of which is computed once."""

    def __init__(self, rewriter: Rewriter) -> None:
        self._rewriter = rewriter
        self._known: dict[Any, Tensor] = {}

    def of(self, ids: Tensor, reader: Node) -> Tensor:
        """Return the stable order of ``ids`` on the device of ``reader``, the first to need it."""
        return self._once("argsort", [ids], {"axis": 0, "descending": False}, reader, "order")

    def taken(self, x: Tensor, order: Tensor, reader: Node, name: str) -> Tensor:
        """Return the rows of ``x`` in this order."""
        return self._once("gather", [x, order], {"axis": 0}, reader, name)

    def _once(
        self, op: str, inputs: Sequence[Tensor], attrs: dict[str, Any], reader: Node, name: str
    ) -> Tensor:
        key = (op, *inputs, reader.device)
        if key not in self._known:
            name, definition = f"{reader.name}/{name}", lookup(op)
            if all(tensor.node.op.name == "constant" for tensor in inputs):
                arrays = [np.asarray(tensor.node.attrs["value"]) for tensor in inputs]
                (value,) = definition.reference(arrays, attrs)
                definition, inputs, attrs = lookup("constant"), [], {"value": value}
            graph = self._rewriter.graph
            node = graph.copy(reader, inputs, op=definition, attrs=attrs, name=name)
            self._known[key] = node.output
        return self._known[key]


def _in_order(rewriter: Rewriter, orders: _Orders, node: Node) -> None:
    """Add a copy of ``node`` whose numbers of segments are in order."""
    ids = rewriter[_ids(node)]
    order = orders.of(ids, node)
    sorted_ids = orders.taken(ids, order, node, "sorted")
    x, *others = (rewriter[tensor] for tensor in node.inputs)
    attrs = {"rows": node.attrs["rows"], "sorted": True}
    if node.op.name in _EXTREMES:
        rows = orders.taken(x, order, node, "rows")
        rewriter.copy(node, inputs=[rows, sorted_ids], attrs=attrs)
    elif node.op.name == "scatter_add":
        inputs = [x, order, sorted_ids]
        rewriter.copy(node, op=lookup("gather_sum"), inputs=inputs, attrs=attrs)
    else:
        sources = orders.taken(others[0], order, node, "sources")
        weights = [orders.taken(each, order, node, "weights") for each in others[2:]]
        rewriter.copy(node, inputs=[x, sources, sorted_ids, *weights], attrs=attrs)
