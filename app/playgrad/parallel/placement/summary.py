"""Says of each node of a program where it runs, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from playgrad.compiler.compile import placeable, run_passes
from playgrad.compiler.place import Decision, Policy, decide
from playgrad.compiler.program import Program
from playgrad.graph.tensor import Node
from playgrad.parallel.placement.predict import CostModel, Prediction


@dataclass(frozen=True)
class NodeDecision:
    """Where a node runs, and why, in words."""

    node: str
    op: str
    device: str
    reason: str

    @property
    def scope(self) -> str:
        """The name scope that it was made in; "" outside of all."""
        return self.node.rpartition("/")[0]


@dataclass(frozen=True)
class Row:
    """Nodes of one scope that have device and reason in common."""

    scope: str
    nodes: tuple[str, ...]
    device: str
    reason: str


@dataclass(frozen=True)
class PlacementSummary:
    """Where a program runs.

    Attributes:
        decisions: one for each node, in the order of the program; but constants, which are copied
            to wherever they are used.
        prediction: what a run should take, by measured times of operations and transfers.
        alone: the same with all on the session's own device.
        conclusion: of an automatic placement: whether dividing the program is worth it.
    """

    decisions: tuple[NodeDecision, ...]
    prediction: Prediction
    alone: Prediction
    conclusion: str | None = None

    @property
    def rows(self) -> list[Row]:
        """The decisions by scope, in the order of the first node of each."""
        rows: dict[tuple[str, str, str], list[str]] = {}
        for one in self.decisions:
            rows.setdefault((one.scope, one.device, one.reason), []).append(one.node)
        return [Row(scope, tuple(n), device, why) for (scope, device, why), n in rows.items()]

    @property
    def headline(self) -> str:
        """What a run should take, and what comes of that."""
        moved = self.prediction.bytes_moved
        text = f"By measured times: {self.conclusion or self._compared()}"
        return f"{text}; {moved:,} bytes moved." if moved else f"{text}."

    def _compared(self) -> str:
        here, alone = self.prediction, self.alone
        text = f"{1000 * here.seconds:.3g} ms on {', '.join(here.devices)}"
        if here.devices == alone.devices:
            return text
        # All of it: of a strategy's step that is what all its replicas do, one after the other.
        where = ", ".join(alone.devices)
        return f"{text}, against {1000 * alone.seconds:.3g} ms with all of it on {where}"

    def as_dict(self) -> dict[str, Any]:
        """Plain data; seconds and bytes."""
        return {
            "headline": self.headline,
            "seconds": self.prediction.seconds,
            "seconds_alone": self.alone.seconds,
            "bytes_moved": self.prediction.bytes_moved,
            "rows": [
                {"scope": r.scope, "nodes": list(r.nodes), "device": r.device, "reason": r.reason}
                for r in self.rows
            ],
        }

    def __str__(self) -> str:
        return "\n".join([self.headline, *self._lines()])

    def _lines(self) -> Iterator[str]:
        width = max((len(row.device) for row in self.rows), default=0)
        before = None
        for row in self.rows:
            if row.scope != before:
                yield row.scope or "(no scope)"
                before = row.scope
            names = [name.rpartition("/")[2] for name in row.nodes]
            what = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if names[3:] else "")
            yield f"  {row.device:{width}}  {what}: {row.reason}"


class _AllOnOne(Policy):
    """Whatever anybody wishes, all nodes go to the default device, if it can run them."""

    def wished(self, node: Node) -> Decision | None:
        return None


def summarize(
    program: Program,
    shapes: Mapping[str, tuple[int, ...]],
    policy: Policy,
    conclusion: str | None,
    costs: CostModel,
) -> PlacementSummary:
    """What ``policy`` makes of ``program``."""
    decisions = decide(placeable(program, shapes), policy)
    one = _AllOnOne(policy.default, policy.available)
    return PlacementSummary(
        tuple(
            NodeDecision(node.name, node.op.name, decision.device, decision.reason)
            for node, decision in decisions.items()
            if node.op.name != "constant"
        ),
        costs.predict(run_passes(program, shapes, policy)),
        costs.predict(run_passes(program, shapes, one)),
        conclusion,
    )
