"""Batches whose rows come from several parts of a data set, such as the files of each machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from itertools import islice
from typing import Any

from playgrad.data.pipeline.base import UNKNOWN, Round, Transformation, close
from playgrad.data.pipeline.shares import Share, Unread, completed
from playgrad.data.pipeline.structure import stacked
from playgrad.data.pipeline.windows import opened_part
from playgrad.errors import DataError


class Parted(Transformation):
    """Batches of ``size`` rows, of which each of ``parts`` parts gives consecutive ones.

    A round ends with the last batch for which every part has its rows. A process that reads a share
    of each batch opens only the parts that the share consists of.

    Args:
        open_part: returns the elements of the part with a number.
        length: the number of batches, if it is known.
    """

    def __init__(
        self, open_part: Callable[[int], Any], parts: int, size: int, length: int | None
    ) -> None:
        if not callable(open_part):
            raise DataError(
                "from_parts takes a function of the number of a part, got "
                f"{type(open_part).__name__}."
            )
        if size < parts:
            raise DataError(
                f"a batch of {size} cannot have rows of {parts} parts.",
                hint="Use larger batches or fewer parts.",
            )
        self.open_part = open_part
        self.parts = parts
        self.size = size
        self.length = length

    def open(self, round_: Round) -> Iterator[Any]:
        share = round_.share or Share(0, self.parts, self.parts)
        rows = {part: self._rows(part) for part in range(share.first, share.end)}
        first = 0
        with ExitStack() as stack:
            inner = replace(round_, share=None, wanted=None)
            opened = {}
            for part in rows:
                opened[part] = opened_part(self.open_part(part), inner.inner(part), "from_parts")
                stack.callback(close, opened[part])
            while True:
                batch: list[Any] = [Unread(_unreadable)] * self.size
                for part, places in rows.items():
                    taken = list(islice(opened[part], len(places)))
                    if len(taken) < len(places):
                        return
                    batch[places.start : places.stop] = taken
                yield stacked(completed(batch, share.rows(self.size)), first)
                first += self.size

    def _rows(self, part: int) -> range:
        return Share(part, part + 1, self.parts).rows(self.size)

    @property
    def cardinality(self) -> int:
        return UNKNOWN if self.length is None else self.length


def _unreadable() -> Any:
    raise AssertionError("rows of other parts are not read")
