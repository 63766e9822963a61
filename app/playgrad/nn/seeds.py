"""Seeds of the random numbers that layers draw."""

from __future__ import annotations

import zlib
from typing import Protocol


class _Seeded(Protocol):
    name: str | None
    seed: int | None


def seed_of(layer: _Seeded, number: int = 0) -> int:
    """Return the seed of a layer, or one that follows from its name if it has none.

    Args:
        number: tells apart the numbers that a layer draws.
    """
    seed = zlib.crc32(str(layer.name).encode()) if layer.seed is None else layer.seed
    return (seed + number) & 0xFFFFFFFF
