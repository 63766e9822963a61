"""The share of each batch that one process of several reads.

Every process goes through the same elements, but calls the functions that read them only for its
rows of each batch. In the other rows there are zeros, which nothing looks at.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from playgrad.data.pipeline.structure import mapped


@dataclass(frozen=True)
class Share:
    """Consecutive parts of each batch, which is divided into ``parts`` of nearly equal size.

    Attributes:
        first, end: the parts from ``first`` up to, but not including, ``end``.
    """

    first: int
    end: int
    parts: int

    def rows(self, size: int) -> range:
        """Return the rows that belong to it in a batch of ``size``."""
        return range(size * self.first // self.parts, size * self.end // self.parts)


class Unread:
    """An element that belongs to other processes, and is read only if it turns out not to."""

    def __init__(self, read: Callable[[], Any]) -> None:
        self.read = read


def completed(batch: list[Any], rows: range) -> list[Any]:
    """Return ``batch`` with the elements of ``rows``, and zeros in place of the others."""
    needed = rows if len(rows) else range(1)
    batch = [
        each.read() if row in needed and isinstance(each, Unread) else each
        for row, each in enumerate(batch)
    ]
    like = mapped(batch[needed[0]], np.zeros_like)
    return [like if isinstance(each, Unread) else each for each in batch]
