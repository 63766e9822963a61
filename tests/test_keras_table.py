"""docs/keras.md: what it says of playgrad still holds."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import playgrad as pg
from playgrad import nn
from playgrad.nn import metrics

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / "docs" / "keras.md").read_text(encoding="utf-8")
DATA = tomllib.loads((ROOT / "tools" / "keras" / "reasons.toml").read_text(encoding="utf-8"))


def rows() -> list[tuple[str, str, str]]:
    """Return the area, the name and the mark of each row."""
    found, area = [], ""
    for line in TEXT.splitlines():
        if line.startswith("## "):
            area = line[3:].lower()
        elif match := re.match(r"\| `(\w+)` \| (\w+) \|", line):
            found.append((area, *match.groups()))
    return found


def test_the_table_marks_present_and_absent_classes() -> None:
    """Regenerate the table with `python -m tools.keras` where a class was added."""
    wrong = []
    for area, name, mark in rows():
        ours = DATA["names"].get(f"{area}.{name}", name)
        places = {"optimizers": (pg.optim,), "metrics": (metrics, nn)}.get(area, (nn,))
        items = [getattr(place, ours, None) for place in places]
        if area == "metrics":
            kinds = (metrics.Metric, nn.Loss)  # a loss is a metric, too
            items = [i for i in items if isinstance(i, type) and issubclass(i, kinds)]
        if area == "layers":
            items = [
                i for i in items if not (isinstance(i, type) and issubclass(i, nn.Initializer))
            ]
        if any(items) != (mark != "absent"):
            wrong.append(f"{area}.{name}")
    assert not wrong


def test_most_names_of_a_small_network_are_the_same() -> None:
    marks = {(area, name): mark for area, name, mark in rows()}
    used = [marks[area, name] for area, names in DATA["small"].items() for name in names]
    same, there = used.count("same"), len(used) - used.count("absent")
    assert same / len(used) >= 0.9
    flat = " ".join(TEXT.split())
    assert f"{same} of {len(used)} are the same, {same / len(used):.0%}" in flat
    assert f"{there} are there, {there / len(used):.0%}." in flat
