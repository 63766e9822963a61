"""The charts of reports: curves, histograms, and the timeline of a step, as SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from playgrad.cli.report_html import COLOURS, KINDS, text
from playgrad.runtime.trace import Event, Trace

Array = np.ndarray[Any, Any]
_WIDTH = 720
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 22, 12, 30
_CURVE_HEIGHT = 280
_BUCKETS = 600
"""Of curves with more steps, the lowest and the highest value of each bucket are drawn."""
_BINS = 24
_LANE, _GAP = 26, 8
_LEAST_WIDTH = 0.8


class Curve(NamedTuple):
    """A curve: its name, steps, and values, NaN where there is none."""

    name: str
    steps: Array
    values: Array


def ticks(low: float, high: float, count: int = 6) -> list[float]:
    """Return about ``count`` round numbers from ``low`` to ``high``."""
    rough = (high - low) / count
    if not rough > 0:
        return [low]
    power = 10.0 ** math.floor(math.log10(rough))
    step = next((m * power for m in (1, 2, 5, 10) if m * power >= rough), rough)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{i * step:.12g}") for i in range(first, last + 1)]


def curves_chart(label: str, curves: Sequence[Curve]) -> str:
    """Return curves over steps, the second and later ones dashed."""
    finite = [curve.values[np.isfinite(curve.values)].astype(float) for curve in curves]
    values = np.concatenate(finite) if finite else np.zeros(0)
    if not values.size:
        return f'<p class="note">{text(label)}: no step has a finite value.</p>'
    low, high = float(values.min()), float(values.max())
    if low == high:
        low, high = low - (abs(low) / 2 or 0.5), high + (abs(high) / 2 or 0.5)
    last = max(float(curve.steps[-1]) for curve in curves if curve.steps.size)
    first = min(1.0, last - 1)
    right, bottom = _WIDTH - _RIGHT, _CURVE_HEIGHT - _BOTTOM

    def across(step: float) -> float:
        return _LEFT + (step - first) / max(last - first, 1e-12) * (right - _LEFT)

    def up(value: float) -> float:
        return bottom - (value - low) / (high - low) * (bottom - _TOP)

    parts = []
    for tick in ticks(low, high):
        y = up(tick)
        parts.append(f'<path class="grid" d="M{_LEFT} {y:.1f}H{right}" />')
        parts.append(f'<text x="{_LEFT - 7}" y="{y + 4:.1f}" text-anchor="end">{tick:g}</text>')
    for tick in ticks(first, last):
        x = across(tick)
        parts.append(f'<path class="grid" d="M{x:.1f} {_TOP}V{bottom}" />')
        parts.append(_axis_label(x, bottom + 18, f"{tick:,g}"))
    for at, curve in enumerate(curves):
        colour = f"c{at % len(COLOURS)}" + (" mean" if at else "")
        points = [(across(s), up(v)) for s, v in _thinned(curve)]
        parts.append(f'<path class="line {colour}" d="{_path(points)}" />')
        if len(points) == 1:
            x, y = points[0]
            parts.append(f'<circle class="line {colour}" cx="{x:.1f}" cy="{y:.1f}" r="3" />')
    ends = ", ".join(f"{curve.name} ends at {_last(curve.values)}" for curve in curves)
    svg = _svg(_WIDTH, _CURVE_HEIGHT, f"{label} by step: {ends}", parts)
    legend = _legend([(f"line c{at % len(COLOURS)}", c.name) for at, c in enumerate(curves)])
    return (legend if len(curves) > 1 else "") + f'<div class="wide">{svg}</div>'


def _thinned(curve: Curve) -> list[tuple[float, float]]:
    steps, values = curve.steps.astype(float), curve.values.astype(float)
    if len(values) <= 2 * _BUCKETS:
        return list(zip(steps.tolist(), values.tolist(), strict=True))
    points: list[tuple[float, float]] = []
    for part in np.array_split(np.arange(len(values)), _BUCKETS):
        finite = part[np.isfinite(values[part])]
        if len(finite) < len(part):
            points.append((float(steps[part[0]]), math.nan))
        if len(finite):
            ends = {int(finite[values[finite].argmin()]), int(finite[values[finite].argmax()])}
            points += [(float(steps[at]), float(values[at])) for at in sorted(ends)]
    return points


def _path(points: Sequence[tuple[float, float]]) -> str:
    """Return a path through ``points``, with gaps where they are not finite."""
    parts, pen = [], "M"
    for x, y in points:
        if math.isfinite(y):
            parts.append(f"{pen}{x:.1f} {y:.1f}")
            pen = "L"
        else:
            pen = "M"
    return "".join(parts)


def _last(values: Array) -> str:
    return f"{float(values[-1]):.4g}" if values.size else "nothing"


def histogram(values: Array, name: str) -> str:
    """Return a small histogram of an array."""
    finite = values[np.isfinite(values)].astype(np.float64)
    if not finite.size:
        return ""
    counts, edges = np.histogram(finite, bins=_BINS)
    highest = int(counts.max())
    bars = [
        f'<rect class="bar" x="{5 * at}" y="{28 - 27 * count / highest:.1f}" width="4" '
        f'height="{27 * count / highest:.1f}"><title>{text(f"{count:,} from {a:.3g} to {b:.3g}")}'
        "</title></rect>"
        for at, (count, a, b) in enumerate(zip(counts, edges, edges[1:], strict=False))
        if count
    ]
    about = f"{name}: {finite.size:,} values from {finite.min():.3g} to {finite.max():.3g}"
    return _svg(5 * _BINS, 28, about, bars, "histogram")


def timeline_chart(trace: Trace) -> str:
    """Return a lane for each device, with a bar for each operation."""
    devices = sorted({event.device for event in trace.events})
    start = min(event.start for event in trace.events)
    whole = max(trace.seconds, 1e-12)
    left = 16 + 7 * max(map(len, devices))
    right = _WIDTH - _RIGHT
    parts = []
    bottom = _TOP + len(devices) * (_LANE + _GAP)

    def across(seconds: float) -> float:
        return left + seconds / whole * (right - left)

    for lane, device in enumerate(devices):
        y = _TOP + lane * (_LANE + _GAP)
        parts.append(f'<text x="{left - 8}" y="{y + 17}" text-anchor="end">{text(device)}</text>')
        parts.append(
            f'<rect class="lane" x="{left}" y="{y}" width="{right - left}" height="{_LANE}" />'
        )
        events = [event for event in trace.events if event.device == device]
        parts += [
            _task(event, across(event.start - start), across(event.end - start), y)
            for event in events
        ]
    for tick in ticks(0, 1000 * whole):
        x = across(tick / 1000)
        parts.append(_axis_label(x, bottom + 14, f"{tick:g}" + ("" if tick else " ms")))
    label = f"{len(trace.events)} operations of a step of {1000 * whole:.3g} ms"
    present = {event.kind for event in trace.events}
    legend = _legend([(f"k-{kind}", kind) for kind in KINDS if kind in present])
    return f'{legend}<div class="wide">{_svg(_WIDTH, bottom + 22, label, parts)}</div>'


def _task(event: Event, x: float, end: float, y: float) -> str:
    kind = event.kind if event.kind in KINDS else "forward"
    about = f"{event.name}: {1000 * event.seconds:.4g} ms, {event.kind}"
    width = max(_LEAST_WIDTH, end - x)
    return (
        f'<rect class="task k-{kind}" x="{x:.2f}" y="{y + 2}" width="{width:.2f}" '
        f'height="{_LANE - 4}"><title>{text(about)}</title></rect>'
    )


def _axis_label(x: float, y: float, label: str) -> str:
    return f'<text x="{x:.1f}" y="{y}" text-anchor="middle">{text(label)}</text>'


def _legend(entries: Sequence[tuple[str, str]]) -> str:
    items = []
    for style, name in entries:
        mark = (
            f'<path class="{style}" d="M0 5H14" />'
            if style.startswith("line")
            else f'<rect class="{style}" width="10" height="10" rx="2" />'
        )
        items.append(
            f'<li><svg viewBox="0 0 14 10" aria-hidden="true">{mark}</svg>{text(name)}</li>'
        )
    return f'<ul class="legend">{"".join(items)}</ul>'


def _svg(width: int, height: float, label: str, parts: Sequence[str], style: str = "") -> str:
    kind = f' class="{style}"' if style else ""
    body = "\n".join(parts)
    return (
        f'<svg{kind} viewBox="0 0 {width} {height:g}" role="img" aria-label="{text(label)}">\n'
        f"{body}\n</svg>"
    )
