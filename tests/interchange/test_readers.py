"""The choice of a reader in `pg.load_model`."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.errors import CheckpointError
from playgrad.interchange import readers
from playgrad.interchange.readers import ONNX, READERS, WEIGHTS, File, Reader, reader_of

ROWS = np.ones((2, 3), np.float32)


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


def test_the_content_decides_if_the_ending_is_unknown(model: pg.Sequential, tmp_path: Path) -> None:
    for each in ("onnx", "keras", "playgrad", "pt.zip", "tfjs.zip"):
        named = tmp_path / f"small.{each}"
        model.save(named)
        named.rename(tmp_path / "small.bin")
        np.testing.assert_array_equal(
            pg.load_model(tmp_path / "small.bin").predict(ROWS), model.predict(ROWS)
        )


MISLEADING = [
    ("keras", "onnx", "is a model of Keras 3, although its name ends in .onnx. Rename it: .*keras"),
    ("onnx", "keras", "is a model in the ONNX format, although .*should end in .onnx"),
    ("playgrad", "safetensors", "is a playgrad project, although .*should end in .playgrad"),
    ("safetensors", "playgrad", "is a safetensors file, although .*should end in .safetensors"),
    ("pt.zip", "keras", r"is an export for PyTorch, although .*should end in \.pt\.zip"),
    ("html", "onnx", "is a web page, although its name ends in .onnx"),
]


@pytest.mark.parametrize(("format", "ending", "words"), MISLEADING)
def test_misleading_endings_are_named(
    format: str, ending: str, words: str, model: pg.Sequential, tmp_path: Path
) -> None:
    model.save(tmp_path / f"a.{format}")
    path = (tmp_path / f"a.{format}").rename(tmp_path / f"b.{ending}")
    with pytest.raises(CheckpointError, match=rf"^b\.{ending}: the file {words}"):
        pg.load_model(path)


def test_a_damaged_file_with_the_right_ending_is_called_damaged(
    model: pg.Sequential, tmp_path: Path
) -> None:
    for format in ("safetensors", "keras", "playgrad"):
        path = tmp_path / f"a.{format}"
        model.save(path)
        path.write_bytes(path.read_bytes()[:-40])
        with pytest.raises(CheckpointError, match=rf"^a\.{format}: .*(damaged|truncated)"):
            pg.load_model(path)


OTHERS = {
    "m.keras": r"is a model of Keras 3, .*pg\.load_model\(file\)",
    "m.onnx": r"is a model in the ONNX format, .*pg\.load_model\(file\)",
    "m.tfjs.zip": r"is a model of TensorFlow\.js, .*pg\.load_model\(file\)",
    "m.py": "is a text, not",
    "m.html": "is a web page, not",
}


@pytest.mark.parametrize("name", OTHERS)
def test_files_without_weights_are_named(name: str, model: pg.Sequential, tmp_path: Path) -> None:
    model.export(tmp_path / name)
    before = model.get_weights()
    readers = [pg.load, lambda path: pg.match_weights(model, path)]
    if name != "m.keras":  # of which the weights can be read
        readers.append(model.load_weights)
    for read in readers:
        with pytest.raises(CheckpointError, match=f"^{name}: the file {OTHERS[name]}"):
            read(tmp_path / name)
    for one, other in zip(model.get_weights(), before, strict=True):
        np.testing.assert_array_equal(one, other)


def test_content_of_no_known_format_is_named() -> None:
    for content, words in (
        (b"", "is empty"),
        (b"\x80\x02}q\x00.", "is a pickle, .*may run any program"),
        (b"\x1f\x8b\x08 and so on", "is compressed, .*Unpack it first"),
        ("Zahlen: ü".encode() * 200, "is a text"),
    ):
        with pytest.raises(CheckpointError, match=f"the file {words}"):
            pg.load_model(content)


def test_open_files_are_read_as_their_bytes(model: pg.Sequential, tmp_path: Path) -> None:
    model.save(tmp_path / "m.playgrad")
    for read in (pg.load, pg.load_model, model.load_weights):
        with open(tmp_path / "m.playgrad", "rb") as file:
            read(file)
        read(bytearray((tmp_path / "m.playgrad").read_bytes()))


def test_values_other_than_files_are_refused(model: pg.Sequential) -> None:
    def match(file: Any) -> object:
        return pg.match_weights(model, file)

    for read in (pg.load, pg.load_model, model.load_weights, match):
        for file, words in (
            (None, "a path, an open binary file, or bytes, got NoneType"),
            ({"a": 1}, "got dict"),
            (io.StringIO("text"), "the file is open as text"),
        ):
            with pytest.raises(CheckpointError, match=words):
                read(file)  # type: ignore[operator]
    with pytest.raises(pg.DataError, match="takes a model first, got NoneType"):
        pg.match_weights(None, b"")


def test_a_file_named_like_one_of_keras_is_named(model: pg.Sequential, tmp_path: Path) -> None:
    (tmp_path / "m.weights.h5").write_text("text")
    with pytest.raises(CheckpointError, match=r"^m\.weights\.h5: the file is not an HDF5 file"):
        model.load_weights(tmp_path / "m.weights.h5")


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
