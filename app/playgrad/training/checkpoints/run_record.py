"""The record of a run: the models that it trains and the fits that it makes, for checkpoints.

A resumed run is the same program, run from the start by a new interpreter. Each of its fits is
compared with the fit of the same number in the checkpoint: one that was completed there returns at
once, with the state loaded; the fit that was under way continues at its step.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from weakref import WeakKeyDictionary

from playgrad import errors
from playgrad.errors import CheckpointError, DeviceLostError, GraphError, PlaygradError
from playgrad.graph.graph import Graph
from playgrad.networks.network import Network
from playgrad.runtime.hooks import get_hooks
from playgrad.training.checkpoints.capture import (
    RunningFit,
    captured_for_resuming,
    model_record,
    same_state,
)
from playgrad.training.checkpoints.record import Checkpoint, FitRecord
from playgrad.training.checkpoints.resume import HINT, take_over
from playgrad.training.checkpoints.schedule import CheckpointSchedule

LARGEST_BYTES = 256 << 20
"""Values of variables in one checkpoint. Beyond, models that were trained earlier are left out: a
resumed run trains them again."""
_GONE = (DeviceLostError, GraphError)
"""Errors of reading a state: a device was lost, or the program has closed the model."""


class RunRecord:
    """The models that a run trains, and the fits that it makes.

    Args:
        send: receives each checkpoint.
        resumed: the checkpoint that the run resumes.
        spread: whether checkpoints are spread over each training; see `CheckpointSchedule`.
        every: the number of steps between two checkpoints; None to go by the time.

    Attributes:
        fitting: whether a fit is under way. Fits that callbacks make within it are not recorded.
    """

    def __init__(
        self,
        send: Callable[[Checkpoint], None],
        resumed: Checkpoint | None = None,
        spread: bool = False,
        every: int | None = None,
    ) -> None:
        self.fitting = False
        self._send = send
        self._resumed = resumed
        self._states: WeakKeyDictionary[Graph, int] = WeakKeyDictionary()
        self._models: WeakKeyDictionary[Network, int] = WeakKeyDictionary()
        self._checkpoint = Checkpoint([], [], [], 0)
        self._fit: RunningFit | None = None  # the last one
        self._model = 0  # of that fit
        self._outcome: tuple[str, list[str] | None] = ("running", None)
        self._unsent = False  # the fit may have changed since
        self._is_read = False  # and so much of it is in `_checkpoint`
        self._schedule = CheckpointSchedule(spread, every)
        self._tried_steps = -1  # of the fit at its last checkpoint, which may have failed
        self._problem: CheckpointError | None = None  # of the last checkpoint
        self._has_told = False

    # Called by `fit`

    def begin(self, fit: RunningFit) -> FitRecord | None:
        """Add a fit, whose step has been built.

        Returns:
            The fit of the same number in the resumed checkpoint, whose state has been loaded; None
            if it has to train from its first step.

        Raises:
            CheckpointError: the network or the data differ from those in the checkpoint, or more
                was trained than the program asks for.
        """
        if self._unsent:
            with suppress(*_GONE):  # then the last values that were read count
                self._capture()  # the model may be freed soon
        if self._problem is not None:
            self._tell(self._problem)
        model = self._number_of(fit)
        number = len(self._checkpoint.fits)
        recorded = self._recorded(fit, number, model)
        self._checkpoint.fits.append(recorded or replace(fit.record(), model=model))
        self._fit, self._model, self._outcome = fit, model, ("running", None)
        self._unsent = True
        self._tried_steps = -1
        if recorded is not None and recorded.outcome != "completed":
            assert self._resumed is not None
            if number < len(self._resumed.fits) - 1:
                raise _failure(recorded)
        self.fitting = True
        is_known = recorded is not None and recorded.step > 0
        self._schedule.begin(time.perf_counter(), self._checkpoint.models[model].size, is_known)
        return recorded

    def go_on(self, fit: RunningFit) -> None:
        """Let ``fit`` take the place of the last one, of which it is the rest."""
        self._fit, self._outcome = fit, ("running", None)
        self.fitting = True

    def between_chunks(self) -> None:
        """Send a checkpoint if it is time for one. If that fails, the next one is tried again."""
        assert self._fit is not None
        done = self._fit.done
        is_due = self._schedule.is_due(time.perf_counter(), done) and done != self._tried_steps
        if self._decided(is_due):
            try:
                self._make()
            except CheckpointError as error:
                self._tell(error)

    def steps_left(self) -> int:
        """Return how many more steps of the fit may be run before `between_chunks`."""
        assert self._fit is not None
        return self._schedule.steps_left(self._fit.done)

    def end(self, error: BaseException | None = None) -> None:
        """End the fit that is under way. Send a checkpoint, unless it would be one of very many.

        Args:
            error: the error that ended the fit early.
        """
        self.fitting = False
        self._unsent = True
        self._outcome = _outcome(error)
        if self._decided(self._schedule.end(time.perf_counter())):
            with suppress(*_GONE, CheckpointError):  # `flush` tries again to write it
                self._make()

    # Called by the observer of the run

    @property
    def has_fits(self) -> bool:
        """True once a fit has begun."""
        return self._fit is not None

    def flush(self, always: bool = False) -> None:
        """Send a checkpoint of the last fit's model if it has changed since the last checkpoint.

        Args:
            always: send it even if nothing has changed.

        Raises:
            CheckpointError: the last state of the fit cannot be written.
        """
        if self._fit is None:
            return
        states = self._checkpoint.states
        number = self._number_of_state(self._fit.recipe.network.graph)
        before = states[number]
        try:
            self._capture()
        except _GONE:
            is_due = self._is_read
        else:
            is_due = always or self._unsent or not same_state(before, states[number])
        if is_due:
            self._deliver()

    # Checkpoints

    def _make(self) -> None:
        started = time.perf_counter()
        self._capture()
        try:
            self._deliver()
        finally:  # a failure costs as much
            now = time.perf_counter()
            self._schedule.made(now, now - started)

    def _deliver(self) -> None:
        assert self._fit is not None
        self._tried_steps = self._fit.done
        try:
            self._send(self._checkpoint)
        except CheckpointError as error:
            self._problem = error
            raise
        self._problem = None
        self._schedule.made(time.perf_counter())
        self._unsent = self._is_read = False

    def _decided(self, is_due: bool) -> bool:
        """Return what the first member of the run decides by its clock."""
        assert self._fit is not None
        return self._fit.recipe.network.session.members.first_of(is_due)

    def _tell(self, error: CheckpointError) -> None:
        """Warn that there is no new checkpoint: once, as later ones may fail as well."""
        if not self._has_told:
            self._has_told = True
            get_hooks().unsaved(error)

    def _capture(self) -> None:
        """Read the state of the last fit and its model from the devices.

        Raises:
            GraphError: the program has closed the model.
            DeviceLostError: values were lost.
        """
        assert self._fit is not None
        captured = captured_for_resuming(self._fit)
        if len(captured.rest):
            self._fit.show_rest(captured.rest)
        outcome, error = self._outcome
        record = replace(captured.fit, model=self._model, outcome=outcome, error=error)
        checkpoint = self._checkpoint
        checkpoint.fits[-1] = record
        checkpoint.current = self._model
        checkpoint.states[checkpoint.model.state] = captured.state
        self._is_read = True
        self._leave_out()

    def _leave_out(self) -> None:
        """Leave out the values of models that were trained earlier if there are too many."""
        checkpoint = self._checkpoint
        latest = dict.fromkeys(checkpoint.models[fit.model].state for fit in checkpoint.fits[::-1])
        size = 0
        for number in latest:
            state = checkpoint.states[number]
            size += sum(array.nbytes for array in (state or {}).values())
            if size > LARGEST_BYTES and number != checkpoint.model.state:
                checkpoint.states[number] = None

    # Models

    def _number_of(self, fit: RunningFit) -> int:
        """Return the number of the model of ``fit``, whose description is renewed."""
        network, models = fit.recipe.network, self._checkpoint.models
        number = self._models.setdefault(network, len(models))
        record = model_record(network, fit.recipe, self._number_of_state(network.graph))
        models[number : number + 1] = [record]
        return number

    def _number_of_state(self, graph: Graph) -> int:
        states = self._checkpoint.states
        number = self._states.setdefault(graph, len(states))
        if number == len(states):
            states.append(None)
        return number

    # Resuming

    def _recorded(self, fit: RunningFit, number: int, model: int) -> FitRecord | None:
        """Return the fit of this number in the resumed checkpoint, and load its state."""
        if self._resumed is None or number >= len(self._resumed.fits):
            return None
        recorded = self._resumed.fits[number]
        before = self._resumed.models[recorded.model]
        if self._resumed.states[before.state] is None:
            return None  # left out: it is trained again
        if recorded.model != model:
            raise CheckpointError(
                "the program trains its models in another order than when the checkpoint was made.",
                hint=HINT,
            )
        return take_over(fit, self._checkpoint.models[model], self._resumed, recorded)


def _failure(recorded: FitRecord) -> BaseException:
    """Return the error with which a fit ended that was followed by others: the program caught
    it."""
    kind, message = recorded.error or ("KeyboardInterrupt", "training was stopped")
    if kind == "KeyboardInterrupt":
        return KeyboardInterrupt(message)
    error = getattr(errors, kind, None)
    if isinstance(error, type) and issubclass(error, PlaygradError):
        return error(message)
    return CheckpointError(f"a fit failed before the checkpoint was made: {kind}: {message}")


def _outcome(error: BaseException | None) -> tuple[str, list[str] | None]:
    if error is None:
        return "completed", None
    text = error.message if isinstance(error, PlaygradError) else str(error)
    outcome = "failed" if isinstance(error, Exception) else "running"
    return outcome, [type(error).__name__, text]
