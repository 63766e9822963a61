"""Computes the full shape of every tensor from the shapes of the feeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from playgrad.compiler.program import Program, Rewriter
from playgrad.errors import PlaygradError
from playgrad.graph.graph import at_top
from playgrad.graph.opdef import lookup
from playgrad.graph.tensor import Node, Tensor


def specialise(program: Program, shapes: Mapping[str, tuple[int, ...]]) -> Program:
    """Replace unknown dimensions by the fed ``shapes`` (by feed name), and operations on shapes by
    static ones; expand operations that depend on shapes.

    Raises:
        ShapeError: the feeds do not fit together, at the operation where it shows.
    """
    rewriter = Rewriter(program)
    fed = {tensor.node: shapes[name] for name, tensor in program.feeds.items()}
    for node in program.order():
        if node in fed:
            rewriter.copy(node, attrs={**node.attrs, "shape": list(fed[node])})
            continue
        try:
            _copy_static(rewriter, node)
        except PlaygradError as error:
            raise error.located(node.name, node.source) from None
    return rewriter.finish()


def _copy_static(rewriter: Rewriter, node: Node) -> None:
    inputs = [rewriter[tensor] for tensor in node.inputs]
    if node.op.expand is not None:
        _expand(rewriter, node, inputs)
        return
    if node.op.specialise:
        static = node.op.specialise([tensor.spec for tensor in inputs], node.attrs)
        if static is not None:
            name, attrs, used = static
            rewriter.copy(node, op=lookup(name), inputs=[inputs[i] for i in used], attrs=attrs)
            return
    copied = rewriter.copy(node)
    for tensor in copied.outputs:
        tensor.spec.static_shape  # noqa: B018 - raises where a dimension is still unknown


def _expand(rewriter: Rewriter, node: Node, inputs: Sequence[Tensor]) -> None:
    assert node.op.expand is not None
    graph = rewriter.graph
    before = len(graph.nodes)
    with at_top(graph, node.phase), graph.reenter_scope(f"{node.name}/"), graph.device(node.device):
        controls = rewriter.controls(node)
        with graph.control_dependencies(controls):
            outputs = node.op.expand(inputs, node.attrs)
    for each in graph.nodes[before:]:
        each.source = node.source
    rewriter.replace(node, outputs, outputs[0].node)
