"""Watches trainings between their steps, reports problems, and pauses trainings that are lost."""

from __future__ import annotations

import ast
import contextlib
import time
import traceback
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from playgrad.doctor import thresholds
from playgrad.doctor.course import has_diverged
from playgrad.doctor.evidence import Location, Outcome
from playgrad.doctor.examination import Examination
from playgrad.doctor.finding import Finding
from playgrad.errors import DeviceLostError

if TYPE_CHECKING:
    from playgrad.training.training_loop import TrainingLoop

Report = Callable[[Sequence[Finding], bool], None]
_CHECK_SECONDS = 0.5
_LONGEST_MESSAGE = 200


class Inspector:
    """The observer of the trainings of a program: the option ``observer``.

    It never raises an error: a training that cannot be examined continues unobserved, and the
    first such failure is one of the findings.

    Args:
        source: the text of the program; None if it is not known.
        file: its name, as in the sources of nodes.
        report: receives the findings when they have changed, and whether the training is lost.
        pauses: whether to pause a training that is lost.
        defers: whether the last examination of a training waits for `conclude`.
    """

    def __init__(
        self,
        source: str | None,
        file: str | None,
        report: Report,
        pauses: bool = False,
        defers: bool = False,
    ) -> None:
        self._source, self._file = source, file
        self._report = report
        self._pauses, self._defers = pauses, defers
        self._loop: TrainingLoop | None = None
        self._examination: Examination | None = None
        self._outcome: Outcome = "running"
        self._findings: dict[int | None, list[Finding]] = {}
        self._reported: list[Finding] = []
        self._failure: Finding | None = None
        self._paused = self._lost = False
        self._spent = self._cost = 0.0
        self._checked = self._looked = 0.0
        self._began = 0.0

    @property
    def findings(self) -> list[Finding]:
        """Everything that is wrong with the trainings of the program, each once.

        The last one says if the examination failed.
        """
        everything = [each for findings in self._findings.values() for each in findings]
        if self._failure is not None:
            everything.append(self._failure)
        unique = {(each.code, each.place): each for each in everything}
        return list(unique.values())

    # Called by the training loop

    def begin(self, loop: TrainingLoop) -> None:
        """Begin to watch a fit. Fits of its callbacks are not watched."""
        if self._loop is not None:
            return
        self.conclude()
        self._loop, self._outcome, self._paused = loop, "running", False
        self._spent, self._cost = 0.0, thresholds.GUESSED_SECONDS
        self._began = self._checked = self._looked = time.perf_counter()
        self._safely(lambda: self._open(loop))

    def _open(self, loop: TrainingLoop) -> None:
        self._examination = Examination(
            loop.recipe,
            loop.history,
            loop.state.train,
            loop.steps_per_epoch,
            loop.state.source,
            self._file,
            self._source,
            loop.state.test,
        )

    def between_chunks(self, loop: TrainingLoop) -> None:
        """Examine the training if it is time to, and if that is cheap enough."""
        if loop is not self._loop or self._examination is None or not loop.done:
            return
        if self._outcome != "running" or loop.watch.paused:
            return  # nothing is new, and the weights of a lost training say nothing
        started = time.perf_counter()
        if self._examination.probe is not None and self._spent == 0.0:
            self._safely(self._examination.probe.remember)
            self._spent += max(time.perf_counter() - started, 1e-9)
        is_due = started - self._checked >= _CHECK_SECONDS and self._can_spend(loop, 0.0)
        examines = is_due and self._may_examine(loop)
        # Members of a run would decide differently: each has a clock of its own.
        is_due, examines = loop.watch.session.members.first_of((is_due, examines))
        if not is_due:
            return
        if examines:
            self._safely(self._see)
            self._cost = time.perf_counter() - started
            self._looked = time.perf_counter()
        self._safely(self._examine)
        self._spent += time.perf_counter() - started
        self._checked = time.perf_counter()

    def _may_examine(self, loop: TrainingLoop) -> bool:
        probe = self._examination.probe if self._examination is not None else None
        wait = thresholds.EXAMINATION_SECONDS
        if self._looked == self._began:
            wait = thresholds.FIRST_EXAMINATION_SECONDS
        return (
            probe is not None
            and time.perf_counter() - self._looked >= wait
            and self._can_spend(loop, self._cost)
            and probe.is_affordable
        )

    def _can_spend(self, loop: TrainingLoop, seconds: float) -> bool:
        limit = thresholds.LARGEST_SHARE * (loop.progress.seconds - self._spent)
        return self._spent + seconds <= limit

    def lost(self, loop: TrainingLoop) -> bool:
        """Learn that a loss was not finite. Return whether to pause before the error."""
        if loop is not self._loop or self._examination is None:
            return False
        self._outcome = "not finite"
        self._safely(self._search)
        self._safely(lambda: self._see(begun=loop.first == 0))
        return self._safely(self._examine) is True and self._pauses_now(loop)

    def end(self, loop: TrainingLoop, completed: bool) -> None:
        """Learn that a fit has ended."""
        if loop is not self._loop:
            return
        self._loop = None
        if self._outcome == "running":
            self._outcome = "completed" if completed else "stopped"
        if not self._defers:
            self.conclude()

    def conclude(self) -> None:
        """Examine the last training a last time."""
        examination = self._examination
        if examination is None:
            return
        if self._outcome in ("completed", "stopped"):
            self._safely(self._see)
            self._safely(self._examine)
        self._safely(examination.close)
        self._examination = None

    # Looking

    def _see(self, begun: bool = False) -> None:
        examination = self._examination
        if examination is not None and examination.probe is not None:
            examination.measured = examination.probe.layers(begun)

    def _search(self) -> None:
        examination, loop = self._examination, self._loop
        if examination is not None and examination.probe is not None and loop is not None:
            examination.origin = examination.probe.origin(begins=not loop.done)

    def _examine(self) -> bool:
        examination, loop = self._examination, self._loop
        if examination is None:
            return False
        evidence = examination.evidence(self._outcome)
        self._findings[evidence.fit.line] = examination.findings(evidence)
        lost = self._outcome == "not finite" or (loop is not None and has_diverged(evidence))
        if self.findings != self._reported or lost:
            self._reported = self.findings
            self._lost = lost and loop is not None
            self._report(self._reported, self._lost)
        if loop is not None and lost and self._outcome == "running" and self._pauses_now(loop):
            loop.watch.pause()
        return True

    def _pauses_now(self, loop: TrainingLoop) -> bool:
        """Return whether to pause: once, and never a program that watches its losses itself."""
        if not self._pauses or self._paused or loop.callbacks:
            return False
        self._paused = True
        return not _is_tried(self._source, loop.state.source)

    def _safely(self, action: Callable[[], object]) -> object:
        """Do something that may fail in many ways, none of which concerns the program."""
        try:
            return action()
        except DeviceLostError:
            return None  # the training meets it, too, and says so
        except Exception as error:
            if self._failure is None:
                self._failure = self._failed(error)
                self._reported = self.findings
                with contextlib.suppress(Exception):  # reporting itself may have failed
                    self._report(self._reported, self._lost)
            return None

    def _failed(self, error: Exception) -> Finding:
        """Return that the examination failed, with the last line of the program involved."""
        frames = traceback.extract_tb(error.__traceback__)
        lines = [each.lineno for each in frames if each.filename == self._file]
        message = str(error).strip().split("\n")[0][:_LONGEST_MESSAGE].rstrip(".")
        values = {"error": type(error).__name__, "message": message}
        return Finding("not-seen", Location(line=lines[-1] if lines else None), {**values})


def _is_tried(source: str | None, place: tuple[str, int] | None) -> bool:
    """Return whether the program catches the errors of the call in this line."""
    if source is None or place is None:
        return False
    return any(
        isinstance(node, ast.Try)
        and node.handlers
        and node.body[0].lineno <= place[1] <= (node.body[-1].end_lineno or place[1])
        for node in ast.walk(ast.parse(source))
    )
