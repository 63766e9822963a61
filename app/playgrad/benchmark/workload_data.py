"""The data sets and the initial weights of the workloads: the same numbers on every machine."""

from __future__ import annotations

from typing import Any

import numpy as np

from playgrad.benchmark.workloads import Workload, weights_of

Array = np.ndarray[Any, Any]
SEED = 20261121
BATCHES = 8
"""Batches of the data set; training cycles through them in order."""


def data(workload: Workload) -> tuple[Array, Array]:
    """Return inputs and targets.

    Inputs are float32, or int32 tokens before an ``embedding``. Targets are float32 values for
    ``mse``, otherwise int32 classes: of samples, or of each of a sequence's positions.
    """
    random = np.random.default_rng(SEED)
    count = BATCHES * workload.batch
    first = workload.layers[0]
    if first.kind == "embedding":
        return _tokens(random, count, workload.input_shape[0], first.size)
    if workload.loss == "mse":
        x = random.uniform(-1, 1, (count, *workload.input_shape)).astype(np.float32)
        y = np.sin(3 * x[:, :1]) * x[:, 1:]
        return x, y.astype(np.float32)
    # Ten blurred blots with noise: as sparse as digits, and easy to learn.
    blots = random.random((10, 7, 7)) ** 3
    labels = random.integers(0, 10, count).astype(np.int32)
    images = np.kron(blots[labels], np.ones((4, 4))) * 0.7 + random.random((count, 28, 28)) * 0.3
    return images.reshape(count, *workload.input_shape).astype(np.float32), labels


def _tokens(
    random: np.random.Generator, count: int, length: int, tokens: int
) -> tuple[Array, Array]:
    """Return sequences and their next tokens: four of five times the same one after a token."""
    follows = random.permutation(tokens)
    text = np.empty((count, length + 1), np.int32)
    text[:, 0] = random.integers(0, tokens, count)
    for at in range(length):
        surprise = random.random(count) < 0.2
        text[:, at + 1] = np.where(
            surprise, random.integers(0, tokens, count), follows[text[:, at]]
        )
    return text[:, :-1], text[:, 1:]


def initial_weights(workload: Workload) -> list[Array]:
    """Return the initial weights: kernels (height, width, in, out) or (in, out), and for maps that
    are flattened with channels last."""
    random = np.random.default_rng(SEED + 1)
    result: list[Array] = []
    for weight in weights_of(workload):
        shape = weight.shape
        limit = np.sqrt(6 / int(np.prod(shape[:-1]))) if weight.kind == "kernel" else 0.05
        array = random.uniform(-limit, limit, shape).astype(np.float32)
        if weight.kind == "gamma":
            array += 1
        result.append(array)
    return result
