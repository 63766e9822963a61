"""The events of a training, numbered, for any number of readers, in bounded memory.

A reader asks for what follows a position in the log, and waits for it. Neither the training nor
the log waits for readers. Once the log is full, its older part is folded: it has fewer events that
lead to the same picture of the training (`folding`). A reader whose position was lost with that
gets the whole log again.
"""

from __future__ import annotations

import re
import secrets
import threading
from bisect import bisect_right
from collections.abc import Mapping
from typing import Any, NamedTuple

from playgrad.watching.folding import Entry, folded, size_of
from playgrad.watching.messages import LONGEST_EVENT, encoded

MOST_BYTES = 8 << 20
"""The size at which a log is folded."""
RECENT_BYTES = 1 << 20
"""The size of the newest part, which is not folded then: readers lag behind by less."""
PORTION_BYTES = 1 << 18
"""The most that a reader gets at once, unless a single event is larger."""

_PLACE = re.compile(r"([0-9a-f]{16})\.([0-9]{1,15})\.([0-9]{1,15})")


class Position(NamedTuple):
    """A position in a log: after the event with this number.

    Attributes:
        log: the name of the log.
        foldings: how often it had been folded when the position was reached.
        number: of the last event before the position.
    """

    log: str
    foldings: int
    number: int

    @classmethod
    def parse(cls, text: str | None) -> Position | None:
        """Return the position that ``text`` denotes, as `str` writes it, or None."""
        match = _PLACE.fullmatch(text or "")
        return None if match is None else cls(match[1], int(match[2]), int(match[3]))

    def __str__(self) -> str:
        return f"{self.log}.{self.foldings}.{self.number}"


class Portion(NamedTuple):
    """What a reader gets.

    Attributes:
        is_first: everything before is void: the log begins here.
        entries: the events.
        position: the position after them, for the next request.
    """

    is_first: bool
    entries: list[Entry]
    position: Position

    def position_of(self, entry: Entry) -> Position:
        return self.position._replace(number=entry.number)


class EventLog:
    """The log of one training.

    Attributes:
        is_closed: whether no event will follow.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self.is_closed = False
        self._begin()

    def _begin(self) -> None:
        self._name = secrets.token_hex(8)
        self._entries: list[Entry] = []
        self._size = 0
        self._limit = MOST_BYTES
        self._number = self._folded = self._foldings = 0

    def add(self, event: Mapping[str, Any]) -> None:
        """Append an event. One of more than `LONGEST_EVENT` characters is left out."""
        text = encoded(event)
        if len(text) > LONGEST_EVENT:
            return
        with self._changed:
            self._number += 1
            entry = Entry(self._number, event["kind"], text)
            self._entries.append(entry)
            self._size += size_of(entry)
            if self._size > self._limit:
                self._fold()
            self._changed.notify_all()

    def clear(self) -> None:
        """Begin anew: every reader gets what follows as the first portion."""
        with self._changed:
            self._begin()
            self._changed.notify_all()

    def close(self) -> None:
        """Let readers know that no event will follow."""
        with self._changed:
            self.is_closed = True
            self._changed.notify_all()

    def read(self, position: Position | None, seconds: float) -> Portion:
        """Return the events after ``position``, or the first ones if the log has no such position.

        Waits up to ``seconds`` for an event. Without one the portion is empty.
        """
        with self._changed:
            self._changed.wait_for(lambda: self.is_closed or self._has_news(position), seconds)
            is_first = position is None or not self._has(position)
            after = 0 if is_first or position is None else position.number
            entries = self._portion(after)
            number = entries[-1].number if entries else after
            return Portion(is_first, entries, Position(self._name, self._foldings, number))

    def _has_news(self, position: Position | None) -> bool:
        return position is None or not self._has(position) or position.number < self._number

    def _has(self, position: Position) -> bool:
        if position.log != self._name or position.number > self._number:
            return False
        return position.number >= self._folded or position.foldings == self._foldings

    def _portion(self, after: int) -> list[Entry]:
        first = bisect_right(self._entries, after, key=lambda entry: entry.number)
        size, end = 0, first
        while end < len(self._entries) and size < PORTION_BYTES:
            size += size_of(self._entries[end])
            end += 1
        return self._entries[first:end]

    def _fold(self) -> None:
        """Fold all but the newest part."""
        size, first = 0, len(self._entries)
        while first and size < RECENT_BYTES:
            first -= 1
            size += size_of(self._entries[first])
        older, newer = self._entries[:first], self._entries[first:]
        self._entries = [*folded(older), *newer]
        self._size = sum(map(size_of, self._entries))
        self._limit = max(MOST_BYTES, 2 * self._size)  # or each event would fold it
        self._folded = older[-1].number if older else self._folded
        self._foldings += 1
