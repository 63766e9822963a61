"""Weights files: both formats, recognising them, and matching them with a model."""

from __future__ import annotations

import contextlib
import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

import playgrad as pg
from playgrad import nn
from playgrad.errors import CheckpointError
from playgrad.io import check_match, decode, encode, load, save

TENSORS = {
    "dense_1/kernel": np.arange(6, dtype=np.float32).reshape(2, 3),
    "dense_1/bias": np.array([0.5, -0.5, 0], np.float32),
}


@pytest.mark.parametrize("name", ["w.safetensors", "w.npz"])
def test_weights_survive_a_round_trip_through_files(tmp_path: Path, name: str) -> None:
    save(TENSORS, tmp_path / name)
    loaded = load(tmp_path / name)
    assert list(loaded) == list(TENSORS)
    for key, array in TENSORS.items():
        np.testing.assert_array_equal(loaded[key], array)


def test_open_files_and_bytes_are_accepted() -> None:
    buffer = io.BytesIO()
    save(TENSORS, buffer, "npz")
    assert load(buffer.getvalue()).keys() == TENSORS.keys()
    assert load(io.BytesIO(encode(TENSORS, "safetensors"))).keys() == TENSORS.keys()


def test_numpy_and_pytorch_read_saved_files(tmp_path: Path) -> None:
    save(TENSORS, tmp_path / "w.npz")
    with np.load(tmp_path / "w.npz", allow_pickle=False) as loaded:
        assert set(loaded) == set(TENSORS)
        np.testing.assert_array_equal(loaded["dense_1/kernel"], TENSORS["dense_1/kernel"])
    save(TENSORS, tmp_path / "w.safetensors")
    tensors = load_file(tmp_path / "w.safetensors")
    assert torch.equal(tensors["dense_1/bias"], torch.tensor([0.5, -0.5, 0]))


def test_an_npz_of_numpy_is_read() -> None:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, a=np.arange(3), b=np.zeros((2, 2)))
    assert decode(buffer.getvalue())["a"].tolist() == [0, 1, 2]


def test_pickled_objects_are_refused() -> None:
    buffer = io.BytesIO()
    np.savez(buffer, a=np.array([{"a": 1}], dtype=object))
    with pytest.raises(CheckpointError, match=r"'a.npy' cannot be read: .*allow_pickle"):
        decode(buffer.getvalue())


def test_an_npz_with_a_false_size_takes_no_memory() -> None:
    content = encode({"a": np.zeros(1000, np.float32)}, "npz")
    shape = b"(1000,), }" + b" " * 10
    assert shape in content
    for header in (b"(1000000000000,), }", b"(1,), }"):
        changed = content.replace(shape, header.ljust(len(shape)))
        with pytest.raises(CheckpointError, match=r"'a.npy' has 4,000 bytes, but its shape \(1"):
            decode(changed)


def test_files_of_other_kinds_are_named() -> None:
    with pytest.raises(CheckpointError, match="not a safetensors, npz or PyTorch file"):
        decode(b"\x89PNG\r\n\x1a\n and the rest of a picture")
    single = io.BytesIO()
    np.save(single, np.zeros(3))
    with pytest.raises(CheckpointError, match=r"a single array \(npy\).*numpy.savez"):
        decode(single.getvalue())
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("notes.txt", "not an array")
    with pytest.raises(CheckpointError, match=r"which is not an array\. Save the weights with"):
        decode(archive.getvalue())


