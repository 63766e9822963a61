"""The placement pass: gives each node of a program its device.

The device scope that a node was created in takes precedence, then the session's placement function
or its planner, then the session's default device.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from playgrad.compiler.program import Program, Rewriter
from playgrad.devices.kinds import HOST, canonical, kind_of
from playgrad.devices.machines import full_name, full_names
from playgrad.devices.target import Target
from playgrad.errors import DeviceError, GraphError, PlaygradError, UnsupportedOpError
from playgrad.graph.tensor import Node
from playgrad.ops.state import is_variable

Placement = Callable[[Node], "str | None"]
"""Returns the device for a node without a device scope; None for the default device."""


@dataclass(frozen=True)
class Decision:
    """The device of a node, and the reason in words."""

    device: str
    reason: str


@dataclass(frozen=True)
class Policy:
    """The rules by which a session places operations.

    Attributes:
        default: the device of operations that nothing else decides.
        available: the names of the devices that exist.
        chosen: returns the device of an operation without a device scope, or None.
        soft: ignore a request that cannot be met, instead of raising an error.
        apart: processors that run in interpreters of their own.
        in_segments: whether the work of every processor is cut into segments, as it must be where
            several processes compute a program.
        reason: explains the answer of ``chosen``.
        default_reason: explains the default device.
        target: returns the properties of a GPU that decide which operations it runs as one kernel;
            None where that must not depend on the adapter.
    """

    default: str
    available: Collection[str]
    chosen: Placement = lambda node: None
    soft: bool = False
    apart: frozenset[str] = frozenset()
    in_segments: bool = False
    reason: Callable[[Node], str] = lambda node: "chosen by the placement function"
    default_reason: str = "the session's device"
    target: Callable[[str], Target | None] = lambda device: None

    def requested_device(self, node: Node) -> str | None:
        """Return the device that the user, a strategy or the planner requests for ``node``, if any.

        Raises:
            DeviceError: the device does not exist.
            UnsupportedOpError: the device cannot run the operation.
        """
        decision = self.requested(node)
        return None if decision is None else decision.device

    def requested(self, node: Node) -> Decision | None:
        """Return the same as `requested_device`, with the reason."""
        for name in (node.device, self.chosen(node)):
            if name is None:
                continue
            device = canonical(name)
            problem = self._problem(node, device)
            if problem is None:
                by_scope = name is node.device
                return Decision(device, "set by device scope" if by_scope else self.reason(node))
            if not self.soft:
                raise problem
        return None

    def fallback(self, node: Node) -> Decision:
        """Return the device of a ``node`` without a request, or whose request is ignored."""
        device = home_of(node, self.default)
        names = [canonical(name) for name in (node.device, self.chosen(node)) if name is not None]
        if names:
            return Decision(device, f"soft: {self._obstacle(node, names[0])}")
        if device != self.default:
            reason = kind_of(self.default).unsupported(node)
            return Decision(device, f"only the cpu can run it: {reason}")
        return Decision(device, self.default_reason)

    def _obstacle(self, node: Node, device: str) -> str:
        if device not in self.available:
            return f"{full_name(device)} does not exist"
        return f"{full_name(device)} cannot run it: {kind_of(device).unsupported(node)}"

    def _problem(self, node: Node, device: str) -> PlaygradError | None:
        if device not in self.available:
            return DeviceError(
                f"'{node.name}' is placed on {full_name(device)}, which does not exist here.",
                op=node.name,
                source=node.source,
                hint=f"Available: {full_names(self.available)}.",
            )
        reason = kind_of(device).unsupported(node)
        if reason is None:
            return None
        return UnsupportedOpError(
            f"the operation {node.op.name!r} cannot run on {full_name(device)}: {reason}.",
            op=node.name,
            source=node.source,
            hint="Place it on cpu:0.",
        )


def place(program: Program, policy: Policy) -> Program:
    """Give every node its device, by `decide`."""
    rewriter = Rewriter(program)
    for node, decision in decide(program, policy).items():
        rewriter.copy(node, device=decision.device)
    return rewriter.finish()


def decide(program: Program, policy: Policy) -> dict[Node, Decision]:
    """Return the device of each node of ``program``, in the program's order.

    A device scope takes precedence over ``policy.chosen``. Other nodes run on the default device,
    or on the cpu where the default device cannot run them. A node that writes a variable runs where
    the variable is; constants and placeholders without a request go to their first user's device.

    Raises:
        DeviceError: a requested device does not exist.
        UnsupportedOpError: a requested device cannot run the operation.
        GraphError: a node is requested on a device other than that of the variable it uses in
            place, or it uses variables of several devices.
    """
    decisions: dict[Node, Decision] = {}
    requested: set[Node] = set()
    order = program.order()
    for node in order:
        request = policy.requested(node)
        if request is not None:
            requested.add(node)
        decisions[node] = request or policy.fallback(node)
    by_name = {node.name: node for node in order if is_variable(node)}
    for node in order:
        names = [name for name in variables_of(node) if name in by_name]
        if not policy.soft:
            _expect_together(node, {name: decisions[by_name[name]].device for name in names})
        for name in names:
            home, device = decisions[by_name[name]].device, decisions[node].device
            if node in requested and device != home and not policy.soft:
                raise GraphError(
                    f"'{node.name}' is placed on {full_name(device)}, but the variable {name!r} "
                    f"that it uses in place is on {full_name(home)}.",
                    op=node.name,
                    source=node.source,
                    hint="Put both in the same device scope.",
                )
            if node not in requested or device != home:
                decisions[node] = Decision(home, f"with the variable {name}")
    _follow_first_use(program, order, decisions, requested)
    return decisions


def home_of(node: Node, default: str) -> str:
    """Return the device of ``node`` without any request: ``default``, or the cpu if necessary."""
    return default if kind_of(default).unsupported(node) is None else HOST


def variables_of(node: Node) -> list[str]:
    """Return the variables that ``node`` uses in place, and so must share a device with."""
    names = list(node.attrs["variables"]) if node.op.writes else []
    return [*names, node.attrs["variable"]] if node.op.name == "read_variable" else names


def _expect_together(node: Node, homes: Mapping[str, str]) -> None:
    """Raise GraphError if the variables that ``node`` uses in place are on several devices.

    Args:
        homes: the device of each of them, by name.
    """
    if len(set(homes.values())) > 1:
        places = ", ".join(f"{name!r} on {full_name(home)}" for name, home in homes.items())
        raise GraphError(
            f"'{node.name}' uses variables of several devices in place: {places}.",
            op=node.name,
            source=node.source,
            hint="Put them in the same device scope.",
        )


def _follow_first_use(
    program: Program, order: list[Node], decisions: dict[Node, Decision], requested: set[Node]
) -> None:
    consumers = program.consumers()
    for node in order:
        if node.op.name in ("constant", "placeholder") and node not in requested:
            users = [user for user in consumers.get(node.outputs[0], []) if user in decisions]
            if users and kind_of(decisions[users[0]].device).unsupported(node) is None:
                reason = f"with its first user '{users[0].name}'"
                decisions[node] = Decision(decisions[users[0]].device, reason)
