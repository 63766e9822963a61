"""Pictures of 320 by 200 units, as SVG: dark, so that they suit a light page and a dark one."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Point = tuple[float, float]

WIDTH, HEIGHT = 320, 200
GROUND, EDGE, MUTED, TEXT = "#10171a", "#2c393d", "#8ea0a3", "#eef3f2"
TEAL, ORANGE, VIOLET, YELLOW, BLUE, RED = (
    "#2dc4a4", "#ff9a52", "#b49bff", "#f2cf5b", "#5fb0ff", "#ff6b6b",
)  # fmt: skip
COLOURS = (TEAL, ORANGE, VIOLET, YELLOW, BLUE, RED)


class Picture:
    """Shapes on a dark ground, from the back to the front."""

    def __init__(self) -> None:
        self._parts: list[str] = [f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{GROUND}"/>']

    def svg(self) -> str:
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
            f'width="{WIDTH}" height="{HEIGHT}">{"".join(self._parts)}</svg>'
        )

    def rect(
        self, x: float, y: float, width: float, height: float, fill: str, *, radius: float = 0,
        stroke: str = "none", opacity: float = 1,
    ) -> None:  # fmt: skip
        self._parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
            f'rx="{radius}" fill="{fill}" stroke="{stroke}" stroke-width="1.5" '
            f'opacity="{opacity:.2f}"/>'
        )

    def circle(
        self,
        x: float,
        y: float,
        radius: float,
        fill: str,
        *,
        stroke: str = "none",
        width: float = 1,
    ) -> None:
        self._parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{fill}" stroke="{stroke}" '
            f'stroke-width="{width}"/>'
        )

    def line(
        self, points: Iterable[Point], stroke: str, *, width: float = 2, dashes: str = "none",
        opacity: float = 1,
    ) -> None:  # fmt: skip
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self._parts.append(
            f'<polyline points="{path}" fill="none" stroke="{stroke}" stroke-width="{width}" '
            f'stroke-dasharray="{dashes}" stroke-linejoin="round" stroke-linecap="round" '
            f'opacity="{opacity}"/>'
        )

    def arrow(
        self, start: Point, end: Point, stroke: str, *, width: float = 2, dashes: str = "none"
    ) -> None:
        """A line with a head at its end."""
        (x0, y0), (x1, y1) = start, end
        length = max(1e-6, float(np.hypot(x1 - x0, y1 - y0)))
        ux, uy = (x1 - x0) / length, (y1 - y0) / length
        head = 3 + 2 * width
        bx, by = x1 - head * ux, y1 - head * uy
        self.line([start, (bx, by)], stroke, width=width, dashes=dashes)
        side = head * 0.55
        corners = [(x1, y1), (bx - side * uy, by + side * ux), (bx + side * uy, by - side * ux)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
        self._parts.append(f'<polygon points="{path}" fill="{stroke}"/>')

    def text(
        self, x: float, y: float, text: str, fill: str = TEXT, *, size: float = 16,
        anchor: str = "middle", mono: bool = False, weight: int = 600,
    ) -> None:  # fmt: skip
        """A line of text; ``y`` is its middle."""
        family = "DejaVu Sans Mono, monospace" if mono else "Inter, DejaVu Sans, sans-serif"
        self._parts.append(
            f'<text x="{x:.1f}" y="{y + 0.35 * size:.1f}" fill="{fill}" font-size="{size}" '
            f'font-family="{family}" font-weight="{weight}" text-anchor="{anchor}" '
            f'xml:space="preserve">{escape(text)}</text>'
        )

    def image(
        self,
        pixels: Array,
        x: float,
        y: float,
        width: float,
        height: float,
        *,
        smooth: bool = False,
    ) -> None:
        """Pixels (rows, columns) of grey or (rows, columns, 3) of colours, from 0 to 1."""
        content = base64.b64encode(_png(pixels)).decode()
        rendering = "auto" if smooth else "pixelated"
        self._parts.append(
            f'<image x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
            f'preserveAspectRatio="none" style="image-rendering:{rendering}" '
            f'href="data:image/png;base64,{content}"/>'
        )

    def curves(
        self, rows: Sequence[tuple[Array, Array]], colours: Sequence[str], *, margin: float = 14,
        width: float = 2.6, limits: tuple[float, float] | None = None,
    ) -> None:  # fmt: skip
        """Curves (x, y) that share their axes, which fill the picture."""
        left = min(float(x.min()) for x, _ in rows)
        right = max(float(x.max()) for x, _ in rows)
        low, high = limits or (
            min(float(y.min()) for _, y in rows), max(float(y.max()) for _, y in rows)
        )  # fmt: skip
        for share in (0.25, 0.5, 0.75):
            level = margin + share * (HEIGHT - 2 * margin)
            self.line([(margin, level), (WIDTH - margin, level)], EDGE, width=1)
        for (x, y), colour in zip(rows, colours, strict=True):
            across = margin + (x - left) / (right - left) * (WIDTH - 2 * margin)
            up = HEIGHT - margin - (y.clip(low, high) - low) / (high - low) * (HEIGHT - 2 * margin)
            self.line(zip(across.tolist(), up.tolist(), strict=True), colour, width=width)


def rgb(colour: str) -> Array:
    """The parts of "#rrggbb", from 0 to 1."""
    return np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255


def blend(share: Array, low: str, high: str) -> Array:
    """Colours (..., 3) between two, by shares (...) from 0 to 1."""
    share = share.clip(0, 1)[..., None]
    return rgb(low) * (1 - share) + rgb(high) * share


def smoothed(values: Array, count: int) -> Array:
    """Means over ``count`` values that follow each other."""
    return np.convolve(values, np.ones(count) / count, "valid")


def _png(pixels: Array) -> bytes:
    data = (pixels.clip(0, 1) * 255).round().astype(np.uint8)
    rows = data.reshape(data.shape[0], -1)
    lines = b"".join(b"\0" + row.tobytes() for row in rows)
    kind = 2 if data.ndim == 3 else 0
    header = struct.pack(">IIBBBBB", data.shape[1], data.shape[0], 8, kind, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(content))
        + name
        + content
        + struct.pack(">I", zlib.crc32(name + content))
        for name, content in chunks
    )
