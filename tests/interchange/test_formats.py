"""What a format leaves out is said in the same words everywhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from playgrad.interchange.formats import FORMATS, Format

ROOT = Path(__file__).parents[2]
TITLES = {"onnx": "ONNX", "keras": "Keras 3", "pytorch": "PyTorch", "tfjs": "TensorFlow.js"}
NOT_IN_THE_PAGE = {"onnx"}


@pytest.mark.parametrize("each", FORMATS, ids=lambda each: each.name)
def test_the_documentation_says_what_is_not_in_a_file(each: Format) -> None:
    text = (ROOT / "docs" / "interchange.md").read_text(encoding="utf-8")
    row = re.search(
        rf"^\| {TITLES.get(each.name, each.name)} \| `{each.ending}` .*\| (.*) \|$", text, re.M
    )
    assert row and row[1] == each.lacks


def test_the_page_says_it_before_saving() -> None:
    text = (ROOT / "static" / "js" / "messages" / "en.js").read_text(encoding="utf-8")
    offered = [each for each in FORMATS if each.name not in NOT_IN_THE_PAGE]
    said = re.findall(r'title: "[^"]*", about: "[^"]*", lacks: "([^"]*)"', text)
    assert sorted(said) == sorted(each.lacks for each in offered)
