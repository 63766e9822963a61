"""Elements that cannot be read: leaving them out, or ending the round with an error."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from playgrad.errors import DataError, PlaygradError

ON_ERROR = ("raise", "skip")
MOST_LISTED = 1000
"""The failures of a round that are kept; all are counted."""


@dataclass(frozen=True)
class Failure:
    """Something that was left out.

    Attributes:
        where: the transformation: "map" or "interleave".
        element: the number of its element, from 0.
        value: the element as short text, such as the name of a file.
        error: the reason.
    """

    where: str
    element: int
    value: str
    error: Exception

    def __str__(self) -> str:
        reason = str(self.error)
        if not isinstance(self.error, PlaygradError):
            reason = f"{type(self.error).__name__}: {reason}"
        return f"{self.where} failed at element {self.element} ({self.value}): {reason}"


@dataclass
class FailureLog:
    """The failures of one round.

    Attributes:
        count: their number.
        failures: the first `MOST_LISTED` of them.
    """

    count: int = 0
    failures: list[Failure] = field(default_factory=list)

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[Failure]:
        return iter(self.failures)

    def add(self, failure: Failure) -> None:
        """Count a failure, and keep it if there are not too many."""
        self.count += 1
        if len(self.failures) < MOST_LISTED:
            self.failures.append(failure)

    def handle(self, failure: Failure, on_error: str) -> None:
        """Take note of ``failure``, or raise it.

        Raises:
            DataError: ``on_error`` is "raise", or memory ran out.
        """
        if on_error == "skip" and not isinstance(failure.error, MemoryError):
            self.add(failure)
            return
        if isinstance(failure.error, (PlaygradError, MemoryError)):
            failure.error.add_note(f"in {failure.where}, element {failure.element}")
            raise failure.error
        raise DataError(
            f"{failure}.", hint='on_error="skip" leaves such elements out.'
        ) from failure.error


def checked_policy(on_error: str) -> str:
    """Return ``on_error``.

    Raises:
        DataError: it is neither "raise" nor "skip".
    """
    if on_error not in ON_ERROR:
        raise DataError(f'on_error must be "raise" or "skip", got {on_error!r}.')
    return on_error


def short(element: Any) -> str:
    """Return an element as short text: values if they are small, otherwise shapes."""
    if isinstance(element, tuple):
        return f"({', '.join(map(short, element))})"
    if isinstance(element, dict):
        return f"{{{', '.join(f'{key!r}: {short(value)}' for key, value in element.items())}}}"
    if isinstance(element, np.ndarray) and element.size > 1:
        return f"{element.dtype} of shape {element.shape}"
    text = repr(element)
    return text if len(text) <= 200 else f"{text[:200]}..."
