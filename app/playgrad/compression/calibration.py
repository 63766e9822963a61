"""The ranges of a network's tensors on some of its data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from playgrad.errors import DataError, GraphError
from playgrad.graph.tensor import Tensor
from playgrad.networks.network import Network
from playgrad.training.batch_source import is_stream
from playgrad.training.prepare_data import prepare_inputs

Array = np.ndarray[Any, Any]
Range = tuple[float, float]
SAMPLES = 512
"""Samples are spread over the data; a few hundred are enough."""
BATCH = 64
BINS = 4096
PERCENTILE = 99.99
"""Of the values, those in the middle; the others are cut off."""
_FRACTIONS = np.linspace(1.0, 0.1, 91)
"""Parts of the range that are tried for the least squared error."""


def calibration_samples(network: Network, data: Any) -> list[Array]:
    """Return at most `SAMPLES` samples of ``data`` as arrays, one for each input of the network.

    Args:
        data: inputs as for `Model.predict`: arrays, or a data set of batches ``x`` or ``(x, y)``.

    Raises:
        DataError: there are no samples, or a value is NaN or infinite.
        ShapeError, DTypeError: the data does not fit.
    """
    arrays = _first_batches(data) if is_stream(data) else data
    try:
        xs = prepare_inputs(network, arrays, "the calibration data")
    except DataError as error:
        error.hint = error.hint or "Pass a few hundred inputs such as the network will get."
        raise
    count = len(xs[0])
    if not count:
        raise DataError(
            "the calibration data has no samples.",
            hint="Pass a few hundred inputs such as the network will get.",
        )
    chosen = np.linspace(0, count - 1, min(count, SAMPLES)).round().astype(np.int64)
    return [np.asarray(x)[chosen] for x in xs]


def _first_batches(data: Any) -> Any:
    """Return the inputs of the first batches of a data set, joined."""
    batches: list[Any] = []
    count = 0
    for batch in data:
        x = batch[0] if isinstance(batch, tuple) else batch
        parts = list(x) if isinstance(x, (list, tuple)) else [x]
        batches.append([np.asarray(part) for part in parts])
        count += len(batches[-1][0])
        if count >= SAMPLES:
            break
    if not batches:
        raise DataError("the calibration data has no batches.")
    joined = [np.concatenate(parts) for parts in zip(*batches, strict=True)]
    return joined[0] if len(joined) == 1 else joined


def calibrate(
    network: Network, tensors: Sequence[Tensor], samples: Sequence[Array], method: str
) -> dict[Tensor, Range]:
    """Return the ranges of ``tensors`` on samples.

    Args:
        network: the tensors are in its graph.
        method: a key of `METHODS`.

    Raises:
        GraphError: there is no such method.
        DataError: a tensor has values that are NaN or infinite.
    """
    if method not in METHODS:
        raise GraphError(
            f"there is no calibration {method!r}.", hint=f"Use one of: {', '.join(METHODS)}."
        )
    lows = np.full(len(tensors), np.inf)
    highs = np.full(len(tensors), -np.inf)
    for values in _batches(network, tensors, samples):
        for number, array in enumerate(values):
            if not np.isfinite(array).all():
                raise DataError(
                    f"the calibration data gives NaN or infinite values in "
                    f"'{tensors[number].name}'.",
                    op=tensors[number].node.name,
                    hint="Does the network predict finite numbers?",
                )
            lows[number] = min(lows[number], array.min())
            highs[number] = max(highs[number], array.max())
    ranges = list(zip(lows.tolist(), highs.tolist(), strict=True))
    reduce = METHODS[method]
    if reduce is not None:
        counts = [np.zeros(BINS) for _ in tensors]
        for values in _batches(network, tensors, samples):
            for number, array in enumerate(values):
                counts[number] += np.histogram(array, BINS, ranges[number])[0]
        ranges = [
            reduce(each, limits) if limits[0] < limits[1] else limits
            for each, limits in zip(counts, ranges, strict=True)
        ]
    return dict(zip(tensors, ranges, strict=True))


def _batches(network: Network, tensors: Sequence[Tensor], samples: Sequence[Array]) -> Any:
    """Yield the values of ``tensors`` for one batch of samples after the other."""
    for start in range(0, len(samples[0]), BATCH):
        feeds = {
            tensor: array[start : start + BATCH].astype(tensor.dtype)
            for tensor, array in zip(network.inputs, samples, strict=True)
        }
        yield network.session.run(list(tensors), feeds)


def _middle(counts: Array, limits: Range) -> Range:
    """Return the range of the middle `PERCENTILE` of the values."""
    below = np.cumsum(counts) / counts.sum()
    edges = np.linspace(*limits, BINS + 1)
    tail = (1 - PERCENTILE / 100) / 2
    first = int(np.searchsorted(below, tail, side="right"))
    last = int(np.searchsorted(below, 1 - tail))
    return float(edges[first]), float(edges[min(last + 1, BINS)])


def _least_error(counts: Array, limits: Range) -> Range:
    """Return the part of the range for which 256 integers have the least squared error."""
    edges = np.linspace(*limits, BINS + 1)
    values = (edges[:-1] + edges[1:]) / 2
    best, least = limits, np.inf
    for fraction in _FRACTIONS:
        low, high = min(limits[0] * fraction, 0.0), max(limits[1] * fraction, 0.0)
        scale = (high - low) / 255
        zero_point = np.round(-low / scale)
        integers = np.clip(np.round(values / scale) + zero_point, 0, 255)
        error = float(counts @ np.square((integers - zero_point) * scale - values))
        if error < least:
            best, least = (low, high), error
    return best


METHODS: dict[str, Callable[[Array, Range], Range] | None] = {
    "minmax": None,
    "percentile": _middle,
    "mse": _least_error,
}
"""Ways from a histogram to a range, between the smallest and the largest value; None for these
themselves."""
