"""``playgrad train``: runs a program that trains a model, and reports the result."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playgrad import paths
from playgrad.cli.bar import ProgressBar
from playgrad.cli.checkpoint_folder import CheckpointFolder
from playgrad.cli.export import export, written
from playgrad.cli.late_errors import LateErrors
from playgrad.cli.own_loops import finish_without_fit
from playgrad.cli.run_report import write_report
from playgrad.cli.strategy_options import passed_options
from playgrad.cli.watchable import watchable
from playgrad.compiler.planner import Automatic
from playgrad.devices.kinds import kind_of
from playgrad.devices.machines import full_name
from playgrad.devices.registry import ensure_devices
from playgrad.doctor.inspector import Inspector
from playgrad.doctor.words import in_words
from playgrad.errors import (
    CheckpointError,
    DeviceError,
    DeviceLostError,
    NonFiniteError,
    PlaygradError,
)
from playgrad.graph.graph import MIXED, get_default_graph
from playgrad.networks.shared_session import shared_session
from playgrad.runtime.default_device import AUTO, default_device
from playgrad.runtime.hooks import Event, Hooks, Request, set_hooks
from playgrad.runtime.members import current_members
from playgrad.runtime.options import Options, options_set
from playgrad.runtime.phrases import phrase
from playgrad.runtime.program_file import run_program
from playgrad.runtime.timeline import timeline
from playgrad.runtime.trace import Trace
from playgrad.signals import signals
from playgrad.training.checkpoints.project_file import SavedProgram
from playgrad.training.checkpoints.run_record import RunRecord
from playgrad.training.strategies.base import Strategy
from playgrad.training.strategies.registry import strategy_named

if TYPE_CHECKING:
    from playgrad.watching.broadcast import Broadcast

_LAST_STEPS = 100
"""Number of steps that ``train_loss`` is the mean of: the loss of a single batch is noisy."""
_MOST_LOSSES = 3
"""Number of devices that may be lost one after the other without a step in between."""


class TrainHooks(Hooks):
    """Shows progress, and stores the model and the events of the last ``fit``.

    Args:
        holds: whether a signal stops training between two steps, as checkpoints need.
        broadcast: tells those who watch, if anybody may.

    Attributes:
        looped: the model that a training loop of the program's own trained last, or None.
    """

    def __init__(
        self, bar: ProgressBar, holds: bool = False, broadcast: Broadcast | None = None
    ) -> None:
        self.bar = bar
        self._broadcast = broadcast
        self._holds = holds
        self._under_way = 0  # fits within each other
        self.model: Any = None
        self.looped: Any = None
        self.facts: dict[str, Any] = {}
        self._losses = 0
        self._told: list[str] = []

    def fitting(self, model: Any) -> None:
        """Note the model, and say why it trains on its device and in which precision, once."""
        self.model = model
        if model.training_loop.has_ended:  # in the checkpoint that is resumed
            self.facts = _facts_of(model)
        elif self._holds:
            self._under_way += 1
            signals.hold()
        reason = model.session.device_reason
        told = [f"training on {reason}"] if reason else []
        told += [phrase("mixed")] if model.precision == MIXED else []
        for text in told:
            if text not in self._told:
                self._say(text)
        self._told = told
        if self._broadcast is not None:
            self._broadcast.fitting(model)

    def looping(self, model: Any) -> None:
        self.looped = model

    def continues(self, error: DeviceLostError) -> bool:
        """Report a lost device. Training continues, unless devices are lost at every start."""
        self._losses += 1
        if self._losses > _MOST_LOSSES or current_members().size > 1:
            return False
        self._say(f"{error.message} Training continues.")
        return True

    def unsaved(self, error: CheckpointError) -> None:
        self._say(f"{error}\nplaygrad: training continues, and later checkpoints are tried again.")

    def _say(self, text: str) -> None:
        """Print a line on standard error. Training continues if that is impossible, too."""
        self.bar.close()
        with suppress(OSError):
            print(f"playgrad: {text}", file=sys.stderr, flush=True)

    def stopped(self) -> bool:
        return signals.pending

    def poll(self) -> list[Request]:
        if self._broadcast is not None:
            self._broadcast.send_output()
        return []

    def new_trace(self) -> Trace | None:
        return None if self._broadcast is None else self._broadcast.new_trace()

    def traced(self, trace: Trace, steps: int, seconds: float) -> None:
        if self._broadcast is not None:
            self._broadcast.traced(trace, steps, seconds)

    def emit(self, event: Event) -> None:
        self.bar.show(event)
        if self._broadcast is not None:
            self._broadcast.emit(event)
        if event["kind"] == "progress":
            self._losses = 0
        if event["kind"] in ("fit_begin", "epoch_end", "fit_end"):
            self.facts.update(event)
        if event["kind"] == "fit_end" and self._under_way:
            self._under_way -= 1
            if not self._under_way:
                signals.release(event["reason"] == "stopped")


def _facts_of(model: Any) -> dict[str, Any]:
    """Return what events would tell of a training that was completed before."""
    loop, session = model.training_loop, model.session
    means = {name: values[-1] for name, values in model.history.history.items()}
    accuracies = [name for name in means if name.startswith("val_") and name.endswith("accuracy")]
    return {
        "device": session.device,
        "precision": session.precision,
        "adapter": session.adapter,
        "epochs": loop.initial_epoch + loop.epochs,
        "batch_size": loop.step.batch,
        "parameters": model.count_params(),
        "test_loss": means.get("val_loss"),
        "test_accuracy": means[accuracies[0]] if accuracies else None,
        "dispatches_per_step": session.dispatches(loop.step.run),
    }


def find_program(name: str) -> Path | None:
    """Return the path of the example or file ``name``, or None if neither exists."""
    example = paths.static() / "examples" / f"{name}.py"
    if "/" not in name and os.path.isfile(example):
        return example
    return Path(name) if os.path.isfile(name) else None  # False also for names that are too long


def train(program: Path, options: argparse.Namespace) -> int:
    """Run ``program``; the command line's options override the program's."""
    bar = ProgressBar(sys.stderr)
    with watchable(program, options) as broadcast:
        return _train(program, options, bar, broadcast)


def _train(
    program: Path, options: argparse.Namespace, bar: ProgressBar, broadcast: Broadcast | None
) -> int:
    trace = Trace() if options.trace or options.parallel else None
    overrides = Options(
        device=None if options.device == AUTO else options.device,
        precision=options.precision,
        epochs=options.epochs,
        steps=options.steps,
        batch_size=options.batch_size,
        seed=options.seed,
        verbose=0,
        trace=trace,
        strategy=_strategy(options),
        fallback_strategy=_of_members(),
        placement=_placement(options),
        observer=_inspector(program) if options.doctor else None,
        record=_record(program, options),
    )
    record = overrides.record
    # Members of a run must stop after the same step.
    holds = record is not None or current_members().size > 1
    hooks = TrainHooks(bar, holds, broadcast)
    before = set_hooks(hooks)
    problems = LateErrors()
    try:
        with options_set(overrides):
            started = time.perf_counter()
            try:
                try:
                    run_program(program, options.seed or 0)
                finally:
                    if record is not None:
                        with problems.kept():
                            record.flush()
                findings = _diagnose(overrides.observer, hooks)
                if hooks.model is None or hooks.model.history is None:
                    seconds = time.perf_counter() - started
                    finish_without_fit(program, options, hooks.looped, seconds, problems)
                else:
                    _finish(program, options, hooks, trace, findings, problems)
            except BaseException as error:
                problems.add_to(error)
                raise
            problems.report()
    except NonFiniteError:
        _diagnose(overrides.observer, hooks)
        raise
    except DeviceError as error:
        _rescue(options, hooks, error)
        raise
    finally:
        hooks.bar.close()
        set_hooks(before)
        for model in (hooks.model, hooks.looped):
            if model is not None:
                model.close()
        shared_session(get_default_graph()).close()  # of functions without a model
    return 0


def _record(program: Path, options: argparse.Namespace) -> RunRecord | None:
    """Return what makes checkpoints of the run, and resumes it from the last one.

    Raises:
        CheckpointError: the folder cannot be created, or none of its checkpoints is whole.
    """
    if options.checkpoint is None:
        return None
    text = program.read_text(encoding="utf-8", errors="replace")
    folder = CheckpointFolder(options.checkpoint, SavedProgram(program.stem, text))
    folder.create()
    last = folder.last() if options.resume else None
    resumed = current_members().first_of(None if last is None else last[1])
    if resumed is not None:
        steps = sum(fit.step for fit in resumed.fits)
        print(f"playgrad: continuing after step {steps:,}", file=sys.stderr, flush=True)
    return RunRecord(folder.write, resumed, every=options.checkpoint_every)


def _inspector(program: Path) -> Inspector:
    text = program.read_text(encoding="utf-8", errors="replace")
    return Inspector(text, str(program), lambda findings, lost: None)


def _diagnose(inspector: Inspector | None, hooks: TrainHooks) -> list[str] | None:
    """Print what the doctor has found, beside the results rather than among them; return it."""
    if inspector is None:
        return None
    hooks.bar.close()
    lines = [in_words(finding) for finding in inspector.findings]
    for line in lines or ["nothing is wrong that the doctor knows."]:
        print(f"doctor: {line}", file=sys.stderr, flush=True)
    return lines


def _rescue(options: argparse.Namespace, hooks: TrainHooks, error: DeviceError) -> None:
    """Write the weights that are left after the loss of a device that cannot be replaced."""
    model = hooks.looped if hooks.model is None else hooks.model
    if options.export is None or model is None:
        return
    try:
        export(model, options.export)
    except PlaygradError as failure:
        error.add_note(str(failure))
    else:
        saved = f"The weights of the last copy were written to {options.export}."
        error.hint = f"{error.hint} {saved}" if error.hint else saved


def _strategy(options: argparse.Namespace) -> Strategy | None:
    """Return the strategy that the command line names."""
    if options.parallel is None:
        return None
    passed = passed_options(options)
    if options.ray is not None:
        passed["ray"] = options.ray
    return strategy_named(options.parallel, options.devices or 2, **passed)


def _of_members() -> Strategy | None:
    """Return the strategy of a run on several machines, if nothing else is said."""
    members = current_members()
    return None if members.size == 1 else strategy_named("sync", members.size)


def _placement(options: argparse.Namespace) -> Automatic | None:
    if options.placement is None:
        return None
    kinds = options.device_kinds or (kind_of(default_device(options.device).device).name,)
    names = tuple(f"{kind}:{i}" for kind in kinds for i in range(options.devices or 2))
    ensure_devices(names)
    return Automatic(names)


def _finish(
    program: Path,
    options: argparse.Namespace,
    hooks: TrainHooks,
    trace: Trace | None,
    findings: list[str] | None,
    problems: LateErrors,
) -> None:
    """Write the files of the run and print its results, also if a file cannot be written."""
    hooks.bar.close()
    files: list[str] = []
    if options.export is not None:
        with problems.kept():
            export(hooks.model, options.export)
            files.append(written(options.export))
    result = report(program.stem, hooks)
    if trace is not None:
        if options.trace:
            with problems.kept():
                trace.save(options.trace)
                files.append(f"trace written to {options.trace}")
        result["strategy"] = options.parallel
        result["timeline"] = timeline(trace).as_dict()
        result.update(hooks.model.history.parallel)
    summary = None
    if options.explain or options.placement:
        summary = hooks.model.session.placement_summary(hooks.model.training_targets)
        result["placement"] = summary.as_dict()
    if options.report:
        # A strategy has parts that a single run of its step does not show.
        of_strategy = trace if options.parallel else None
        model = hooks.model
        with problems.kept():
            write_report(options.report, program, options, model, result, findings, of_strategy)
            files.append(f"report written to {options.report}")
    if options.json:
        print(json.dumps(result), flush=True)
        return
    _print(result, files)
    if trace is not None:
        print(timeline(trace).text())
        for name, value in hooks.model.history.parallel.items():
            if value != {}:
                print(f"  {name.replace('_', ' ')}: {value}")
    if summary is not None:
        print(summary)


def report(name: str, hooks: TrainHooks) -> dict[str, Any]:
    """Return the result of training as plain data: device, model size, times, losses."""
    facts, history, model = hooks.facts, hooks.model.history, hooks.model
    steps = len(history.losses)
    return {
        "example": name,
        "device": facts["device"],
        "precision": facts["precision"],
        "adapter": facts["adapter"],
        "seed": model.graph.seed,
        "epochs": facts["epochs"],
        "batch_size": facts["batch_size"],
        "parameters": facts["parameters"],
        "steps": steps,
        "seconds": round(history.seconds, 3),
        "ms_per_step": round(1000 * history.train_seconds / steps, 3),
        "train_loss": float(history.losses[-_LAST_STEPS:].mean()),
        "test_loss": facts.get("test_loss"),
        "test_accuracy": facts.get("test_accuracy"),
        "dispatches_per_step": facts["dispatches_per_step"],
    }


def _where(device: str) -> str:
    """Return the devices that trained, in words: ``device``, and those of the other members."""
    members = current_members().size
    last = f"{kind_of(device).name}:{members - 1}"
    return device if members == 1 else f"{full_name(device)} to {full_name(last)}"


def _print(result: dict[str, Any], files: Sequence[str]) -> None:
    accuracy = result["test_accuracy"]
    quality = f"train loss {result['train_loss']:.4f}"
    if accuracy is not None:
        quality += f", test accuracy {accuracy:.2%}"
    print(f"{result['example']} on {_where(result['device'])} ({result['adapter']}): {quality}")
    print(
        f"{result['steps']:,} steps in {result['seconds']:.1f} s, "
        f"{result['ms_per_step']:.2f} ms/step, {result['dispatches_per_step']} dispatches/step"
    )
    for line in files:
        print(line)
