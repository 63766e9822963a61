"""``playgrad train --report``: a run as one HTML file."""

from __future__ import annotations

import argparse
import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

import playgrad
from playgrad.cli.report_charts import Curve, curves_chart, histogram, timeline_chart
from playgrad.cli.report_html import facts, number, page, table, text
from playgrad.errors import PlaygradError, shape_text
from playgrad.io.weights import write_file
from playgrad.runtime.trace import Trace, clock_sentences, slowest

Array = np.ndarray[Any, Any]
_MOST_ROWS = 60
_MOST_EPOCHS = 200
_NO_FINDINGS = "Nothing is wrong that the doctor knows."


def write_report(
    path: Path,
    program: Path,
    options: argparse.Namespace,
    model: Any,
    result: dict[str, Any],
    findings: Sequence[str] | None,
    trace: Trace | None,
) -> None:
    """Write the report of a run that has ended.

    Args:
        options: of the command line.
        result: as ``--json`` prints it.
        findings: the doctor's, in sentences; None if it was not asked.
        trace: of a training step; None to measure one now, which changes no weight.

    Raises:
        CheckpointError: the file cannot be written; an existing one is as it was.
    """
    source = program.read_text(encoding="utf-8", errors="replace")
    sections = [
        ("", _headline(result)),
        ("Settings", _settings(options, result)),
        ("Curves", _curves(model.history, result)),
        *([] if findings is None else [("Doctor", _doctor(findings))]),
        ("Model", _model(model)),
        ("Weights", _weights(model.named_weights())),
        ("One training step", _step(model, trace)),
        ("Program", f"<pre>{text(source)}</pre>"),
        ("Environment", _environment(result)),
    ]
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M")
    about = f"Saved {now} UTC by playgrad {playgrad.__version__}"
    title = f"{result['example']} on {result['device']}"
    write_file(path, page(title, about, sections).encode("utf-8", "replace"))


def _headline(result: dict[str, Any]) -> str:
    shown = [
        ("Test accuracy", result["test_accuracy"], "{:.2%}"),
        ("Test loss", result["test_loss"], "{:.4f}"),
        ("Training loss", result["train_loss"], "{:.4f}"),
        ("Time", result["seconds"], "{:.1f} s"),
        ("Per step", result["ms_per_step"], "{:.2f} ms"),
    ]
    figures = [
        f"<div><dt>{name}</dt><dd>{number(value, form.format(value))}</dd></div>"
        for name, value, form in shown
        if value is not None
    ]
    return f'<dl class="figures">{"".join(figures)}</dl>'


def _settings(options: argparse.Namespace, result: dict[str, Any]) -> str:
    rows = [
        ("Program", text(options.program)),
        ("Device", text(f"{result['device']} ({result['adapter']})")),
        ("Seed", number(result["seed"], str(result["seed"]))),
        ("Epochs", number(result["epochs"], f"{result['epochs']:,}")),
        ("Batch size", number(result["batch_size"], f"{result['batch_size']:,}")),
        ("Steps", number(result["steps"], f"{result['steps']:,}")),
        ("Parameters", number(result["parameters"], f"{result['parameters']:,}")),
    ]
    if options.parallel:
        rows.append(("Strategy", text(f"{options.parallel} on {options.devices or 2} devices")))
    if options.placement:
        rows.append(("Placement", text(options.placement)))
    return facts(rows)


def _curves(history: Any, result: dict[str, Any]) -> str:
    table_of = history.steps
    steps = np.arange(1, len(table_of) + 1)
    ends = _epoch_ends(history, len(table_of))
    parts = []
    for column, name in enumerate(history.names):
        if "/" in name:  # a part of a metric, such as the hits of a precision
            continue
        curves = [Curve(f"{name}, of each batch", steps, table_of[:, column])]
        means = history.history.get(f"val_{name}")
        if means and len(means) == len(ends):
            curves.append(Curve(f"{name}, validation", ends, np.array(means, np.float64)))
        parts.append(f"<h3>{text(name.capitalize())}</h3>\n{curves_chart(name, curves)}")
    return "\n".join([*parts, _epochs(history), _steps(history, steps)])


def _epoch_ends(history: Any, steps: int) -> Array:
    """Return the step at which each epoch ended. All epochs but the last have as many steps."""
    count = max((len(means) for means in history.history.values()), default=0)
    return np.ceil(np.arange(1, count + 1) * steps / max(count, 1))


