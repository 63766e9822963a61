"""Faults written into code: at places of each language, the same for the same seed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tools.faults.draw import draw
from tools.faults.places import places

SOURCES = {
    "app/playgrad/sums.py": (
        "def total(x: int, y: int = -1) -> int:\n"
        "    if x < y and f'{x + y}':\n"
        "        return 0\n"
        "    print(x, y)\n"
        "    return (x) + y\n"
    ),
    "static/js/sums.js": (
        "export function total(x, y) {\n"
        "  console.log(x, y);\n"
        "  return x < -y && !x ? x + 1 : `${x * y}`;\n"
        "}\n"
    ),
    "kernels/sums.wgsl": (
        "// total + 1\n"
        "fn total(x: u32, y: u32) -> u32 {\n"
        "  store(x, y);\n"
        "  return min(x, y) + 2u;\n"
        "}\n"
    ),
}
CHANGES = {
    "app/playgrad/sums.py": {
        "y: int = 1)",  # the sign, and 1 becomes 2 below
        "y: int = -2)",
        "if x <= y and",
        "if x < y or",
        "return 1",
        "    pass\n    print(x, y)\n",
        "    pass\n    return",
        "print(y, x)",
        "return (x) - y",
    },
    "static/js/sums.js": {
        "console.log(y, x);",
        "  ;\n",
        "return x <= -y",
        "x < y && !x",
        "-y || !x",
        "&& x ?",
        "x - 1 :",
        "x + 2 :",
        "${x / y}",
    },
    "kernels/sums.wgsl": {
        "store(y, x)",
        "{\n\n  return",
        "min(y, x)",
        "min(x, y) - 2u",
        "+ 3u",
        "total(y: u32, x: u32)",
    },
}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder with a source file of each language."""
    for name, text in SOURCES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True)
        path.write_text(text)
    return tmp_path


@pytest.mark.parametrize("name", SOURCES)
def test_places_cover_all_code_and_nothing_else(checkout: Path, name: str) -> None:
    text = SOURCES[name]
    changed = [
        text[: place.start] + place.replacement + text[place.end :]
        for place in places(checkout / name)
    ]
    for words in CHANGES[name]:
        assert sum(words in each for each in changed) == 1, words
    assert len(changed) == len(CHANGES[name])


def test_faults_of_a_seed_apply_and_repeat(checkout: Path) -> None:
    faults = list(draw(checkout, seed=3, count=12))
    assert faults == list(draw(checkout, seed=3, count=12))
    assert faults != list(draw(checkout, seed=4, count=12))
    assert len({patch for _, patch in faults}) == 12
    for _, patch in faults:
        check = ["git", "apply", "--check", "-"]
        subprocess.run(check, cwd=checkout, input=patch, text=True, check=True)
