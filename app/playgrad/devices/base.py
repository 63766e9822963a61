"""The device seam: the interface between a host (wgpu-py or a browser page) and the library.

A host knows buffers of bytes and Plans of kernels, never tensors. Its API is synchronous: a call of
`Host.execute` is one round trip, however many training steps it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from playgrad.devices.data_cache import KeptData
from playgrad.devices.pending import Result
from playgrad.devices.target import AdapterInfo, Limits
from playgrad.errors import KernelError, OutOfMemoryError

Plan = dict[str, Any]
"""A compiled, JSON-serializable program; `playgrad.compiler.plan` documents its fields."""

BufferKey = int | tuple[int, int]
"""The id of a buffer made by `Host.create_buffer`, or (program, plan buffer id) for a buffer that a
loaded program owns."""

Write = tuple[BufferKey, int, Any]
"""(buffer, byte offset, bytes-like)"""

Read = tuple[BufferKey, int, int]
"""(buffer, byte offset, number of bytes)"""


class Execution(NamedTuple):
    """Work for a host: do ``writes``, replay a segment ``steps`` times, then do ``reads``.

    Attributes:
        program: id from `Host.load`; None to only write and read.
        segment: position of the segment in the program's Plan.
        steps: replays. A stop request ends them early; the reads are done anyway.
    """

    program: int | None = None
    segment: int = 0
    steps: int = 1
    writes: Sequence[Write] = ()
    reads: Sequence[Read] = ()


class ExecuteResult(NamedTuple):
    """Result of an `Execution`: finished replays, the bytes of each read, seconds of wall clock.

    Attributes:
        clock: when it began, was submitted and was done, in milliseconds since 1970. Only the hosts
            that are in another worker say so.
    """

    steps_done: int
    data: list[bytes]
    seconds: float
    clock: tuple[float, float, float] | None = None


class Host(Protocol):
    """An opened adapter, with buffers and programs that no other host sees.

    Any method may raise `DeviceLostError`, after which only `destroy` may be called and a new
    `open()` gives a working host; `OutOfMemoryError`; or `KernelError` for WGSL that does not
    compile and for Plans that break the device's rules.
    """

    stop_requested: Callable[[], bool] | None
    """Called between replays, which end once it returns true. A page's stop word also ends them."""

    info: AdapterInfo

    kept: dict[int, KeptData]
    """Data sets that an earlier program left on the device, by buffer."""

    def create_buffer(self, size: int) -> int:
        """Create a zeroed buffer of ``size`` bytes, rounded up to whole words; return its id."""
        ...

    def destroy_buffer(self, buffer: int) -> None: ...

    def expect(self, plan: Plan) -> None:
        """Begin to compile the kernels of ``plan``, which will be loaded soon, without waiting.

        Hosts that cannot compile in the background do nothing.
        """
        ...

    def load(self, plan: Plan, external: Mapping[str, int] | None = None) -> int:
        """Compile the kernels of ``plan`` and bind its buffers; return the program's id.

        Args:
            external: the buffer id for each external key that the Plan's buffers name.
        """
        ...

    def unload(self, program: int) -> None:
        """Release what `load` created. External buffers stay."""
        ...

    def begin(self, execution: Execution) -> Result[ExecuteResult]:
        """Begin ``execution``. Hosts with one thread for all devices do not wait for its end."""
        ...

    def execute(self, execution: Execution) -> ExecuteResult:
        """Run ``execution`` and wait for its result."""
        return self.begin(execution).result()

    def time_kernels(self, program: int, segment: int) -> list[tuple[float, float]] | None:
        """Replay a segment once; return when each of its commands began and ended, in seconds of
        the device's clock. None, and nothing is replayed, if the device has no such clock."""
        return None

    def stats(self) -> dict[str, int]:
        """Return `buffers`, `bytes` and `programs` in use, and `peak_bytes` so far."""
        ...

    def give_up(self) -> None:
        """Abandon a device that does not answer, without waiting for it."""
        ...

    def destroy(self) -> None: ...


def round_up(value: int, multiple: int) -> int:
    """Return the smallest multiple of ``multiple`` that is at least ``value``."""
    return -(-value // multiple) * multiple


def check_buffer_size(size: int, info: AdapterInfo) -> None:
    """Check that an adapter allows a buffer of ``size`` bytes.

    Raises:
        OutOfMemoryError: the buffer is too large.
    """
    if size > info.limits.max_buffer_size:
        raise OutOfMemoryError(
            f"cannot create a buffer of {size:,} bytes: {info.name} allows at most "
            f"{info.limits.max_buffer_size:,} in one buffer"
        )


def check_plan(plan: Plan, limits: Limits) -> None:
    """Check ``plan`` against the limits of a device, so that errors name the node.

    Raises:
        OutOfMemoryError: a buffer or a binding is larger than the device allows.
        KernelError: too many bindings or workgroups, or misaligned bindings.
    """
    for buffer in plan["buffers"]:
        if buffer["size"] > limits.max_buffer_size:
            raise OutOfMemoryError(
                f"the plan's {buffer['role']} buffer needs {buffer['size']:,} bytes, but this "
                f"adapter allows {limits.max_buffer_size:,} in one buffer",
                hint="Use a smaller batch or a smaller network.",
            )
    kernels = {kernel["id"]: kernel for kernel in plan["kernels"]}
    for command in plan["commands"]:
        _check_command(command, kernels[command["kernel"]], limits)


def _check_command(command: dict[str, Any], kernel: dict[str, Any], limits: Limits) -> None:
    problem = None
    bindings = command["bindings"]
    workgroups = command["workgroups"]
    for _, offset, size in bindings:
        if size > limits.max_storage_buffer_binding_size:
            raise OutOfMemoryError(
                f"a tensor needs {size:,} bytes, but this adapter can bind at most "
                f"{limits.max_storage_buffer_binding_size:,}.",
                op=command["node"],
                hint="Use a smaller batch or a smaller network.",
            )
        if offset % limits.min_storage_buffer_offset_alignment or size % 4 or size <= 0:
            problem = f"a binding at offset {offset} of size {size} is not aligned"
    if len(bindings) != len(kernel["access"]):
        problem = f"{len(bindings)} bindings given where {len(kernel['access'])} are declared"
    elif len(bindings) > limits.max_storage_buffers_per_shader_stage:
        problem = (
            f"{len(bindings)} storage buffers, but this adapter allows "
            f"{limits.max_storage_buffers_per_shader_stage} in one kernel"
        )
    elif max(workgroups) > limits.max_compute_workgroups_per_dimension:
        problem = (
            f"{workgroups} workgroups, but this adapter allows "
            f"{limits.max_compute_workgroups_per_dimension} in one dimension"
        )
    if problem:
        raise KernelError(f"kernel {kernel['family']}: {problem}", op=command["node"])
