"""Smaller versions of the trained model, made and measured while no program runs.

All work is done a little at a time, for the page to have its other questions answered in between.
"""

from __future__ import annotations

import statistics
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from playgrad.data.excerpt import Excerpt
from playgrad.errors import GraphError, PlaygradError
from playgrad.page.shown_model import LiveModel
from playgrad.runtime.options import get_options, options_set

Array = np.ndarray[Any, Any]
ORIGINAL = "original"
SLICE = 500
"""Samples that are evaluated at a time."""
MOST_SECONDS = 2.0
"""The time for which the original is evaluated: all versions are, on the samples that it got to."""
CALIBRATION = 256
"""Training samples that decide the ranges of activations."""
LATENCY_SECONDS = 0.3


class Measured(NamedTuple):
    """A version of the model, with its place in the plane of size and quality.

    Attributes:
        raw, gzip: the bytes of its weights in a file, as they are and compressed.
        metric: "accuracy", or "loss" for a model that has no accuracy.
        value: the metric on ``samples`` samples.
    """

    name: str
    model: Any
    raw: int
    gzip: int
    metric: str
    value: float
    samples: int


@dataclass(frozen=True)
class Failed:
    """A version that could not be made, and why."""

    name: str
    error: PlaygradError


Result = Measured | Failed
Job = Iterator[Result | None]
"""Yields None where the work can be left for a while."""


class Shrinking:
    """The smaller versions of a model, which is not changed.

    Attributes:
        data: the samples that versions are compared on.
        tested: whether the model was not trained with them.
        measured: the versions that are ready, by name.
        chosen: the name of the version that answers the page's questions; None for the model.
        busy: while a part of the work is done.

    Raises:
        GraphError: the model cannot be compared with others on its data.
    """

    def __init__(self, model: LiveModel) -> None:
        self.model = model
        train, test = model.train_excerpt, model.test_excerpt
        data = test or train
        if train is None or data is None or not model.is_compiled:
            raise GraphError(
                "smaller networks are compared by their answers to samples, and this one has no "
                "arrays of samples with one input and one output.",
                hint="Train with model.fit(x, y).",
            )
        self.data: Excerpt = data
        self.tested = test is not None
        self.measured: dict[str, Measured] = {}
        self.chosen: str | None = None
        self.busy = False
        self._methods = methods()
        self._pending = [ORIGINAL, *self._methods]
        self._slices = 0
        self._jobs: deque[Job] = deque([self._all(_spread(train.x, CALIBRATION))])

    @property
    def pending(self) -> list[str]:
        """The names of the versions that are still to be made."""
        return list(self._pending)

    def advance(self, seconds: float) -> Result | None:
        """Work until a version is ready or has failed, or for about ``seconds``."""
        end = time.perf_counter() + seconds
        self.busy = True
        # Not the device of the page's choice for the next run: that of the model.
        options = replace(get_options(), device=self.model.session.device.partition(":")[0])
        try:
            with options_set(options):
                while self._jobs:
                    for result in self._jobs[0]:
                        if result is not None:
                            return result
                        if time.perf_counter() >= end:
                            return None
                    self._jobs.popleft()
        finally:
            self.busy = False
        return None

    def version(self, name: str) -> Measured:
        """Return a version that is ready.

        Raises:
            GraphError: there is none of that name.
        """
        if name not in self.measured:
            raise GraphError(f"there is no smaller network '{name}'.", hint="Press Shrink.")
        return self.measured[name]

    def answering(self) -> Any:
        """Return the chosen version as a model with the data of the original; None for none."""
        if self.chosen is None or self.chosen == ORIGINAL:
            return None
        return _WithData(self.version(self.chosen).model, self.model)

    def close(self) -> None:
        """Stop the work, and free the memory of all versions."""
        while self._jobs:
            self._jobs.popleft()
        for each in self.measured.values():
            if each.name != ORIGINAL:
                each.model.close()
        self.measured.clear()
        self.chosen = None

    def _all(self, samples: Array) -> Job:
        yield from self._measuring(ORIGINAL, self.model)
        for name, method in self._methods.items():
            try:
                small = method(self.model, samples)
            except PlaygradError as error:
                self._pending.remove(name)
                yield Failed(name, error)
                continue
            yield None
            yield from self._measuring(name, small)

    def _measuring(self, name: str, model: Any) -> Job:
        from playgrad.compression.report import stored_bytes

        sums: dict[str, float] = {}
        x, y = self.data.most()
        slices = -(-len(x) // SLICE)
        began, count, done = time.perf_counter(), 0, 0
        while done < (self._slices or slices):
            part_x, part_y = x[done::slices], y[done::slices]
            for each, value in model.evaluate(part_x, part_y, return_dict=True).items():
                sums[each] = sums.get(each, 0.0) + value * len(part_x)
            count += len(part_x)
            done += 1
            yield None
            if not self._slices and time.perf_counter() - began > MOST_SECONDS:
                break
        self._slices = done
        bytes_of = stored_bytes if name == ORIGINAL else model.origin.bytes_of
        sizes = bytes_of(model).values()
        metric = next((each for each in sums if "accuracy" in each), "loss")
        self._pending.remove(name)
        self.measured[name] = Measured(
            name,
            model,
            sum(each.raw for each in sizes),
            sum(each.gzip for each in sizes),
            "loss" if metric == "loss" else "accuracy",
            sums[metric] / count,
            count,
        )
        yield self.measured[name]


class _WithData:
    """A smaller model that shows the samples of the original."""

    def __init__(self, model: Any, original: LiveModel) -> None:
        self._model = model
        self.train_excerpt, self.test_excerpt = original.train_excerpt, original.test_excerpt

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)


def methods() -> dict[str, Callable[[Any, Array], Any]]:
    """Return the ways to make a model smaller, by the names of the results.

    Each is a function of the model and of samples such as it was trained with.
    """
    # Imported here: the page starts without it.
    from playgrad.compression.quantize import quantize

    return {
        "int8": lambda model, samples: quantize(model, samples, weights="int8"),
        "int4": lambda model, samples: quantize(model, samples, weights="int4"),
    }


def latency(model: Any, x: Array) -> float:
    """Return the seconds that ``model`` takes for a sample (1, ...), the median of several runs."""
    model.predict(x)  # the first one compiles
    times: list[float] = []
    end = time.perf_counter() + LATENCY_SECONDS
    while not times or time.perf_counter() < end:
        began = time.perf_counter()
        model.predict(x)
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def _spread(x: Array, most: int) -> Array:
    """Return at most ``most`` of the samples ``x``, evenly spread."""
    return x[:: -(-len(x) // most)]
