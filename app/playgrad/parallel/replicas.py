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
        scope: the name scope of its nodes.
        devices: the device of each stage.
        rows: first row of the batch, and number of rows, of each micro-batch.
        variables: the names of its variables, by their names in the original step.
        whole: copies of the nodes that run once.
        parts: copies of the nodes that run for each micro-batch.
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
        """Return the device of this replica's copy of ``node``."""
        return self.devices[self.step.stage[node]]

    def share_variable(self, node: Node, variable: Variable) -> None:
        """Use ``variable`` in place of ``node``, a variable of the original step."""
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
        """Copy ``node`` to this replica's device.

        Args:
            op, stage, attrs: override the node's.

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
        """Return the attributes with the names of this replica's variables."""
        changed = dict(attrs)
        if "variables" in attrs:
            changed["variables"] = [self.variables[name] for name in attrs["variables"]]
        if "variable" in attrs:
            changed["variable"] = self.variables[attrs["variable"]]
        return changed

    @contextmanager
    def at(self, node: Node, task: str | None) -> Iterator[None]:
        """Enter the scopes for new nodes that replace ``node``."""
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
    """Return the name of a replica's mirror of ``variable``."""
    return f"{variable}{_MIRROR}{replica}"


def replica_of(variable: str) -> int:
    """Return the number of the replica that owns ``variable``: 0 unless it is a mirror."""
    return int(variable.rpartition(_MIRROR)[2]) if _MIRROR in variable else 0


def mirrored_by(variable: str) -> str:
    """Return the name of the variable that ``variable`` mirrors: its own unless it is a mirror."""
    return variable.partition(_MIRROR)[0]
