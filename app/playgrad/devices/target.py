"""Adapters as the library describes them: their limits, and the features that kernels may use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from playgrad.devices.tuning import Tuning, default_tuning

LLVMPIPE_ROUNDS = 65_535
OTHER_ROUNDS = 2048
PACKED_DOT = "packed_4x8_integer_dot_product"
"""A language feature of WGSL; hosts list it among the features of an adapter."""
SOFTWARE_NAMES = ("llvmpipe", "lavapipe", "swiftshader", "microsoft basic render", "softpipe")


@dataclass(frozen=True)
class Limits:
    """Limits of a device. WebGPU guarantees the defaults on every adapter.

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
        """Return limits from a host's names: `maxBufferSize`, `max-buffer-size` or
        `max_buffer_size`.

        A limit that ``values`` lacks keeps WebGPU's default.
        """
        limits = {}
        for limit in fields(cls):
            for name in (limit.name, _camel_case(limit.name), limit.name.replace("_", "-")):
                if name in values:
                    limits[limit.name] = int(values[name])
                    break
        return cls(**limits)


def _camel_case(name: str) -> str:
    head, *tail = name.split("_")
    return head + "".join(part.capitalize() for part in tail)


@dataclass(frozen=True)
class AdapterInfo:
    """One adapter, as the page's badge and `playgrad devices` show it.

    Attributes:
        driver: the driver's version; empty in a page, where it is unknown.
        system: the system's own interface, such as "Vulkan", "Metal" or "D3D12"; empty if unknown.
        has_quads: as in `Target`.
        features: of the adapter, and the language features of its WGSL.
    """

    name: str
    vendor: str = ""
    architecture: str = ""
    driver: str = ""
    backend: str = ""
    system: str = ""
    is_software: bool = False
    has_quads: bool = False
    limits: Limits = field(default_factory=Limits)
    features: tuple[str, ...] = ()


@dataclass(frozen=True)
class Target:
    """The properties of an adapter that kernels may depend on.

    Attributes:
        is_software: the adapter runs on the CPU, where barriers are slow and large kernels cheap.
        measured: the fastest variants of kernels, if they were measured.
        has_quads: invocations run in groups of four that can read each other's values.
        has_packed_dot: WGSL has the language feature `PACKED_DOT`, the products of packed int8.
        most_rounds: rounds after which the driver ends the loops of an invocation, without a word;
            None for no limit. Loops inside others, and one after the other, count together.
        first_choice: the variants until others are measured, for adapters of this maker. Otherwise
            ``is_software`` and ``has_quads`` choose them.
    """

    is_software: bool
    limits: Limits
    measured: Tuning | None = None
    has_quads: bool = False
    has_packed_dot: bool = False
    most_rounds: int | None = None
    first_choice: Tuning | None = None

    @property
    def tuning(self) -> Tuning:
        """The variants to run."""
        chosen = self.measured or self.first_choice
        return chosen or default_tuning(self.is_software, self.has_quads)

    @property
    def loop_rounds(self) -> int | None:
        """The rounds that the loops of a kernel may take: ``most_rounds`` without some for the
        loops of functions in expressions, such as a remainder."""
        return None if self.most_rounds is None else self.most_rounds - OTHER_ROUNDS


def most_rounds(info: AdapterInfo) -> int | None:
    """Return `Target.most_rounds` of an adapter: llvmpipe has a limit.

    A browser may hide its name, but says that it is software. SwiftShader has no limit.
    """
    name = info.name.lower()
    if "llvmpipe" in name or (info.is_software and "swiftshader" not in name):
        return LLVMPIPE_ROUNDS
    return None


def is_software_name(text: str) -> bool:
    """Return whether an adapter's description names a renderer that runs on the CPU."""
    lowered = text.lower()
    return any(name in lowered for name in SOFTWARE_NAMES)
