"""Segments of a processor in this process, compiled where steps are: see `HostProgram`.

A device is compiled if its work writes variables, that is if it trains, from its first run on. The
interpreters of other processors decide alike (`steps_runner.py`), so that replicas make the same
update to the bit.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from playgrad.compiler.segments import Segment
from playgrad.devices.kinds import kind_of
from playgrad.graph.tensor import Node, Tensor
from playgrad.runtime.compile_steps import compile_step
from playgrad.runtime.compiled_run import CompiledRun
from playgrad.runtime.python_program import PythonProgram
from playgrad.runtime.step_host import SharedBlock, StepHost, step_host

Array = np.ndarray[Any, Any]


def trains(segments: Sequence[Segment]) -> bool:
    """Return whether the segments of a device that compiles write variables."""
    if not all(kind_of(segment.device).compiles for segment in segments):
        return False
    return any(node.op.writes for segment in segments for node in segment.nodes)


class SegmentProgram(Protocol):
    """The computations of a segment."""

    def run_with(
        self, values: Callable[[str], Array], fed: list[Array], stop: Callable[[], bool]
    ) -> tuple[list[Array], dict[str, Array]]:
        """Run once; see `PythonProgram.run_with`."""


class CompiledSegment:
    """A compiled segment, whose new values of variables are returned."""

    def __init__(self, run: CompiledRun) -> None:
        self._run = run

    def run_with(
        self, values: Callable[[str], Array], fed: list[Array], stop: Callable[[], bool]
    ) -> tuple[list[Array], dict[str, Array]]:
        """Run once; see `PythonProgram.run_with`."""
        variables = [self._run.reachable(values(name)) for name in self._run.variables]
        feeds = fed.copy()
        fed.clear()
        return self._run.run(variables, feeds, stop)


class SegmentCompiler:
    """Keeps the compiled segments of a program, also when its tasks are built again.

    Args:
        segments: of each device.
        block_of: returns what lends memory of a host for intermediate results.
    """

    def __init__(
        self,
        segments: Mapping[str, Sequence[Segment]],
        block_of: Callable[[StepHost], SharedBlock] = SharedBlock,
    ) -> None:
        self._host = step_host()
        self._block = None if self._host is None else block_of(self._host)
        self._training = {device for device, row in segments.items() if trains(row)}
        self._compiled: dict[tuple[str, int], CompiledSegment] = {}

    def program(
        self,
        segment: Segment,
        nodes: Sequence[Node],
        fetches: Sequence[Tensor],
        feeds: Mapping[str, Tensor],
        heavy: Collection[Node],
    ) -> SegmentProgram:
        """Return what computes ``nodes`` of a segment; the arguments are `PythonProgram`'s."""
        host, key = self._host, (segment.device, segment.index)
        if key in self._compiled:
            return self._compiled[key]
        if host is not None and self._block is not None and segment.device in self._training:
            fed = list(feeds.values())
            step = compile_step(nodes, fetches, fed, False, host.relaxed, host.multiplies)
            if step is not None:
                run = CompiledRun(step, host, self._block, fetches, heavy)
                return self._compiled.setdefault(key, CompiledSegment(run))
        return PythonProgram(nodes, fetches, feeds, heavy)
