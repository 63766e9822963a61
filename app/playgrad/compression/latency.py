"""The time that a model takes for a sample on the device that it runs on."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from playgrad.errors import GraphError
from playgrad.models.model import Model

Array = np.ndarray[Any, Any]
MEASURED_SECONDS = 0.2
"""The time for which the runs of a model are repeated."""


class Latency(NamedTuple):
    """Milliseconds for one sample, by `Model.predict`.

    Attributes:
        device: of the compressed network, such as "cpu:0".
        before, after: of the original and of the compressed network.
    """

    device: str
    before: float
    after: float


class Predictor(Protocol):
    """A model, or what answers for one."""

    def predict(self, x: Any) -> Any: ...


def measured_latency(model: Predictor, x: Array | Sequence[Array]) -> float:
    """Return the milliseconds that ``model`` takes to predict ``x``, the least of several runs.

    Others are longer only because of other work of the machine. Measuring takes about
    `MEASURED_SECONDS`, and compiling before it.

    Args:
        x: a sample (1, ...), or one for each input.
    """
    model.predict(x)  # the first run compiles
    least, end = np.inf, time.perf_counter() + MEASURED_SECONDS
    while time.perf_counter() < end or least == np.inf:
        began = time.perf_counter()
        model.predict(x)
        least = min(least, time.perf_counter() - began)
    return float(1000 * least)


def zero_sample(model: Model) -> list[Array]:
    """Return a sample of zeros for each input of ``model``.

    Raises:
        GraphError: the size of an input is open.
    """
    for tensor in model.inputs:
        if None in tensor.shape[1:]:
            raise GraphError(
                f"the latency of the model '{model.name}' depends on the size of a sample, and "
                f"that of '{tensor.name}' is open: {tensor.shape}.",
                source=model.source,
                hint="Pass test_data, of which the first sample is taken.",
            )
    return [np.zeros((1, *tensor.shape[1:]), tensor.dtype) for tensor in model.inputs]
