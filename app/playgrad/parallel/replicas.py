"""The replicas of a training step, and the names of their variables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from playgrad.graph.copying import CopyMap
from playgrad.graph.opdef import OpDef
from playgrad.graph.tensor import Node
from playgrad.ops.state import Variable
from playgrad.parallel.partition import Partition


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
    variables: dict[str, str] = field(default_factory=dict)
    whole: CopyMap = field(init=False)
    parts: list[CopyMap] = field(init=False)

    def __post_init__(self) -> None:
        self.whole = CopyMap(self.step.graph)
        self.parts = [CopyMap(self.step.graph, self.whole) for _ in self.rows]

    def device(self, node: Node) -> str:
        """Where this replica does ``node``."""
        return self.devices[self.step.stage[node]]

    def share_variable(self, node: Node, variable: Variable) -> None:
        """Use ``variable`` for the step's variable ``node``."""
        self.whole.replace(node, [variable], variable.node)
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
            GraphError: an input has not been copied yet.
        """
        with self.step.graph.reenter_scope(self.scope):
            return into.copy(
                node,
                op=op,
                attrs={**self._renamed(node.attrs), **attrs},
                device=self.device(node) if stage is None else self.devices[stage],
                task=task,
            )

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


_MIRROR = "/replica_"


def mirror_name(variable: str, replica: int) -> str:
    """The name of a replica's mirror of ``variable``."""
    return f"{variable}{_MIRROR}{replica}"


def replica_of(variable: str) -> int:
    """The number of the replica that has ``variable``: 0 for one that is not a mirror."""
    return int(variable.rpartition(_MIRROR)[2]) if _MIRROR in variable else 0


def mirrored_by(variable: str) -> str:
    """The name of the variable that ``variable`` mirrors: its own if it is not a mirror."""
    return variable.partition(_MIRROR)[0]
