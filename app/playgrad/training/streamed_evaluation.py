"""Windows of samples for evaluations, and predictions, of streamed batches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from playgrad.errors import DataError
from playgrad.networks.network import Network
from playgrad.training.batch_api import predict
from playgrad.training.batch_source import BatchSource, inputs_of
from playgrad.training.recipe import Recipe
from playgrad.training.sample_weights import Samples

Array = np.ndarray[Any, Any]
WINDOW_BYTES = 8 << 20
"""The bytes of a window of samples."""
_FULL, _REST = "streamed_test", "streamed_rest"
"""Roles of device data: windows of full size, and the last one, which is smaller."""


def sample_windows(
    recipe: Recipe, source: BatchSource, steps: int | None
) -> Iterator[tuple[str, Samples]]:
    """Yield the samples of a round, several batches at a time, with the role of their data.

    Args:
        steps: the number of batches; None for all.

    Raises:
        DataError: there are fewer than ``steps`` batches, or one does not fit the model.
    """
    waiting: list[Samples] = []
    count = rows = taken = 0
    kind: Any = None
    while steps is None or taken < steps:
        try:
            batch = source.take()
        except StopIteration:
            if steps is None:
                break
            raise DataError(
                f"{source.name} ended after {taken} batches, but {steps} are needed.",
                hint="Use repeat() of the Dataset.",
            ) from None
        taken += 1
        samples = source.samples(recipe, batch)
        if waiting and _kind(samples) != kind:
            yield _REST, _joined(waiting)
            waiting, count = [], 0
        if not waiting:
            kind = _kind(samples)
            size = sum(array.nbytes for array in samples.arrays) // samples.count
            rows = max(1, WINDOW_BYTES // max(size, 1))
        waiting.append(samples)
        count += samples.count
        while count >= rows:
            whole = _joined(waiting)
            yield _FULL, whole.part(slice(None, rows))
            count -= rows
            waiting = [whole.part(slice(rows, None))] if count else []
    if waiting:
        yield _REST, _joined(waiting)


def predict_stream(network: Network, source: BatchSource, steps: int | None) -> Any:
    """Return the outputs for the batches of ``source``; see ``Model.predict``."""
    parts: list[list[Array]] = []
    size = 0
    try:
        source.seek(0, 0)
        while steps is None or len(parts) < steps:
            try:
                batch = source.take()
            except StopIteration:
                break
            where = f"batch {source.position - 1} of {source.name}"
            x = inputs_of(batch[0] if isinstance(batch, tuple) else batch)
            parts_of_x = list(x.values()) if isinstance(x, Mapping) else x
            first = np.asarray(parts_of_x[0] if isinstance(parts_of_x, list) else x)
            size = max(size, len(first) if first.ndim else 1)
            outputs = predict(network, x, size, where)
            if isinstance(outputs, Mapping):
                outputs = list(outputs.values())
            parts.append(outputs if isinstance(outputs, list) else [outputs])
    finally:
        source.close()
    if not parts:
        raise DataError(f"{source.name} is empty.")
    if steps is not None and len(parts) < steps:
        raise DataError(f"{source.name} ended after {len(parts)} of {steps} batches.")
    return network.arranged([np.concatenate(pieces) for pieces in zip(*parts, strict=True)])


def _kind(samples: Samples) -> Any:
    parts = (samples.xs, samples.ys, samples.weights)
    return [[(array.shape[1:], array.dtype) for array in part] for part in parts]


def _joined(parts: Sequence[Samples]) -> Samples:
    if len(parts) == 1:
        return parts[0]
    return Samples(
        *(
            [np.concatenate(pieces) for pieces in zip(*arrays, strict=True)]
            for arrays in (
                [part.xs for part in parts],
                [part.ys for part in parts],
                [part.weights for part in parts],
            )
        )
    )
