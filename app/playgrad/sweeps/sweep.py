"""Sweeps: one program or function, trained with many settings, several at the same time."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from playgrad.errors import DataError, GraphError
from playgrad.parallel.ray_cluster import Ray
from playgrad.sweeps.halving import Halving
from playgrad.sweeps.pool import Message, Pool, TrialPool
from playgrad.sweeps.ray_trial import RayTrials
from playgrad.sweeps.record import WEIGHTS, SweepFolder
from playgrad.sweeps.result import SweepResult
from playgrad.sweeps.space import Between, Value, combinations
from playgrad.sweeps.subject import Subject
from playgrad.sweeps.trial import CUT, DONE, FAILED, RUNNING, SweepTrial, finite
from playgrad.sweeps.trial_process import TrialProcess
from playgrad.sweeps.worker import TrialJob

ATTEMPTS = 2
"""How often a trial is started that fails."""
MOST_PARALLEL = 256


class Sweep:
    """Trials that run in processes, until all have ended.

    Args:
        subject: what is trained.
        grid, random, trials: the settings to try; see `combinations`.
        folder: for the record, from which the sweep is continued.
        metric: the loss or metric to compare; None for ``val_loss`` where there is one, else
            ``loss``, or the number that the function returned.
        mode: "min" or "max"; "auto" asks the loss or metric of that name.
        halving: the rule that ends trials early, or None.
        options: values for `Options`, for each trial; its ``seed`` is that of what is drawn, too.
        parallel: the number of trials at the same time; None for one for every two cores, or as
            many as the cluster holds.
        ray: where the processes run, in place of this machine.
        pool: runs the trials in place of processes.
        report: receives each trial that has ended.

    Raises:
        DataError: there is nothing to try, or a number is out of bounds.
        CheckpointError: the folder cannot be created or read, or has another sweep.
    """

    def __init__(
        self,
        subject: Subject,
        grid: Mapping[str, Sequence[Value]],
        random: Mapping[str, Between | Sequence[Value]],
        trials: int | None,
        folder: Path,
        *,
        metric: str | None,
        mode: str,
        halving: Halving | None,
        options: Mapping[str, Any],
        parallel: int | None,
        ray: Ray | None,
        report: Callable[[SweepTrial], None],
        pool: Pool | None = None,
    ) -> None:
        settings = combinations(grid, random, trials, options["seed"])
        if parallel is not None and not 1 <= parallel <= MOST_PARALLEL:
            raise DataError(f"parallel is from 1 to {MOST_PARALLEL}, got {parallel}.")
        about = _about(subject, grid, random, metric, mode, halving, options)
        self.subject = subject
        self.folder = SweepFolder(folder, about)
        former = self.folder.former
        numbered = [SweepTrial(number, each) for number, each in enumerate(settings, start=1)]
        self.trials = [former.get(trial.number, trial) for trial in numbered]
        # Of a longer sweep before: they have run, so they count.
        self.trials += [t for n, t in sorted(former.items()) if n > len(numbered)]
        self.metric = metric
        self.mode = mode
        self.direction = "min"
        self.halving = halving
        self.options = dict(options)
        self.parallel = parallel
        self.ray = ray
        self.pool = pool
        self.report = report

    def run(self) -> SweepResult:
        """Run the trials that have not ended, and return all.

        Raises:
            GraphError: the metric is none of the program's, or has no direction.
            CheckpointError: the record cannot be written.
            DeviceError: Ray cannot be used.
        """
        for trial in self.trials:  # before anything is run
            self.subject.with_settings(trial.settings)
            if trial.ended:
                self._compare(trial)
        waiting = [n for n, trial in enumerate(self.trials) if not trial.ended]
        running: dict[Future[Message], tuple[int, float]] = {}
        try:
            with self._pool() as pool:
                while waiting or running:
                    while waiting and len(running) < pool.parallel:
                        number = waiting.pop(0)
                        running[self._start(pool, number)] = (number, time.monotonic())
                    for future in pool.wait(running):
                        number, started = running.pop(future)
                        if self._ended(number, future.result(), time.monotonic() - started):
                            waiting.insert(0, number)
        finally:
            self.folder.write(self.trials)
        result = self.result()
        if self.subject.program is not None and result.ranked:
            source, name = self.subject.source, self.subject.name
            self.folder.write_project(source, name, result.ranked, result.best)
        return result

    @contextmanager
    def _pool(self) -> Iterator[Pool]:
        """Provide what runs trials, and end all of them after the block."""
        if self.pool is not None:
            self.pool.parallel = self.parallel or self.pool.parallel
            with closing(self.pool) as pool:
                yield pool
            return
        cores = os.cpu_count() or 1
        if self.ray is None:
            parallel = self.parallel or max(1, cores // 2)
            start = partial(TrialProcess, threads=max(1, cores // parallel))
            with closing(TrialPool(start, parallel)) as processes:
                yield processes
            return
        with self.ray.connected() as ray:
            capacity = self.ray.capacity(ray)  # an error if trials would wait for ever
            parallel = self.parallel or min(MOST_PARALLEL, capacity)
            with closing(TrialPool(RayTrials(ray, self.ray).start, parallel)) as actors:
                yield actors

    def result(self) -> SweepResult:
        """Return the trials as they are."""
        return SweepResult(list(self.trials), self.metric or "", self.direction, self.folder.path)

    def _start(self, pool: Pool, number: int) -> Future[Message]:
        trial = self.trials[number]
        self.trials[number] = trial = trial.with_(state=RUNNING, attempts=trial.attempts + 1)
        job = TrialJob(
            dict(trial.settings), self.subject.program, self.subject.with_settings(trial.settings),
            self.options, str(self.folder.weights_of(trial)), str(self.folder.log_of(trial)),
            self.halving.milestones if self.halving else [],
        )  # fmt: skip
        return pool.submit(job, self._continues)

    def _continues(self, message: Message) -> bool:
        """Return whether a trial that has reached a milestone continues."""
        assert self.halving is not None
        name = self._named(message["metrics"])
        value = message["metrics"][name]
        largest = self._direction_of(name, message["directions"]) == "max"
        return self.halving.continues(message["epoch"], -value if largest else value)

    def _named(self, metrics: Mapping[str, float]) -> str:
        """Return the name of the metric to compare."""
        name = self.metric or next((n for n in ("value", "val_loss", "loss") if n in metrics), "")
        if name not in metrics:
            raise GraphError(
                f"the trials have no metric {self.metric!r}."
                if self.metric
                else "the trials have several results, and none is called value or loss.",
                hint=f"Choose one of {', '.join(metrics)}; val_... needs validation_data.",
            )
        return name

    def _direction_of(self, name: str, directions: Mapping[str, str | None]) -> str:
        """Return "min" or "max", whichever is better."""
        if self.mode != "auto":
            return self.mode
        direction = directions.get(name) or ("min" if name in ("value", "loss") else None)
        if direction is None:
            raise GraphError(
                f"nothing says whether smaller or larger values of {name!r} are better.",
                hint="Pass mode='max' or mode='min', on the command line --mode.",
            )
        return direction

    def _compare(self, trial: SweepTrial) -> None:
        """Learn from a trial that has ended what is compared."""
        self.metric = self._named(trial.metrics)
        self.direction = self._direction_of(self.metric, trial.facts["directions"])

    def _ended(self, number: int, message: Message, seconds: float) -> bool:
        """Take over how a trial has ended; return whether it is to be started again."""
        # Its own, if it has ended well: without the time in which it waited for a place.
        seconds = message.get("seconds", round(seconds, 3))
        trial = self.trials[number].with_(seconds=seconds)
        if message["kind"] == "error":
            again = trial.attempts < ATTEMPTS
            state = RUNNING if again else FAILED
            self.trials[number] = trial.with_(state=state, error=message["text"])
        else:
            again = False
            facts = message["facts"] | {"directions": message["directions"]}
            trial = trial.with_(
                state=CUT if message["cut"] else DONE, metrics=message["metrics"], facts=facts,
                steps=message["steps"], losses=message["losses"], error="",
            )  # fmt: skip
            self._compare(trial)
            assert self.metric is not None
            self.trials[number] = trial.with_(value=finite(trial.metrics[self.metric]))
            self._keep_best(self.trials[number])
        self.folder.write(self.trials)
        if not again:
            self.report(self.trials[number])
        return again

    def _keep_best(self, trial: SweepTrial) -> None:
        """Keep the weights of the best trial, and delete the others' weights."""
        ranked = self.result().ranked
        file, best = self.folder.weights_of(trial), self.folder.path / WEIGHTS
        if not ranked or ranked[0].number != trial.number:
            file.unlink(missing_ok=True)
        elif file.exists():
            os.replace(file, best)
        else:  # it trained no model
            best.unlink(missing_ok=True)


def _about(
    subject: Subject,
    grid: Mapping[str, Sequence[Value]],
    random: Mapping[str, Between | Sequence[Value]],
    metric: str | None,
    mode: str,
    halving: Halving | None,
    options: Mapping[str, Any],
) -> dict[str, Any]:
    """Return what must be the same for a sweep to be continued; the number of trials need not."""
    return {
        "program": subject.name,
        "text": subject.digest,
        "grid": {name: list(values) for name, values in grid.items()},
        "random": {
            name: vars(values) if isinstance(values, Between) else list(values)
            for name, values in random.items()
        },
        "metric": metric,
        "mode": mode,
        "halving": None if halving is None else [halving.epochs, halving.first, halving.factor],
        "options": dict(options),
    }


def print_trial(trial: SweepTrial) -> None:
    """Print how a trial ended."""
    print(trial_in_words(trial), flush=True)


def trial_in_words(trial: SweepTrial) -> str:
    """Return a line about how a trial ended."""
    if trial.state == FAILED:
        return f"{trial} failed {trial.attempts} times: {trial.error}"
    value = math.nan if trial.value is None else trial.value
    early = ", ended early" if trial.state == CUT else ""
    return f"{trial}: {value:.4g}, {trial.seconds:.1f} s{early}"
