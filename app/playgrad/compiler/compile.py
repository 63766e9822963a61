"""Runs the passes over a program, and cuts the result into tasks for the executor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from playgrad.compiler.fold import fold
from playgrad.compiler.fuse import fuse
from playgrad.compiler.order import order_writes
from playgrad.compiler.place import Policy, place
from playgrad.compiler.program import Program
from playgrad.compiler.prune import prune
from playgrad.compiler.segments import Segment, cut_segments
from playgrad.compiler.share import share
from playgrad.compiler.specialise import specialise
from playgrad.compiler.split import split
from playgrad.graph.tensor import Node, Tensor
from playgrad.graph.verify import Checked, verify


@dataclass
class Compiled:
    """A program after all passes, and the devices' work by device, cut into segments."""

    program: Program
    order: list[Node]
    segments: dict[str, list[Segment]]

    def on_device(self, device: str) -> list[Tensor]:
        """Tensors on ``device`` that leave it: fetched, or sent to another device."""
        wanted = [t for t in self.program.fetches if t.node.device == device]
        wanted += [
            node.inputs[0]
            for node in self.order
            if node.op.name == "send" and node.device == device
        ]
        return list(dict.fromkeys(wanted))


def compile_program(
    program: Program,
    shapes: Mapping[str, tuple[int, ...]],
    policy: Policy,
) -> Compiled:
    """All passes, each verified.

    Args:
        shapes: shape of each value that will be fed, by feed name.
        policy: where operations go.
    """
    passes = [
        ("prune", prune),
        ("specialise", lambda p: specialise(p, shapes)),
        ("fold", fold),
        ("share", share),
        ("place", lambda p: place(p, policy)),
        ("split", split),
        ("fuse", fuse),
        ("order", order_writes),
    ]
    checked: Checked = {}
    for name, run in passes:
        program = run(program)
        verify(program.graph, name, checked)
    order = _with_effect(program.order())
    return Compiled(program, order, cut_segments(order))


def _with_effect(order: list[Node]) -> list[Node]:
    """``order`` without groups that nothing waits for: what they stand for runs anyhow."""
    awaited: set[Node] = set()
    kept = []
    for node in reversed(order):
        if node.op.name != "no_op" or node in awaited:
            kept.append(node)
            awaited.update(node.predecessors)
    return kept[::-1]
