"""Reverse-mode automatic differentiation: graph in, graph out.

``gradients`` adds nodes that compute the derivative to the same graph. They are ordinary
operations, which can be displayed, fetched and differentiated again. The method is reverse
accumulation (Linnainmaa 1970; Griewank and Walther, *Evaluating Derivatives*, 2008).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from playgrad.dtypes import dtype
from playgrad.errors import DTypeError, GraphError, ShapeError, shape_text
from playgrad.graph.opdef import lookup
from playgrad.graph.tensor import OPERATORS, Node, Tensor
from playgrad.graph.traversal import ancestors, topological

BEGINS_GRADIENT = "begins_gradient"
"""The attribute of an ``identity`` of a value that a program passes as a gradient."""


def gradients(
    ys: Tensor | Sequence[Tensor],
    xs: Tensor | Sequence[Tensor],
    grad_ys: Sequence[Tensor | None] | None = None,
    within: Collection[Node] | None = None,
) -> list[Tensor | None]:
    """Return the derivative of ``sum(ys)`` with respect to each of ``xs``.

    Args:
        ys: tensors to differentiate, of a floating dtype.
        xs: tensors to differentiate with respect to.
        grad_ys: the gradient that flows into each y, of y's shape; None for ones.
        within: the nodes through which gradients flow; None for any.

    Returns:
        For each x a tensor of x's shape and dtype, or None if no y depends on it.

    Raises:
        GraphError: an operation between ``xs`` and ``ys`` has no gradient.
        DTypeError: a y is not of a floating dtype.
    """
    ys = [ys] if isinstance(ys, Tensor) else list(ys)
    xs = [xs] if isinstance(xs, Tensor) else list(xs)
    if not ys:
        raise GraphError("gradients() needs at least one tensor to differentiate.")
    graph = ys[0].graph
    seeds = list(grad_ys) if grad_ys is not None else [None] * len(ys)
    if len(seeds) != len(ys):
        raise GraphError(f"gradients() got {len(ys)} ys but {len(seeds)} grad_ys.")
    for tensor in [*ys, *xs]:
        if tensor.graph is not graph and not ys[0].node.detached:
            raise GraphError(f"gradients() got '{tensor.name}', which belongs to another graph.")
    path = _between(xs, ys, within)
    pending: dict[Tensor, list[Tensor]] = {}
    scope = graph.unique_name("gradients") + "/"
    with graph.reenter_scope(scope), graph.phase("gradient"):
        for y, seed in zip(ys, seeds, strict=True):
            pending.setdefault(y, []).append(_seed(y, seed))
    for node in reversed(topological(path)):
        with (
            graph.reenter_scope(f"{scope}{node.name}/"),
            graph.phase("gradient"),
            graph.device(node.device),
        ):
            # Summed once, here: the result for an x below is the same tensor.
            for tensor in node.outputs:
                if len(pending.get(tensor, ())) > 1:
                    pending[tensor] = [_total(pending[tensor])]
            _propagate(node, pending, path)
    return [_total(pending[x]) if x in pending else None for x in xs]


def _between(
    xs: Sequence[Tensor], ys: Sequence[Tensor], within: Collection[Node] | None
) -> set[Node]:
    """Return the nodes on data paths from one of ``xs`` to one of ``ys``."""
    sources = {x.node for x in xs}
    useful: set[Node] = set()
    for node in topological(
        ancestors((y.node for y in ys), control=False),
        lambda node: [tensor.node for tensor in node.inputs],
    ):
        if node in sources or (
            (within is None or node in within)
            and any(tensor.node in useful for tensor in node.inputs)
        ):
            useful.add(node)
    return useful


def _seed(y: Tensor, seed: Tensor | None) -> Tensor:
    if not dtype(y.dtype).floating:
        raise DTypeError(
            f"cannot differentiate '{y.name}': it is {y.dtype}, not a floating type.",
            op=y.node.name,
            source=y.node.source,
        )
    if seed is None:
        return y.graph.add(lookup("ones_like"), [y]).output
    if seed.dtype != y.dtype:
        raise DTypeError(f"the gradient of '{y.name}' must be {y.dtype}, got {seed.dtype}.")
    if seed.spec.rank != y.spec.rank or any(
        None not in (size, expected) and size != expected
        for size, expected in zip(seed.shape, y.shape, strict=True)
    ):
        raise ShapeError(
            f"the gradient of '{y.name}' must have shape {shape_text(y.shape)}, "
            f"got {shape_text(seed.shape)}."
        )
    if seed.node.phase == "gradient":
        return seed
    # Its phase lets mixed precision scale it.
    return y.graph.add(lookup("identity"), [seed], {BEGINS_GRADIENT: True}).output


def _total(terms: list[Tensor]) -> Tensor:
    """Return the sum of ``terms``, adding terms of one operation by its own rule, if it has one."""
    kinds: dict[tuple[str, str | None], list[Tensor]] = {}
    for term in terms:
        kinds.setdefault((term.node.op.name, term.node.device), []).append(term)
    parts: list[Tensor] = []
    for alike in kinds.values():
        rule = alike[0].node.op.total
        total = rule(alike) if rule is not None and len(alike) > 1 else None
        parts.extend(alike if total is None else [total])
    total = parts[0]
    for term in parts[1:]:
        total = OPERATORS["add"](total, term)
    return total


def _propagate(node: Node, pending: dict[Tensor, list[Tensor]], path: set[Node]) -> None:
    """Propagate the gradients of a node's outputs to its inputs on the path."""
    flowing = [pending[t][0] if t in pending else None for t in node.outputs]
    if all(grad is None for grad in flowing) or node.op.blocks_gradient:
        return
    if not any(tensor.node in path for tensor in node.inputs):
        return
    if node.op.gradient is None:
        raise GraphError(
            f"the operation {node.op.name!r} has no gradient.",
            op=node.name,
            source=node.source,
            hint="Use stop_gradient() to block gradients through it.",
        )
    for tensor, grad in zip(node.inputs, node.op.gradient(node, flowing), strict=True):
        if grad is not None and tensor.node in path and dtype(tensor.dtype).floating:
            pending.setdefault(tensor, []).append(grad)
