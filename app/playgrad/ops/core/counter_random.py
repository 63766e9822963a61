"""Counter-based random numbers in NumPy, the specification that GPU kernels match bit for bit.

Threefry-2x32 with 20 rounds (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2,
3", 2011). The key is the seed's two words, the counter is (step, pair of elements). There is no
state, so any element can be computed by itself, and a dropout mask a second time.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

Words = np.ndarray[Any, np.dtype[np.uint32]]
Floats = np.ndarray[Any, np.dtype[np.float32]]
Seed = tuple[int, int]

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = 0x1BD11BDA
_FEISTEL_PAIRS = 3
_MOST_KEPT = 1 << 17
"""Samples whose order is kept: 0.5 MB. A larger one would hold up the first step of an epoch."""
_WORD = 0xFFFFFFFF


def threefry2x32(seed: Seed, first: Any, second: Any) -> tuple[Words, Words]:
    """Return two random words for each counter (first, second); these broadcast together."""
    x, y = np.broadcast_arrays(_words(first), _words(second))
    key = [seed[0] & _WORD, seed[1] & _WORD]
    key.append(key[0] ^ key[1] ^ _PARITY)
    x, y = x + np.uint32(key[0]), y + np.uint32(key[1])
    for group in range(5):
        for rotation in _ROTATIONS[group % 2]:
            x = x + y
            y = ((y << np.uint32(rotation)) | (y >> np.uint32(32 - rotation))) ^ x
        x = x + np.uint32(key[(group + 1) % 3])
        y = y + np.uint32((key[(group + 2) % 3] + group + 1) & _WORD)
    return x, y


def uniform(seed: Seed, step: int, shape: tuple[int, ...], first: int = 0) -> Floats:
    """Return uniform float32 in [0, 1), multiples of 2**-24, from element number ``first`` on."""
    return _fractions(_element_words(seed, step, _size(shape), first)).reshape(shape)


def normal(seed: Seed, step: int, shape: tuple[int, ...]) -> Floats:
    """Return float32 of mean 0 and standard deviation 1, by the Box-Muller transform."""
    size = _size(shape)
    words = _element_words(seed, step, size + size % 2).reshape(-1, 2)
    first = ((words[:, 0] >> np.uint32(8)) + np.uint32(1)).astype(np.float32) * np.float32(2**-24)
    angle = np.float32(2 * np.pi) * _fractions(words[:, 1])
    radius = np.sqrt(np.float32(-2) * np.log(first))
    pairs = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    return pairs.reshape(-1)[:size].reshape(shape).astype(np.float32)


def dropout_mask(
    seed: Seed, step: int, shape: tuple[int, ...], rate: float, first_row: int = 0
) -> Floats:
    """Return 0 where an element is dropped and 1 / (1 - rate) elsewhere, float32.

    Row 0 of the result is row ``first_row`` of the mask for the whole batch.
    """
    passes = uniform(seed, step, shape, first_row * _size(shape[1:])) >= np.float32(rate)
    return np.where(passes, np.float32(1.0 / (1.0 - rate)), np.float32(0)).astype(np.float32)


def half_bits(count: int) -> int:
    """Return half the bits of the smallest domain of an even number of bits for ``count``."""
    return max(1, ((count - 1).bit_length() + 1) // 2)


def permute(seed: Seed, epoch: int, items: Any, count: int) -> Words:
    """Return the positions of ``items`` in the order of ``epoch``, a permutation of [0, count).

    The permutation is a balanced Feistel network of six rounds. A result outside [0, count) goes
    through the network again.
    """
    x = _feistel(seed, epoch, _words(items), count)
    while (outside := np.flatnonzero(x >= count)).size:
        x[outside] = _feistel(seed, epoch, x[outside], count)
    return x


def batch_indices(
    seed: Seed,
    step: int,
    count: int,
    batch: int,
    shuffle: bool,
    rounds: tuple[int, int] | None = None,
    started: int = 0,
) -> np.ndarray[Any, np.dtype[np.int32]]:
    """Return the numbers of the samples in batch ``step``: int32 (batch,) in [0, count).

    Args:
        rounds: the steps of a round, and the samples from one batch to the next; a batch that goes
            beyond the end of a round continues with its beginning. None for an endless stream, in
            which a batch can begin in one round and end in the next.
        started: the step with which the first of the rounds begins.
    """
    if rounds is not None:
        steps, stride = rounds
        whole, within = divmod(max(step - started, 0), steps)
        items = np.arange(within * stride, within * stride + batch, dtype=np.uint32)
        if within * stride + batch > count:
            items %= np.uint32(count)
        if shuffle:
            items = _ordered(seed, -(-started // steps) + whole, items, count)
        return items.astype(np.int32)
    first = np.uint32(step * batch & 0xFFFFFFFF)
    positions = first + np.arange(batch, dtype=np.uint32)
    if not shuffle:
        return (positions % np.uint32(count)).astype(np.int32)
    epochs, items = np.divmod(positions, np.uint32(count))
    samples = np.empty(batch, np.int32)
    for epoch in set(epochs.tolist()):  # one or two; np.unique takes longer, also to import
        of_epoch = epochs == epoch
        samples[of_epoch] = _ordered(seed, epoch, items[of_epoch], count)
    return samples


def _ordered(seed: Seed, epoch: int, items: Words, count: int) -> Words:
    if count > _MOST_KEPT:
        return permute(seed, epoch, items, count)
    return _order(seed, epoch, count)[items]


@lru_cache(maxsize=8)
def _order(seed: Seed, epoch: int, count: int) -> Words:
    """Return ``permute`` of a whole epoch: its batches ask for it one after the other."""
    walked = _feistel(seed, epoch, np.arange(4 ** half_bits(count), dtype=np.uint32), count)
    x = walked[:count].copy()
    while (outside := np.flatnonzero(x >= count)).size:
        x[outside] = walked[x[outside]]
    return x


def _feistel(seed: Seed, epoch: int, x: Words, count: int) -> Words:
    """Return where the network leads from ``x``, once."""
    bits = np.uint32(half_bits(count))
    keys = zip(*threefry2x32(seed, epoch, np.arange(_FEISTEL_PAIRS)), strict=True)
    mask = (np.uint32(1) << bits) - np.uint32(1)
    left, right = x >> bits, x & mask
    for first, second in keys:
        left = left ^ (_scramble(right ^ first) & mask)
        right = right ^ (_scramble(left ^ second) & mask)
    return (left << bits) | right


def _scramble(x: Words) -> Words:
    """Apply the finalizer of MurmurHash3: every input bit affects every output bit."""
    x = (x ^ (x >> np.uint32(16))) * np.uint32(0x85EBCA6B)
    x = (x ^ (x >> np.uint32(13))) * np.uint32(0xC2B2AE35)
    return x ^ (x >> np.uint32(16))


def _element_words(seed: Seed, step: int, size: int, first: int = 0) -> Words:
    """Return word i & 1 of pair i >> 1 for ``size`` elements i from ``first`` on."""
    pairs = np.arange(first // 2, (first + size + 1) // 2, dtype=np.uint32)
    words = np.stack(threefry2x32(seed, step, pairs), axis=1).reshape(-1)
    return words[first % 2 :][:size]


def _fractions(words: Words) -> Floats:
    return (words >> np.uint32(8)).astype(np.float32) * np.float32(2**-24)


def _words(value: Any) -> Words:
    """Return ``value`` with at least one dimension, so that NumPy does not warn when it wraps."""
    return np.atleast_1d(np.asarray(value, dtype=np.uint32))


def _size(shape: tuple[int, ...]) -> int:
    size = 1
    for dim in shape:
        size *= dim
    return size
