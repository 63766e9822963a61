"""Decides on which device each operation runs."""

from __future__ import annotations

import re
from collections.abc import Sequence

from playgrad.compiler.program import Program, Rewriter
from playgrad.dtypes import dtype
from playgrad.errors import DeviceError, GraphError, UnsupportedOpError
from playgrad.graph.tensor import Node
from playgrad.ops.state import is_variable

HOST = "cpu:0"
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


def place(program: Program, default: str, available: Sequence[str]) -> Program:
    """Give every node a device.

    A node under a device scope goes there. Others go to ``default`` if it can run them, else to the
    cpu. What writes a variable runs where the variable is; constants and placeholders without a
    scope are put where they are first used.

    Raises:
        DeviceError: a scope names a device that does not exist.
        UnsupportedOpError: a scope asks for a device that cannot run the operation.
    """
    devices: dict[Node, str] = {}
    order = program.order()
    for node in order:
        if node.device is not None:
            devices[node] = _explicit(node, available)
        else:
            devices[node] = default if unsupported(node, default) is None else HOST
    by_name = {node.name: node for node in order if is_variable(node)}
    for node in order:
        for name in _variables_of(node):
            if name not in by_name:
                continue
            home = devices[by_name[name]]
            if node.device is not None and devices[node] != home:
                raise GraphError(
                    f"'{node.name}' is placed on {devices[node]}, but the variable {name!r} that "
                    f"it uses in place is on {home}.",
                    op=node.name,
                    source=node.source,
                    hint="Put both in the same device scope.",
                )
            devices[node] = home
    _follow_first_use(program, order, devices)
    rewriter = Rewriter(program)
    for node in order:
        rewriter.copy(node, device=devices[node])
    return rewriter.finish()


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


def _explicit(node: Node, available: Sequence[str]) -> str:
    assert node.device is not None
    device = canonical(node.device)
    if device not in available:
        raise DeviceError(
            f"'{node.name}' is placed on {device}, which does not exist here.",
            op=node.name,
            source=node.source,
            hint=f"There are: {', '.join(available)}.",
        )
    reason = unsupported(node, device)
    if reason:
        raise UnsupportedOpError(
            f"the operation {node.op.name!r} cannot run on {device}: {reason}.",
            op=node.name,
            source=node.source,
            hint="Place it on cpu:0.",
        )
    return device


def _variables_of(node: Node) -> list[str]:
    names = list(node.attrs["variables"]) if node.op.writes else []
    return [*names, node.attrs["variable"]] if node.op.name == "read_variable" else names


def _follow_first_use(program: Program, order: list[Node], devices: dict[Node, str]) -> None:
    consumers = program.consumers()
    for node in order:
        if node.op.name in ("constant", "placeholder") and node.device is None:
            users = [user for user in consumers.get(node.outputs[0], []) if user in devices]
            if users and unsupported(node, devices[users[0]]) is None:
                devices[node] = devices[users[0]]
