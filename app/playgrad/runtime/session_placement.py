"""Where a session's operations and variables go, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from playgrad.compiler.place import (
    AUTO,
    HOST,
    Automatic,
    Placement,
    Policy,
    canonical,
    home_of,
)
from playgrad.compiler.program import Key, Program
from playgrad.devices import registry as devices
from playgrad.errors import DeviceError, GraphError
from playgrad.graph.graph import Graph
from playgrad.graph.tensor import Node
from playgrad.graph.traversal import ancestors
from playgrad.ops.state import is_variable

if TYPE_CHECKING:
    from playgrad.parallel.placement.automatic import Planned
    from playgrad.parallel.placement.predict import CostModel
    from playgrad.parallel.placement.summary import PlacementSummary

Wish = Placement | Automatic | str | None
"""A function, "auto" or how to do that, or None for nowhere in particular."""
MOST_PLANNED = 64
"""Programs whose automatic placement is remembered. One that is planned again finds its variables
where they were."""
Shapes = Mapping[str, tuple[int, ...]]


def default_device(wish: str) -> str:
    """The device that "cpu", "gpu", "gpu:1" or "auto" means here; "auto" is a GPU if there is one.

    Raises:
        DeviceError: there is no such device.
    """
    available = devices.device_names()
    if wish == "auto":
        return "gpu:0" if "gpu:0" in available else HOST
    name = canonical(wish)
    if name not in available:
        raise DeviceError(f"there is no {name} here.", hint=f"There are: {', '.join(available)}.")
    return name


class Placing:
    """What decides on the devices of a session's operations.

    Args:
        device: where operations go when nothing else says where.
        wish: what is asked for those without a device scope.
        soft: whether an impossible wish is passed over, instead of an error.

    Raises:
        GraphError: ``wish`` is none.
    """

    def __init__(self, device: str, wish: Wish, soft: bool) -> None:
        self.device = device
        self.soft = soft
        self.wish: Placement | Automatic | None = None
        self._planned: dict[Key, Planned] = {}
        self._homes: dict[tuple[Graph, str], str] = {}
        self.change(wish)

    def change(self, wish: Wish) -> bool:
        """Ask ``wish`` from now on; whether that is another one."""
        if isinstance(wish, str):
            if wish != AUTO:
                raise GraphError(
                    f"{wish!r} is not a placement.", hint="Give 'auto', a function, or None."
                )
            wish = Automatic()
        if wish == self.wish:
            return False
        self.wish = wish
        self._planned.clear()
        self._homes.clear()
        return True

    def policy(self) -> Policy:
        """For nodes of any graph; an automatic placement has what was planned last by each name."""
        if not isinstance(self.wish, Automatic):
            return self._policy(self.wish)
        latest: dict[str, str] = {}
        default = self.device
        for planned in self._planned.values():
            latest.update(planned.devices)
            default = planned.default
        return replace(self._policy(lambda node: latest.get(node.name)), default=default)

    def home(self, node: Node) -> str:
        """The device on which a variable lives."""
        policy = self._decided(node.graph)
        return policy.wish(node) or home_of(node, policy.default)

    def policy_for(self, program: Program, shapes: Shapes) -> Policy:
        """For ``program``. An automatic placement is made here, where it is new: it takes up to two
        seconds for what was never measured before.

        Raises:
            DeviceError, UnsupportedOpError, OutOfMemoryError: it cannot be placed as wished.
        """
        base = self._decided(program.graph)
        if not isinstance(self.wish, Automatic):
            return base
        planned = self._plan(program, shapes, base, self.wish)
        return planned.policy(base)

    def summary(self, program: Program, shapes: Shapes) -> PlacementSummary:
        """Where the nodes of ``program`` go, and why."""
        from playgrad.parallel.placement.summary import summarize

        policy = self.policy_for(program, shapes)
        planned = self._planned.get(program.key(shapes))
        conclusion = None if planned is None else planned.conclusion
        return summarize(program, shapes, policy, conclusion, _costs())

    def _plan(self, program: Program, shapes: Shapes, base: Policy, wish: Automatic) -> Planned:
        # It measures with sessions of its own.
        from playgrad.parallel.placement.automatic import plan

        key = program.key(shapes)
        if key not in self._planned:
            planned = self._planned[key] = plan(program, shapes, base, wish, _costs())
            policy = planned.policy(base)
            for node in ancestors(program.roots):
                if is_variable(node):
                    home = policy.wish(node) or home_of(node, policy.default)
                    self._homes[node.graph, node.name] = home
            if len(self._planned) > MOST_PLANNED:
                del self._planned[next(iter(self._planned))]
        return self._planned[key]

    def _decided(self, graph: Graph) -> Policy:
        """What is certain before a program of ``graph`` is planned: a variable stays where it was
        put for the program that used it first."""
        if not isinstance(self.wish, Automatic):
            return self._policy(self.wish)
        return self._policy(lambda node: self._homes.get((graph, node.name)))

    def _policy(self, chosen: Placement | None) -> Policy:
        available = devices.device_names()
        apart = frozenset(n for n in available if n.startswith("cpu") and devices.is_apart(n))
        return Policy(self.device, available, chosen or (lambda node: None), self.soft, apart)


@cache
def _costs() -> CostModel:
    """What was measured in this process."""
    from playgrad.parallel.placement.predict import CostModel

    return CostModel()
