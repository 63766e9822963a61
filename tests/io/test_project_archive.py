"""Files of projects that are damaged, or made to cause harm: typed errors, and little memory."""

from __future__ import annotations

import contextlib
import functools
import io
import json
import os
import tempfile
import tracemalloc
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import playgrad as pg
from playgrad import nn
from playgrad.errors import CheckpointError, PlaygradError
from playgrad.training.checkpoints.record import Checkpoint
from tests.sweeps import examples

ABOUT = json.dumps({"format": "playgrad project", "version": 1})
WEIGHTS = "checkpoint.safetensors"
Files = Mapping[str, bytes | str]


@functools.cache  # not a fixture, whose bytes a failing example would print
def file_of_a_model() -> bytes:
    """A file of a small model that was trained."""
    model = pg.Sequential([nn.Dense(3, activation="relu"), nn.Dense(2)])
    model.compile("adam", "mse", device="cpu")
    x = np.random.default_rng(0).normal(size=(16, 4)).astype(np.float32)
    model.fit(x, x[:, :2], 8, 2, verbose=0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.playgrad"
        model.save(path)
        model.close()
        return path.read_bytes()


@pytest.fixture
def saved() -> bytes:
    return file_of_a_model()


def archive(files: Files, method: int = zipfile.ZIP_STORED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as file:
        for name, content in files.items():
            file.writestr(name, content)
    return buffer.getvalue()


def contents(file: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(file)) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def twice(files: Files) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name, content in files.items():
            file.writestr(name, content)
        with pytest.warns(UserWarning, match="Duplicate"):
            file.writestr(WEIGHTS, b"other")
    return buffer.getvalue()


def test_a_repacked_file_is_the_same_project(saved: bytes) -> None:
    packed = archive(contents(saved), zipfile.ZIP_DEFLATED)
    assert len(packed) < len(saved)
    one, other = pg.load(saved), pg.load(packed)
    for name, array in one.named_weights().items():
        assert np.array_equal(array, other.named_weights()[name])


def test_a_file_of_a_later_version_is_refused(saved: bytes) -> None:
    files = contents(saved)
    about = json.loads(files["project.json"]) | {"version": 2}
    with pytest.raises(CheckpointError, match=r"of version 2, but .* reads version 1\. Update"):
        pg.load(archive({**files, "project.json": json.dumps(about)}))


HOSTILE: dict[str, tuple[Callable[[dict[str, bytes]], bytes], str]] = {
    "nothing": (lambda files: b"", "not a playgrad project"),
    "text": (lambda files: b"print('hello')", "not a playgrad project"),
    "another archive": (lambda files: archive({"a.txt": "a"}), "lacks a valid 'project.json'"),
    "another format": (
        lambda files: archive({**files, "project.json": '{"format": "x", "version": 1}'}),
        "lacks a valid 'project.json'",
    ),
    "a version that is a text": (
        lambda files: archive({**files, "project.json": ABOUT.replace("1", '"1"')}),
        "its version is '1'",
    ),
    "not JSON": (lambda files: archive({"project.json": b"\xff{"}), "is not JSON"),
    "deep JSON": (lambda files: archive({"project.json": "[" * 10**6}), "is not JSON"),
    "no weights": (lambda files: archive({"project.json": ABOUT}), "has no weights"),
    "empty weights": (lambda files: archive({**files, WEIGHTS: b""}), "the checkpoint is damaged"),
    "a way out": (lambda files: archive({**files, "../../x": b"x"}), "leads out of it"),
    "an absolute path": (lambda files: archive({**files, "/etc/x": b"x"}), "leads out of it"),
    "a file twice": (twice, "is in it twice"),
    "many files": (
        lambda files: archive({**files, **{f"code/{i}.py": b"" for i in range(1000)}}),
        "more than 1,000 files",
    ),
    "half of it": (lambda files: archive(files)[: len(archive(files)) // 2], "damaged"),
}


@pytest.mark.survival("Hostile projects")
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_archives_are_refused_with_a_typed_error(name: str, saved: bytes) -> None:
    make, message = HOSTILE[name]
    with pytest.raises(CheckpointError, match=message):
        pg.load(make(contents(saved)))


@pytest.mark.survival("Hostile projects")
@pytest.mark.parametrize("name", [WEIGHTS, "project.json"])
def test_a_zip_bomb_is_not_unpacked(name: str, saved: bytes) -> None:
    zeros = b"\0" * (300 << 20)
    bomb = archive({**contents(saved), name: zeros}, zipfile.ZIP_DEFLATED)
    del zeros
    tracemalloc.start()
    try:
        with pytest.raises(CheckpointError, match="many times the size"):
            pg.load(bomb)
        assert tracemalloc.get_traced_memory()[1] < 32 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.survival("Hostile projects")
def test_a_size_that_is_announced_wrongly_is_refused(saved: bytes) -> None:
    content = bytearray(saved)
    entry = content.rindex(b"PK\x01\x02")  # of the last file, the weights
    for size in (1, 1 << 20, 1 << 31):
        content[entry + 24 : entry + 28] = size.to_bytes(4, "little")
        with pytest.raises(CheckpointError):
            pg.load(bytes(content))


@pytest.mark.survival("Hostile projects")
@examples(150)
@given(data=st.data())
def test_damaged_bytes_are_refused_or_harmless(data: st.DataObject) -> None:
    """Bytes that are changed, cut out or doubled: the model is the same, or the error is typed."""
    content = bytearray(file_of_a_model())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content) - 1))
        kind = data.draw(st.sampled_from(["change", "cut", "double", "end"]))
        length = data.draw(st.integers(1, 40))
        if kind == "change":
            content[at : at + length] = data.draw(st.binary(min_size=1, max_size=length))
        elif kind == "cut":
            del content[at : at + length]
        elif kind == "double":
            content[at:at] = content[at : at + length]
        else:
            del content[at:]
        if not content:
            break
    try:
        loaded = pg.load(bytes(content), device="cpu")
    except PlaygradError:
        return
    expected = pg.load(file_of_a_model(), device="cpu").named_weights()
    for name, array in loaded.named_weights().items():
        assert np.array_equal(array, expected[name])


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=6,
)


