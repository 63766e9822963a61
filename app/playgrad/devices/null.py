"""A device that computes nothing: it checks Plans, holds bytes and keeps books.

It stands for an adapter of any limits, so that what the compiler and the sessions ask of a GPU can
be counted and checked where there is none.
"""

from __future__ import annotations

import base64
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from playgrad.devices.base import (
    AdapterInfo,
    BufferKey,
    ExecuteResult,
    Limits,
    Plan,
    Read,
    Write,
    check_plan,
    round_up,
)
from playgrad.devices.pending import Done
from playgrad.errors import DeviceLostError, KernelError, OutOfMemoryError


@dataclass
class _CheckedProgram:
    """A loaded plan: the host buffer of each of its buffers, and those that belong to it."""

    plan: Plan
    buffers: dict[int, int]
    owned: list[int]


class NullHost:
    """Implements ``playgrad.devices.base.Host`` without kernels: a dispatch changes no byte.

    What is written can be read again, and copies are done; both must lie within their buffers.

    Args:
        limits: those of the adapter it stands for.
        memory: bytes that all buffers together may have; no bound if None.

    Attributes:
        executed: (program, segment, steps done) of every call of ``execute`` that replayed.
        dispatches: kernels dispatched so far, over all replays.
        bytes_written, bytes_read: moved between host and device so far.
    """

    def __init__(
        self, limits: Limits | None = None, memory: int | None = None, is_software: bool = True
    ) -> None:
        self.info = AdapterInfo(
            "null", backend="null", is_software=is_software, limits=limits or Limits()
        )
        self.stop_requested: Callable[[], bool] | None = None
        self.executed: list[tuple[int, int, int]] = []
        self.dispatches = 0
        self.bytes_written = 0
        self.bytes_read = 0
        self._memory = memory
        self._buffers: dict[int, bytearray] = {}
        self._programs: dict[int, _CheckedProgram] = {}
        self._next_id = 1
        self._peak_bytes = 0
        self._destroyed = False

    def create_buffer(self, size: int) -> int:
        self._check_alive()
        size = max(round_up(size, 4), 4)
        if size > self.info.limits.max_buffer_size:
            raise OutOfMemoryError(
                f"a buffer of {size:,} bytes was asked for, but {self.info.name} allows "
                f"{self.info.limits.max_buffer_size:,} in one buffer"
            )
        if self._memory is not None and self._bytes + size > self._memory:
            raise OutOfMemoryError(f"{self.info.name} has no room for a buffer of {size:,} bytes.")
        self._buffers[self._new_id()] = bytearray(size)
        self._peak_bytes = max(self._peak_bytes, self._bytes)
        return self._next_id - 1

    def destroy_buffer(self, buffer: int) -> None:
        self._check_alive()
        del self._buffers[buffer]

    def expect(self, plan: Plan) -> None:
        """There is nothing to compile."""

    def load(self, plan: Plan, external: Mapping[str, int] | None = None) -> int:
        self._check_alive()
        check_plan(plan, self.info.limits)
        sizes = {
            spec["id"]: len(self._buffers[(external or {})[spec["external"]]])
            if "external" in spec
            else spec["size"]
            for spec in plan["buffers"]
        }
        check_layout(plan, sizes)
        buffers: dict[int, int] = {}
        owned: list[int] = []
        try:
            for spec in plan["buffers"]:
                if "external" in spec:
                    buffers[spec["id"]] = (external or {})[spec["external"]]
                    continue
                owned.append(self.create_buffer(spec["size"]))
                buffers[spec["id"]] = owned[-1]
                data = base64.b64decode(spec.get("data") or "")
                self._buffers[owned[-1]][: len(data)] = data
        except BaseException:
            for buffer in owned:
                self.destroy_buffer(buffer)
            raise
        program = self._new_id()
        self._programs[program] = _CheckedProgram(plan, buffers, owned)
        return program

    def unload(self, program: int) -> None:
        self._check_alive()
        for buffer in self._programs.pop(program).owned:
            self.destroy_buffer(buffer)

    def execute(
        self,
        program: int | None,
        segment: int = 0,
        steps: int = 1,
        writes: Sequence[Write] = (),
        reads: Sequence[Read] = (),
    ) -> ExecuteResult:
        self._check_alive()
        started = time.perf_counter()
        for key, offset, data in writes:
            content = bytes(data)
            self._range(key, offset, len(content))[:] = content
            self.bytes_written += len(content)
        done = 0
        if program is not None:
            while done < steps and not (self.stop_requested and self.stop_requested()):
                first, last = self._programs[program].plan["segments"][segment]
                self.dispatches += last - first
                done += 1
            self.executed.append((program, segment, done))
        contents = [bytes(self._range(key, offset, size)) for key, offset, size in reads]
        self.bytes_read += sum(map(len, contents))
        return ExecuteResult(done, contents, time.perf_counter() - started)

    def _range(self, key: BufferKey, offset: int, size: int) -> memoryview:
        """``size`` bytes of a buffer, which must lie within it."""
        number = self._programs[key[0]].buffers[key[1]] if isinstance(key, tuple) else key
        buffer = self._buffers[number]
        if offset < 0 or offset + size > len(buffer):
            raise KernelError(
                f"bytes {offset:,} to {offset + size:,} do not lie in a buffer of {len(buffer):,}."
            )
        return memoryview(buffer)[offset : offset + size]

    def begin(
        self,
        program: int | None,
        segment: int = 0,
        steps: int = 1,
        writes: Sequence[Write] = (),
        reads: Sequence[Read] = (),
    ) -> Done[ExecuteResult]:
        # Whoever wants several devices to work at once has a thread for each.
        return Done(self.execute(program, segment, steps, writes, reads))

    def stats(self) -> dict[str, int]:
        self._check_alive()
        return {
            "buffers": len(self._buffers),
            "bytes": self._bytes,
            "programs": len(self._programs),
            "peak_bytes": self._peak_bytes,
        }

    def give_up(self) -> None:
        """Whoever waits for it is left waiting."""

    def destroy(self) -> None:
        self._programs.clear()
        self._buffers.clear()
        self._destroyed = True

    @property
    def _bytes(self) -> int:
        return sum(map(len, self._buffers.values()))

    def _new_id(self) -> int:
        self._next_id += 1
        return self._next_id - 1

    def _check_alive(self) -> None:
        if self._destroyed:
            raise DeviceLostError(f"the device {self.info.name} was lost.", hint="Open it again.")


