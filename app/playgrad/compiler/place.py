"""Decides on which device each operation runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from playgrad.compiler.program import Program, Rewriter
from playgrad.dtypes import dtype
from playgrad.errors import DeviceError, GraphError, PlaygradError, UnsupportedOpError
from playgrad.graph.tensor import Node
from playgrad.ops.state import is_variable

HOST = "cpu:0"
Placement = Callable[[Node], "str | None"]
"""Where a node without a device scope is to go; None for where it would go anyhow."""
AUTO = "auto"
"""Wish for a placement by a cost model, as it comes."""
_NAME = re.compile(r"(cpu|gpu)(?::(\d+))?")
_HELD_ANYWHERE = {"placeholder", "variable", "constant", "read_variable", "no_op"}


def canonical(name: str) -> str:
    """``gpu`` as ``gpu:0``.

    Raises:
        DeviceError: not the name of a device.
    """
    match = _NAME.fullmatch(name)
    if match is None:
        raise DeviceError(f"{name!r} is not a device.", hint="Write cpu, gpu, cpu:0 or gpu:0.")
    return f"{match[1]}:{match[2] or 0}"


@dataclass(frozen=True)
class Automatic:
    """Wish for a placement by a cost model, in the place of a function.

    Args:
        devices: names of those that may be used; None for all of the kind that the session has.
        memory: bytes that a device has room for, by its name, where that is known.
    """

    devices: tuple[str, ...] | None = None
    memory: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Decision:
    """Where a node runs, and why, in words."""

    device: str
    reason: str


@dataclass(frozen=True)
class PlannedStart:
    """When a node is to begin, in seconds, and in which task of its device."""

    start: float
    task: str


@dataclass(frozen=True)
class Policy:
    """How a session places operations.

    Attributes:
        default: where they go when nothing else says where.
        available: the names of the devices that exist.
        chosen: asked for each operation without a device scope.
        soft: whether an impossible wish is passed over, instead of an error.
        apart: processors that have interpreters of their own.
        why: the reason for what ``chosen`` answers.
        why_default: the reason for what goes to the default device.
        slot: asked for the time and the task of each operation that has no task; None leaves both
            to the compiler.
    """

    default: str
    available: Sequence[str]
    chosen: Placement = lambda node: None
    soft: bool = False
    apart: frozenset[str] = frozenset()
    why: Callable[[Node], str] = lambda node: "chosen by the placement function"
    why_default: str = "the session's device"
    slot: Callable[[Node], PlannedStart | None] = lambda node: None

    def wish(self, node: Node) -> str | None:
        """The device that the user or a strategy wants for ``node``, if any.

        Raises:
            DeviceError: it does not exist.
            UnsupportedOpError: it cannot run the operation.
        """
        decision = self.wished(node)
        return None if decision is None else decision.device

    def wished(self, node: Node) -> Decision | None:
        """The same with the reason."""
        for wanted in (node.device, self.chosen(node)):
            if wanted is None:
                continue
            device = canonical(wanted)
            problem = self._problem(node, device)
            if problem is None:
                scoped = wanted is node.device
                return Decision(device, "asked for by device scope" if scoped else self.why(node))
            if not self.soft:
                raise problem
        return None

    def fallback(self, node: Node) -> Decision:
        """Where ``node`` goes without a wish, or one that is passed over."""
        device = home_of(node, self.default)
        wanted = [canonical(name) for name in (node.device, self.chosen(node)) if name is not None]
        if wanted:
            return Decision(device, f"soft: {self._obstacle(node, wanted[0])}")
        if device != self.default:
            return Decision(device, f"only the cpu can run it: {unsupported(node, self.default)}")
        return Decision(device, self.why_default)

    def _obstacle(self, node: Node, device: str) -> str:
        if device not in self.available:
            return f"{device} does not exist"
        return f"{device} cannot run it: {unsupported(node, device)}"

    def _problem(self, node: Node, device: str) -> PlaygradError | None:
        if device not in self.available:
            return DeviceError(
                f"'{node.name}' is placed on {device}, which does not exist here.",
                op=node.name,
                source=node.source,
                hint=f"There are: {', '.join(self.available)}.",
            )
        reason = unsupported(node, device)
        if reason is None:
            return None
        return UnsupportedOpError(
            f"the operation {node.op.name!r} cannot run on {device}: {reason}.",
            op=node.name,
            source=node.source,
            hint="Place it on cpu:0.",
        )


def place(program: Program, policy: Policy) -> Program:
    """Give every node its device, as `decide` has it, and its slot, where ``policy`` has one."""
    decisions = decide(program, policy)
    slots = {node: slot for node in decisions if (slot := policy.slot(node)) is not None}
    rewriter = Rewriter(program)
    # What is made first comes first where the order is free.
    for node in sorted(decisions, key=lambda node: slots[node].start if node in slots else -1.0):
        task = node.task or (slots[node].task if node in slots else None)
        rewriter.copy(node, device=decisions[node].device, task=task)
    return rewriter.finish()


def decide(program: Program, policy: Policy) -> dict[Node, Decision]:
    """Where each node of ``program`` runs, in its order.

    A node under a device scope goes there, else where ``policy`` has it. Others go to its default
    device if that can run them, else to the cpu. What writes a variable runs where the variable is;
    constants and placeholders without a wish are put where they are first used.

    Raises:
        DeviceError: a device is wished for that does not exist.
        UnsupportedOpError: a device is wished for that cannot run the operation.
    """
    decisions: dict[Node, Decision] = {}
    wishes: set[Node] = set()
    order = program.order()
    for node in order:
        wish = policy.wished(node)
        if wish is not None:
            wishes.add(node)
        decisions[node] = wish or policy.fallback(node)
    by_name = {node.name: node for node in order if is_variable(node)}
    for node in order:
        for name in variables_of(node):
            if name not in by_name:
                continue
            home, device = decisions[by_name[name]].device, decisions[node].device
            if node in wishes and device != home and not policy.soft:
                raise GraphError(
                    f"'{node.name}' is placed on {device}, but the variable {name!r} that "
                    f"it uses in place is on {home}.",
                    op=node.name,
                    source=node.source,
                    hint="Put both in the same device scope.",
                )
            if node not in wishes or device != home:
                decisions[node] = Decision(home, f"with the variable {name}")
    _follow_first_use(program, order, decisions, wishes)
    return decisions


def home_of(node: Node, default: str) -> str:
    """Where ``node`` goes when nobody wishes anything: ``default``, or the cpu if it must."""
    return default if unsupported(node, default) is None else HOST


def unsupported(node: Node, device: str) -> str | None:
    """Why ``device`` cannot run ``node``, or None if it can."""
    if device.startswith("cpu"):
        return None
    for tensor in (*node.inputs, *node.outputs):
        if dtype(tensor.dtype).storage is None:
            return f"no GPU has {tensor.dtype} values"
    if node.op.lower is None and not node.op.alias and node.op.name not in _HELD_ANYWHERE:
        return "it has no GPU kernel"
    return None


def variables_of(node: Node) -> list[str]:
    """The variables that ``node`` uses in place, so that it has to be where they are."""
    names = list(node.attrs["variables"]) if node.op.writes else []
    return [*names, node.attrs["variable"]] if node.op.name == "read_variable" else names


def _follow_first_use(
    program: Program, order: list[Node], decisions: dict[Node, Decision], wishes: set[Node]
) -> None:
    consumers = program.consumers()
    for node in order:
        if node.op.name in ("constant", "placeholder") and node not in wishes:
            users = [user for user in consumers.get(node.outputs[0], []) if user in decisions]
            if users and unsupported(node, decisions[users[0]].device) is None:
                reason = f"where '{users[0].name}' uses it first"
                decisions[node] = Decision(decisions[users[0]].device, reason)
