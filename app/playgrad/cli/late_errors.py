"""The errors of a command that does the rest of its work before it reports them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from playgrad.errors import PlaygradError


class LateErrors:
    """The errors of writing the files of a run: each is reported, after the results."""

    def __init__(self) -> None:
        self._errors: list[PlaygradError] = []

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Keep an error of the block."""
        try:
            yield
        except PlaygradError as error:
            self._errors.append(error)

    def add_to(self, error: BaseException) -> None:
        """Attach the errors to another one, unless they are the same."""
        for each in self._errors:
            if str(each) != str(error):
                error.add_note(str(each))

    def report(self) -> None:
        """Raise the first error, to which the others are attached."""
        if self._errors:
            self.add_to(self._errors[0])
            raise self._errors[0]
