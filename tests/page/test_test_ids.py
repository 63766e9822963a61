"""The views for looking inside keep their test ids, and a browser test uses each of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = ROOT / "static" / "js"
BROWSER_TESTS = ROOT / "tests" / "browser"

IN_TEMPLATES = {f"node-{tab}" for tab in ("value", "gradient", "time", "kernel", "code")}
"""Ids that `node-tabs.js` composes of the names of its tabs."""
IDS = [
    *sorted(IN_TEMPLATES),
    "graph-search",
    "execution-view",
    "queue",
    "timeline",
    "weights-view",
    "activations-view",
    "histograms",
    "confusion-matrix",
    "confusion-cell",
    "hardest",
    "projection",
    "doctor",
    "doctor-apply",
    "checkpoint-slider",
    "branch",
    "kernel-bench",
    "run-summary",
]


def _components_with(test_id: str) -> list[str]:
    """Return the components that have an element with this test id."""
    literal = re.compile(rf'(data-testid|testId)="{re.escape(test_id)}"')
    files = {path: path.read_text(encoding="utf-8") for path in MODULES.rglob("*.js")}
    names = [path.name for path, text in files.items() if literal.search(text)]
    tabs = files[MODULES / "panels" / "graph" / "node-tabs.js"]
    tab_names = re.findall(r"NAMES = .*?\(\[(.*?)\]\)", tabs)
    composed = "data-testid=${`node-${each}`}" in tabs
    if composed and f'"{test_id.removeprefix("node-")}"' in "".join(tab_names):
        names.append("node-tabs.js")
    return names


def _tests_with(test_id: str) -> list[str]:
    """Return the browser tests that look for an element with this test id."""
    uses = re.compile(rf'\("{re.escape(test_id)}"[,)]|data-testid=\W?{re.escape(test_id)}(?![\w-])')
    tests = BROWSER_TESTS.glob("test_*.py")
    return [path.name for path in tests if uses.search(path.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("test_id", IDS)
def test_each_test_id_belongs_to_a_component(test_id: str) -> None:
    assert _components_with(test_id)


@pytest.mark.parametrize("test_id", IDS)
def test_each_test_id_is_used_by_a_browser_test(test_id: str) -> None:
    assert _tests_with(test_id)
