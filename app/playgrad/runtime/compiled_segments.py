"""Segments of processors of this process, compiled where steps are: see `HostProgram`.

A device is compiled if its work writes variables, that is if it trains, from its first run on. The
interpreters of other processors decide alike (`steps_runner.py`), and so do the members of a run,
so that replicas make the same update to the bit.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from operator import is_
from threading import Lock
from typing import Any, NamedTuple, Protocol

import numpy as np

from playgrad.compiler.brief_segments import is_brief
from playgrad.compiler.lifetimes import compiled_bytes
from playgrad.compiler.segments import Segment
from playgrad.compiler.split import TensorChannel
from playgrad.devices.kinds import CPU, kind_of
from playgrad.dtypes import dtype
from playgrad.errors import OutOfMemoryError
from playgrad.graph.tensor import Node, Tensor
from playgrad.runtime.compile_steps import CompiledStep, compile_step
from playgrad.runtime.compiled_run import CompiledRun
from playgrad.runtime.desktop_host import VARIABLE, compiles_for_sessions
from playgrad.runtime.equal_segments import code_key
from playgrad.runtime.layout_of_parts import rows_of
from playgrad.runtime.python_program import PythonProgram
from playgrad.runtime.step_host import SharedBlock, StepHost, new_bytes, step_host

Array = np.ndarray[Any, Any]
MOST = 3 << 30
"""The most bytes of the variables and values of a device that compiles: addresses have 32 bits."""


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


class _Code(NamedTuple):
    """The code of a segment, and of all that are equal to it.

    Attributes:
        nodes: of the segment for which it was written.
        variables: its variables, in the order of `code_key`.
    """

    step: CompiledStep
    nodes: Sequence[Node]
    variables: Sequence[str]
    fetches: Sequence[Tensor]

    def is_for(self, nodes: Sequence[Node]) -> bool:
        """Return whether ``nodes``, which are equal, can have it: Python's nodes are fixed."""
        is_compiled = all(part.compiled for part in self.step.order.parts)
        return is_compiled or all(map(is_, nodes, self.nodes))

    def names(
        self, nodes: Sequence[Node], variables: Sequence[str]
    ) -> tuple[list[Node], dict[str, str]]:
        """Return the nodes of an equal segment in the order of the code, and its variables by the
        names that they have in the code."""
        numbers = {node: number for number, node in enumerate(self.nodes)}
        order = [nodes[numbers[node]] for node in self.step.order.nodes]
        return order, dict(zip(self.variables, variables, strict=True))


class _Rows(NamedTuple):
    """Neighbouring rows of an array that is fed: what a slice returns, without code.

    Micro-batches are slices, each of other rows, and their segments are equal otherwise.
    """

    number: int
    begin: int
    shape: tuple[int, ...]

    def of(self, fed: Sequence[Array]) -> Array:
        """Return the rows."""
        whole = np.ascontiguousarray(fed[self.number])
        return np.ndarray(self.shape, whole.dtype, whole, self.begin)


_Cut = int | _Rows


class CompiledSegment:
    """A compiled segment, whose new values of variables are returned.

    Args:
        run: its code, which may have been written for an equal segment.
        cuts: for each array that the code is fed, its number among those of the segment, and the
            first byte and the shape of the rows of it that are meant, if not all are.
        nodes: its nodes, in the order of the code.
        names: its variables, by the names that they have in the code.
    """

    def __init__(
        self,
        run: CompiledRun,
        cuts: Sequence[_Cut],
        nodes: Sequence[Node],
        names: Mapping[str, str],
    ) -> None:
        self._run, self._cuts, self._nodes, self._names = run, cuts, nodes, names
        self._variables = [names[name] for name in run.variables]

    def run_with(
        self, values: Callable[[str], Array], fed: list[Array], stop: Callable[[], bool]
    ) -> tuple[list[Array], dict[str, Array]]:
        """Run once; see `PythonProgram.run_with`."""
        run = self._run
        variables = [run.reachable(values(name)) for name in self._variables]
        feeds = [fed[cut] if isinstance(cut, int) else cut.of(fed) for cut in self._cuts]
        fed.clear()
        fetched, written = run.run(variables, feeds, stop, nodes=self._nodes)
        return fetched, {self._names[name]: array for name, array in written.items()}


