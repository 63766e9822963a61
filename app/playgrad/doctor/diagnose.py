"""``diagnose``: the problems of a model's training, on demand."""

from __future__ import annotations

import linecache
from collections.abc import Iterator, Sequence
from typing import Any, overload

from playgrad.doctor.evidence import Outcome
from playgrad.doctor.examination import Examination
from playgrad.doctor.finding import Finding
from playgrad.doctor.words import in_words
from playgrad.errors import GraphError
from playgrad.models.trainable import TrainableNetwork
from playgrad.training.excerpt import excerpt
from playgrad.training.prepare_data import prepare_data
from playgrad.training.sample_weights import Samples


class Diagnosis(Sequence[Finding]):
    """The findings of `diagnose`: a sequence that prints as sentences, one a line.

    Each has a ``code``, a ``place`` with ``node`` and ``line``, the ``values`` of its sentence, and
    an ``edit`` with ``applied(source)``, or None.
    """

    def __init__(self, findings: Sequence[Finding]) -> None:
        self._findings = tuple(findings)

    @overload
    def __getitem__(self, index: int) -> Finding: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Finding]: ...

    def __getitem__(self, index: int | slice) -> Finding | Sequence[Finding]:
        return self._findings[index]

    def __len__(self) -> int:
        return len(self._findings)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self._findings)

    def __str__(self) -> str:
        return "\n".join(map(in_words, self._findings)) or "Nothing is wrong that the doctor knows."

    __repr__ = __str__


def diagnose(model: TrainableNetwork, x: Any = None, y: Any = None) -> Diagnosis:
    """Return the problems of the last ``fit`` of ``model``, in plain sentences.

    Found are NaN, exploding and vanishing gradients, dead units, a loss that does not fall,
    overfitting, inputs and targets of the wrong scale, a learning rate that is off by ten, frozen
    layers, and labels that were shuffled against the inputs. Neither the weights nor the random
    numbers of the model change.

    Args:
        model: has been trained by ``fit``.
        x, y: samples to examine; None for some samples of the last ``fit``.

    Returns:
        A `Diagnosis`, empty if nothing was found.

    Raises:
        GraphError: the model has not been trained.
        DataError, ShapeError, DTypeError: the data does not fit.
    """
    history = model.history
    if history is None:
        raise GraphError(
            f"the model '{model.name}' has not been trained.", hint="Call model.fit(x, y) first."
        )
    samples = model.train_excerpt
    if x is not None:
        xs, ys = prepare_data(model.recipe, x, y, "")
        samples = excerpt(Samples(xs, ys, []))
    source = model.fit_source
    file = None if source is None else source[0]
    steps, epochs = len(history.losses), len(history.epoch)
    text = None if file is None else "".join(linecache.getlines(file))
    examination = Examination(
        model.recipe,
        history,
        samples,
        -(-steps // epochs) if epochs else None,
        source,
        file,
        text or None,
        model.test_excerpt,
    )
    try:
        outcome: Outcome = "not finite" if model.lost else "completed"
        if examination.probe is not None:
            examination.probe.assume_initial()
            if outcome == "not finite":
                examination.origin = examination.probe.origin(begins=not steps)
            examination.measured = examination.probe.layers(initial=outcome == "not finite")
        return Diagnosis(examination.findings(examination.evidence(outcome)))
    finally:
        examination.close()
