"""`playgrad predict` and `playgrad export` with Keras files of open sequence length."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from tests.cli.running import result_of, run
from tests.interchange.keras_side import keras

# Keras converts arrays to torch by a protocol that NumPy 2 deprecates.
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
L = keras.layers
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def network(tmp_path: Path) -> tuple[Any, Path]:
    model = keras.Sequential([keras.Input((None, 3)), L.LSTM(4), L.Dense(2)])
    path = tmp_path / "model.keras"
    model.save(path)
    return model, path


def samples(folder: Path, *shape: int) -> tuple[Path, Any]:
    x = np.random.default_rng(len(shape)).normal(size=shape).astype(np.float32)
    path = folder / f"{'x'.join(map(str, shape))}.npy"
    np.save(path, x)
    return path, x


def outputs(capsys: Capture, *arguments: object) -> Any:
    rows = result_of(run(capsys, "predict", *arguments, "--format", "json"))
    return [row["output"] for row in rows]


@pytest.mark.parametrize("shape", [(2, 7, 3), (4, 1, 3), (5, 3)])
def test_the_length_is_that_of_the_samples(
    network: tuple[Any, Path], shape: tuple[int, ...], tmp_path: Path, capsys: Capture
) -> None:
    theirs, path = network
    file, x = samples(tmp_path, *shape)
    expected = theirs(x.reshape(-1, *x.shape[-2:])).detach().numpy()
    np.testing.assert_allclose(outputs(capsys, path, file), expected, rtol=1e-4, atol=1e-6)
    options = ("--sequence-length", shape[-2])
    np.testing.assert_allclose(
        outputs(capsys, path, file, *options), expected, rtol=1e-4, atol=1e-6
    )


def test_rows_of_a_table_are_sequences(
    network: tuple[Any, Path], tmp_path: Path, capsys: Capture
) -> None:
    theirs, path = network
    table = tmp_path / "rows.csv"
    table.write_text("1,2,3,4,5,6\n6,5,4,3,2,1\n")
    x = np.array([[[1, 2, 3], [4, 5, 6]], [[6, 5, 4], [3, 2, 1]]], np.float32)
    expected = theirs(x).detach().numpy()
    np.testing.assert_allclose(outputs(capsys, path, table), expected, rtol=1e-4, atol=1e-6)
    table.write_text("1,2,3,4\n")
    code, out, err = run(capsys, "predict", path, table)
    assert (code, out) == (1, "")
    assert "samples of shape (?, 3), but" in err
    assert "rows of 4 columns" in err


def test_tokens_have_a_length(tmp_path: Path, capsys: Capture) -> None:
    theirs = keras.Sequential([keras.Input((None,)), L.Embedding(9, 3), L.GRU(2)])
    theirs.save(tmp_path / "words.keras")
    table = tmp_path / "words.csv"
    table.write_text("1,2,8,0\n4,4,5,1\n")
    x = np.array([[1, 2, 8, 0], [4, 4, 5, 1]])
    expected = theirs(x).detach().numpy()
    found = outputs(capsys, tmp_path / "words.keras", table)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)


def test_samples_that_tell_no_length_are_refused(
    network: tuple[Any, Path], tmp_path: Path, capsys: Capture
) -> None:
    _, path = network
    five, seven = samples(tmp_path, 2, 5, 3)[0], samples(tmp_path, 1, 7, 3)[0]
    files = {
        (five, seven): f"differ in length: 5 in {five}, 7 in {seven}. Predict each by itself.",
        (samples(tmp_path, 3)[0],): "takes samples of shape (?, 3) with 1 to 10,000 steps, but",
        (samples(tmp_path, 2, 0, 3)[0],): "samples of shape (0, 3)",
        (samples(tmp_path, 2, 5, 4)[0],): "(5, 4)",
    }
    for names, words in files.items():
        code, out, err = run(capsys, "predict", path, *names)
        assert (code, out) == (1, "")
        assert words in err


def test_export_takes_the_length_and_says_that_it_stays(
    network: tuple[Any, Path], tmp_path: Path, capsys: Capture
) -> None:
    theirs, path = network
    target = tmp_path / "fixed.onnx"
    code, _, err = run(capsys, "export", path, target)
    assert code == 1
    assert "takes sequences of any length, but its operations" in err
    assert "Add --sequence-length N: the number of steps in each sample." in err
    code, out, err = run(capsys, "export", path, target, "--sequence-length", 6)
    assert code == 0, err
    assert f"written to {target}, for sequences of 6 steps, without" in out
    _, x = samples(tmp_path, 2, 6, 3)
    expected = theirs(x).detach().numpy()
    np.testing.assert_allclose(pg.load_model(target).predict(x), expected, rtol=1e-4, atol=1e-6)
    code, out, err = run(capsys, "export", path, "--sequence-length", 6)
    assert code == 0, err
    assert "tensors" in out
    code, _, err = run(capsys, "export", target, tmp_path / "b.keras", "--sequence-length", 6)
    assert code == 1
    assert "--sequence-length is for files of Keras and TensorFlow.js, but" in err


@pytest.mark.parametrize("length", ["0", "-1", "10001", "1e3", "five"])
def test_other_lengths_are_refused(length: str, tmp_path: Path, capsys: Capture) -> None:
    code, _, err = run(capsys, "predict", "a.keras", "x.npy", "--sequence-length", length)
    assert code == 2
    assert "a whole number from 1 to 10,000" in err or "expected one argument" in err


def test_models_with_two_open_inputs_are_refused(tmp_path: Path, capsys: Capture) -> None:
    a, b = keras.Input((None, 3)), keras.Input((None, 3))
    path = tmp_path / "two.keras"
    keras.Model([a, b], L.Concatenate()([L.LSTM(2)(a), L.LSTM(2)(b)])).save(path)
    for options in ((), ("--sequence-length", 5)):
        code, _, err = run(capsys, "predict", path, "x.npy", *options)
        assert code == 1
        assert "models with one input" in err
