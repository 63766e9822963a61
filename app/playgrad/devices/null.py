"""A device that computes nothing: it checks Plans, stores bytes and counts operations.

It can imitate an adapter with any limits. Tests use it to check what the compiler and sessions ask
of a GPU on machines without one.
"""

from __future__ import annotations

import base64
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from playgrad.devices.base import (
    BufferKey,
    ExecuteResult,
    Execution,
    Host,
    Plan,
    check_buffer_size,
    check_plan,
    round_up,
)
from playgrad.devices.data_cache import KeptData
from playgrad.devices.pending import Done
from playgrad.devices.target import AdapterInfo, Limits
from playgrad.errors import DeviceLostError, KernelError, OutOfMemoryError


@dataclass
class _CheckedProgram:
    """A loaded Plan: the host buffer of each of its buffers, and the buffers that it owns."""

    plan: Plan
    buffers: dict[int, int]
    owned: list[int]


class NullHost(Host):
    """A `Host` without kernels: a dispatch changes no byte.

    Bytes that were written can be read again; they must be within their buffers.

    Args:
        limits: the limits of the adapter that it imitates.
        memory: maximum bytes of all buffers together; unlimited if None.

    Attributes:
        executed: (program, segment, steps done) of every execution that replayed.
        dispatches: kernels dispatched so far, over all replays.
        bytes_written, bytes_read: bytes moved between host and device so far.
    """

    def __init__(
        self, limits: Limits | None = None, memory: int | None = None, is_software: bool = True
    ) -> None:
        self.info = AdapterInfo(
            "null", backend="null", is_software=is_software, limits=limits or Limits()
        )
        self.stop_requested: Callable[[], bool] | None = None
        self.kept: dict[int, KeptData] = {}
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
        check_buffer_size(size, self.info)
        if self._memory is not None and self._bytes + size > self._memory:
            raise OutOfMemoryError(f"{self.info.name} has no room for a buffer of {size:,} bytes.")
        self._buffers[self._new_id()] = bytearray(size)
        self._peak_bytes = max(self._peak_bytes, self._bytes)
        return self._next_id - 1

    def destroy_buffer(self, buffer: int) -> None:
        self._check_alive()
        del self._buffers[buffer]

    def expect(self, plan: Plan) -> None:
        """Do nothing: there is nothing to compile."""

    def load(self, plan: Plan, external: Mapping[str, int] | None = None) -> int:
        self._check_alive()
        check_plan(plan, self.info.limits)
        sizes = {
            spec["id"]: len(self._buffers[(external or {})[spec["external"]]])
            if "external" in spec
            else spec["size"]
            for spec in plan["buffers"]
        }
        check_ranges(plan, sizes)
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

    def begin(self, execution: Execution) -> Done[ExecuteResult]:
        self._check_alive()
        started = time.perf_counter()
        program, segment, steps, writes, reads = execution
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
        return Done(ExecuteResult(done, contents, time.perf_counter() - started))

    def _range(self, key: BufferKey, offset: int, size: int) -> memoryview:
        """Return ``size`` bytes of a buffer, and raise `KernelError` if they are outside it."""
        number = self._programs[key[0]].buffers[key[1]] if isinstance(key, tuple) else key
        buffer = self._buffers[number]
        if offset < 0 or offset + size > len(buffer):
            raise KernelError(
                f"bytes {offset:,} to {offset + size:,} are outside a buffer of {len(buffer):,}."
            )
        return memoryview(buffer)[offset : offset + size]

    def stats(self) -> dict[str, int]:
        self._check_alive()
        return {
            "buffers": len(self._buffers),
            "bytes": self._bytes,
            "programs": len(self._programs),
            "peak_bytes": self._peak_bytes,
        }

    def give_up(self) -> None:
        """Do nothing: calls that wait for the device stay blocked."""

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


def check_ranges(plan: Plan, sizes: Mapping[int, int]) -> None:
    """Check that the commands of ``plan`` stay within buffers and bind them as WebGPU allows.

    A dispatch binds a buffer either for reading only or for writing, and what it binds for writing
    overlaps no other binding.

    Args:
        sizes: bytes of each of the plan's buffers, external ones included.

    Raises:
        KernelError: a command breaks a rule; the error names its node.
    """
    kernels = {kernel["id"]: kernel for kernel in plan["kernels"]}
    for command in plan["commands"]:
        access = kernels[command["kernel"]]["access"]
        problem = _binding_problem(command["bindings"], access, sizes)
        if problem:
            raise KernelError(f"invalid plan: {problem}.", op=command["node"])
    for first, last in plan["segments"]:
        if not 0 <= first <= last <= len(plan["commands"]):
            raise KernelError(
                f"invalid plan: segment {first} to {last} is outside its {len(plan['commands'])} "
                "commands."
            )
    for name, slot in (*plan["feeds"].items(), *plan["fetches"].items()):
        if slot["offset"] % 4 or slot["offset"] >= sizes[slot["buffer"]]:
            raise KernelError(f"invalid plan: {name!r} is outside its buffer.")


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
