"""Parts of a graph that are built once and instantiated several times.

A function of tensors is called with placeholders. The nodes that it adds are taken out of the graph
again: only their copies, made by `Recording.instantiate` with other tensors in place of the
placeholders, stay. Tensors from outside that the function uses are *captured*; its variables are
created in the graph, once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import Any

import numpy as np

from playgrad.errors import DTypeError, GraphError, ShapeError, shape_text
from playgrad.graph.copying import CopyMap
from playgrad.graph.graph import Graph
from playgrad.graph.opdef import lookup
from playgrad.graph.source import user_source
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Node, Tensor
from playgrad.graph.traversal import ancestors
from playgrad.ops.control.nested import flatten
from playgrad.ops.core.build import as_tensor
from playgrad.ops.elementwise.definitions import add, mul
from playgrad.ops.state import RANDOM_ADVANCE, is_variable

MIXER = 0x9E3779B1
"""An odd number near 2³² / golden ratio: multiples of it by small numbers are far apart."""
STEP = TensorSpec((), "uint32")


@dataclass
class Recording:
    """The nodes that a function adds to a graph.

    Attributes:
        inputs: the placeholders that it was called with.
        result: the returned value, with tensors for numbers and arrays.
        outputs: the tensors of ``result``.
        nodes: the nodes of its outputs and of its writes, in topological order.
        captures: the tensors from outside that ``nodes`` and ``outputs`` use.
        prefix: the name scope that it was called in.
        source: the line of the user's program that asked for it.
    """

    inputs: list[Tensor]
    result: Any
    outputs: list[Tensor]
    nodes: list[Node]
    captures: list[Tensor]
    prefix: str
    source: tuple[str, int] | None

    @property
    def writes(self) -> list[Node]:
        """The nodes that write variables."""
        return [node for node in self.nodes if node.op.writes]

    @property
    def is_empty(self) -> bool:
        """True if the function returned no tensors."""
        return not self.outputs

    @property
    def is_only_effect(self) -> bool:
        """True if the function returned nothing but the new values of variables."""
        return all(tensor.node.op.writes for tensor in self.outputs)

    @property
    def draws(self) -> bool:
        """True if an instance draws random numbers."""
        return any(draws(node) for node in self.nodes)

    def forbid_writes(self, what: str, hint: str) -> None:
        """Raise GraphError if a variable is written; ``what`` is the function in the message."""
        for node in self.writes:
            names = " and ".join(f"'{name}'" for name in node.attrs["variables"])
            raise GraphError(
                f"{what} must not write the variable {names}.",
                op=node.name,
                source=node.source,
                hint=hint,
            )

    @cached_property
    def varying(self) -> set[Node]:
        """The nodes with other values in each instance, because they depend on an input, draw
        random numbers or write variables."""
        inputs = {tensor.node for tensor in self.inputs}
        found: set[Node] = set()
        for node in self.nodes:
            if (
                draws(node)
                or node.op.state
                or node.op.writes
                or any(before in inputs or before in found for before in node.predecessors)
            ):
                found.add(node)
        return found

    def instantiate(
        self,
        graph: Graph,
        inputs: Sequence[Tensor],
        *,
        scope: str,
        captured: Mapping[Tensor, Tensor] | None = None,
        iteration: Tensor | None = None,
        shared: CopyMap | None = None,
        change: Callable[[Node, CopyMap, str], Node | None] | None = None,
    ) -> list[Tensor]:
        """Add a copy of the nodes to ``graph``, and return the outputs of the copy.

        Args:
            inputs: the tensors in place of the placeholders.
            scope: the name scope of the copies, ending with a slash.
            captured: the tensors in place of captured ones; the rest stay.
            iteration: the number of the instance, uint32. Each draws other random numbers.
            shared: copies of nodes that are not `varying`, used where present, and added to it
                where missing. None copies all nodes.
            change: copies a node in another way and returns its copy, or None to have it copied.
        """
        copies = CopyMap(graph, outer=shared)
        copies.tensors.update(zip(self.inputs, inputs, strict=True))
        for tensor in self.captures:
            copies[tensor] = tensor if captured is None else captured.get(tensor, tensor)
        varying = set(self.nodes) if shared is None else self.varying
        if shared is not None:
            shared.tensors.update((t, copies[t]) for t in self.captures)
        moving = self.varying if iteration is not None else set()
        own = set(self.nodes)
        with graph.reenter_scope(scope):
            for node in self.nodes:
                target = copies if node in varying or shared is None else shared
                if node not in varying and node in target.nodes:
                    continue
                name = node.name.removeprefix(self.prefix)
                if change is not None and (changed := change(node, copies, name)) is not None:
                    copies.replace(node, changed.outputs, changed)
                    continue
                values = [copies[tensor] for tensor in node.inputs]
                if iteration is not None and draws(node):
                    values = [
                        add(mul(value, MIXER), iteration)
                        if tensor.spec == STEP and tensor.node not in moving
                        else value
                        for tensor, value in zip(node.inputs, values, strict=True)
                    ]
                copy = graph.copy(
                    node, values, name=name, control_inputs=_controls(node, copies, own)
                )
                target.replace(node, copy.outputs, copy)
        return [copies[tensor] for tensor in self.outputs]


def draws(node: Node) -> bool:
    """Return whether ``node``, or a loop that it runs, draws random numbers."""
    return "seed" in node.attrs or bool(node.attrs.get("draws"))


def _controls(node: Node, copies: CopyMap, own: Collection[Node]) -> list[Node]:
    """Return the control inputs of a copy of ``node``; nodes from outside stay."""
    mapped = [copies.node(n) if n in own else n for n in node.control_inputs]
    return list(dict.fromkeys(n for n in mapped if n is not None))


def record(graph: Graph, prefix: str, fn: Callable[..., Any], arguments: Sequence[Any],
           inputs: Sequence[Tensor]) -> Recording:  # fmt: skip
    """Call ``fn`` with ``arguments``, and return its new nodes, taken out of ``graph`` again.

    Args:
        prefix: the name scope to call it in, ending with a slash.
        inputs: the placeholders among ``arguments``, from `inputs_like`.

    Raises:
        GraphError: it returned a tensor of another graph.
        DTypeError: it returned something that is not a tensor or a number.
    """
    source = user_source()
    if not callable(fn):
        raise GraphError(f"a function is needed, got {type(fn).__name__} {fn!r:.60}.")
    holes = {tensor.node for tensor in inputs}
    known = set(graph.nodes) - holes
    with graph.as_default(), graph.reenter_scope(prefix), graph.control_dependencies(None):
        result = fn(*arguments)
        outputs = [as_tensor(leaf, graph) for leaf in flatten(result)]
    for tensor in outputs:
        if tensor.graph is not graph:
            raise GraphError(f"'{tensor.name}' belongs to another graph.", source=source)
    new = [node for node in graph.nodes if node not in known]
    kept = _kept(graph, new)
    own = [node for node in new if node not in kept and node not in holes]
    inside = set(own)
    roots = [*(t.node for t in outputs), *(node for node in own if node.op.writes)]
    needed = ancestors(roots) & inside
    nodes = sorted(needed, key=attrgetter("id"))
    used = [*(tensor for node in nodes for tensor in node.inputs), *outputs]
    captures = [t for t in dict.fromkeys(used) if t.node not in needed and t.node not in holes]
    graph.remove(inside | holes)
    return Recording(list(inputs), result, outputs, nodes, captures, prefix, source)


def _kept(graph: Graph, new: Sequence[Node]) -> set[Node]:
    """Return the nodes among ``new`` that stay in the graph: variables, and what they need."""
    roots = [node for node in new if node.phase == "variable" or node.name == RANDOM_ADVANCE]
    for node in new:
        if is_variable(node):
            roots.append(graph.tensor(node.attrs["initializer"]).node)
    return ancestors(roots) & set(new)


def inputs_like(
    graph: Graph, prefix: str, tensors: Sequence[Tensor | TensorSpec], name: str
) -> list[Tensor]:
    """Add placeholders with the specs of ``tensors``, to call a function with."""
    with graph.reenter_scope(prefix), graph.control_dependencies(None):
        return [
            graph.add(
                lookup("placeholder"),
                attrs={"shape": list(tensor.shape), "dtype": tensor.dtype},
                name=name,
            ).output
            for tensor in tensors
        ]


def number(graph: Graph, value: int) -> Tensor:
    """Return the number of an instance, for `Recording.instantiate`."""
    return as_tensor(np.asarray(value, np.uint32), graph)


def expect_same_specs(
    before: Sequence[TensorSpec], after: Sequence[TensorSpec], what: str, source: Any = None
) -> None:
    """Check that tensors keep their dtypes and shapes; unknown dimensions fit every size.

    Args:
        what: describes the tensors, such as "a loop variable of while_loop".

    Raises:
        ShapeError, DTypeError: one of them does not.
    """
    for place, (old, new) in enumerate(zip(before, after, strict=True)):
        if old.dtype != new.dtype:
            raise DTypeError(
                f"{what} must keep its dtype: number {place} is {old.dtype} before and "
                f"{new.dtype} after.",
                source=source,
                hint="Convert it with cast().",
            )
        if not shapes_agree(old, new):
            raise ShapeError(
                f"{what} must keep its shape: number {place} has shape {shape_text(old.shape)} "
                f"before and {shape_text(new.shape)} after.",
                source=source,
            )


def shapes_agree(a: TensorSpec, b: TensorSpec) -> bool:
    """Return whether two shapes are equal where both are known."""
    return a.rank == b.rank and all(
        None in (m, n) or m == n for m, n in zip(a.shape, b.shape, strict=True)
    )
