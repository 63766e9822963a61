"""`playgrad predict` prints what `Model.predict` returns."""

from __future__ import annotations

import csv
import io
import json
import re
import struct
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.cli import prediction_inputs
from tests.cli.processes import environment
from tests.cli.running import result_of, run

Array = np.ndarray[Any, Any]
X = np.random.default_rng(3).normal(size=(5, 3)).astype(np.float32)


@pytest.fixture
def classifier(tmp_path: Path) -> Path:
    return saved(pg.Sequential([pg.Input((3,)), nn.Dense(4, activation="softmax")]), tmp_path)


def saved(model: pg.Model, folder: Path) -> Path:
    path = folder / "model.safetensors"
    model.save_weights(path)
    model.close()
    return path


def expected(model: Path, x: Array) -> Array:
    loaded = pg.load_model(model)
    try:
        result: Array = loaded.predict(x)
        return result
    finally:
        loaded.close()


def array_file(folder: Path, x: Array, name: str = "x.npy") -> Path:
    np.save(folder / name, x)
    return folder / name


def png(pixels: Array) -> bytes:
    height, width, channels = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)

    def chunk(kind: bytes, body: bytes) -> bytes:
        data = kind + body
        return struct.pack(">I", len(body)) + data + struct.pack(">I", zlib.crc32(data))

    colour = {1: 0, 3: 2}[channels]
    header = struct.pack(">IIBBBBB", width, height, 8, colour, 0, 0, 0)
    parts = (chunk(b"IHDR", header), chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


@pytest.mark.parametrize("device", ["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])
def test_json_has_all_probabilities(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, classifier: Path, device: str
) -> None:
    file = array_file(tmp_path, X)
    rows = result_of(
        run(capsys, "predict", classifier, file, "--format", "json", "--device", device)
    )
    assert [row["sample"] for row in rows] == [f"{file}[{i}]" for i in range(5)]
    for row, probabilities in zip(rows, expected(classifier, X), strict=True):
        by_class = {each["class"]: each["probability"] for each in row["classes"]}
        np.testing.assert_allclose([by_class[str(i)] for i in range(4)], probabilities, rtol=1e-5)
        assert row["class"] == row["classes"][0]["class"] == str(probabilities.argmax())
        assert row["probability"] == pytest.approx(probabilities.max(), rel=1e-5)


def test_all_file_formats_give_the_same_predictions(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, classifier: Path
) -> None:
    np.savez(tmp_path / "x.npz", samples=X)
    text = "\n".join(",".join(map(repr, row)) for row in X.tolist())
    (tmp_path / "bare.csv").write_text(text)
    (tmp_path / "named.csv").write_text("a;b;c\n" + text.replace(",", ";"))
    files = [array_file(tmp_path, X), *(tmp_path / n for n in ("x.npz", "bare.csv", "named.csv"))]
    code, out, err = run(capsys, "predict", classifier, *files, "--format", "csv")
    remark = "named.csv: The model does not know names of columns; they are taken in order.\n"
    assert (code, err) == (0, f"playgrad: {tmp_path}/{remark}")
    titles, *rows = csv.reader(io.StringIO(out))
    assert titles == ["sample", "class", "0", "1", "2", "3"]
    assert len(rows) == 20
    numbers = np.array([row[2:] for row in rows], np.float32).reshape(4, 5, 4)
    np.testing.assert_allclose(numbers, [expected(classifier, X)] * 4, rtol=1e-6)


def test_tables_are_read_as_the_page_reads_them(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, classifier: Path
) -> None:
    (tmp_path / "prices.csv").write_bytes(
        "größe;b;c\n2.828,82;1,5;-3\n1.234;0,5;4\n".encode("cp1252")
    )
    code, out, err = run(capsys, "predict", classifier, tmp_path / "prices.csv", "--format", "csv")
    numbers = np.array([row[2:] for row in list(csv.reader(io.StringIO(out)))[1:]], np.float32)
    right = expected(classifier, np.array([[2828.82, 1.5, -3], [1234, 0.5, 4]], np.float32))
    np.testing.assert_allclose(numbers, right, rtol=1e-6)
    assert code == 0
    assert "prices.csv: In 'größe', '2.828,82' is read as 2828.82.\n" in err
    assert "prices.csv: The text is not UTF-8, and is read as Windows-1252.\n" in err


def test_the_table_shows_labels_and_top_classes(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, classifier: Path
) -> None:
    labels = ["ant", "bee", "cow", "dog"]
    file = array_file(tmp_path, X[0], "one.npy")
    names = tmp_path / "labels.txt"
    names.write_text("\n".join(labels) + "\n")
    for argument in (",".join(labels), names):
        code, out, err = run(
            capsys, "predict", classifier, file, "--labels", argument, "--top", "2"
        )
        assert (code, err) == (0, "")
        titles, row = out.splitlines()
        columns = ["sample", "class 1", "probability 1", "class 2", "probability 2"]
        assert re.split("  +", titles) == columns
        (probabilities,) = expected(classifier, X[:1])
        first, second = np.argsort(-probabilities)[:2]
        values = [f"{probabilities[i]:.4g}" for i in (first, second)]
        assert row.split() == [f"{file}[0]", labels[first], values[0], labels[second], values[1]]


def test_scores_become_probabilities_with_logits(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    model = saved(pg.Sequential([pg.Input((3,)), nn.Dense(4)]), tmp_path)
    file = array_file(tmp_path, X)
    rows = result_of(run(capsys, "predict", model, file, "--format", "json"))
    scores = expected(model, X)
    np.testing.assert_allclose([row["output"] for row in rows], scores, rtol=1e-6)
    rows = result_of(run(capsys, "predict", model, file, "--format", "json", "--logits"))
    powers = np.exp(scores.astype(np.float64))
    best = (powers / powers.sum(1, keepdims=True)).max(1)
    np.testing.assert_allclose([row["probability"] for row in rows], best, rtol=1e-5)
    assert [int(row["class"]) for row in rows] == scores.argmax(1).tolist()


def test_numeric_outputs_are_shortened_in_the_table_only(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    model = saved(pg.Sequential([pg.Input((3,)), nn.Dense(10)]), tmp_path)
    file = array_file(tmp_path, X[:1])
    code, out, _ = run(capsys, "predict", model, file)
    (output,) = expected(model, X[:1])
    assert code == 0
    cells = out.splitlines()[1].split()
    assert cells == [f"{file}[0]", *(f"{value:.4g}" for value in output[:8]), "and", "2", "more"]
    code, out, _ = run(capsys, "predict", model, file, "--format", "csv")
    row = list(csv.reader(io.StringIO(out)))[1]
    np.testing.assert_allclose(np.array(row[1:], np.float32), output, rtol=1e-6)


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize(
    ("dtype", "first", "scale"),
    [
        ("float32", [], 255),
        ("float32", [nn.Rescaling(1 / 255)], 1),
        ("uint8", [nn.Rescaling(1 / 255)], 1),
    ],
    ids=["0 to 1", "rescaled", "bytes"],
)
def test_images_are_converted_to_the_models_input(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    channels: int,
    dtype: str,
    first: list[Any],
    scale: int,
) -> None:
    layers = [type(layer)(layer.scale) for layer in first]
    chain = [*layers, nn.Flatten(), nn.Dense(3)]
    model = pg.Sequential(chain)
    model.build((4, 6, channels), dtype)
    path = saved(model, tmp_path)
    pixels = np.random.default_rng(1).integers(0, 256, (4, 6, channels), np.uint8)
    (tmp_path / "image.png").write_bytes(png(pixels))
    (row,) = result_of(run(capsys, "predict", path, tmp_path / "image.png", "--format", "json"))
    assert row["sample"] == str(tmp_path / "image.png")
    (right,) = expected(path, (pixels.astype(np.float32) / scale).astype(dtype)[None])
    np.testing.assert_allclose(row["output"], right, rtol=1e-5, atol=1e-6)


def test_colours_become_grey_for_a_model_of_grey_rows(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = saved(pg.Sequential([pg.Input((24,)), nn.Dense(3)]), tmp_path)
    pixels = np.random.default_rng(1).integers(0, 256, (4, 6, 3), np.uint8)
    (tmp_path / "image.png").write_bytes(png(pixels))
    (row,) = result_of(run(capsys, "predict", path, tmp_path / "image.png", "--format", "json"))
    grey = np.round(pixels @ np.array([0.299, 0.587, 0.114])).reshape(1, 24).astype(np.float32)
    (right,) = expected(path, grey / 255)
    np.testing.assert_allclose(row["output"], right, atol=0.01)


@pytest.mark.parametrize("form", ["npy", "csv"])
def test_samples_are_read_from_standard_input(tmp_path: Path, classifier: Path, form: str) -> None:
    if form == "npy":
        content = array_file(tmp_path, X).read_bytes()
    else:
        content = "\n".join(",".join(map(repr, row)) for row in X.tolist()).encode()
    command = [sys.executable, "-m", "playgrad", "predict", str(classifier), "-"]
    ended = subprocess.run(
        [*command, "--format", "json"], input=content, capture_output=True, env=environment()
    )
    assert ended.returncode == 0, ended.stderr
    rows = json.loads(ended.stdout)
    assert rows[0]["sample"] == "standard input[0]"
    best = expected(classifier, X).max(1)
    np.testing.assert_allclose([row["probability"] for row in rows], best, rtol=1e-5)


@pytest.mark.skipif(sys.platform == "win32", reason="/dev/zero")
def test_endless_inputs_are_refused(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    classifier: Path,
) -> None:
    monkeypatch.setattr(prediction_inputs, "MOST_BYTES", 1 << 16)
    for name in ("x.npy", "x.npz", "x.csv", "x.png"):
        (tmp_path / name).symlink_to("/dev/zero")
        code, _, err = run(capsys, "predict", classifier, tmp_path / name)
        assert code == 1 and f"{name} is not an ordinary file, and has more than the 65,536" in err
    with open("/dev/zero") as zeros:
        monkeypatch.setattr(sys, "stdin", zeros)
        code, _, err = run(capsys, "predict", classifier, "-")
    assert code == 1 and "standard input is not an ordinary file, and has more than" in err
    large = array_file(tmp_path, np.tile(X, (4000, 1)), "large.npy")
    assert large.stat().st_size > 1 << 16
    assert run(capsys, "predict", classifier, large)[0] == 0


@pytest.mark.skipif(sys.platform == "win32", reason="sh")
def test_a_closed_standard_input_is_an_error(classifier: Path) -> None:
    command = f'"{sys.executable}" -m playgrad predict "{classifier}" - <&-'
    ended = subprocess.run(command, shell=True, capture_output=True, text=True, env=environment())
    assert ended.returncode == 1
    assert "ReadError: standard input is closed. Name a file" in ended.stderr


def test_whole_number_inputs_reject_fractions(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    model = pg.Sequential([nn.Embedding(9, 2), nn.Flatten(), nn.Dense(2)])
    model.build((3,), "int32")
    path = saved(model, tmp_path)
    (tmp_path / "x.csv").write_text("1,2,8\n0,0,3\n")
    rows = result_of(run(capsys, "predict", path, tmp_path / "x.csv", "--format", "json"))
    right = expected(path, np.array([[1, 2, 8], [0, 0, 3]], np.int32))
    np.testing.assert_allclose([row["output"] for row in rows], right, rtol=1e-6)
    (tmp_path / "x.csv").write_text("1,2,8\n0,0.5,3\n")
    code, _, err = run(capsys, "predict", path, tmp_path / "x.csv")
    assert code == 1
    np.save(tmp_path / "x.npy", [[1.0, 2.0, 8.0], [0.0, 0.0, 3.0]])
    rows = result_of(run(capsys, "predict", path, tmp_path / "x.npy", "--format", "json"))
    np.testing.assert_allclose([row["output"] for row in rows], right, rtol=1e-6)
    np.save(tmp_path / "x.npy", [[1.0, 2.0, 8.5]])
    assert (
        "x.npy[0] at [2]: 8.5, but the model" in run(capsys, "predict", path, tmp_path / "x.npy")[2]
    )
    assert "x.csv, line 2, column 2 of 3: 0.5, but the model takes whole numbers (int32)" in err
    (tmp_path / "x.csv").write_text("1,2,5000000000\n")
    np.save(tmp_path / "x.npy", [[1.0, 2.0, -3e9]])
    for name, words in (
        ("x.csv", "line 1, column 3 of 3: 5000000000, but the model takes int32: -2147483648 to"),
        ("x.npy", "x.npy[0] at [2]: -3000000000, but the model takes int32: -2147483648 to"),
    ):
        assert words in run(capsys, "predict", path, tmp_path / name)[2]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("x.csv", b"1,2,3\n4,five,6\n", "x.csv, line 2, column 2 of 3: 'five' is not a number"),
        ("x.csv", b"a,b,c\n1,,3\n", "x.csv, line 2, column 'b': the cell is empty"),
        ("x.csv", b"a,b,c\n\n1,nan,3\n", "x.csv, line 3, column 'b': 'nan' is not a number"),
        ("x.csv", b"1,2,3\n4,5\n", "x.csv, line 2 has another number of cells"),
        ("x.csv", b"1,2\n4,5\n", "samples of shape (3,), but"),
        ("x.csv", b"1,2\n4,5\n", "x.csv has rows of 2 columns"),
        ("x.csv", b"a,b,c\n", "x.csv has a header but no rows"),
        ("x.csv", b"\n", "x.csv is empty"),
        ("x.csv", b"\xff\xfe1\0,\0\0\0", "x.csv is not a table of text"),
        ("x.npy", b"nothing", "x.npy' cannot be read: it does not begin as an npy file does"),
        ("x.npz", b"PK\x03\x04", "x.npz cannot be read"),
        ("x.png", b"nothing", "x.png"),
        ("x.png", png(np.zeros((2, 5, 1), np.uint8)), "x.png is an image of 2 x 5 pixels"),
        ("x.jpg", b"1", "Save the picture as PNG."),
        ("x.doc", b"1", "x.doc does not end in .npy, .npz, .png, .csv"),
    ],
)
def test_unsuitable_files_are_refused(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    classifier: Path,
    name: str,
    content: bytes,
    words: str,
) -> None:
    (tmp_path / name).write_bytes(content)
    code, out, err = run(capsys, "predict", classifier, tmp_path / name)
    assert (code, out) == (1, "")
    assert words in err
    assert "Traceback" not in err


def test_unsuitable_arrays_are_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, classifier: Path
) -> None:
    wide = array_file(tmp_path, np.zeros((2, 7), np.float32), "wide.npy")
    code, out, err = run(capsys, "predict", classifier, array_file(tmp_path, X), wide)
    assert (code, out) == (1, "")
    assert "takes samples of shape (3,)" in err
    assert "wide.npy has samples of shape (7,)" in err
    np.savez(tmp_path / "two.npz", a=X, b=X)
    code, _, err = run(capsys, "predict", classifier, tmp_path / "two.npz")
    assert code == 1
    assert "two.npz must hold one array, got 2: a, b" in err
    for array, words in (
        (np.array([[0, 0, 0], [1, np.nan, 2]]), "x.npy[1] at [1]: nan is not a finite number"),
        (np.array([[["a"]]]), "x.npy' cannot be read: it holds texts (dtype '<U1'), not numbers"),
        (np.array([1j]), "it holds complex numbers (dtype '<c16'), not numbers"),
        (np.array("2020-01-01", "M8"), "it holds dates"),
        (np.zeros(2, [("a", "f4"), ("b", "i4")]), "it holds records"),
        (np.float32(3.0), "x.npy holds a single number, but the model takes samples of shape (3,)"),
    ):
        np.save(tmp_path / "x.npy", array)
        code, out, err = run(capsys, "predict", classifier, tmp_path / "x.npy")
        assert (code, out) == (1, "")
        assert words in err
    objects = tmp_path / "objects.npy"
    np.save(objects, np.array([{}, None]), allow_pickle=True)
    assert run(capsys, "predict", classifier, objects)[0] == 1


def test_unsuitable_options_are_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, classifier: Path
) -> None:
    file = array_file(tmp_path, X)
    cases = [
        (["--labels", "a,b"], 1, "--labels must name the 4 classes of the model, but names 2"),
        (["--logits"], 1, "the output is already a softmax"),
        (["--top", "0"], 2, "'0' is not a whole number"),
        (["-", "-"], 2, "can be read once only"),
    ]
    for arguments, expected_code, words in cases:
        code, out, err = run(capsys, "predict", classifier, file, *arguments)
        assert (code, out) == (expected_code, "")
        assert words in err
    assert run(capsys, "predict", tmp_path / "missing.safetensors", file)[0] == 1
    scores = saved(pg.Sequential([pg.Input((3,)), nn.Dense(4)]), tmp_path)
    code, _, err = run(capsys, "predict", scores, file, "--top", "1")
    assert code == 1
    assert "--top needs classes" in err
    assert "Add --logits" in err
