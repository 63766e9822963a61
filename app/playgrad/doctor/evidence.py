"""The facts about a training that its illnesses are told from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

Array = np.ndarray[Any, Any]
Outcome = Literal["running", "completed", "stopped", "not finite"]


@dataclass(frozen=True)
class Location:
    """A node, and the line of the program that made it; None if unknown."""

    node: str | None = None
    line: int | None = None


@dataclass(frozen=True)
class LayerFacts:
    """A layer on the sample batch.

    Attributes:
        kind: that of the class, such as "dense".
        weights: the number of its weights.
        weight_norm: of its kernel and the like.
        gradient_norm: of their gradients; None if the loss does not depend on them.
        gradient_size: the root mean square of the gradients with the first weights.
        moved: how far the weights have gone from the first ones, over their norm.
        activation: the last operation, such as "relu".
        units: of the result, along its last axis.
        dead: the share of units that are 0 for every sample; None unless it ends in a ReLU.
        frozen: whether training leaves it out although it has weights.
        untrained: whether it still has its initial weights.
        constant: whether each of its kernels is one number everywhere.
    """

    place: Location
    kind: str
    weights: int = 0
    weight_norm: float = 0.0
    gradient_norm: float | None = None
    gradient_size: float = 0.0
    moved: float = 0.0
    activation: str = ""
    units: int = 0
    dead: float | None = None
    frozen: bool = False
    untrained: bool = False
    constant: bool = False


@dataclass(frozen=True)
class Spread:
    """The size of inputs or targets.

    Attributes:
        low, high, mean, deviation: of all values.
        means, deviations: of each feature of a table.
        size: the root mean square.
        dimensions: of a sample.
    """

    low: float
    high: float
    mean: float
    deviation: float
    size: float
    dimensions: int
    means: tuple[float, ...] = ()
    deviations: tuple[float, ...] = ()


@dataclass(frozen=True)
class NotFinite:
    """The first operation whose result is NaN or infinite although its inputs are not.

    Attributes:
        op: its name; "" if weights were not finite before the first step, the weights of ``place``.
    """

    place: Location
    op: str


@dataclass(frozen=True)
class Evidence:
    """The facts about a training, so far or at its end.

    Attributes:
        fit: where ``fit`` was called.
        losses: of every step.
        rows: samples of a round through the data over samples of a batch; None if not known.
        train_losses, test_losses: of each epoch.
        optimizer: its kind.
        rate: the learning rate; of a schedule the highest so far, None if it is not known.
        clipped: whether gradients are clipped.
        momentum: that of SGD.
        loss: the kind of the loss, "" if there are several.
        from_logits: whether it takes scores before softmax.
        baseline: the loss of always guessing the mean, or the frequencies of classes.
        inputs, targets: None if they are not numbers that could be scaled.
        agreement: how much more often than by chance neighbours have the same target, in standard
            errors.
        test_agreement: that of the test data, for as many samples.
        shuffles: whether the program shuffles one array alone.
        layers: in order; empty before the first look.
        outputs: units of the last layer; 0 if not known.
        sample_loss: the loss of the sample now.
        ahead: that of weights ``times`` as far from the first ones, in the same direction.
        not_finite: the origin of a NaN, if it was found.
    """

    fit: Location = Location()
    losses: Array = field(default_factory=lambda: np.zeros(0, np.float32))
    rows: int | None = None
    train_losses: tuple[float, ...] = ()
    test_losses: tuple[float, ...] = ()
    optimizer: str = "sgd"
    rate: float | None = None
    clipped: bool = False
    momentum: float = 0.0
    loss: str = ""
    from_logits: bool = False
    baseline: float | None = None
    inputs: Spread | None = None
    targets: Spread | None = None
    agreement: float | None = None
    test_agreement: float | None = None
    shuffles: bool = False
    layers: tuple[LayerFacts, ...] = ()
    outputs: int = 0
    sample_loss: float | None = None
    ahead: float | None = None
    times: float = 10.0
    not_finite: NotFinite | None = None
    outcome: Outcome = "running"

    @property
    def weighted(self) -> list[LayerFacts]:
        """The layers with weights."""
        return [layer for layer in self.layers if layer.weights]
