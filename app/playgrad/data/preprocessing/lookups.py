"""Vocabularies of texts and of whole numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.data.preprocessing.base import (
    Array,
    HostPreprocessing,
    batches_of,
    checked_mode,
    encoded,
)
from playgrad.data.preprocessing.fingerprint import fingerprint
from playgrad.errors import DataError

_MODES = ("int", "one_hot", "multi_hot", "count", "tf_idf")


class StringLookup(HostPreprocessing):
    """Maps texts to whole numbers, by a vocabulary.

    Args:
        max_tokens: the largest size of the vocabulary, with its special entries; None for any.
        num_oov_indices: the indices for texts outside of the vocabulary, which are chosen by hash;
            with 0 they are an error.
        mask_token: the text that stands for nothing, at index 0 if ``output_mode`` is "int".
        oov_token: the token for texts outside of the vocabulary.
        vocabulary: the texts, the most frequent ones first; None to learn them by ``adapt``.
        invert: whether indices are mapped to texts.
        output_mode: "int" for indices; "one_hot", "multi_hot", "count" or "tf_idf" for vectors of
            the size of the vocabulary.

    Raises:
        DataError: an argument is out of range.
    """

    kind: Any = str

    def __init__(
        self,
        max_tokens: int | None = None,
        num_oov_indices: int = 1,
        mask_token: Any = None,
        oov_token: Any = "[UNK]",
        vocabulary: Sequence[Any] | None = None,
        invert: bool = False,
        output_mode: str = "int",
        name: str | None = None,
    ) -> None:
        special = num_oov_indices + (mask_token is not None)
        if max_tokens is not None and max_tokens <= special:
            raise DataError(f"max_tokens must be more than {special}, got {max_tokens}.")
        if num_oov_indices < 0:
            raise DataError(f"num_oov_indices must be at least 0, got {num_oov_indices}.")
        self.max_tokens, self.num_oov_indices = max_tokens, num_oov_indices
        self.mask_token, self.oov_token = mask_token, oov_token
        self.invert = invert
        self.output_mode = checked_mode(output_mode, *_MODES)
        self.name = name
        self.idf_weights: Array | None = None
        self._tokens: list[Any] = []
        self._index: dict[Any, int] = {}
        if vocabulary is not None:
            self.set_vocabulary(vocabulary)

    @property
    def _has_mask(self) -> bool:
        return self.mask_token is not None and self.output_mode == "int"

    def adapt(self, data: Any, batch_size: int | None = None, steps: int | None = None) -> None:
        """Learn the vocabulary: the most frequent values first, and of equal ones the last."""
        counts: Counter[Any] = Counter()
        documents: Counter[Any] = Counter()
        total = 0
        for batch in batches_of(data, steps):
            rows = batch.reshape(len(batch), -1) if batch.ndim else batch.reshape(1, 1)
            for row in rows.tolist():
                values = [self.kind(_text(value)) for value in row]
                counts.update(values)
                documents.update(set(values))
                total += 1
        self.learn(counts, documents, total)

    def learn(self, counts: Counter[Any], documents: Counter[Any], total: int) -> None:
        """Set the vocabulary from the counts of values, and of the documents that have them."""
        for special in (self.mask_token, self.oov_token, *(("",) if self.kind is str else ())):
            counts.pop(special, None)
        ranked = sorted(counts, key=lambda token: (counts[token], token), reverse=True)
        most = None
        if self.max_tokens is not None:
            most = self.max_tokens - self.num_oov_indices - int(self._has_mask)
        weights = [np.log(1.0 + total / (1.0 + documents[token])) for token in ranked[:most]]
        self.set_vocabulary(ranked[:most], weights)

    def set_vocabulary(
        self, vocabulary: Sequence[Any], idf_weights: Sequence[float] | None = None
    ) -> None:
        """Set the values, the most frequent ones first, with or without the special ones.

        Raises:
            DataError: a value is there twice.
        """
        tokens = [self.kind(_text(token)) for token in vocabulary]
        special = self._special()
        if tokens[: len(special)] == special:
            tokens = tokens[len(special) :]
        if len(set(tokens)) < len(tokens):
            twice = next(token for token, n in Counter(tokens).items() if n > 1)
            raise DataError(f"the vocabulary has {twice!r} twice.")
        self._tokens = tokens
        self._index = {token: i + len(special) for i, token in enumerate(tokens)}
        if idf_weights is not None and len(idf_weights) == len(tokens):
            mean = float(np.mean(idf_weights)) if tokens else 0.0
            self.idf_weights = np.array([mean] * len(special) + list(idf_weights), np.float32)

    def _special(self) -> list[Any]:
        mask = [self.mask_token] if self._has_mask else []
        return mask + [self.oov_token] * self.num_oov_indices

    def get_vocabulary(self, include_special_tokens: bool = True) -> list[Any]:
        """Return the values in the order of their indices."""
        return (self._special() if include_special_tokens else []) + self._tokens

    def vocabulary_size(self) -> int:
        """Return the number of values, with the special ones."""
        return len(self.get_vocabulary())

    def call(self, inputs: Array) -> Array:
        if not self._tokens:
            raise DataError(
                f"{type(self).__name__} has no vocabulary.", hint="Call adapt(data) first."
            )
        if self.invert:
            vocabulary = np.array(self.get_vocabulary())
            inside = (inputs >= 0) & (inputs < len(vocabulary))
            return np.where(inside, vocabulary[np.where(inside, inputs, 0)], self.oov_token)
        flat = [self.index_of(self.kind(_text(value))) for value in inputs.reshape(-1).tolist()]
        ids = np.array(flat, np.int32).reshape(inputs.shape)
        weights = self.idf_weights if self.output_mode == "tf_idf" else None
        return encoded(ids, self.vocabulary_size(), self.output_mode, weights)

    def index_of(self, token: Any) -> int:
        """Return the index of a value.

        Raises:
            DataError: it is not in the vocabulary, and there are no indices for such values.
        """
        if token in self._index:
            return self._index[token]
        if self._has_mask and token == self.mask_token:
            return 0
        if token == self.mask_token and self.mask_token is not None:
            return -1
        if self.num_oov_indices == 0:
            raise DataError(f"{token!r} is not in the vocabulary.")
        first = int(self._has_mask)
        if self.num_oov_indices == 1:
            return first
        return first + fingerprint(str(token)) % self.num_oov_indices


class IntegerLookup(StringLookup):
    """Maps whole numbers to indices, by a vocabulary; the arguments are as in `StringLookup`."""

    kind = int

    def __init__(
        self,
        max_tokens: int | None = None,
        num_oov_indices: int = 1,
        mask_token: int | None = None,
        oov_token: int = -1,
        vocabulary: Sequence[int] | None = None,
        invert: bool = False,
        output_mode: str = "int",
        name: str | None = None,
    ) -> None:
        super().__init__(
            max_tokens,
            num_oov_indices,
            mask_token,
            oov_token,
            vocabulary,
            invert,
            output_mode,
            name,
        )


def _text(value: Any) -> Any:
    return value.decode("utf-8") if isinstance(value, bytes) else value
