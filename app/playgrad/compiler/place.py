"""Decides on which device each operation runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from playgrad.compiler.program import Program, Rewriter
from playgrad.dtypes import dtype
from playgrad.errors import DeviceError, GraphError, PlaygradError, UnsupportedOpError
from playgrad.graph.tensor import Node
from playgrad.ops.state import is_variable

HOST = "cpu:0"
Placement = Callable[[Node], "str | None"]
"""Where a node without a device scope is to go; None for where it would go anyhow."""
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
class Policy:
    """How a session places operations.

    Attributes:
        default: where they go when nothing else says where.
        available: the names of the devices that exist.
        chosen: asked for each operation without a device scope.
        soft: whether an impossible wish is passed over, instead of an error.
        apart: processors that have interpreters of their own.
    """

    default: str
    available: Sequence[str]
    chosen: Placement = lambda node: None
    soft: bool = False
    apart: frozenset[str] = frozenset()

    def wish(self, node: Node) -> str | None:
        """The device that the user or a strategy wants for ``node``, if any.

        Raises:
            DeviceError: it does not exist.
            UnsupportedOpError: it cannot run the operation.
        """
        wanted = node.device or self.chosen(node)
        if wanted is None:
            return None
        problem = self._problem(node, canonical(wanted))
        if problem is None:
            return canonical(wanted)
        if self.soft:
            return None
        raise problem

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
    """Give every node a device.

    A node under a device scope goes there, else where ``policy`` has it. Others go to its default
    device if that can run them, else to the cpu. What writes a variable runs where the variable is;
    constants and placeholders without a wish are put where they are first used.

    Raises:
        DeviceError: a device is wished for that does not exist.
        UnsupportedOpError: a device is wished for that cannot run the operation.
    """
    devices: dict[Node, str] = {}
    wishes: dict[Node, str] = {}
    order = program.order()
    for node in order:
        wish = policy.wish(node)
        if wish is not None:
            wishes[node] = wish
        devices[node] = wish or home_of(node, policy.default)
    by_name = {node.name: node for node in order if is_variable(node)}
    for node in order:
        for name in _variables_of(node):
            if name not in by_name:
                continue
            home = devices[by_name[name]]
            if node in wishes and devices[node] != home and not policy.soft:
                raise GraphError(
                    f"'{node.name}' is placed on {devices[node]}, but the variable {name!r} that "
                    f"it uses in place is on {home}.",
                    op=node.name,
                    source=node.source,
                    hint="Put both in the same device scope.",
                )
            devices[node] = home
    _follow_first_use(program, order, devices, wishes)
    rewriter = Rewriter(program)
    for node in order:
        rewriter.copy(node, device=devices[node])
    return rewriter.finish()


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


def _variables_of(node: Node) -> list[str]:
    names = list(node.attrs["variables"]) if node.op.writes else []
    return [*names, node.attrs["variable"]] if node.op.name == "read_variable" else names


def _follow_first_use(
    program: Program, order: list[Node], devices: dict[Node, str], wishes: dict[Node, str]
) -> None:
    consumers = program.consumers()
    for node in order:
        if node.op.name in ("constant", "placeholder") and node not in wishes:
            users = [user for user in consumers.get(node.outputs[0], []) if user in devices]
            if users and unsupported(node, devices[users[0]]) is None:
                devices[node] = devices[users[0]]
