"""The interface between sessions and the planner that places programs automatically.

A planner needs sessions to measure costs, so it lives in a package above them and registers
itself here when that is imported.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from playgrad.compiler.place import Policy
from playgrad.compiler.program import Program
from playgrad.devices.machines import full_name

AUTO = "auto"
"""Requests automatic placement with default options."""
Shapes = Mapping[str, tuple[int, ...]]
"""The shapes of fed values, by feed name."""


@dataclass(frozen=True)
class Automatic:
    """Requests automatic placement: a planner chooses the devices by measured costs.

    Args:
        devices: names of the devices to use; None for all devices of the session's kind.
        memory: bytes available on a device, by device name; unlimited for devices not listed.
    """

    devices: tuple[str, ...] | None = None
    memory: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class PlannedPlacement:
    """A planner's decision for one program; nodes are identified by name.

    Attributes:
        default: the device of all other nodes.
        devices: the device of each node.
        reasons: explains each entry of ``devices``.
        conclusion: the comparison with a single device, in words.
    """

    default: str
    devices: Mapping[str, str]
    reasons: Mapping[str, str]
    conclusion: str = ""

    def policy(self, base: Policy) -> Policy:
        """Return ``base`` with the planned devices in place of its own choice."""
        return replace(
            base,
            default=self.default,
            chosen=lambda node: self.devices.get(node.name),
            reason=lambda node: self.reasons[node.name],
            default_reason=f"all on one device: {full_name(self.default)}",
        )


class PlacementSummary(Protocol):
    """The device of each operation of a program, and why; ``str()`` gives it as text."""

    @property
    def headline(self) -> str:
        """The predicted time of a run, in one sentence."""

    def as_dict(self) -> dict[str, Any]:
        """Return plain data: headline, seconds, bytes, and rows of nodes with device and reason."""


class Planner(Protocol):
    """Divides programs among devices by measured costs, and explains placements."""

    def plan(
        self, program: Program, shapes: Shapes, policy: Policy, request: Automatic
    ) -> PlannedPlacement:
        """Choose a device for each node of ``program``.

        Args:
            policy: what the user has decided; the plan respects it.

        Raises:
            DeviceError: a requested device does not exist.
            UnsupportedOpError: a requested device cannot run the operation.
            OutOfMemoryError: the variables do not fit.
        """

    def summarize(
        self, program: Program, shapes: Shapes, policy: Policy, conclusion: str | None
    ) -> PlacementSummary:
        """Explain the placement of ``program`` under ``policy``."""


_planners: list[Planner] = []


def register_planner(planner: Planner) -> None:
    """Make ``planner`` the one that sessions use."""
    _planners[:] = [planner]


def registered_planner() -> Planner:
    """Return the planner that sessions use."""
    return _planners[0]