def test_damaged_npz_files_are_refused_or_harmless() -> None:
    content = encode(TENSORS, "npz")
    with pytest.raises(CheckpointError, match="not an npz file, or a damaged one"):
        decode(content[: len(content) // 2])
    for position in range(0, len(content), 7):
        changed = bytearray(content)
        changed[position] ^= 0xFF
        with contextlib.suppress(CheckpointError):
            decode(bytes(changed))


def test_file_names_determine_the_format_and_appear_in_errors(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"'w.pt' does not tell the format.*\.safetensors"):
        save(TENSORS, tmp_path / "w.pt")
    with pytest.raises(CheckpointError, match=r"cannot read .*none.npz"):
        load(tmp_path / "none.npz")
    (tmp_path / "short.safetensors").write_bytes(b"a\0c")
    with pytest.raises(CheckpointError, match=r"short\.safetensors: not a safetensors file"):
        load(tmp_path / "short.safetensors")


def small_model() -> nn.Sequential:
    model = nn.Sequential([nn.Dense(3)])
    model.compile("sgd", "mse", device="cpu")
    model.build((2,))
    return model


def test_unwritable_files_are_reported(tmp_path: Path) -> None:
    (tmp_path / "folder.npz").mkdir()
    for name in ("folder.npz", "none/w.npz"):
        with pytest.raises(CheckpointError, match=r"cannot write '.*npz': "):
            save(TENSORS, tmp_path / name)


@pytest.mark.parametrize("name", ["zero\0.npz", "half\ud800.npz"])
def test_invalid_file_names_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(CheckpointError, match="is not a valid name of a file"):
        save(TENSORS, tmp_path / name)
    with pytest.raises(CheckpointError, match="is not a valid name of a file"):
        load(tmp_path / name)


def test_a_model_loads_its_saved_weights(tmp_path: Path) -> None:
    model = small_model()
    model.set_weights(TENSORS)
    model.save_weights(tmp_path / "w.safetensors")
    other = small_model()
    other.load_weights(tmp_path / "w.safetensors")
    x = np.array([[1, 2]], np.float32)
    np.testing.assert_array_equal(other.predict(x), model.predict(x))
    np.testing.assert_array_equal(
        other.predict(x), x @ TENSORS["dense_1/kernel"] + TENSORS["dense_1/bias"]
    )


MISMATCHED = {
    "missing": ({"dense_1/kernel": TENSORS["dense_1/kernel"]}, "it needs 'dense_1/bias'"),
    "unknown": ({**TENSORS, "more": np.zeros(1, np.float32)}, "the file has 'more'"),
    "shape": (
        {**TENSORS, "dense_1/bias": np.zeros(4, np.float32)},
        r"'dense_1/bias' has shape \(4,\) in the file, but \(3,\) in the model",
    ),
    "dtype": (
        {**TENSORS, "dense_1/bias": np.zeros(3)},
        "'dense_1/bias' is float64 in the file, but float32 in the model",
    ),
}


@pytest.mark.parametrize("case", MISMATCHED)
def test_weights_of_another_model_are_refused(tmp_path: Path, case: str) -> None:
    tensors, words = MISMATCHED[case]
    model = small_model()
    before = model.named_weights()
    save(tensors, tmp_path / "w.safetensors")
    with pytest.raises(CheckpointError, match=words):
        model.load_weights(tmp_path / "w.safetensors")
    for name, value in model.named_weights().items():
        np.testing.assert_array_equal(value, before[name])


def test_order_of_names_does_not_matter() -> None:
    specs = small_model().named_variables
    swapped = dict(reversed(TENSORS.items()))
    assert list(check_match(swapped, {n: w.spec for n, w in specs.items()})) == list(TENSORS)


NUMBERS: dict[str, Any] = {
    "lists": [[1, 2], [3, 4], [5, 6]],
    "an array": np.ones((3, 2), np.float32),
    "a tensor of another library": torch.ones(3, 2),
}
OTHERS: dict[str, Any] = {
    "nothing": None,
    "lists of different lengths": [[1], [2, 3]],
    "a text": "x",
    "texts": [["1", "2"]] * 3,
    "objects": [[None, None]] * 3,
    "an object": object(),
    "complex numbers": np.ones((3, 2), np.complex64),
    "dates": np.zeros((3, 2), "M8[s]"),
}


@pytest.mark.parametrize("case", [*NUMBERS, *OTHERS])
def test_weights_are_numbers_of_any_form(case: str, tmp_path: Path) -> None:
    model = pg.Sequential([pg.Input((3,)), pg.nn.Dense(2, name="a")])
    before = model.named_weights()
    bias = np.zeros(2, np.float32)
    values: dict[str, Any] = {"a/kernel": (NUMBERS | OTHERS)[case], "a/bias": bias}
    for change in (
        lambda: model.set_weights(values),
        lambda: model.set_weights([*values.values()]),
        lambda: save(values, tmp_path / "x.safetensors"),
        lambda: save(values, tmp_path / "x.npz"),
    ):
        if case in OTHERS:
            with pytest.raises(CheckpointError, match="'a/kernel' must be an array of numbers"):
                change()
            np.testing.assert_array_equal(model.named_weights()["a/kernel"], before["a/kernel"])
        else:
            change()
            np.testing.assert_array_equal(model.named_weights()["a/kernel"], values["a/kernel"])


def test_names_of_weights_are_texts(tmp_path: Path) -> None:
    for name in (3, None, "\ud800", "x" * 5000):
        with pytest.raises(CheckpointError, match=r"the name .* of a tensor"):
            save({name: np.ones(2)}, tmp_path / "x.npz")  # type: ignore[dict-item]
