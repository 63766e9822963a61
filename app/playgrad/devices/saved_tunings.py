"""Measured tunings as a host saves them: a JSON object with one tuning for each adapter."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache

from playgrad import paths
from playgrad.devices.saved_entries import dump_entries, parse_entries
from playgrad.devices.target import AdapterInfo
from playgrad.devices.tuning import VARIANTS, Tuning


def adapter_key(info: AdapterInfo) -> str:
    """Return the key of an adapter, unique to its driver and this version of the kernels."""
    adapter = (info.backend, info.vendor, info.architecture, info.name, info.driver)
    return " | ".join((*adapter, kernels_hash()))


@cache
def kernels_hash() -> str:
    """Return a hash of the text of all kernels and the names of their variants."""
    digest = hashlib.blake2b(repr(VARIANTS).encode(), digest_size=8)
    for path in sorted(paths.kernels().rglob("*.wgsl")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def parse_tunings(text: str) -> dict[str, Tuning]:
    """Return tunings by `adapter_key` from the text of `dump_tunings`.

    Entries that are damaged or come from another version are dropped.
    """
    return parse_entries(text, Tuning, lambda kind, variant: variant in VARIANTS[kind])


def dump_tunings(tunings: Mapping[str, Tuning]) -> str:
    """Return ``tunings``, by `adapter_key`, as JSON."""
    return dump_entries(tunings)
