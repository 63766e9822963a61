"""The HTML of reports: one file that needs nothing else, and looks like the page's report of runs.

All that comes from programs is text in it, whatever it contains.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from html import escape

COLOURS = (
    ("#2458b8", "#8db2ff"), ("#b45309", "#f0a35c"), ("#0f766e", "#4fc3b3"), ("#7a3fa0", "#c79aec"),
    ("#b42318", "#ff8a7d"), ("#5c6b00", "#c4cf5a"), ("#a8246b", "#f291c0"), ("#3d5563", "#9db7c6"),
)  # fmt: skip
"""Of curves, on white and on black."""
KINDS = {
    "input": ("#5e6664", "#a3adaa"), "forward": ("#2458b8", "#8db2ff"),
    "gradient": ("#b45309", "#f0a35c"), "update": ("#0f766e", "#4fc3b3"),
    "receive": ("#a8246b", "#f291c0"), "send": ("#7a3fa0", "#c79aec"),
    "delay": ("#c9ccc4", "#4a5350"),
}  # fmt: skip
"""Of the kinds of work in a step."""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"

_STYLE = """
:root { color-scheme: light dark; }
* { box-sizing: border-box; }
body { max-width: 860px; margin: 0 auto; padding: 24px 18px 60px; font: 15px/1.5 system-ui, sans-serif;
  color: light-dark(#1b1f1e, #e6eae8); background: light-dark(#ffffff, #191d1c); }
h1 { font-size: 24px; margin: 0; overflow-wrap: anywhere; } h2 { font-size: 19px; margin: 36px 0 6px; }
h3 { font-size: 15px; margin: 20px 0 6px; }
p { margin: 4px 0 10px; } .about, .note { color: light-dark(#565d5b, #a3adaa); } .about { margin-bottom: 18px; }
.note { font-size: 13px; }
nav { display: flex; flex-wrap: wrap; gap: 2px 16px; margin: 0 0 18px; }
a { color: light-dark(#2458b8, #8db2ff); }
.figures { display: flex; flex-wrap: wrap; gap: 8px 36px; margin: 0 0 20px; }
.figures dt { color: light-dark(#565d5b, #a3adaa); font-size: 13px; }
.figures dd { margin: 0; font-size: 22px; font-weight: 600; font-variant-numeric: tabular-nums; }
svg { display: block; width: 100%; height: auto; }
.wide { overflow-x: auto; } .wide:focus-visible { outline: 2px solid light-dark(#2458b8, #8db2ff); }
.wide > svg { min-width: 560px; } .wide td { white-space: nowrap; }
svg text { fill: light-dark(#565d5b, #a3adaa); font: 12px system-ui, sans-serif; }
svg .grid { stroke: light-dark(#ecece6, #2b3130); fill: none; }
svg .lane { fill: light-dark(#f4f4f0, #222827); }
svg .line { fill: none; stroke-width: 1.8; stroke-linejoin: round; }
svg .mean { stroke-dasharray: 5 3; } svg circle.mean { stroke-dasharray: none; }
svg .task { stroke: light-dark(#ffffff, #191d1c); stroke-width: 0.5; }
svg .bar { fill: light-dark(#2458b8, #8db2ff); }
svg.histogram { width: 120px; min-width: 120px; height: 28px; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: 3px 16px 3px 0; text-align: left; vertical-align: top;
  border-bottom: 1px solid light-dark(#ecece6, #2b3130); }
th { font-weight: 500; color: light-dark(#565d5b, #a3adaa); }
.facts td { overflow-wrap: anywhere; }
.number { text-align: right; white-space: nowrap; }
pre { padding: 12px 14px; overflow-x: auto; border: 1px solid light-dark(#deded6, #2b3130); border-radius: 8px;
  background: light-dark(#f8f8f5, #151918); font: 13px/1.5 ui-monospace, Menlo, Consolas, monospace; }
.legend { display: flex; flex-wrap: wrap; gap: 2px 18px; margin: 4px 0 8px; padding: 0; list-style: none;
  font-size: 13px; }
.legend svg { display: inline-block; width: 14px; height: 10px; min-width: 14px; margin-right: 6px; }
details { margin: 8px 0; } summary { cursor: pointer; color: light-dark(#565d5b, #a3adaa); }
@media print { details:not([open]) > :not(summary) { display: none; } }
"""  # noqa: E501 -- one rule a line


def text(value: object) -> str:
    """Return ``value`` as text for HTML, also within attributes."""
    plain = "".join(
        "\ufffd" if unicodedata.category(mark) in ("Cc", "Cs") and mark not in "\n\t" else mark
        for mark in str(value)
    )
    return escape(plain, quote=True)


def page(title: str, about: str, sections: Sequence[tuple[str, str]]) -> str:
    """Return a whole page.

    Args:
        title, about: as plain text.
        sections: the heading of each section, as plain text, and its content as HTML. The first
            has none.
    """
    named = [(f"part-{number}", *section) for number, section in enumerate(sections)]
    links = "\n".join(
        f'<a href="#{key}">{text(heading)}</a>' for key, heading, _ in named if heading
    )
    body = "\n".join(
        f'<section id="{key}">\n'
        + (f"<h2>{text(heading)}</h2>\n" if heading else "")
        + content
        + "\n</section>"
        for key, heading, content in named
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8" />
<meta http-equiv="Content-Security-Policy" content="{_POLICY}" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<title>{text(title)}</title>
<style>{_STYLE}{_colours()}</style>
</head>
<body>
<main>
<h1>{text(title)}</h1>
<p class="about">{text(about)}</p>
<nav aria-label="Contents">
{links}
</nav>
{body}
</main>
</body>
</html>
"""


def _colours() -> str:
    lines = [f".c{at} {{ stroke: light-dark({a}, {b}); }}" for at, (a, b) in enumerate(COLOURS)]
    kinds = [f".k-{name} {{ fill: light-dark({a}, {b}); }}" for name, (a, b) in KINDS.items()]
    return "\n".join([*lines, *kinds, ""])


def number(value: float | None, shown: str) -> str:
    """Return a number for people, as ``shown``, with the exact one for programs."""
    return text(shown) if value is None else f'<data value="{value!r}">{text(shown)}</data>'


def facts(rows: Iterable[tuple[str, str]]) -> str:
    """Return a table of names, as plain text, and values, as HTML."""
    lines = (f'<tr><th scope="row">{text(name)}</th><td>{value}</td></tr>' for name, value in rows)
    return f'<table class="facts"><tbody>\n{"".join(lines)}\n</tbody></table>'


def table(label: str, columns: Sequence[tuple[str, bool]], rows: Iterable[Sequence[str]]) -> str:
    """Return a table that scrolls by itself if it is too wide.

    Args:
        label: its name, as plain text.
        columns: the name of each, and whether it holds numbers.
        rows: their cells, as HTML.
    """
    marks = [' class="number"' if numeric else "" for _, numeric in columns]
    head = "".join(
        f'<th scope="col"{mark}>{text(name)}</th>'
        for (name, _), mark in zip(columns, marks, strict=True)
    )
    body = "\n".join(
        f"<tr>{''.join(f'<td{m}>{cell}</td>' for m, cell in zip(marks, row, strict=True))}</tr>"
        for row in rows
    )
    return (
        f'<div class="wide" role="region" tabindex="0" aria-label="{text(label)}"><table>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>"
    )
