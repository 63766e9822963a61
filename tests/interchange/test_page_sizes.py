"""Stand-alone pages are small, and of the sizes that docs/interchange.md states."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.interchange.networks import MODELS, built

DOCS = Path(__file__).parents[2] / "docs" / "interchange.md"
MOST_BYTES = 200_000
"""Of a page without its weights."""


@pytest.mark.parametrize("name", MODELS)
def test_pages_have_the_documented_size_and_are_small(name: str, tmp_path: Path) -> None:
    title = "LeNet" if name == "lenet" else name.replace("_", " ")
    row = re.search(
        rf"^\| {title} \| ([\d.]+) \| ([\d.]+) \|$", DOCS.read_text(encoding="utf-8"), re.M
    )
    assert row
    model = built(name)[0]
    path = tmp_path / "page.html"
    model.export(path)
    weights = sum(array.nbytes for array in model.named_weights().values()) / 1000
    assert float(row[1]) == pytest.approx(weights, abs=0.05)
    assert float(row[2]) == pytest.approx(path.stat().st_size / 1000, rel=0.1)
    stored = re.search(r'id="weights">([^<]*)<', path.read_text(encoding="utf-8"))
    assert stored
    assert path.stat().st_size - len(stored[1]) < MOST_BYTES
