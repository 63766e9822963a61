"""Categories as vectors, numbers in ranges, and hashes of values."""

from __future__ import annotations

import hashlib
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


class CategoryEncoding(HostPreprocessing):
    """Maps whole numbers from 0 to vectors.

    Args:
        num_tokens: the number of categories, the size of a vector.
        output_mode: "one_hot" for a vector for each number; "multi_hot" or "count" for one for the
            numbers of each row.
    """

    def __init__(
        self, num_tokens: int | None = None, output_mode: str = "multi_hot", name: Any = None
    ) -> None:
        if num_tokens is None or num_tokens < 1:
            raise DataError(f"num_tokens must be at least 1, got {num_tokens}.")
        self.num_tokens = int(num_tokens)
        self.output_mode = checked_mode(output_mode, "one_hot", "multi_hot", "count")
        self.name = name

    def call(self, inputs: Array) -> Array:
        if inputs.size and (inputs.min() < 0 or inputs.max() >= self.num_tokens):
            raise DataError(
                f"CategoryEncoding takes numbers from 0 to {self.num_tokens - 1}, got "
                f"{inputs.min()} to {inputs.max()}."
            )
        return encoded(inputs.astype(np.int32), self.num_tokens, self.output_mode)


class Discretization(HostPreprocessing):
    """Maps numbers to the ranges that they are in.

    Args:
        bin_boundaries: the borders between the ranges, in ascending order; None to learn them.
        num_bins: the number of ranges that ``adapt`` makes, with equally many values in each.
        output_mode: "int" for the number of the range; "one_hot", "multi_hot" or "count" for
            vectors.
    """

    def __init__(
        self,
        bin_boundaries: Sequence[float] | None = None,
        num_bins: int | None = None,
        epsilon: float = 0.01,
        output_mode: str = "int",
        name: Any = None,
    ) -> None:
        if (bin_boundaries is None) == (num_bins is None):
            raise DataError("Discretization takes either bin_boundaries or num_bins.")
        self.bin_boundaries = None if bin_boundaries is None else [float(b) for b in bin_boundaries]
        if self.bin_boundaries is not None and sorted(self.bin_boundaries) != self.bin_boundaries:
            raise DataError(f"bin_boundaries must be in ascending order, got {bin_boundaries}.")
        self.num_bins = num_bins
        self.epsilon = epsilon
        self.output_mode = checked_mode(output_mode, "int", "one_hot", "multi_hot", "count")
        self.name = name

    def adapt(self, data: Any, batch_size: int | None = None, steps: int | None = None) -> None:
        """Learn the borders: quantiles of ``data``."""
        values = np.concatenate([batch.reshape(-1) for batch in batches_of(data, steps)])
        shares = np.linspace(0, 1, (self.num_bins or 1) + 1)[1:-1]
        self.bin_boundaries = np.quantile(values.astype(np.float64), shares).tolist()

    def call(self, inputs: Array) -> Array:
        if self.bin_boundaries is None:
            raise DataError("Discretization has no boundaries.", hint="Call adapt(data) first.")
        ids = np.digitize(inputs, self.bin_boundaries).astype(np.int32)
        return encoded(ids, len(self.bin_boundaries) + 1, self.output_mode)


class Hashing(HostPreprocessing):
    """Maps texts or whole numbers to numbers below ``num_bins``, the same for the same value.

    Without a salt, texts of up to 64 bytes get the same numbers as in Keras.

    Args:
        num_bins: the number of results.
        mask_value: the value that alone becomes 0; None for none.
        salt: other numbers for another salt; None for the numbers of Keras.
        output_mode: "int" for numbers; "one_hot", "multi_hot" or "count" for vectors.
    """

    def __init__(
        self,
        num_bins: int,
        mask_value: Any = None,
        salt: Any = None,
        output_mode: str = "int",
        name: Any = None,
    ) -> None:
        if num_bins < 1 + (mask_value is not None):
            raise DataError(f"num_bins must be at least 1, and 2 with a mask, got {num_bins}.")
        self.num_bins, self.mask_value, self.salt = int(num_bins), mask_value, salt
        self.output_mode = checked_mode(output_mode, "int", "one_hot", "multi_hot", "count")
        self.name = name

    def call(self, inputs: Array) -> Array:
        flat = [self._bin(value) for value in inputs.reshape(-1).tolist()]
        ids = np.array(flat, np.int32).reshape(inputs.shape)
        return encoded(ids, self.num_bins, self.output_mode)

    def _bin(self, value: Any) -> int:
        if self.mask_value is not None and value == self.mask_value:
            return 0
        if self.salt is None:
            number = fingerprint(str(value))
        else:
            key = hashlib.blake2b(f"{self.salt}/{value}".encode(), digest_size=8)
            number = int.from_bytes(key.digest(), "little")
        first = int(self.mask_value is not None)
        return first + number % (self.num_bins - first)
