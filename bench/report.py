"""Rows from repeats, checks of their losses, and tables in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from playgrad.benchmark.workloads import WORKLOADS, flops

TOLERANCE = 0.002
"""Largest relative difference of the first losses between peers."""
MINE = "playgrad"


@dataclass
class Row:
    """One peer on one backend and workload: the outcomes of its repeats."""

    peer: str
    backend: str
    workload: str
    outcomes: list[dict[str, Any]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"{self.peer} {self.backend}"

    @property
    def good(self) -> list[dict[str, Any]]:
        return [outcome for outcome in self.outcomes if "error" not in outcome]

    def values(self, key: str) -> list[float]:
        return [o[key] for o in self.good if o.get(key) is not None]

    def typical(self, key: str) -> float | None:
        values = self.values(key)
        return median(values) if values else None

    def check(self) -> None:
        """Record problems of this row: no result, a different backend, a loss that did not fall."""
        for outcome in self.outcomes:
            if "error" in outcome:
                self.problems.append(outcome["error"].splitlines()[0])
            elif outcome["backend"] != self.backend:
                self.problems.append(f"ran on {outcome['backend']} instead of {self.backend}")
            elif not outcome["last_loss"] < outcome["losses"][0]:
                self.problems.append("the loss did not fall")
        self.problems = list(dict.fromkeys(self.problems))


def check(rows: Sequence[Row]) -> None:
    """Fill in the ``problems`` of all rows; losses are compared with the workload's median."""
    for row in rows:
        row.check()
    for workload in WORKLOADS:
        losses = {
            id(row): row.good[0]["losses"] for row in rows if row.workload == workload and row.good
        }
        for row in rows:
            mine = losses.get(id(row))
            if mine is None:
                continue
            for step, loss in enumerate(mine):
                expected = median(other[step] for other in losses.values() if len(other) > step)
                if abs(loss - expected) > TOLERANCE * abs(expected):
                    share = (loss - expected) / expected
                    row.problems.append(f"loss of step {step + 1} differs by {share:+.2%}")
                    break


def table(rows: Iterable[Row], *, in_page: bool) -> str:
    """Return a table of all rows, with a section for each workload, fastest first."""
    head = ["", "once, ms", "each, ms", "dispatches", "loss"]
    if in_page:
        head.insert(3, "first step, s")
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    rows = list(rows)
    for workload in WORKLOADS.values():
        mine = [row for row in rows if row.workload == workload.name]
        if not mine:
            continue
        title = f"**{workload.name.upper()} {workload.title}**, batch {workload.batch}"
        lines.append(f"| {title} |" + " |" * (len(head) - 1))
        for row in sorted(mine, key=lambda row: row.typical("once_ms") or float("inf")):
            lines.append(_line(row, in_page))
    return "\n".join(lines)


def _line(row: Row, in_page: bool) -> str:
    name = f"**{row.name}**" if row.peer == MINE else row.name
    if not row.good:
        count = 5 if in_page else 4
        return f"| {name} | – {'; '.join(row.problems)[:90]} |" + " |" * (count - 1)
    dispatches = row.typical("dispatches")
    first, last = row.good[0]["losses"][0], row.typical("last_loss")
    warning = f" ⚠ {'; '.join(row.problems)}" if row.problems else ""
    cells = [
        name,
        _spread(row.values("once_ms")),
        _spread(row.values("each_ms")),
        f"{dispatches:.0f}" if dispatches else "–",
        f"{first:.3f} → {last:.3f}{warning}",
    ]
    if in_page:
        cells.insert(3, f"{(row.typical('first_step_ms') or 0) / 1000:.1f}")
    return "| " + " | ".join(cells) + " |"


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def _spread(values: Sequence[float]) -> str:
    """Return the median and, if there is more than one value, minimum and maximum in brackets."""
    middle = _number(median(values))
    if len(values) == 1:
        return middle
    return f"{middle} ({_number(min(values))}–{_number(max(values))})"


def comparison(rows: Sequence[Row], backends: Sequence[str]) -> str:
    """Return a table of playgrad's speed relative to the best peer on ``backends``."""
    lines = ["| | best peer | once | each |", "|---|---|---|---|"]
    for workload in WORKLOADS:
        mine = [
            row for row in rows if row.workload == workload and row.good and row.backend in backends
        ]
        ours = [row for row in mine if row.peer == MINE]
        others = [row for row in mine if row.peer != MINE]
        if not ours or not others:
            continue
        best = min(others, key=lambda row: row.typical("once_ms") or float("inf"))
        shares = []
        for key in ("once_ms", "each_ms"):
            fastest = min(row.typical(key) or float("inf") for row in others)
            shares.append(f"{fastest / (ours[0].typical(key) or float('inf')):.2f}×")
        lines.append(f"| {workload.upper()} | {best.name} | {shares[0]} | {shares[1]} |")
    return "\n".join(lines)


def shares_of_peak(rows: Sequence[Row], products: dict[str, float]) -> str:
    """Return a table of each row's speed as a share of the fastest large matrix product."""
    peak = max(products.values())
    speeds = ", ".join(f"{name} {speed:.1f}" for name, speed in sorted(products.items()))
    lines = [f"1024³ product, GFLOP/s: {speeds}.", ""]
    names = list(dict.fromkeys(row.name for row in rows if row.name in products))
    lines += ["| | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    for name, workload in WORKLOADS.items():
        cells = []
        for column in names:
            matching = [row for row in rows if (row.name, row.workload) == (column, name)]
            time = matching[0].typical("once_ms") if matching else None
            cells.append(f"{flops(workload) / (time * 1e6) / peak:.1%}" if time else "–")
        lines.append(f"| {name.upper()} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def footprint(rows: Sequence[Row]) -> str:
    """Return a table of playgrad's compilation times and device memory."""
    lines = [
        "| playgrad | graph to Plan, ms | pipelines, ms | device memory, MB | least, MB | ratio |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        if row.peer != MINE or not row.good or not row.good[0].get("device_bytes"):
            continue
        phases = [outcome["phases"] for outcome in row.good]
        times = (
            _spread([1000 * phase[name] for phase in phases])
            for name in ("graph to Plan", "pipelines")
        )
        used, least = row.good[0]["device_bytes"], row.good[0]["least_bytes"]
        sizes = (f"{used / 1e6:.2f}", f"{least / 1e6:.2f}", f"{used / least:.2f}")
        lines.append(f"| {' | '.join([row.workload.upper(), *times, *sizes])} |")
    return "\n".join(lines)


def dispatch_list(row: Row) -> str:
    """Return a list of the kernels of one step, in order."""
    kernels = row.good[0]["kernels"]
    lines = [f"{row.workload.upper()}: {len(kernels)} dispatches", ""]
    for family, workgroups, node in kernels:
        groups = "×".join(map(str, workgroups))
        lines.append(f"    {family:24} {groups:12} {node}")
    return "\n".join(lines)
