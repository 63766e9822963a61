"""Smaller versions of the trained model, made and measured while no program runs.

All work is done a little at a time, for the page to have its other questions answered in between.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from playgrad.data.excerpt import Excerpt
from playgrad.errors import GraphError, PlaygradError
from playgrad.optim.adam import Adam
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
SMALLEST_BATCH = 32
MOST_STEPS = 500
"""Steps in an epoch of fine-tuning: on more data, batches are larger."""
SPARSITIES = (50, 80, 90, 95)
"""In percent of the weights."""
CLUSTERS = (4, 16, 64)
RATE_OF_SHARED = 1e-3
"""The learning rate of Adam for versions whose weights share values."""
_TUNABLE = ("sparsity-", "clusters-")

Method = Callable[[Any, Array], Any]
"""Makes a smaller model from a model, and samples such as it was trained with."""


class Measured(NamedTuple):
    """A version of the model, with its place in the plane of size and quality.

    Attributes:
        raw, gzip: the bytes of its weights in a file, as they are and compressed.
        metric: "accuracy", or "loss" for a model that has no accuracy.
        value: the metric on ``samples`` samples.
        epochs: for which it was fine-tuned.
        untuned: the metric before that; None for one that was not.
    """

    name: str
    model: Any
    raw: int = 0
    gzip: int = 0
    metric: Literal["accuracy", "loss"] = "accuracy"
    value: float = 0.0
    samples: int = 0
    epochs: int = 0
    untuned: float | None = None

    @property
    def is_tunable(self) -> bool:
        """Whether it can be trained further, and stays as small."""
        return self.name.startswith(_TUNABLE)


@dataclass(frozen=True)
class Failed:
    """A version that could not be made or fine-tuned, and why."""

    name: str
    error: PlaygradError


Result = Measured | Failed
Job = Generator[Result | None, None, None]
"""Yields None where the work can be left for a while."""


class Shrinking:
    """The smaller versions of a model, which is not changed.

    Attributes:
        data: the samples that versions are compared on.
        tested: whether the model was not trained with them.
        measured: the versions that are ready, by name.
        chosen: the name of the version that answers the page's questions; None for the model.
        busy: while a part of the work is done.
        tuned: the part of an epoch of fine-tuning that is done.

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
        self.tuned = 0.0
        self._train = train
        self._methods = methods()
        self._pending = [ORIGINAL, *self._methods]
        self._slices = 0
        self._making: Job = self._all(_spread(train.x, CALIBRATION))
        self._jobs: deque[Job] = deque([self._making])

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

    def tune(self, name: str) -> None:
        """Have `advance` train a version for an epoch, before anything else that is left to do.

        Raises:
            GraphError: there is none of that name, or it cannot be trained.
        """
        version = self.version(name)
        if not version.is_tunable:
            raise GraphError(f"the network '{name}' cannot be trained.")
        self.stop_tuning()
        self._jobs.appendleft(self._tuning(version))

    def stop_tuning(self) -> None:
        """Leave fine-tuning, and take its steps back."""
        while self._jobs and self._jobs[0] is not self._making:
            self._jobs.popleft().close()

    def answering(self) -> Any:
        """Return the chosen version as a model with the data of the original; None for none."""
        if self.chosen is None or self.chosen == ORIGINAL:
            return None
        return _WithData(self.version(self.chosen).model, self.model)

    def close(self) -> None:
        """Stop the work, and free the memory of all versions."""
        self._jobs.clear()
        for each in self.measured.values():
            if each.name != ORIGINAL:
                each.model.close()
        self.measured.clear()
        self.chosen = None

    def _all(self, samples: Array) -> Job:
        yield from self._measuring(Measured(ORIGINAL, self.model))
        for name, method in self._methods.items():
            try:
                small = method(self.model, samples)
            except PlaygradError as error:
                self._pending.remove(name)
                yield Failed(name, error)
                continue
            yield None
            yield from self._measuring(Measured(name, small))

    def _tuning(self, version: Measured) -> Job:
        """Train a version for an epoch, in a new order. If that is left or fails, it has its
        weights of before again."""
        model = version.model
        x, y = self._train.most()
        batch = max(SMALLEST_BATCH, -(-len(x) // MOST_STEPS))
        order = np.random.default_rng(version.epochs).permutation(len(x))
        before = dict(zip(model.variables, model.session.values(model.variables), strict=True))
        is_done = False
        self.tuned = 0.0
        try:
            for start in range(0, len(x), batch):
                rows = order[start : start + batch]
                model.train_on_batch(x[rows], y[rows])
                self.tuned = min(1.0, (start + batch) / len(x))
                yield None
            is_done = True
        except PlaygradError as error:
            yield Failed(version.name, error)
        finally:
            if not is_done:
                model.session.assign(before)
        if is_done:
            first = version.value if version.untuned is None else version.untuned
            yield from self._measuring(version._replace(epochs=version.epochs + 1, untuned=first))

    def _measuring(self, version: Measured) -> Job:
        """Measure a version, and keep it.

        Args:
            version: its name, its model, and how it was fine-tuned.
        """
        from playgrad.compression.packed_weights import stored_weights
        from playgrad.compression.report import stored_bytes

        name, model = version.name, version.model
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
        if name == ORIGINAL:
            sizes = list(stored_bytes(model).values())
        else:
            sizes = [each.bytes for each in stored_weights(model).values()]
        metric = next((each for each in sums if "accuracy" in each), "loss")
        if name in self._pending:
            self._pending.remove(name)
        self.measured[name] = version._replace(
            raw=sum(each.raw for each in sizes),
            gzip=sum(each.gzip for each in sizes),
            metric="loss" if metric == "loss" else "accuracy",
            value=sums[metric] / count,
            samples=count,
        )
        yield self.measured[name]


class _WithData:
    """A smaller model that shows the samples of the original."""

    def __init__(self, model: Any, original: LiveModel) -> None:
        self._model = model
        self.train_excerpt, self.test_excerpt = original.train_excerpt, original.test_excerpt

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)


def methods() -> dict[str, Method]:
    """Return the ways to make a model smaller, by the names of the results."""
    # Imported here: the page starts without them.
    from playgrad.compression.cluster import cluster
    from playgrad.compression.prune import prune
    from playgrad.compression.quantize import quantize

    def rounded(form: str) -> Method:
        return lambda model, _: quantize(model, weights=form, activations=None)

    def sparse(percent: int) -> Method:
        return lambda model, _: prune(model, sparsity=percent / 100)

    def clustered(count: int) -> Method:
        return lambda model, _: _with_steps_for_sums(cluster(model, clusters=count))

    return {
        "float16": rounded("float16"),
        "int8": lambda model, samples: quantize(model, samples),
        "int4": rounded("int4"),
        **{f"sparsity-{percent}": sparse(percent) for percent in SPARSITIES},
        **{f"clusters-{count}": clustered(count) for count in CLUSTERS},
    }


def _with_steps_for_sums(model: Any) -> Any:
    """Return a model whose weights share values, to be fine-tuned by an optimizer whose steps do
    not grow with the gradients. That of a shared value is the sum over its weights: with the
    program's learning rate, SGD would take steps that are thousands of times too large."""
    if not model.recipe.optimizer.record.is_adaptive:
        model.recipe.optimizer = Adam(RATE_OF_SHARED)
    return model


def _spread(x: Array, most: int) -> Array:
    """Return at most ``most`` of the samples ``x``, evenly spread."""
    return x[:: -(-len(x) // most)]