def _epochs(history: Any) -> str:
    count = len(history.history.get("loss", ()))
    # Numbers of some epochs only, such as Elo ratings, do not say of which epochs they are.
    names = [name for name, means in history.history.items() if len(means) == count]
    if not count:
        return ""
    rows = [
        [f"{epoch + 1:,}", *(_exact(history.history[name][epoch]) for name in names)]
        for epoch in _sample(count, _MOST_EPOCHS)
    ]
    columns = [("epoch", True), *((name, True) for name in names)]
    return "<h3>By epoch</h3>\n" + table("Results by epoch", columns, rows)


def _steps(history: Any, steps: Array) -> str:
    shown = _sample(len(steps), _MOST_ROWS)
    values = history.steps
    rows = [[f"{steps[at]:,}", *(_exact(value) for value in values[at])] for at in shown]
    every = "" if len(shown) == len(steps) else f", {len(shown)} of {len(steps):,}"
    columns = [("step", True), *((name, True) for name in history.names)]
    content = table("Losses and metrics by step", columns, rows)
    return f"<details><summary>By step{every}</summary>\n{content}\n</details>"


def _sample(count: int, most: int) -> list[int]:
    """Return at most ``most`` positions below ``count``, evenly, with the last."""
    every = -(-count // most) or 1
    return [at for at in range(count) if (count - 1 - at) % every == 0]


def _exact(value: float) -> str:
    return number(float(value), f"{float(value):.4g}")


def _doctor(findings: Sequence[str]) -> str:
    if not findings:
        return f"<p>{_NO_FINDINGS}</p>"
    return f"<ul>{''.join(f'<li>{text(finding)}</li>' for finding in findings)}</ul>"


def _model(model: Any) -> str:
    lines: list[str] = []
    model.summary(lines.append)
    return f"<pre>{text(chr(10).join(lines))}</pre>"


def _weights(weights: dict[str, Array]) -> str:
    columns = [
        ("weight", False), ("shape", False), ("mean", True), ("std", True), ("least", True),
        ("greatest", True), ("zeros", True), ("distribution", False),
    ]  # fmt: skip
    rows = []
    broken = []
    for name, array in weights.items():
        finite = array[np.isfinite(array)].astype(np.float64)
        if finite.size < array.size:
            broken.append(f"{name} has {array.size - finite.size:,} values that are not finite.")
        numbers = ["–"] * 4
        if finite.size:
            numbers = [_exact(each) for each in _statistics(finite)]
        zeros = f"{np.mean(array == 0):.1%}" if array.size else "–"
        shape = shape_text(array.shape)
        rows.append([text(name), text(shape), *numbers, zeros, histogram(array, name)])
    warnings = "".join(f"<p>{text(each)}</p>" for each in broken)
    return warnings + table("Statistics of the weights", columns, rows)


def _statistics(values: Array) -> tuple[float, float, float, float]:
    return float(values.mean()), float(values.std()), float(values.min()), float(values.max())


def _step(model: Any, trace: Trace | None) -> str:
    if trace is None:
        try:
            trace = model.session.trace(model.training_targets, undo=True).trace
        except PlaygradError as error:
            return f'<p class="note">{text(f"No step could be measured: {error}")}</p>'
    if not trace.events:
        return '<p class="note">No step was measured: training ended before its last one.</p>'
    rows = [
        [
            text(row.name),
            text(row.device),
            text(f"{row.kind} ({row.kernel})" if row.kernel else row.kind),
            number(1000 * row.seconds, f"{1000 * row.seconds:.3f}"),
            f"{row.share:.1%}",
        ]
        for row in slowest(trace)
    ]
    columns = [
        ("operation", False),
        ("device", False),
        ("kind", False),
        ("ms", True),
        ("share", True),
    ]
    together = "a step" if trace.steps == 1 else f"{trace.steps} steps that run together"
    lead = f"{len(trace.events):,} operations of {together}, in {1000 * trace.seconds:.3f} ms."
    notes = " ".join([lead, *(f"On {sentence}" for sentence in clock_sentences(trace))])
    return (
        f'<p class="note">{text(notes)}</p>\n{timeline_chart(trace)}\n'
        f"{table('The slowest operations', columns, rows)}"
    )


def _environment(result: dict[str, Any]) -> str:
    return facts(
        [
            ("playgrad", text(playgrad.__version__)),
            ("Python", text(platform.python_version())),
            ("NumPy", text(np.__version__)),
            ("System", text(f"{platform.system()} {platform.release()}, {platform.machine()}")),
            ("Processors", text(os.cpu_count() or "unknown")),
            ("Adapter", text(result["adapter"])),
        ]
    )
