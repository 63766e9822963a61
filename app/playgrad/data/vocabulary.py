"""The vocabulary of a text: a number for each of its characters or words."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np

from playgrad.errors import DataError, ShapeError

Array = np.ndarray[Any, Any]
_LISTED = 60


class Vocabulary:
    """The characters or words of a text, in sorted order, each with its position as its number.

    While a model trains whose outputs are scores of such tokens, the page shows text that it
    writes, in the vocabulary made last that has as many tokens.

    Args:
        text: every character, or word, in it is a token.
        words: whether tokens are words, separated by white space, instead of characters.

    Raises:
        DataError: the text is empty.
    """

    def __init__(self, text: str, words: bool = False) -> None:
        self.words = words
        self.tokens: tuple[str, ...] = tuple(sorted(set(self._parts(text))))
        if not self.tokens:
            raise DataError("the text of the vocabulary is empty.")
        self._numbers = {token: number for number, token in enumerate(self.tokens)}
        _live[:] = [reference for reference in _live if reference() is not None]
        _live.append(weakref.ref(self))

    def __len__(self) -> int:
        return len(self.tokens)

    def __repr__(self) -> str:
        return f"<Vocabulary of {len(self)} {self.unit}s>"

    @property
    def unit(self) -> Literal["character", "word"]:
        """The kind of a token: "character" or "word"."""
        return "word" if self.words else "character"

    def encode(self, text: str) -> Array:
        """Return the numbers of the tokens of ``text``, int32 of shape (tokens,).

        Raises:
            DataError: a token is not in the vocabulary.
        """
        parts = self._parts(text)
        strange = sorted({part for part in parts if part not in self._numbers})
        if strange:
            known = (" " if self.words else "").join(self.tokens)
            known = known if len(known) <= _LISTED else f"{known[:_LISTED]}…"
            raise DataError(
                f"the vocabulary does not have the {self.unit}{'s' * (len(strange) > 1)} "
                f"{', '.join(map(repr, strange[:5]))}{', …' * (len(strange) > 5)}.",
                hint=f"It has {known!r}.",
            )
        return np.array([self._numbers[part] for part in parts], np.int32)

    def decode(self, codes: Iterable[int] | Array) -> str:
        """Return the text of a sequence of tokens; words are separated by spaces.

        Raises:
            DataError: a number is not that of a token.
        """
        numbers = [int(code) for code in codes]
        for number in numbers:
            if not 0 <= number < len(self):
                raise DataError(
                    f"{number} is not a token: this vocabulary has the numbers 0 to "
                    f"{len(self) - 1}."
                )
        return (" " if self.words else "").join(self.tokens[number] for number in numbers)

    def windows(self, text: str, length: int) -> tuple[Array, Array]:
        """Return every stretch of ``length`` tokens of a text, with the next token of each.

        Returns:
            Inputs and targets, both int32 of shape (tokens - length, length): the targets are
            the inputs, one token later.

        Raises:
            DataError: a token is not in the vocabulary.
            ShapeError: the text is not longer than ``length``.
        """
        codes = self.encode(text)
        if not 1 <= length < len(codes):
            raise ShapeError(
                f"windows of {length} {self.unit}s need a text of at least {max(length, 1) + 1}, "
                f"and this one has {len(codes)}; the length must be at least 1."
            )
        at = np.arange(len(codes) - length)[:, None] + np.arange(length)
        return codes[at], codes[at + 1]

    def _parts(self, text: str) -> Sequence[str]:
        if not isinstance(text, str):
            raise DataError(f"a vocabulary takes text, got {type(text).__name__}.")
        return text.split() if self.words else text


_live: list[weakref.ref[Vocabulary]] = []


def newest_vocabulary(tokens: int) -> Vocabulary | None:
    """Return the newest vocabulary in use that has this many tokens."""
    for reference in reversed(_live):
        vocabulary = reference()
        if vocabulary is not None and len(vocabulary) == tokens:
            return vocabulary
    return None


__all__ = ["Vocabulary", "newest_vocabulary"]
