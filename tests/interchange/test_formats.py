"""The same words everywhere say what a format leaves out."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.errors import CheckpointError
from playgrad.interchange.formats import FORMATS, Format

ROOT = Path(__file__).parents[2]
TITLES = {
    "onnx": "ONNX", "keras": "Keras 3", "pytorch": "PyTorch", "tfjs": "TensorFlow.js",
    "tflite": "TensorFlow Lite", "c": "C",
}  # fmt: skip


@pytest.mark.parametrize("each", FORMATS, ids=lambda each: each.name)
def test_the_documentation_lists_what_each_format_lacks(each: Format) -> None:
    text = (ROOT / "docs" / "interchange.md").read_text(encoding="utf-8")
    row = re.search(
        rf"^\| {TITLES.get(each.name, each.name)} \| `{each.ending}` .*\| (.*) \|$", text, re.M
    )
    assert row and row[1] == each.lacks


def test_the_page_names_what_each_format_lacks() -> None:
    text = (ROOT / "static" / "js" / "messages" / "en.js").read_text(encoding="utf-8")
    said = re.findall(r'title: "[^"]*",\s+about:\s+"[^"]*",\s+lacks:\s+"([^"]*)"', text)
    in_page = [each for each in FORMATS if not each.is_quantized]
    assert sorted(said) == sorted(each.lacks for each in in_page)
    assert {each.name for each in FORMATS if each.is_quantized} == {"tflite", "c"}


@pytest.mark.parametrize("name", ["run", "run.playgrad.old", "run.h5"])
def test_unknown_endings_are_refused_with_the_known_formats(name: str, tmp_path: Path) -> None:
    model = pg.Sequential([pg.Input((2,)), nn.Dense(1)])
    for write in (model.save, model.export):
        with pytest.raises(
            CheckpointError, match=r"\(\.onnx\).*model\.save writes \.playgrad files"
        ):
            write(tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_endings_may_be_in_upper_case(tmp_path: Path) -> None:
    model = pg.Sequential([pg.Input((2,)), nn.Dense(1)])
    x = np.ones((3, 2), np.float32)
    for each in FORMATS:
        if each.is_quantized:
            continue
        upper, lower = (tmp_path / f"m{e}" for e in (each.ending.upper(), each.ending))
        model.export(upper)
        model.export(lower)
        assert abs(upper.stat().st_size - lower.stat().st_size) < 9  # the name may be in it
    model.save(tmp_path / "m.PLAYGRAD")
    for ending in ("ONNX", "KERAS", "SAFETENSORS", "PLAYGRAD"):
        loaded = pg.load_model(tmp_path / f"m.{ending}")
        np.testing.assert_array_equal(loaded.predict(x), model.predict(x))
    model.load_weights(tmp_path / "m.PLAYGRAD")
