"""Compiles a program: runs the passes, and cuts the result into segments."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Any

from playgrad.compiler.cache import CompileCache
from playgrad.compiler.fold import fold
from playgrad.compiler.fuse import fuse
from playgrad.compiler.guard import guard
from playgrad.compiler.join_rows import join_rows
from playgrad.compiler.mixed import mixed
from playgrad.compiler.order import order_writes
from playgrad.compiler.place import Policy, place
from playgrad.compiler.plan import PlanBuilder
from playgrad.compiler.portable_ops import ops_to_json
from playgrad.compiler.program import Pass, Program
from playgrad.compiler.prune import prune
from playgrad.compiler.roll import roll
from playgrad.compiler.segments import Segment, cut_segments
from playgrad.compiler.share import share
from playgrad.compiler.sort_once import sort_once
from playgrad.compiler.specialise import specialise
from playgrad.compiler.split import TensorChannel, channels_of, split
from playgrad.compiler.steps import VariablePlaces
from playgrad.compiler.steps_data import steps_of
from playgrad.devices.kinds import HOST, kind_of
from playgrad.graph.tensor import Node
from playgrad.graph.verify import verify
from playgrad.ops.core.kernel import Target


@dataclass
class Compiled:
    """A program after all passes.

    Attributes:
        order: its nodes in the order of execution.
        segments: the work of each device.
        channels: what the devices send each other.
    """

    program: Program
    order: list[Node]
    segments: dict[str, list[Segment]]
    channels: list[TensorChannel]
    _plans: dict[Hashable, dict[str, Any]] = field(default_factory=dict, repr=False)

    def part(self, owns: Callable[[str], bool]) -> Compiled:
        """Return the part of the work that is done on the devices that ``owns`` is true of."""
        order = [node for node in self.order if owns(node.device or HOST)]
        if len(order) == len(self.order):
            return self
        segments = {device: each for device, each in self.segments.items() if owns(device)}
        return replace(self, order=order, segments=segments, _plans={})

    def plan(self, device: str, target: Target, variables: VariablePlaces) -> dict[str, Any]:
        """Return the Plan of ``device``, a GPU; built once for each target and ``variables``."""
        key = (device, target, tuple(sorted(variables.items(), key=itemgetter(0))))
        if key not in self._plans:
            builder = PlanBuilder(self.segments[device], self.program.fetches, target, variables)
            self._plans[key] = builder.build()
        return self._plans[key]

    def steps(self, device: str, variables: VariablePlaces) -> dict[str, Any]:
        """Return the Steps of ``device``, a processor in another interpreter.

        Returns:
            Steps (compiler/steps_data.py), with the operations that the user's program defines
            (compiler/portable_ops.py) as ``operations``, and as ``sources`` the lines of the
            program that made the nodes, by name, for errors.
        """
        segments = self.segments[device]
        nodes = [node for segment in segments for node in segment.nodes]
        return {
            **steps_of(segments, self.program.fetches, variables, kind_of(device)),
            "operations": ops_to_json(nodes, device),
            "sources": {node.name: list(node.source) for node in nodes if node.source},
        }


_cache: CompileCache[Compiled] = CompileCache()


def compile_program(
    program: Program,
    shapes: Mapping[str, tuple[int, ...]],
    policy: Policy,
) -> Compiled:
    """Run and verify all passes, or return the cached result for an equal program.

    Args:
        shapes: shape of each value that will be fed, by feed name.
        policy: decides the device of each operation.
    """
    key = _cache.key(program, shapes, policy)
    compiled = _cache.get(key)
    if compiled is None:
        compiled = run_passes(program, shapes, policy)
        _cache.put(key, program, compiled)
    return compiled


def run_passes(program: Program, shapes: Mapping[str, tuple[int, ...]], policy: Policy) -> Compiled:
    """Run and verify all passes, without a cache."""
    program = _passed(program, _all_passes(shapes, policy))
    order = _with_effect(program.order())
    segments = cut_segments(order, policy.apart, policy.in_segments)
    return Compiled(program, order, segments, channels_of(order))


@dataclass(frozen=True)
class PassReport:
    """A pass, and the number of nodes that the results needed before it and after it."""

    name: str
    before: int
    after: int


def pass_reports(
    program: Program, shapes: Mapping[str, tuple[int, ...]], policy: Policy
) -> list[PassReport]:
    """Run all passes again, and count the nodes between them. The first count is of the graph."""
    reports = []
    count = len(program.graph.nodes)
    for name, run in _all_passes(shapes, policy):
        program = run(program)
        before, count = count, len(program.order())
        reports.append(PassReport(name, before, count))
    return reports


def placeable(program: Program, shapes: Mapping[str, tuple[int, ...]]) -> Program:
    """Return ``program`` as the pass ``place`` gets it: pruned, with all shapes known."""
    return _passed(program, _before_place(shapes))


def _all_passes(shapes: Mapping[str, tuple[int, ...]], policy: Policy) -> list[tuple[str, Pass]]:
    return [
        *_before_place(shapes),
        ("place", lambda p: place(p, policy)),
        ("mixed", mixed),
        ("guard", guard),
        ("sort_once", sort_once),
        ("roll", lambda p: roll(p, policy.target)),
        ("split", split),
        ("fuse", fuse),
        ("join_rows", lambda p: join_rows(p, policy.target)),
        ("order", order_writes),
    ]


def _before_place(shapes: Mapping[str, tuple[int, ...]]) -> list[tuple[str, Pass]]:
    return [
        ("prune", prune),
        ("specialise", lambda p: specialise(p, shapes)),
        ("fold", fold),
        ("share", share),
    ]


def _passed(program: Program, passes: Sequence[tuple[str, Pass]]) -> Program:
    # A node's outputs are inferred when it is added to a graph.
    checked = {node.name: node for node in program.graph.nodes}
    for name, run in passes:
        before, program = program, run(program)
        if program is not before:
            verify(program.graph, name, checked)
    return program


def _with_effect(order: list[Node]) -> list[Node]:
    """Return ``order`` without groups that nothing waits for: their inputs run anyway."""
    awaited: set[Node] = set()
    needed = []
    for node in reversed(order):
        if node.op.name != "no_op" or node in awaited:
            needed.append(node)
            awaited.update(node.predecessors)
    return needed[::-1]
