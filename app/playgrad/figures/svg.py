"""Plots as SVG files."""

from __future__ import annotations

import math
from html import escape
from typing import Any

import numpy as np

from playgrad.figures.series import floats
from playgrad.figures.text import describe

Array = np.ndarray[Any, Any]
_WIDTH, _HEIGHT = 640, 360
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 16, 34, 44
_COLOURS = (
    "#2458b8", "#b45309", "#0f766e", "#7a3fa0", "#b42318", "#5c6b00", "#a8246b", "#3d5563",
)  # fmt: skip
_TICKS = 6


def svg_of(figure: dict[str, Any]) -> str:
    """Return a plot as an SVG document on white."""
    series = [(each["label"], floats(each["x"]), floats(each["y"])) for each in figure["series"]]
    across = _Axis([x for _, x, _ in series], _LEFT, _WIDTH - _RIGHT)
    up = _Axis([y for *_, y in series], _HEIGHT - _BOTTOM, _TOP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'font-family="sans-serif" font-size="12" role="img">',
        f"<title>{_text(describe(figure))}</title>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>',
        *_grid(across, up),
        _label(_WIDTH / 2, 18, figure["title"], 'text-anchor="middle" font-weight="600"'),
        _label(_WIDTH / 2, _HEIGHT - 8, figure["x_label"], 'text-anchor="middle"'),
        _label(8, _TOP - 10, figure["y_label"], ""),
    ]
    for number, (_, x, y) in enumerate(series):
        colour = _COLOURS[number % len(_COLOURS)]
        parts += _marks(figure["style"], colour, across.places(x), up.places(y))
    parts += _legend([label for label, *_ in series])
    return "\n".join([*(part for part in parts if part), "</svg>\n"])


class _Axis:
    """A linear map of numbers to pixels, with round ticks."""

    def __init__(self, columns: list[Array], start: float, end: float) -> None:
        numbers = np.concatenate([column[np.isfinite(column)] for column in columns])
        self.low = float(numbers.min()) if numbers.size else 0.0
        self.high = float(numbers.max()) if numbers.size else 1.0
        if self.low == self.high:
            margin = abs(self.low) / 2 or 0.5
            self.low, self.high = self.low - margin, self.high + margin
        self.start, self.end = start, end

    def places(self, values: Array) -> Array:
        part = (values / 2 - self.low / 2) / (self.high / 2 - self.low / 2)
        result: Array = self.start + part * (self.end - self.start)
        return result

    def place(self, value: float) -> float:
        return float(self.places(np.array([value]))[0])

    def ticks(self) -> list[float]:
        # Thirds of the range first: the range itself may be too large for a float.
        rough = self.high / _TICKS - self.low / _TICKS
        power = 10.0 ** math.floor(math.log10(rough))
        step = next((m * power for m in (1, 2, 5, 10) if m * power >= rough), rough)
        first = math.ceil(self.low / step)
        count = math.floor(self.high / step) - first + 1
        return [float(f"{(first + i) * step:.12g}") for i in range(min(count, 2 * _TICKS))]


def _grid(across: _Axis, up: _Axis) -> list[str]:
    right, bottom = _WIDTH - _RIGHT, _HEIGHT - _BOTTOM
    parts = []
    for tick in up.ticks():
        y = up.place(tick)
        parts.append(f'<path d="M{_LEFT} {y:.1f}H{right}" stroke="#e4e4de"/>')
        parts.append(_label(_LEFT - 6, y + 4, f"{tick:g}", 'text-anchor="end" fill="#565d5b"'))
    for tick in across.ticks():
        x = across.place(tick)
        parts.append(f'<path d="M{x:.1f} {_TOP}V{bottom}" stroke="#e4e4de"/>')
        parts.append(_label(x, bottom + 16, f"{tick:g}", 'text-anchor="middle" fill="#565d5b"'))
    return parts


def _marks(style: str, colour: str, x: Array, y: Array) -> list[str]:
    points = [
        (a, b) if math.isfinite(a) and math.isfinite(b) else None for a, b in zip(x, y, strict=True)
    ]
    if style == "points":
        return [
            f'<circle cx="{p[0]:.1f}" cy="{p[1]:.1f}" r="2.5" fill="{colour}"/>'
            for p in points
            if p is not None
        ]
    path, alone = "", []
    for at, point in enumerate(points):
        if point is None:
            continue
        before = points[at - 1] if at else None
        after = points[at + 1] if at + 1 < len(points) else None
        path += f"{'M' if before is None else 'L'}{point[0]:.1f} {point[1]:.1f}"
        if before is None and after is None:
            alone.append(point)
    circles = [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{colour}"/>' for x, y in alone]
    stroke = f'stroke="{colour}" stroke-width="1.6" stroke-linejoin="round"'
    return [f'<path d="{path}" fill="none" {stroke}/>', *circles] if path else []


def _legend(labels: list[str]) -> list[str]:
    parts, x = [], float(_LEFT)
    for number, label in enumerate(labels):
        if not label:
            continue
        colour = _COLOURS[number % len(_COLOURS)]
        parts.append(f'<path d="M{x:.1f} {_TOP - 9}h14" stroke="{colour}" stroke-width="3"/>')
        parts.append(_label(x + 18, _TOP - 5, label, ""))
        x += 34 + 7 * len(label)
    return parts


def _label(x: float, y: float, text: str, attributes: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" {attributes}>{_text(text)}</text>' if text else ""


def _text(text: str) -> str:
    """Return ``text`` for XML, which has no control characters."""
    return escape("".join(c if c.isprintable() else " " for c in text), quote=False)
