"""``pg.prune``: a network most of whose weights are 0."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from playgrad.compression.compressed_model import CompressedModel
from playgrad.compression.reduction import kernels_of, reduced, values_of
from playgrad.compression.structured_pruning import prune_units
from playgrad.errors import GraphError
from playgrad.graph.source import warn_user
from playgrad.models.model import Model
from playgrad.networks.shared_session import shared_session
from playgrad.nn.kept_weights import KEEP_ZEROS
from playgrad.ops.state import Variable
from playgrad.parallel.replicas import mirrored_by
from playgrad.training.callbacks import Callback, Logs

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class PolynomialSparsity:
    """Sparsity that grows while the network is trained (Zhu & Gupta 2017, *To prune, or not to
    prune*): after ``step`` steps it is
    ``final + (initial - final) * (1 - (step - begin) / steps) ** power``.

    Args:
        steps: the steps of training in which it grows.
        begin: the steps of training before that.
        every: steps between two times at which weights are set to 0.
        initial: the sparsity at the beginning.
        power: 3 prunes most of the weights early, while the network can still recover.

    Raises:
        GraphError: an argument is out of bounds.
    """

    steps: int
    begin: int = 0
    every: int = 50
    initial: float = 0.0
    power: float = 3.0

    def __post_init__(self) -> None:
        for name, least in (("steps", 1), ("begin", 0), ("every", 1)):
            value = getattr(self, name)
            if type(value) is not int or not least <= value < 1 << 31:
                raise GraphError(
                    f"{name} must be a whole number from {least} to 2,147,483,647, got "
                    f"{value!r:.40}."
                )
        _checked_sparsity(self.initial, "initial")
        if not isinstance(self.power, Real) or not 0 < float(self.power) <= 100:
            raise GraphError(f"power must be from 0 to 100, got {self.power!r:.40}.")

    def at(self, step: int, final: float) -> float:
        """Return the sparsity after ``step`` steps."""
        left = 1 - min(max(step - self.begin, 0), self.steps) / self.steps
        return final + (min(self.initial, final) - final) * left**self.power


def prune(
    model: Model,
    sparsity: float = 0.9,
    schedule: PolynomialSparsity | None = None,
    per_layer: bool = False,
    structured: bool = False,
) -> CompressedModel:
    """Return a copy of ``model`` in which the smallest weights are 0 (Han et al. 2015), or which is
    narrower.

    Kernels and other weights with two or more dimensions are pruned; biases are not. Zeros stay 0
    while the copy is trained further, with every optimizer and strategy.

    Args:
        model: it is built, and is not changed.
        sparsity: the share of weights that are 0, from 0 to below 1.
        schedule: None prunes now. Otherwise sparsity grows while ``fit`` or ``train_on_batch``
            trains the copy.
        per_layer: whether each layer has this share of zeros. Otherwise the smallest weights of the
            whole network are 0; the largest weight of each layer stays.
        structured: whether whole units and channels are removed, those with the smallest L2 norms
            of their weights (Li et al. 2017). Each layer loses this share of them, but not the
            last one, and layers after it become narrower as well: products and convolutions,
            normalization, activations, pooling, flattening, sums and concatenations. Layers whose
            users are others, or the outputs of the model, keep their width, and ``report()`` says
            so.

    Raises:
        GraphError: the model is not built or is quantized, an argument is out of bounds, or
            ``structured`` is combined with a schedule or with clusters, or no layer can become
            narrower.
        DataError: weights are NaN or infinite.
    """
    final = _checked_sparsity(sparsity, "sparsity")
    if not isinstance(schedule, PolynomialSparsity | None):
        raise GraphError(
            f"the schedule is {schedule!r:.60}.", hint="Pass a pg.PolynomialSparsity, or nothing."
        )
    if structured:
        if schedule is not None:
            raise GraphError(
                "a schedule sets single weights to 0, but units are removed at once.",
                hint="Prune several times with a growing sparsity, and train in between.",
            )
        if any(kernel.keep not in (None, KEEP_ZEROS) for kernel in kernels_of(model)):
            raise GraphError(
                f"the weights of '{model.name}' are clustered, so its units are not removed.",
                source=model.source,
                hint="Prune it first: pg.cluster(pg.prune(model, structured=True)).",
            )
        return prune_units(model, final)
    kernels = kernels_of(model)
    values = values_of(model, kernels)
    now = final if schedule is None else schedule.at(0, final)
    small, copies = reduced(model, dict(zip(kernels, pruned(values, now, per_layer), strict=True)))
    for kernel in kernels:
        copies[kernel].keep = copies[kernel].keep or KEEP_ZEROS
    if schedule is not None:
        small.own_callbacks = (*small.own_callbacks, _Growth(final, schedule, per_layer))
    return small


def pruned(values: Sequence[Array], sparsity: float, per_layer: bool) -> list[Array]:
    """Return arrays with the smallest of their values set to 0; of equal ones, the first."""
    if per_layer:
        return [each for value in values for each in pruned([value], sparsity, False)]
    if not values:
        return []
    sizes = [np.abs(value).reshape(-1) for value in values]
    for size in sizes:
        if size.size:
            size[np.argmax(size)] = np.inf
    joined = np.concatenate(sizes)
    count = round(sparsity * joined.size)
    smallest = np.zeros(joined.size, bool)
    smallest[np.argsort(joined, kind="stable")[:count]] = True
    smallest &= np.isfinite(joined)
    parts = np.split(smallest, np.cumsum([size.size for size in sizes])[:-1])
    return [
        np.where(part.reshape(value.shape), np.float32(0), value)
        for part, value in zip(parts, values, strict=True)
    ]


class _Growth(Callback):
    """Prunes more and more of the weights of the model that is trained."""

    ends_last = True

    def __init__(self, final: float, schedule: PolynomialSparsity, per_layer: bool) -> None:
        self._final, self._schedule, self._per_layer = final, schedule, per_layer
        self._before = 0
        self._step = 0

    def on_train_begin(self, logs: Logs) -> None:
        self._before = self._step  # of earlier trainings

    def get_state(self) -> dict[str, Any]:
        return {"before": self._before}

    def set_state(self, state: Any) -> None:
        self._before = int(state["before"])

    def steps_left(self, step: int) -> int:
        every, now = self._schedule.every, self._before + step
        left = self._schedule.begin + self._schedule.steps - now
        return min(every - now % every, left if left > 0 else every)

    def on_steps_end(self, step: int, logs: Logs) -> None:
        self._step = self._before + step
        schedule = self._schedule
        last = schedule.begin + schedule.steps
        if self._step < schedule.begin or self._step > last + schedule.every:
            return
        if self._step % schedule.every and self._step != last:
            return
        self._prune(self._step)

    def on_train_end(self, logs: Logs) -> None:
        schedule = self._schedule
        last = schedule.begin + schedule.steps
        due = last if self._step >= last else self._step - self._step % schedule.every
        if due >= schedule.begin and self._prune(due):
            warn_user(
                "the weights that training ended with, such as the best ones of EarlyStopping, are "
                "of a time with fewer zeros. They have been pruned again, and not been trained "
                "since. EarlyStopping(start_from_epoch=...) can wait for the complete sparsity, "
                f"after step {last:,}."
            )

    def _prune(self, step: int) -> bool:
        """Prune the weights as is due at ``step``; return whether one was set to 0."""
        schedule = self._schedule
        kernels = [v for v in self.model.trainable_variables if v.keep is not None]
        values = self.model.session.values(kernels)
        assigned = pruned(values, schedule.at(step, self._final), self._per_layer)
        zeros = {k: value == 0 for k, value in zip(kernels, assigned, strict=True)}
        is_new = any(
            (zero & (value != 0)).any() for zero, value in zip(zeros.values(), values, strict=True)
        )
        optimizer = self.model.optimizer
        if optimizer is not None and optimizer.use_ema:  # averages may become the weights
            averages = {optimizer.average_of(k): zero for k, zero in zeros.items()}
            zeros |= {average: zero for average, zero in averages.items() if average is not None}
        self._set_to_zero(zeros)
        return is_new

    def _set_to_zero(self, zeros: Mapping[Variable, Array]) -> None:
        """Set variables to 0 where arrays are true, also those of the replicas of a strategy."""
        by_name = {variable.variable_name: zero for variable, zero in zeros.items()}
        everywhere = dict(zeros)
        for kernel in list(zeros)[:1]:
            for mirror in shared_session(kernel.graph).mirrors:
                zero = by_name.get(mirrored_by(mirror.node.name))
                if zero is not None:
                    everywhere[mirror] = zero
        session = self.model.session
        values = session.values(list(everywhere))
        session.assign(
            {
                variable: np.where(zero, np.float32(0), value)
                for (variable, zero), value in zip(everywhere.items(), values, strict=True)
            }
        )


def _checked_sparsity(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) < 1:
        raise GraphError(f"{name} must be from 0 to below 1, got {value!r:.40}.")
    return float(value)