def check_layout(plan: Plan, sizes: Mapping[int, int]) -> None:
    """Refuse a plan whose commands reach beyond buffers, or bind them as WebGPU forbids.

    In one dispatch a buffer is bound either for reading only or for writing, and what is bound
    for writing overlaps nothing else.

    Args:
        sizes: bytes of each of the plan's buffers, also of external ones.

    Raises:
        KernelError: naming the node.
    """
    kernels = {kernel["id"]: kernel for kernel in plan["kernels"]}
    for command in plan["commands"]:
        access = kernels[command["kernel"]]["access"]
        problem = _binding_problem(command["bindings"], access, sizes)
        if problem:
            raise KernelError(f"this plan breaks a rule: {problem}.", op=command["node"])
    for first, last in plan["segments"]:
        if not 0 <= first <= last <= len(plan["commands"]):
            raise KernelError(f"segment {first} to {last} is not among the plan's commands.")
    for name, slot in (*plan["feeds"].items(), *plan["fetches"].items()):
        if slot["offset"] % 4 or slot["offset"] >= sizes[slot["buffer"]]:
            raise KernelError(f"{name!r} does not lie in its buffer.")


def _binding_problem(
    bindings: Sequence[Sequence[int]], access: Sequence[str], sizes: Mapping[int, int]
) -> str | None:
    for i, (buffer, offset, size) in enumerate(bindings):
        if offset + size > sizes[buffer]:
            return f"binding {i} reaches beyond buffer {buffer}"
        for j, (other, start, length) in enumerate(bindings[:i]):
            if other != buffer:
                continue
            if access[i] != access[j]:
                return f"bindings {j} and {i} read and write buffer {buffer}"
            overlap = offset < start + length and start < offset + size
            if access[i] == "read_write" and overlap:
                return f"bindings {j} and {i} write overlapping bytes of buffer {buffer}"
    return None
