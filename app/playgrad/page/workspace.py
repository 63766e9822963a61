"""The current state of the user's program, which the page's questions are about."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from playgrad.errors import GraphError
from playgrad.inspection.histogram_recorder import HistogramRecorder
from playgrad.page.bench_view import BenchView
from playgrad.page.node_view import NodeViews
from playgrad.page.played_game import PlayedGame
from playgrad.page.prompt import Outcome
from playgrad.page.restored_model import RestoredModel
from playgrad.page.session_graphs import SessionGraphs
from playgrad.page.session_runs import SessionRuns
from playgrad.page.shown_model import LiveModel
from playgrad.page.shrinking import Shrinking

if TYPE_CHECKING:
    from playgrad.benchmark.measured_machine import MeasuredMachine


class Workspace(ABC):
    """The names, models, graphs and runs of the user's program.

    Attributes:
        model: the model that the last run trained; None if it has trained none.
        restored: the model of a checkpoint, which stands in until a run trains a model.
        built: a model that the program has built and not trained.
        namespace: the names of the program.
        graphs: the graphs that sessions have run, of a program that trains no model.
        runs: the last ones of the program's own sessions.
        game: the game that the program's player learns.
        shrinking: the smaller versions of the trained model; None before the first.
        speed: the measurement of the machine that is under way; None before the first.
    """

    def __init__(self, graphs: SessionGraphs) -> None:
        self.model: LiveModel | None = None
        self.restored: RestoredModel | None = None
        self.built: LiveModel | None = None
        self.namespace: dict[str, Any] = {}
        self.shrinking: Shrinking | None = None
        self.speed: MeasuredMachine | None = None
        self.game = PlayedGame()
        self.histograms = HistogramRecorder()
        self.graphs = graphs
        self.runs = SessionRuns()
        self.nodes = NodeViews(self.runs)
        self.bench = BenchView(self.nodes, self.runs)

    def trained(self) -> LiveModel | RestoredModel:
        """Return the trained model.

        Raises:
            GraphError: there is none.
        """
        if self.model is not None:
            return self.model
        if self.restored is None:
            raise GraphError("there is no trained model yet.", hint="Press Run first.")
        return self.restored

    def trained_here(self) -> LiveModel:
        """Return the model that the program has trained.

        Raises:
            GraphError: there is none, or it was restored without its program.
        """
        model = self.trained()
        if isinstance(model, RestoredModel):
            raise GraphError(
                "the model was restored without its program, which has the training step.",
                hint="Press Resume or Run.",
            )
        return model

    def shown(self) -> LiveModel | RestoredModel:
        """Return the trained model, or the one that was only built.

        Raises:
            GraphError: there is none.
        """
        return self.trained() if self.model is not None or self.built is None else self.built

    def answering(self) -> LiveModel | RestoredModel:
        """Return the smaller version of the trained model that was chosen, or else that model.

        Raises:
            GraphError: there is no trained model.
        """
        small = None if self.shrinking is None else self.shrinking.answering()
        return self.trained() if small is None else small

    def shrunk(self) -> Shrinking:
        """Return the smaller versions of the trained model.

        Raises:
            GraphError: none were begun.
        """
        if self.shrinking is None:
            raise GraphError("there are no smaller networks.", hint="Press Shrink.")
        return self.shrinking

    def forget_speed(self) -> None:
        """Leave the measurement of the machine, and free what it holds on devices."""
        if self.speed is not None:
            self.speed.run.close()
        self.speed = None

    def forget_shrunk(self) -> None:
        """Free the memory of smaller versions of the trained model, which has changed or gone."""
        if self.shrinking is not None:
            self.shrinking.close()
        self.shrinking = None

    @property
    def drawn(self) -> LiveModel | RestoredModel | None:
        """The model whose training step is drawn; None if graphs of sessions are, or nothing."""
        if self.model is not None:
            return self.model
        return None if self.graphs.programs else self.restored

    @abstractmethod
    def execute(self, code: str) -> Outcome:
        """Execute code that was typed at the prompt."""

    @abstractmethod
    def weights_changed(self) -> None:
        """Take note that the weights of the trained model were replaced."""
