"""The devices of a session's operations and variables."""

from __future__ import annotations

from dataclasses import replace

from playgrad.compiler.place import Placement, Policy, home_of
from playgrad.compiler.planner import (
    AUTO,
    Automatic,
    PlacementSummary,
    PlannedPlacement,
    Shapes,
    registered_planner,
)
from playgrad.compiler.program import Key, Program
from playgrad.devices import registry as devices
from playgrad.devices.kinds import KINDS
from playgrad.errors import GraphError
from playgrad.graph.graph import Graph
from playgrad.graph.tensor import Node
from playgrad.graph.traversal import ancestors
from playgrad.ops.state import is_variable

PlacementRequest = Placement | Automatic | str | None
"""A function of the node, "auto", `Automatic` with options, or None for the session's device."""
MAX_PLANNED = 64
"""Programs whose automatic placement a session remembers. A program that is planned again keeps
its variables where they are."""


class SessionPlacement:
    """Decides the devices of a session's operations and variables.

    Args:
        device: the device of operations that nothing else decides.
        request: decides for operations without a device scope.
        soft: ignore a request that cannot be met, instead of raising an error.
        in_segments: as in `Policy`.

    Raises:
        GraphError: ``request`` is not a placement.
    """

    def __init__(
        self, device: str, request: PlacementRequest, soft: bool, in_segments: bool = False
    ) -> None:
        self.device = device
        self.soft = soft
        self._in_segments = in_segments
        self.request: Placement | Automatic | None = None
        self._planned: dict[Key, PlannedPlacement] = {}
        self._homes: dict[tuple[Graph, str], str] = {}
        self.change(request)

    def change(self, request: PlacementRequest) -> bool:
        """Follow ``request`` from now on; return whether it differs from the one before."""
        if isinstance(request, str):
            if request != AUTO:
                raise GraphError(
                    f"{request!r} is not a placement.", hint="Use 'auto', a function, or None."
                )
            request = Automatic()
        if request == self.request:
            return False
        self.request = request
        self._planned.clear()
        self._homes.clear()
        return True

    def move_to(self, device: str) -> None:
        """Change the device of operations that nothing else decides."""
        self.device = device
        self._planned.clear()
        self._homes.clear()

    def policy(self) -> Policy:
        """Return the policy for nodes of any graph; an automatic one has each node's latest plan,
        by name."""
        if not isinstance(self.request, Automatic):
            return self._policy(self.request)
        latest: dict[str, str] = {}
        default = self.device
        for planned in self._planned.values():
            latest.update(planned.devices)
            default = planned.default
        return replace(self._policy(lambda node: latest.get(node.name)), default=default)

    def home(self, node: Node) -> str:
        """Return the device on which the variable ``node`` lives."""
        return _home(node, self._base(node.graph))

    def policy_for(self, program: Program, shapes: Shapes) -> Policy:
        """Return the policy for ``program``.

        An automatic placement plans a new program here, which takes up to two seconds for
        operations that were never measured before.

        Raises:
            DeviceError, UnsupportedOpError, OutOfMemoryError: the request cannot be met.
        """
        base = self._base(program.graph)
        if not isinstance(self.request, Automatic):
            return base
        return self._plan(program, shapes, base, self.request).policy(base)

    def summary(self, program: Program, shapes: Shapes) -> PlacementSummary:
        """Explain where the nodes of ``program`` run."""
        policy = self.policy_for(program, shapes)
        planned = self._planned.get(program.key(shapes))
        conclusion = None if planned is None else planned.conclusion
        return registered_planner().summarize(program, shapes, policy, conclusion)

    def _plan(
        self, program: Program, shapes: Shapes, base: Policy, request: Automatic
    ) -> PlannedPlacement:
        key = program.key(shapes)
        if key not in self._planned:
            planned = registered_planner().plan(program, shapes, base, request)
            self._planned[key] = planned
            policy = planned.policy(base)
            for node in ancestors(program.roots):
                if is_variable(node):
                    self._homes[node.graph, node.name] = _home(node, policy)
            if len(self._planned) > MAX_PLANNED:
                del self._planned[next(iter(self._planned))]
        return self._planned[key]

    def _base(self, graph: Graph) -> Policy:
        """Return what is decided before a program of ``graph`` is planned: a variable stays where
        the first program that used it put it."""
        if not isinstance(self.request, Automatic):
            return self._policy(self.request)
        return self._policy(lambda node: self._homes.get((graph, node.name)))

    def _policy(self, chosen: Placement | None) -> Policy:
        kinds = (kind for kind in KINDS.values() if kind.on_cores)
        processors = (name for kind in kinds for name in devices.names_of(kind))
        apart = frozenset(filter(devices.runs_plans, processors))
        return Policy(
            self.device,
            devices.NameableDevices(),
            chosen or (lambda node: None),
            self.soft,
            apart,
            self._in_segments,
            # Members of a run must agree on the nodes that each of them computes.
            target=(lambda device: None) if self._in_segments else devices.target_of,
        )


def _home(node: Node, policy: Policy) -> str:
    return policy.requested_device(node) or home_of(node, policy.default)
