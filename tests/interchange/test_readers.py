"""The choice of a reader in `pg.load_model`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.errors import CheckpointError
from playgrad.interchange import readers
from playgrad.interchange.readers import ONNX, READERS, WEIGHTS, File, Reader, reader_of


def from_json(file: File) -> pg.Model:
    content = file if isinstance(file, bytes) else Path(file).read_bytes()
    return pg.model_from_json(content)


JSON = Reader("json", (".json",), lambda content: content.startswith(b"{"), from_json)


@pytest.fixture
def model() -> pg.Sequential:
    model = pg.Sequential([nn.Dense(2)], name="small")
    model.build((3,))
    return model


@pytest.fixture
def with_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers, "READERS", (JSON, *READERS))


@pytest.mark.usefixtures("with_json")
def test_the_ending_of_a_path_decides(model: pg.Sequential, tmp_path: Path) -> None:
    described, weights = tmp_path / "small.JSON", tmp_path / "small.safetensors"
    described.write_text(model.to_json())
    model.save_weights(weights)
    assert pg.load_model(described).to_json() == model.to_json()
    loaded = pg.load_model(weights)
    for expected, seen in zip(model.get_weights(), loaded.get_weights(), strict=True):
        assert np.array_equal(expected, seen)


@pytest.mark.usefixtures("with_json")
def test_the_content_of_bytes_decides(model: pg.Sequential, tmp_path: Path) -> None:
    path = tmp_path / "small.safetensors"
    model.save_weights(path)
    assert reader_of(model.to_json().encode()) is JSON
    assert pg.load_model(model.to_json().encode()).to_json() == model.to_json()
    assert reader_of(path.read_bytes()) is WEIGHTS
    # The length of a safetensors header may begin with the byte that ONNX files begin with.
    assert reader_of(b"\x08" + bytes(7) + b'{"a": {}}') is WEIGHTS
    model.export(tmp_path / "small.onnx")
    assert reader_of((tmp_path / "small.onnx").read_bytes()) is ONNX


def test_a_path_with_another_ending_is_read_as_weights(
    model: pg.Sequential, tmp_path: Path
) -> None:
    path = tmp_path / "small.weights"
    named = tmp_path / "small.safetensors"
    model.save_weights(named)
    named.rename(path)
    assert pg.load_model(path).name == "small"
    path.write_bytes(b"text")
    with pytest.raises(CheckpointError):
        pg.load_model(path)


def test_the_last_reader_takes_any_bytes() -> None:
    assert READERS[-1] is WEIGHTS
    assert reader_of(b"") is WEIGHTS


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_devices_and_folders_are_not_read(reader: Reader, tmp_path: Path) -> None:
    for name, target, what in (("a", "/dev/null", "not an ordinary file"), ("b", ".", "a folder")):
        link = tmp_path / f"{name}{reader.endings[0]}"
        link.symlink_to(target)
        with pytest.raises(CheckpointError, match=f"cannot read '.*': it is {what}"):
            pg.load_model(link)
