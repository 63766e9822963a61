"""The device seam: what a host (wgpu-py or a browser page) offers to the rest of the library.

A host knows buffers of bytes and Plans of kernels, never tensors. Its API is synchronous: one
call of `Host.execute` is one round trip however many training steps it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple, Protocol

from playgrad.devices.pending import Result
from playgrad.devices.tuning import Tuning, default_tuning
from playgrad.errors import KernelError, OutOfMemoryError

Plan = dict[str, Any]
"""A compiled, JSON-serialisable program; `playgrad.compiler.plan` documents its fields."""

BufferKey = int | tuple[int, int]
"""A buffer made by `Host.create_buffer`, or (program, plan buffer id) for one that belongs to a
loaded program."""

Write = tuple[BufferKey, int, Any]
"""(buffer, byte offset, bytes-like)"""

Read = tuple[BufferKey, int, int]
"""(buffer, byte offset, number of bytes)"""

SOFTWARE_NAMES = ("llvmpipe", "lavapipe", "swiftshader", "microsoft basic render", "softpipe")


def _camel_case(name: str) -> str:
    head, *tail = name.split("_")
    return head + "".join(part.capitalize() for part in tail)


@dataclass(frozen=True)
class Limits:
    """Limits of a device. The defaults are those WebGPU guarantees on every adapter.

    Sizes are in bytes. See https://www.w3.org/TR/webgpu/#limits.
    """

    max_buffer_size: int = 268_435_456
    max_storage_buffer_binding_size: int = 134_217_728
    max_storage_buffers_per_shader_stage: int = 8
    max_compute_workgroup_storage_size: int = 16_384
    max_compute_invocations_per_workgroup: int = 256
    max_compute_workgroup_size_x: int = 256
    max_compute_workgroup_size_y: int = 256
    max_compute_workgroup_size_z: int = 64
    max_compute_workgroups_per_dimension: int = 65_535
    min_storage_buffer_offset_alignment: int = 256

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> Limits:
        """Limits from a host's names: `maxBufferSize`, `max-buffer-size` or `max_buffer_size`.

        A limit the mapping does not name keeps WebGPU's default.
        """
        known = {}
        for item in fields(cls):
            for name in (item.name, _camel_case(item.name), item.name.replace("_", "-")):
                if name in values:
                    known[item.name] = int(values[name])
                    break
        return cls(**known)


@dataclass(frozen=True)
class AdapterInfo:
    """One adapter, as the page's badge and `playgrad devices` show it.

    ``driver`` is its version, where the host says: a page does not. ``has_quads``: see `Target`.
    """

    name: str
    vendor: str = ""
    architecture: str = ""
    driver: str = ""
    backend: str = ""
    is_software: bool = False
    has_quads: bool = False
    limits: Limits = field(default_factory=Limits)
    features: tuple[str, ...] = ()


@dataclass(frozen=True)
class Target:
    """What kernels may know of an adapter.

    ``is_software`` says that it runs on a processor, where barriers are slow and large kernels
    cheap; ``has_quads``, that its vectors are of four invocations, which see each other's values.
    Both choose the variants of kernels, unless they were ``measured``.
    """

    is_software: bool
    limits: Limits
    measured: Tuning | None = None
    has_quads: bool = False

    @property
    def tuning(self) -> Tuning:
        """The variants to run."""
        return self.measured or default_tuning(self.is_software, self.has_quads)


def is_software_name(text: str) -> bool:
    """Whether an adapter's description names a renderer that runs on the processor."""
    lowered = text.lower()
    return any(name in lowered for name in SOFTWARE_NAMES)


class ExecuteResult(NamedTuple):
    """What `Host.execute` did: replays finished, the bytes read, wall-clock seconds."""

    steps_done: int
    data: list[bytes]
    seconds: float


class Host(Protocol):
    """One adapter opened: its own device, its own buffers.

    Every method may raise `DeviceLostError`, after which only `destroy` is legal and a new
    `open()` gives a working host; `OutOfMemoryError`; or `KernelError` for WGSL that does not
    compile and plans that break the device's rules.
    """

    stop_requested: Callable[[], bool] | None
    """Asked between replays, which end once it returns true. A page's stop word does so as well."""

    @property
    def info(self) -> AdapterInfo: ...

    def create_buffer(self, size: int) -> int:
        """A zeroed buffer of `size` bytes (rounded up to a multiple of 4); returns its id."""
        ...

    def destroy_buffer(self, buffer: int) -> None: ...

    def expect(self, plan: Plan) -> None:
        """`plan` will be loaded soon: begin to compile its kernels where that needs no waiting."""
        ...

    def load(self, plan: Plan, external: Mapping[str, int] | None = None) -> int:
        """Compile the plan's kernels and bind its buffers; returns the program's id.

        `external` gives the host buffer id for every plan buffer that names an external key.
        """
        ...

    def unload(self, program: int) -> None:
        """Release what `load` made; external buffers stay."""
        ...

    def execute(
        self,
        program: int | None,
        segment: int = 0,
        steps: int = 1,
        writes: Sequence[Write] = (),
        reads: Sequence[Read] = (),
    ) -> ExecuteResult:
        """Do the writes, then replay the segment `steps` times, then the reads.

        `program=None` only writes and reads. A stop request ends the replays early; the reads
        are still done.
        """
        ...

    def begin(
        self,
        program: int | None,
        segment: int = 0,
        steps: int = 1,
        writes: Sequence[Write] = (),
        reads: Sequence[Read] = (),
    ) -> Result[ExecuteResult]:
        """As `execute`, without waiting for it where the host has one thread for all devices."""
        ...

    def stats(self) -> dict[str, int]:
        """`buffers`, `bytes`, `programs` alive now, and `peak_bytes` ever."""
        ...

    def give_up(self) -> None:
        """Use it no more: it does not answer. Nothing is waited for."""
        ...

    def destroy(self) -> None: ...


def round_up(value: int, multiple: int) -> int:
    """The smallest multiple of `multiple` that is at least `value`."""
    return -(-value // multiple) * multiple


def check_plan(plan: Plan, limits: Limits) -> None:
    """Refuse a plan that this device's limits forbid, naming the node and not a driver's number.

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
    elif max(command["workgroups"]) > limits.max_compute_workgroups_per_dimension:
        problem = (
            f"{command['workgroups']} workgroups, but this adapter allows "
            f"{limits.max_compute_workgroups_per_dimension} in one dimension"
        )
    if problem:
        raise KernelError(f"kernel {kernel['family']}: {problem}", op=command["node"])
