"""Records the histograms of a network while it is trained.

While somebody looks, records are computed between steps. Until then, the recorder only keeps copies
of the weights, from the first step on (`WeightSnapshots`): the records of these steps are computed
when somebody looks, because their gradients and activations follow from the weights.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from playgrad.data.excerpt import Excerpt
from playgrad.inspection.histories import (
    MOST_RECORDS,
    Array,
    HistogramHistory,
    HistogramRecord,
    HistogramSeries,
    Kind,
    record_of,
    update_ratios,
)
from playgrad.inspection.probe import SAMPLES, SampleProbe
from playgrad.inspection.unseen_networks import check_looked_at, is_looked_at
from playgrad.inspection.weight_snapshots import WeightSnapshots
from playgrad.networks.network import Network
from playgrad.ops.state import Variable
from playgrad.training.callbacks import Callback
from playgrad.training.recipe import Recipe

if TYPE_CHECKING:
    from playgrad.training.training_loop import TrainingLoop

LEASE_SECONDS = 15.0
"""For which a question counts as interest in later records: the page asks at least every 10 s."""
LEAST_SECONDS = 0.25
"""Between two records; nobody sees more."""
LATER_SECONDS = 0.1
"""For which a look computes records of steps that are past; the page asks again for the others."""
LARGEST_SHARE = 0.05
"""Of the training time that recording may take."""
GUESSED_SECONDS = 0.05
"""Of the first record of a small network, which builds its gradients; later ones are measured."""


class HistogramRecorder:
    """The observer that records histograms, on a sample of the data.

    It changes nothing of the training: a record is computed by a `SampleProbe`. For the update
    ratio, the chunk after a record is a single step, and the weights are read once more after it.
    All of this takes at most `LARGEST_SHARE` of the time of the training, by measurement.

    Args:
        always: whether to record every training; otherwise only for `LEASE_SECONDS` after each
            `look`, and the weights before.

    Attributes:
        history: of the network that was trained last.
        snapshots: its weights at steps that have no record yet.
    """

    def __init__(self, always: bool = False) -> None:
        self.history = HistogramHistory()
        self.snapshots = WeightSnapshots()
        self._always = always
        self._wanted_until = 0.0
        self._network: Network | None = None
        self._probe: SampleProbe | None = None
        self._excerpt: Excerpt | None = None
        self._loop: TrainingLoop | None = None
        self._pending: tuple[int, dict[Variable, Array]] | None = None
        self._size_before: int | None = None
        self._spent = self._cost = 0.0
        self._recorded = 0.0

    @property
    def is_wanted(self) -> bool:
        """True while somebody looks."""
        return self._always or time.perf_counter() < self._wanted_until

    # Called by the training loop

    def begin(self, loop: TrainingLoop) -> None:
        """Begin to watch a fit. Fits of its callbacks are not watched."""
        if self._loop is not None:
            return
        self._loop = loop
        self._pending = self._size_before = None
        self._spent = self._cost = self._recorded = 0.0
        if loop.recipe.network is not self._network:
            self.forget()
            self._network = loop.recipe.network
        self.snapshots.begin()

    def between_chunks(self, loop: TrainingLoop) -> None:
        """Record the state if it is new, wanted, time to, and cheap enough."""
        if loop is not self._loop:
            return
        if self._pending is not None and loop.done > self._pending[0]:
            self._timed(self._finish_ratio)
        if self._pending is not None or self._is_known(loop):
            return
        if not self.is_wanted:
            self._timed(lambda: self._keep(loop))
        elif loop.watch.paused or self._may_record(loop):
            self._timed(lambda: self._record(loop))

    def lost(self, loop: TrainingLoop) -> bool:
        """Record the state before the step whose loss was not finite."""
        if loop is self._loop and self.is_wanted and not self._is_known(loop):
            self._timed(lambda: self._record(loop))
        return False

    def end(self, loop: TrainingLoop, completed: bool) -> None:
        """Record the state at the end."""
        if loop is not self._loop:
            return
        if self._pending is not None and loop.done > self._pending[0]:
            self._timed(self._finish_ratio)
        self._loop = self._pending = None
        if self.is_wanted:
            self._timed(lambda: self._record(loop))
        if self._probe is not None:
            self._probe.close()

    # Called by views

    def look(self, model: Any) -> HistogramHistory:
        """Return the history of ``model``, and record more from now on.

        If the training rests or has ended, that is at least its state now.

        Raises:
            GraphError: there is no data to look with, or the network is too large.
        """
        self._wanted_until = time.perf_counter() + LEASE_SECONDS
        check_looked_at(model)
        loop = self._loop
        if model.recipe.network is not self._network and loop is None:
            self.forget()
        if loop is not None and loop.watch.paused and not self._is_known(loop):
            self._timed(lambda: self._record(loop))
        elif loop is None:
            step = int(model.session.value(model.optimizer.iterations))
            steps = self.history.steps
            if not steps or steps[-1] < step:
                self._take(model.recipe, model.train_excerpt, step)
        if self.snapshots:
            self._compute_snapshots(model)
        if loop is None and self._probe is not None and not self.snapshots:
            self._probe.close()
        return self.history

    def forget(self) -> None:
        """Forget everything that was recorded."""
        if self._probe is not None:
            self._probe.close()
        self.history = HistogramHistory()
        self.snapshots = WeightSnapshots()
        self._network = self._probe = self._excerpt = None

    # Recording

    def _may_record(self, loop: TrainingLoop) -> bool:
        """Return whether a record now stays within the share of the time that it may take, and
        within the number of records that are kept."""
        steps = self.history.steps
        now = time.perf_counter()
        if not steps or not loop.done:
            return True  # the first is needed, and its cost is not known
        if loop.total and loop.first + loop.done - steps[-1] < loop.total // MOST_RECORDS:
            return False
        limit = LARGEST_SHARE * (loop.progress.seconds - self._spent)
        cost = self._cost or GUESSED_SECONDS
        return now - self._recorded >= LEAST_SECONDS and self._spent + cost <= limit

    def _is_known(self, loop: TrainingLoop) -> bool:
        steps = self.history.steps
        return bool(steps) and steps[-1] == loop.first + loop.done

    def _record(self, loop: TrainingLoop) -> None:
        model = loop.model
        if not is_looked_at(model):
            return
        began = time.perf_counter()
        before = self._take(loop.recipe, loop.state.train, loop.first + loop.done)
        if self._loop is not None:
            self._pending = loop.done, before
            self._size_before, loop.sizer.size = loop.sizer.size, 1
        self._recorded = time.perf_counter()
        self._cost = self._recorded - began

    def _take(self, recipe: Recipe, excerpt: Excerpt | None, step: int) -> dict[Variable, Array]:
        """Add a record of the network as it is now; return its weights."""
        weights = self._probe_of(recipe, excerpt).weights()
        self.history.add(self._recorded_with(weights, step))
        return weights

    def _probe_of(self, recipe: Recipe, excerpt: Excerpt | None) -> SampleProbe:
        assert excerpt is not None
        if self._probe is None or excerpt is not self._excerpt:
            if self._probe is not None:
                self._probe.close()
            self._network, self._excerpt = recipe.network, excerpt
            self._probe = SampleProbe(recipe, excerpt)
        return self._probe

    def _recorded_with(self, weights: dict[Variable, Array], step: int) -> HistogramRecord:
        assert self._probe is not None and self._network is not None
        with np.errstate(all="ignore"):
            results = self._probe.results(self._probe.feeds(SAMPLES, weights))
        return record_of(self._network, step, weights, results)

    def _keep(self, loop: TrainingLoop) -> None:
        """Keep the weights as they are now, if it is time to."""
        step = loop.first + loop.done
        if not self.snapshots.is_due(step, loop.total, loop.progress.seconds):
            return
        if not is_looked_at(loop.model):
            return
        assert loop.state.train is not None
        began = time.perf_counter()
        weights = SampleProbe(loop.recipe, loop.state.train).weights()
        self.snapshots.keep(step, weights, time.perf_counter() - began)

    def _compute_snapshots(self, model: Any) -> None:
        """Compute records of the weights that were kept, for a while."""
        end = time.perf_counter() + LATER_SECONDS
        self._probe_of(model.recipe, model.train_excerpt)
        while time.perf_counter() < end:
            kept = self.snapshots.pop_farthest(self.history.steps)
            if kept is None:
                break
            step, weights = kept
            self.history.insert(self._recorded_with(weights, step))

    def _finish_ratio(self) -> None:
        """Compute the update ratio of the step, or steps, after the last record."""
        loop, pending = self._loop, self._pending
        self._pending = None
        if loop is None or pending is None or self._probe is None:
            return
        if self._size_before is not None:
            loop.sizer.size = max(loop.sizer.size, self._size_before)
        done, before = pending
        after = self._probe.weights()
        steps = loop.done - done  # 1, but some strategies take several at once
        record = self.history.records[-1]
        record.ratios = update_ratios(loop.recipe.network, before, after, steps)

    def _timed(self, action: Any) -> None:
        """Do something that may fail in many ways, none of which concerns the program."""
        began = time.perf_counter()
        try:
            action()
        except Exception:
            self._pending = None
        finally:
            self._spent += time.perf_counter() - began


class Histograms(Callback):
    """Records histograms and update ratios of all layers during ``fit``.

    Usage::

        histograms = nn.Histograms()
        model.fit(x, y, epochs=5, callbacks=[histograms])
        histograms.history.layers                          # ["dense_1", "dense_2"]
        histograms.series("dense_1", "weights").counts     # (records, bins)
        histograms.ratios("dense_1")                       # about 1e-3 is usual

    At most 60 records, spread over the steps, among them the first and the last state. Recording
    takes at most a twentieth of the time of the training, and changes none of its losses. The
    network has one input and one output; of others nothing is recorded. Activations and gradients
    are computed for 64 samples of the data.
    """

    def __init__(self) -> None:
        self.observer = HistogramRecorder(always=True)

    @property
    def history(self) -> HistogramHistory:
        """The records of the last ``fit``; of further ones of the same network, all together."""
        history: HistogramHistory = self.observer.history
        return history

    def series(self, layer: str, kind: Kind) -> HistogramSeries:
        """Return the histograms of "weights", "gradients" or "activations" of a layer."""
        return self.history.series(layer, kind)

    def ratios(self, layer: str) -> Array:
        """Return the update ratio of a layer after each record; NaN where it is not known."""
        return self.history.ratios(layer)
