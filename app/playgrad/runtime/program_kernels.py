"""Errors in kernels of the user's program, with the line of the program's WGSL."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from playgrad.devices.base import Plan
from playgrad.errors import KernelError
from playgrad.graph.tensor import Node
from playgrad.ops.custom.custom_kernel import BEGIN, FAMILY
from playgrad.ops.custom.user_function import line_of_text

_LINE = re.compile(r"(?:wgsl)?:(\d+):\d+")
"""The place of an error, as naga (wgpu) and Tint (Chrome) write it."""


@contextmanager
def attributed_to_program(nodes: Sequence[Node], plan: Plan) -> Iterator[None]:
    """Add the operation and its line to a KernelError within the block, if it is about the WGSL of
    an operation of the user's program."""
    try:
        yield
    except KernelError as error:
        for node in nodes:
            if node.op.source is not None and _names(error.message, node.op.name):
                raise _attributed(error, node, plan) from error
        raise


def _names(message: str, op: str) -> bool:
    return re.search(rf"\b{FAMILY}{re.escape(op)}(?!\w)", message) is not None


def _attributed(error: KernelError, node: Node, plan: Plan) -> KernelError:
    line = _line_of_wgsl(error.message, f"{FAMILY}{node.op.name}", plan)
    begin = line_of_text(node.op.wgsl or "", node.op.source)
    source = node.op.source if begin is None else (begin[0], begin[1] + (line or 1) - 1)
    place = "" if line is None else f" at its line {line}"
    return KernelError(
        f"the WGSL of {node.op.name!r} does not compile{place}: {error.message}",
        op=node.name,
        source=source,
        hint="Correct the text passed as wgsl= to register_op().",
    )


def _line_of_wgsl(message: str, family: str, plan: Plan) -> int | None:
    """Return the line of the program's WGSL, from 1, that ``message`` is about; None if unknown."""
    match = _LINE.search(message)
    texts = [kernel["wgsl"] for kernel in plan["kernels"] if kernel["family"] == family]
    if match is None or not texts:
        return None
    line = int(match[1]) - texts[0].partition(BEGIN)[0].count("\n") - 1
    return line if line > 0 else None
