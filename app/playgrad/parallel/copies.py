"""Copies of a step's nodes: what stands for what in one replica, and in one part of its share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from playgrad.errors import GraphError
from playgrad.graph.opdef import OpDef
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.state import Variable
from playgrad.parallel.partition import Partition


@dataclass
class CopyMap:
    """New tensors and nodes by those they stand for; what is not here is looked up in ``outer``."""

    outer: CopyMap | None = None
    tensors: dict[Tensor, Tensor] = field(default_factory=dict)
    nodes: dict[Node, Node] = field(default_factory=dict)

    def tensor(self, old: Tensor) -> Tensor | None:
        """What stands for ``old``, if it has been made."""
        found = self.tensors.get(old)
        return found if found is not None or self.outer is None else self.outer.tensor(old)

    def node(self, old: Node) -> Node | None:
        """What stands for ``old``, if it has been made."""
        found = self.nodes.get(old)
        return found if found is not None or self.outer is None else self.outer.node(old)

    def note(self, old: Node, new: Node) -> None:
        """Let ``new`` stand for ``old``."""
        self.nodes[old] = new
        self.tensors.update(zip(old.outputs, new.outputs, strict=True))


@dataclass
class Replica:
    """One replica under construction.

    Attributes:
        devices: of its stages.
        whole: copies of what is done once.
        parts: copies of what is done for each of its micro-batches.
        variables: the names of its variables by those of the step's.
        first_row, rows: of the batch, for each micro-batch.
    """

    number: int
    scope: str
    devices: tuple[str, ...]
    step: Partition
    rows: list[tuple[int, int]]
    whole: CopyMap = field(default_factory=CopyMap)
    variables: dict[str, str] = field(default_factory=dict)
    parts: list[CopyMap] = field(init=False)

    def __post_init__(self) -> None:
        self.parts = [CopyMap(self.whole) for _ in self.rows]

    def device(self, node: Node) -> str:
        """Where this replica does ``node``."""
        return self.devices[self.step.stage[node]]

    def share_variable(self, node: Node, variable: Variable) -> None:
        """Use ``variable`` for the step's variable ``node``."""
        self.whole.note(node, variable.node)
        self.variables[node.name] = variable.node.name

    def copy(
        self,
        node: Node,
        into: CopyMap,
        task: str | None,
        op: OpDef | None = None,
        stage: int | None = None,
        **attrs: Any,
    ) -> Node:
        """Add ``node`` on this replica's device, with attributes changed where given.

        Args:
            op: does it instead of the node's own.
            stage: does it instead of the node's own.

        Raises:
            GraphError: something that it needs has not been made yet.
        """
        inputs = []
        for tensor in node.inputs:
            new = into.tensor(tensor)
            if new is None:
                raise GraphError(
                    f"the schedule does '{node.name}' before '{tensor.node.name}', which it needs.",
                    op=node.name,
                    source=node.source,
                )
            inputs.append(new)
        controls = [new for new in map(into.node, node.control_inputs) if new is not None]
        graph = self.step.graph
        with graph.reenter_scope(self.scope):
            copy = graph.add(
                op or node.op,
                inputs,
                {**self._renamed(node.attrs), **attrs},
                name=node.name,
                control_inputs=controls,
                phase=node.phase,
                device=self.device(node) if stage is None else self.devices[stage],
                task=task,
                source=node.source,
            )
        into.note(node, copy)
        return copy

    def _renamed(self, attrs: Mapping[str, Any]) -> dict[str, Any]:
        """The attributes with the names of this replica's variables."""
        changed = dict(attrs)
        if "variables" in attrs:
            changed["variables"] = [self.variables[name] for name in attrs["variables"]]
        if "variable" in attrs:
            changed["variable"] = self.variables[attrs["variable"]]
        return changed

    @contextmanager
    def at(self, node: Node, task: str | None) -> Iterator[None]:
        """The scopes in which new nodes that stand for ``node`` are made."""
        graph = self.step.graph
        with (
            graph.reenter_scope(f"{self.scope}{node.name}/"),
            graph.device(self.device(node)),
            graph.phase(node.phase),
            graph.task(task),
        ):
            yield
