"""Explains, for each node of a program, which device it runs on, and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from playgrad.compiler.compile import placeable, run_passes
from playgrad.compiler.place import Decision, Policy, decide
from playgrad.compiler.planner import Shapes
from playgrad.compiler.program import Program
from playgrad.devices.machines import full_name, full_names
from playgrad.graph.tensor import Node
from playgrad.parallel.placement.predict import CostModel, Prediction


@dataclass(frozen=True)
class NodeDecision:
    """The device of a node, and the reason in words."""

    node: str
    op: str
    device: str
    reason: str


@dataclass(frozen=True)
class MeasuredSummary:
    """A program's placement, explained by measured times: a `PlacementSummary`.

    Attributes:
        decisions: one for each node, in the order of the program, without constants, which are
            copied to every device that uses them.
        prediction: the prediction of a run with this placement.
        alone: the prediction of a run with everything on the default device.
        conclusion: the conclusion of an automatic placement: the comparison with a single device.
    """

    decisions: tuple[NodeDecision, ...]
    prediction: Prediction
    alone: Prediction
    conclusion: str | None = None

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The decisions by name scope, device and reason, in the order of each row's first node."""
        rows: dict[tuple[str, str, str], list[str]] = {}
        for each in self.decisions:
            scope = each.node.rpartition("/")[0]
            rows.setdefault((scope, each.device, each.reason), []).append(each.node)
        return [
            {"scope": scope, "nodes": nodes, "device": full_name(device), "reason": reason}
            for (scope, device, reason), nodes in rows.items()
        ]

    @property
    def headline(self) -> str:
        """The predicted time of a run, and its comparison with a single device."""
        moved = self.prediction.bytes_moved
        text = f"By measured times: {self.conclusion or self._comparison()}"
        return f"{text}; {moved:,} bytes moved." if moved else f"{text}."

    def _comparison(self) -> str:
        here, alone = self.prediction, self.alone
        text = f"{1000 * here.seconds:.3g} ms on {full_names(here.devices)}"
        if here.devices == alone.devices:
            return text
        # A strategy's step on one device does the work of all its replicas in turn.
        where = full_names(alone.devices)
        return f"{text}, against {1000 * alone.seconds:.3g} ms with all of it on {where}"

    def as_dict(self) -> dict[str, Any]:
        """Return plain data: seconds, bytes and rows."""
        return {
            "headline": self.headline,
            "seconds": self.prediction.seconds,
            "seconds_alone": self.alone.seconds,
            "bytes_moved": self.prediction.bytes_moved,
            "rows": self.rows,
        }

    def __str__(self) -> str:
        return "\n".join([self.headline, *self._lines()])

    def _lines(self) -> Iterator[str]:
        width = max((len(row["device"]) for row in self.rows), default=0)
        scope = None
        for row in self.rows:
            if row["scope"] != scope:
                scope = row["scope"]
                yield scope or "(no scope)"
            names = [name.rpartition("/")[2] for name in row["nodes"]]
            nodes = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if names[3:] else "")
            yield f"  {row['device']:{width}}  {nodes}: {row['reason']}"


class _OnDefaultDevice(Policy):
    """Places all nodes on the default device that it can run, whatever is requested."""

    def requested(self, node: Node) -> Decision | None:
        return None


def summarize(
    program: Program, shapes: Shapes, policy: Policy, conclusion: str | None, costs: CostModel
) -> MeasuredSummary:
    """Explain the placement of ``program`` under ``policy``."""
    decisions = decide(placeable(program, shapes), policy)
    alone = _OnDefaultDevice(policy.default, policy.available)
    return MeasuredSummary(
        tuple(
            NodeDecision(node.name, node.op.name, decision.device, decision.reason)
            for node, decision in decisions.items()
            if node.op.name != "constant"
        ),
        costs.predict(run_passes(program, shapes, policy)),
        costs.predict(run_passes(program, shapes, alone)),
        conclusion,
    )