@pytest.mark.survival("Hostile projects")
@examples(150)
@given(data=st.data())
def test_settings_of_another_form_are_refused(data: st.DataObject) -> None:
    """Any JSON in place of any part of the description of the model, with a right checksum."""
    files = contents(file_of_a_model())
    checkpoint = Checkpoint.decode(files[WEIGHTS])
    record = checkpoint.model
    assert record.compiled is not None
    places: list[tuple[Any, Any]] = [(vars(record), "compiled"), (vars(record), "optimizer")]
    places += _places(record.compiled) + _places(record.optimizer)
    holder, key = data.draw(st.sampled_from(places))
    holder[key] = data.draw(_JSON)
    content = archive({**files, WEIGHTS: checkpoint.encode()})
    with contextlib.suppress(PlaygradError):
        pg.load(content, device="cpu").close()


@pytest.mark.survival("Hostile projects")
def test_layers_of_enormous_sizes_take_no_memory(saved: bytes) -> None:
    files = contents(saved)
    checkpoint = Checkpoint.decode(files[WEIGHTS])
    about = checkpoint.model.file_metadata
    about["playgrad.model"] = about["playgrad.model"].replace('"units":3', '"units":10000000')
    assert "10000000" in about["playgrad.model"]
    content = archive({**files, WEIGHTS: checkpoint.encode()})
    tracemalloc.start()
    try:
        with pytest.raises(CheckpointError, match="'dense_1/kernel'"):
            pg.load(content, device="cpu")
        assert tracemalloc.get_traced_memory()[1] < 32 << 20
    finally:
        tracemalloc.stop()


def test_the_file_does_not_tell_where_the_program_is(saved: bytes) -> None:
    assert str(Path(__file__).parent).encode() not in b"".join(contents(saved).values())


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Return every list or dictionary in ``value`` with each of its keys."""
    if not isinstance(value, (dict, list)):
        return []
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    return [(value, key) for key in keys] + [p for key in keys for p in _places(value[key])]


def test_a_file_is_written_whole_or_not_at_all(
    tmp_path: Path, saved: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.playgrad"
    model = pg.load(saved, device="cpu")
    model.save(path)
    before = path.read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(CheckpointError, match="No space left on device"):
            model.save(path)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["run.playgrad"]
