"""Which variant of each kind of kernel an adapter runs: by its kind, or as it was measured.

A software adapter rewards kernels without barriers, a GPU tiles in workgroup memory, and adapters
of either kind differ; so each kind of kernel has variants, and an adapter is asked. What is here is
plain data and pure functions: `playgrad.runtime.tuner` measures, the host keeps what was found.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from functools import cache
from typing import TYPE_CHECKING

from playgrad import paths

if TYPE_CHECKING:
    from playgrad.devices.base import AdapterInfo

PRODUCTS = ("shared_64", "shared_32", "registers_4x4", "registers_12x8", "quads_8x8")
"""Of matrix products: tiles in workgroup memory, of at most so many results a side; or tiles of at
most so many rows by columns in the registers of one invocation, without barriers; of these the last
for invocations that in fours see each other's values."""
REDUCTIONS = ("trees", "many_invocations", "few_invocations")
"""Of reductions: a workgroup for each result, or one invocation, of which there are to be enough
for a GPU, or for a processor's cores."""
VARIANTS: Mapping[str, tuple[str, ...]] = {
    "product": PRODUCTS,
    "convolution": PRODUCTS,
    "reduction": REDUCTIONS,
}
"""The variants of each kind of kernel."""
WORTH = 0.95
"""A variant must take less than this share of the default's time: near ties must not make the next
measurement, and with it the numbers of a seed, another one."""

Times = Mapping[str, Mapping[str, float]]
"""Seconds by probe and variant. A variant that gave wrong numbers is not in it."""


@dataclass(frozen=True)
class Tuning:
    """A variant for each kind of kernel; see `VARIANTS`."""

    product: str
    convolution: str
    reduction: str

    def of(self, kind: str) -> str:
        """The variant for a kind of kernel."""
        variant: str = getattr(self, kind)
        return variant


SOFTWARE = Tuning("registers_12x8", "registers_12x8", "few_invocations")
QUADS = Tuning("quads_8x8", "quads_8x8", "few_invocations")
HARDWARE = Tuning("shared_64", "shared_64", "trees")


def default_tuning(is_software: bool, has_quads: bool = False) -> Tuning:
    """What an adapter of this kind runs unless it was measured."""
    if has_quads:
        return QUADS
    return SOFTWARE if is_software else HARDWARE


def choose(times: Times, kinds: Mapping[str, str], default: Tuning) -> Tuning:
    """The fastest variant of each kind of kernel, by the geometric mean over the kind's probes.

    Args:
        kinds: the kind of kernel that each probe measures.
        default: what stays where nothing is clearly faster, or nothing was measured.
    """
    chosen = {}
    for kind, variants in VARIANTS.items():
        own = [times.get(probe, {}) for probe in kinds if kinds[probe] == kind]
        scores = {
            variant: sum(math.log(found[variant]) for found in own) / len(own)
            for variant in variants
            if own and all(variant in found for found in own)
        }
        best = min(scores, key=lambda variant: scores[variant], default=default.of(kind))
        usual = scores.get(default.of(kind), math.inf)
        worth = scores and scores[best] < usual + math.log(WORTH)
        chosen[kind] = best if worth else default.of(kind)
    return Tuning(**chosen)


# What is kept: a JSON object of one tuning for each adapter


def adapter_key(info: AdapterInfo) -> str:
    """What tells an adapter, with its driver and this version of the kernels, from all others."""
    own = (info.backend, info.vendor, info.architecture, info.name, info.driver)
    return " | ".join((*own, _kernels()))


@cache
def _kernels() -> str:
    """A hash of the kernels that there are, and of the variants."""
    digest = hashlib.blake2b(repr(VARIANTS).encode(), digest_size=8)
    for path in sorted(paths.kernels().rglob("*.wgsl")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def parse_tunings(text: str) -> dict[str, Tuning]:
    """What `dump_tunings` wrote; whatever is damaged, or of another version, is left out."""
    try:
        entries = json.loads(text)
    except ValueError:
        return {}
    if not isinstance(entries, dict):
        return {}
    return {key: Tuning(**entry) for key, entry in entries.items() if _is_tuning(entry)}


def _is_tuning(entry: object) -> bool:
    return (
        isinstance(entry, dict)
        and entry.keys() == {item.name for item in fields(Tuning)}
        and all(variant in VARIANTS[kind] for kind, variant in entry.items())
    )


def dump_tunings(tunings: Mapping[str, Tuning]) -> str:
    """A text to keep."""
    return json.dumps({key: asdict(tuning) for key, tuning in tunings.items()}, indent=1) + "\n"
