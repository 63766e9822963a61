"""The variants of kernels that a hardware adapter runs until it has been measured.

The table is data: by maker and by the system's interface, with where each row comes from. A row
names variants from the best to one that runs everywhere; of these, the first that this version has
is taken. What a row does not name is `tuning.HARDWARE`. `runtime.tuner` measures later.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from playgrad.devices.target import AdapterInfo
from playgrad.devices.tuning import HARDWARE, PRODUCTS, Tuning, default_tuning


@dataclass(frozen=True)
class FirstChoice:
    """A row.

    Attributes:
        vendor: a part of the vendor or the name, in lower case; empty for all.
        system: an interface, or empty for all.
        products: variants of products and convolutions.
        source: where the choice comes from.
    """

    vendor: str
    system: str
    products: Sequence[str]
    source: str

    def fits(self, info: AdapterInfo) -> bool:
        """Return whether the row is for an adapter."""
        names = f"{info.vendor} {info.name}".lower()
        return self.vendor in names and self.system in ("", info.system)

    @property
    def tuning(self) -> Tuning:
        """The variants of this version."""
        best = next(name for name in self.products if name in PRODUCTS)
        return replace(HARDWARE, product=best, convolution=best)


FIRST_CHOICES = (
    FirstChoice(
        "mali", "", ("registers_4x4",),
        "Arm's guide for Mali: workgroup memory is ordinary memory; unmeasured here",
    ),
    FirstChoice(
        "", "D3D12", ("blocks_8x8", "shared_64"),
        "public measurements of WGSL products on D3D12: 8 × 8 results an invocation were 1.6 to "
        "1.8 times as fast as tiles of 64 × 64; unmeasured here",
    ),
    FirstChoice(
        "", "Metal", ("blocks_8x4", "shared_64"),
        "public measurements of WGSL products on Metal: 8 × 4 results from vectors of four were "
        "1.33 to 1.46 times as fast as tiles of 64 × 64; unmeasured here",
    ),
    FirstChoice(
        "", "Vulkan", ("blocks_8x4", "shared_64"),
        "the same on Vulkan; tiles of 64 × 64 reached 7.9 TFLOP/s for 1024³ on an NVIDIA H200 on "
        "2026-11-27, a fifth of cuBLAS; the others are unmeasured here",
    ),
)  # fmt: skip
"""The first row that fits an adapter counts."""


def first_choice(info: AdapterInfo) -> FirstChoice | None:
    """Return the row for an adapter; None for software, and where no row fits."""
    if info.is_software:
        return None
    return next((row for row in FIRST_CHOICES if row.fits(info)), None)


def unmeasured_tuning(info: AdapterInfo) -> Tuning:
    """Return what an adapter runs until it has been measured."""
    row = first_choice(info)
    return default_tuning(info.is_software, info.has_quads) if row is None else row.tuning
