"""Copying nodes within a graph or to another one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from playgrad.errors import GraphError
from playgrad.graph.graph import Graph
from playgrad.graph.opdef import OpDef
from playgrad.graph.tensor import Node, Tensor


class CopyMap:
    """The tensors and nodes that replace others, by their originals.

    ``copies[tensor]`` is the tensor that replaces ``tensor``.

    Args:
        graph: copies are added to it; may be the graph of the originals.
        outer: consulted for originals that this map does not hold.

    Attributes:
        tensors: by original.
        nodes: by original, for control edges; None if nothing has to wait for it.
    """

    def __init__(self, graph: Graph, outer: CopyMap | None = None) -> None:
        self.graph = graph
        self.outer = outer
        self.tensors: dict[Tensor, Tensor] = {}
        self.nodes: dict[Node, Node | None] = {}

    def __getitem__(self, original: Tensor) -> Tensor:
        try:
            return self.tensors[original]
        except KeyError:
            if self.outer is None:
                raise
        return self.outer[original]

    def __setitem__(self, original: Tensor, copy: Tensor) -> None:
        self.tensors[original] = copy

    def get(self, original: Tensor) -> Tensor | None:
        """The tensor that replaces ``original``, or None."""
        copy = self.tensors.get(original)
        return copy if copy is not None or self.outer is None else self.outer.get(original)

    def node(self, original: Node) -> Node | None:
        """The node that replaces ``original`` in control edges, or None."""
        if original in self.nodes or self.outer is None:
            return self.nodes.get(original)
        return self.outer.node(original)

    def controls(self, original: Node) -> list[Node]:
        """The nodes that a copy of ``original`` has to wait for."""
        nodes = map(self.node, original.control_inputs)
        return list(dict.fromkeys(node for node in nodes if node is not None))

    def replace(self, original: Node, outputs: Sequence[Tensor], node: Node | None) -> None:
        """Use ``outputs`` in place of ``original``'s, and ``node`` in its control edges."""
        self.nodes[original] = node
        self.tensors.update(zip(original.outputs, outputs, strict=True))

    def copy(
        self,
        original: Node,
        *,
        op: OpDef | None = None,
        inputs: Sequence[Tensor] | None = None,
        attrs: Mapping[str, Any] | None = None,
        device: str | None = None,
        task: str | None = None,
        controls: Sequence[Node] = (),
    ) -> Node:
        """Add a copy of ``original``, with the arguments overriding its parts.

        Args:
            inputs: None for the replacements of the inputs of ``original``.
            controls: nodes to wait for, in addition to the replacements of its control inputs.

        Raises:
            GraphError: an input has not been copied yet.
        """
        if inputs is None:
            inputs = self._inputs(original)
        if original.control_inputs:
            controls = [*self.controls(original), *controls]
        copy = self.graph.copy(
            original,
            inputs,
            op=op,
            attrs=None if attrs is None else dict(attrs),
            control_inputs=controls,
            device=device,
            task=task,
        )
        self.replace(original, copy.outputs, copy)
        return copy

    def _inputs(self, original: Node) -> list[Tensor]:
        try:
            return [self[tensor] for tensor in original.inputs]
        except KeyError as error:
            raise GraphError(
                f"'{original.name}' is copied before its input '{error.args[0].name}'.",
                op=original.name,
                source=original.source,
            ) from None
