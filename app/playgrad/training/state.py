"""The state of a model's training, which the model shows to users and to the page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from playgrad.data.excerpt import Excerpt
from playgrad.data.graph_excerpt import GraphExcerpt
from playgrad.data.input_description import InputDescription
from playgrad.training.callbacks import History
from playgrad.training.checkpoints.record import Checkpoint
from playgrad.training.steps import TrainStep


@dataclass
class TrainingState:
    """The state of the last ``fit``, running or finished.

    Attributes:
        history: its losses and metrics; None before the first ``fit``.
        step: its training step; None before the first ``fit``.
        input: the description of its data, or that of the file that the model was loaded from; None
            if there is none, or if the data cannot be pictures.
        stop: whether training is to end after this epoch.
        train, test: some of the samples that it trains and is evaluated with; None if there are
            none, or if the model has several inputs or outputs.
        graph: the only sample that it trains with, if it may be a graph; else None.
        source: file and line of the program that called it.
        lost: whether it ended with a loss that was NaN or infinite.
        loop: its training loop; None before the first ``fit``.
        loaded: the checkpoint that the model was loaded from, if it was.
    """

    history: History | None = None
    step: TrainStep | None = None
    input: InputDescription | None = None
    stop: bool = False
    train: Excerpt | None = None
    test: Excerpt | None = None
    graph: GraphExcerpt | None = None
    source: tuple[str, int] | None = None
    lost: bool = False
    loop: Any = None  # a `RunningFit`, of a module that imports this one
    loaded: Checkpoint | None = None
