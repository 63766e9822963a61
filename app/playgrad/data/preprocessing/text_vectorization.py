"""Texts as whole numbers, or as vectors of counts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from playgrad.data.preprocessing.base import (
    Array,
    HostPreprocessing,
    batches_of,
    checked_mode,
    encoded,
)
from playgrad.data.preprocessing.lookups import StringLookup
from playgrad.errors import DataError

_PUNCTUATION = re.compile(r"[!\"#$%&()*+,\-./:;<=>?@\[\\\]^_`{|}~']")


class TextVectorization(HostPreprocessing):
    """Splits texts into words, and maps these to whole numbers.

    Args:
        max_tokens: the largest size of the vocabulary, with the entries for padding and for
            unknown words; None for any.
        standardize: "lower_and_strip_punctuation", "lower", "strip_punctuation", None, or a
            function of a text.
        split: "whitespace", "character", None, or a function of a text that returns a list.
        ngrams: join up to this many neighbouring words; a tuple for these lengths only.
        output_mode: "int" for sequences of numbers, where 0 is padding and 1 an unknown word;
            "multi_hot", "count" or "tf_idf" for a vector of the size of the vocabulary.
        output_sequence_length: the length of all sequences, which are cut or padded; None for the
            longest of a call.
        vocabulary: the words, the most frequent ones first; None to learn them by ``adapt``.

    Raises:
        DataError: an argument has another value.
    """

    def __init__(
        self,
        max_tokens: int | None = None,
        standardize: str | Callable[[str], str] | None = "lower_and_strip_punctuation",
        split: str | Callable[[str], Sequence[str]] | None = "whitespace",
        ngrams: int | Sequence[int] | None = None,
        output_mode: str = "int",
        output_sequence_length: int | None = None,
        vocabulary: Sequence[str] | None = None,
        name: str | None = None,
    ) -> None:
        self.standardize = _checked("standardize", standardize, _STANDARDIZE)
        self.split = _checked("split", split, _SPLIT)
        self.ngrams = tuple(range(1, ngrams + 1)) if isinstance(ngrams, int) else ngrams
        self.output_mode = checked_mode(output_mode, "int", "multi_hot", "count", "tf_idf")
        self.output_sequence_length = output_sequence_length
        self.name = name
        mask = "" if output_mode == "int" else None
        self.lookup = StringLookup(max_tokens, 1, mask, "[UNK]", vocabulary)

    def adapt(self, data: Any, batch_size: int | None = None, steps: int | None = None) -> None:
        """Learn the vocabulary of texts, an array or a data set of them."""
        counts: Counter[str] = Counter()
        documents: Counter[str] = Counter()
        total = 0
        for batch in batches_of(data, steps):
            for text in batch.reshape(-1).tolist():
                words = self.words_of(text)
                counts.update(words)
                documents.update(set(words))
                total += 1
        self.lookup.learn(counts, documents, total)

    def words_of(self, text: Any) -> list[str]:
        """Return the words, or n-grams, of a text."""
        text = text.decode("utf-8") if isinstance(text, bytes) else str(text)
        if self.standardize is not None:
            text = self.standardize(text)
        words = [text] if self.split is None else list(self.split(text))
        if self.ngrams is None:
            return words
        return [" ".join(words[i : i + n]) for n in self.ngrams for i in range(len(words) - n + 1)]

    def call(self, inputs: Array) -> Array:
        shape = inputs.shape[:-1] if inputs.ndim > 1 and inputs.shape[-1] == 1 else inputs.shape
        if len(shape) > 1:
            raise DataError(f"TextVectorization takes a text for each sample, got {shape}.")
        if not self.lookup.get_vocabulary(include_special_tokens=False):
            raise DataError("TextVectorization has no vocabulary.", hint="Call adapt(texts) first.")
        rows = [
            [self.lookup.index_of(word) for word in self.words_of(text)]
            for text in inputs.reshape(-1).tolist()
        ]
        size = self.lookup.vocabulary_size()
        if self.output_mode == "int":
            length = self.output_sequence_length or max(map(len, rows), default=0)
            ids = np.zeros((len(rows), length), np.int32)
            for i, row in enumerate(rows):
                ids[i, : len(row)] = row[:length]
            return ids.reshape((*shape, length))
        longest = max(max(map(len, rows), default=0), 1)
        ids = np.full((len(rows), longest), -1, np.int32)
        for i, row in enumerate(rows):
            ids[i, : len(row)] = row
        weights = self.lookup.idf_weights if self.output_mode == "tf_idf" else None
        return encoded(ids, size, self.output_mode, weights).reshape((*shape, size))

    def get_vocabulary(self, include_special_tokens: bool = True) -> list[str]:
        """Return the words in the order of their numbers."""
        return self.lookup.get_vocabulary(include_special_tokens)

    def set_vocabulary(
        self, vocabulary: Sequence[str], idf_weights: Sequence[float] | None = None
    ) -> None:
        """Set the words, the most frequent ones first."""
        self.lookup.set_vocabulary(vocabulary, idf_weights)

    def vocabulary_size(self) -> int:
        """Return the number of words, with the special ones."""
        return self.lookup.vocabulary_size()


def _without_punctuation(text: str) -> str:
    return _PUNCTUATION.sub("", text)


_STANDARDIZE: dict[Any, Callable[[str], str] | None] = {
    "lower_and_strip_punctuation": lambda text: _without_punctuation(text.lower()),
    "lower": str.lower,
    "strip_punctuation": _without_punctuation,
    None: None,
}
_SPLIT: dict[Any, Callable[[str], Sequence[str]] | None] = {
    "whitespace": str.split,
    "character": list,
    None: None,
}


def _checked(what: str, value: Any, known: dict[Any, Any]) -> Any:
    if callable(value):
        return value
    if value not in known:
        raise DataError(
            f"{what} must be {', '.join(repr(name) for name in known)} or a function, got "
            f"{value!r}."
        )
    return known[value]