class SegmentCompiler:
    """Keeps the compiled segments of a program, also when its tasks are built again.

    Args:
        segments: of each device.
        fetches: the tensors that a run returns.
        host_of: returns what compiles the segments of a device on the desktop.
        block_of: returns what lends memory of a host for intermediate results.
        can_do_without: whether NumPy may compute if there is no room for compiled code.

    Raises:
        OutOfMemoryError: there is no room for compiled code, but others of the run have some.
    """

    def __init__(
        self,
        segments: Mapping[str, Sequence[Segment]],
        fetches: Collection[Tensor],
        host_of: Callable[[str], StepHost],
        block_of: Callable[[StepHost], SharedBlock],
        can_do_without: bool,
    ) -> None:
        self._block_of = block_of
        self._hosts: dict[str, StepHost] = {}
        self._of_session = step_host() is None
        try:
            for device, row in segments.items():
                common = step_host()
                compiles = trains(row) and (common is not None or compiles_for_sessions())
                if compiles and _fits(row, fetches):
                    self._hosts[device] = common or host_of(device)
        except MemoryError:
            if not can_do_without:
                raise OutOfMemoryError(
                    "there is no room for the 4 GiB of addresses that compiled code takes.",
                    hint=f"Raise the limit (ulimit -v), or set {VARIABLE}=0 for all processes.",
                ) from None
            self._hosts.clear()
        self._codes: dict[Hashable, _Code] = {}
        self._runs: dict[tuple[str, int], CompiledRun] = {}
        self._compiled: dict[tuple[str, int], CompiledSegment] = {}
        self._compiling = Lock()  # threads of devices often need the same code
        self._received = {
            node.attrs["channel"]: host
            for device, host in self._hosts.items()
            for segment in filter(self._is_worthwhile, segments[device])
            for node in segment.nodes
            if node.op.name == "receive"
        }

    def _is_worthwhile(self, segment: Segment) -> bool:
        """Return whether to compile ``segment`` of a device that compiles: in a page everything,
        as the other interpreters do."""
        return not (self._of_session and is_brief(segment))

    def host(self, device: str) -> StepHost | None:
        """Return what compiles the segments of ``device``; None if nothing does."""
        return self._hosts.get(device)

    def new_array(self, channel: TensorChannel) -> Array:
        """Return an array for what a member of a run receives on a channel, where code that reads
        it can.

        Raises:
            OutOfMemoryError: there is no room for it.
        """
        kind, shape = dtype(channel.spec.dtype).numpy, channel.spec.static_shape
        host = self._received.get(channel.name)
        if host is None:
            return np.empty(shape, kind)
        size = max(CPU.bytes_of(channel.spec), 1)
        return np.ndarray(shape, kind, new_bytes(host, size, "a value that is received"))

    def program(
        self,
        segment: Segment,
        nodes: Sequence[Node],
        fetches: Sequence[Tensor],
        feeds: Mapping[str, Tensor],
        heavy: Collection[Node],
    ) -> SegmentProgram:
        """Return what computes ``nodes`` of a segment; the arguments are `PythonProgram`'s."""
        host, key = self._hosts.get(segment.device), (segment.device, segment.index)
        # The other interpreters of a page compile all that they can.
        if host is not None and self._is_worthwhile(segment) and key not in self._compiled:
            rest, fed, cuts = _without_rows(nodes, fetches, list(feeds.values()))
            with self._compiling:
                code = self._code(host, rest, fetches, fed)
                if code is not None:
                    run = self._loaded(host, segment.device, code[0], heavy)
                    self._compiled[key] = CompiledSegment(run, cuts, *code[0].names(rest, code[1]))
        return self._compiled.get(key) or PythonProgram(nodes, fetches, feeds, heavy)

    def _code(
        self,
        host: StepHost,
        nodes: Sequence[Node],
        fetches: Sequence[Tensor],
        fed: Sequence[Tensor],
    ) -> tuple[_Code, list[str]] | None:
        """Return the code of a segment, with the names of its variables; None if it has none."""
        key, variables = code_key(nodes, fetches, fed)
        code = self._codes.get(key)
        if code is None or not code.is_for(nodes):
            options = False, host.relaxed, host.multiplies
            step = compile_step(nodes, fetches, fed, *options, returns=True)
            if step is None:
                return None
            code = self._codes[key] = _Code(step, nodes, variables, fetches)
        return code, variables

    def _loaded(
        self,
        host: StepHost,
        device: str,
        code: _Code,
        heavy: Collection[Node],
    ) -> CompiledRun:
        """Return the code, which each device loads once."""
        place = device, id(code.step)
        if place not in self._runs:
            block = self._block_of(host)
            self._runs[place] = CompiledRun(code.step, host, block, code.fetches, heavy)
        return self._runs[place]


def _without_rows(
    nodes: Sequence[Node], fetches: Sequence[Tensor], fed: Sequence[Tensor]
) -> tuple[list[Node], list[Tensor], list[_Cut]]:
    """Return the nodes without slices of what is fed, as far as these are neighbouring rows; what
    the others are fed; and where that is."""
    numbers = {tensor: number for number, tensor in enumerate(fed)}
    rest: list[Node] = []
    cuts: dict[Tensor, _Cut] = {}
    for node in nodes:
        rows = rows_of(node) if node.inputs and node.inputs[0] in numbers else None
        if rows is None:
            rest.append(node)
        else:
            shape = node.outputs[0].spec.static_shape
            cuts[node.outputs[0]] = _Rows(numbers[node.inputs[0]], rows[0], shape)
    needed = {*fetches, *(tensor for node in rest for tensor in node.inputs)}
    whole: dict[Tensor, _Cut] = {t: number for t, number in numbers.items() if t in needed}
    cuts = whole | cuts
    return rest, list(cuts), list(cuts.values())


def _fits(segments: Sequence[Segment], fetches: Collection[Tensor]) -> bool:
    """Return whether the values of a device fit in the memory of compiled code, by the graph
    alone, so that replicas decide alike: variables twice, as new values are beside the old."""
    used = {t for segment in segments for node in segment.nodes for t in node.inputs}
    inside = {node for segment in segments for node in segment.nodes}
    fed = sum(CPU.bytes_of(tensor.spec) for tensor in used if tensor.node not in inside)
    return 2 * fed + compiled_bytes(segments, fetches) <= MOST
