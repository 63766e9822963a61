"""Models that the visitor brings to the page, as its Python reads them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn, paths
from playgrad.interchange.bounds import MOST_STEPS
from tests.page.python_side import PythonSide, python_side

FILES = {"onnx": "net.onnx", "keras": "net.keras", "safetensors": "net.safetensors"}


def network() -> pg.Model:
    layers = [nn.Conv2D(3, 3), nn.Flatten(), nn.Dense(4)]
    return pg.Sequential([pg.Input((6, 6, 2)), *layers])


def exported(folder: Path, name: str) -> bytes:
    path = folder / name
    model = network()
    model.save(path) if name.endswith(".playgrad") else model.export(path)
    return path.read_bytes()


@pytest.mark.parametrize("name", [*FILES.values(), "net.playgrad", "NET.ONNX"])
def test_a_file_is_described_and_changes_nothing(name: str, tmp_path: Path) -> None:
    content = exported(tmp_path, name.lower())
    with python_side() as side:
        reply = side.ask("model_file", name=name, payload=content)
        assert reply["ok"], reply
        side_of = {"shape": [6, 6, 2], "dtype": "float32"}
        described = {key: reply["answer"][key] for key in ("parameters", "inputs", "outputs")}
        outputs = [{"shape": [4], "dtype": "float32"}]
        assert described == {
            "parameters": 3 * 3 * 2 * 3 + 3 + 48 * 4 + 4, "inputs": [side_of], "outputs": outputs,
        }  # fmt: skip
        assert reply["answer"]["compiled"] is False
        assert not side.of("graph") and not side.output
        assert not side.ask("export", format="npz")["ok"]  # there is still no trained model


@pytest.mark.parametrize("name", [*FILES.values(), "net.playgrad"])
def test_a_damaged_file_is_named(name: str, tmp_path: Path) -> None:
    content = exported(tmp_path, name)
    with python_side() as side:
        for damaged in (b"", b"\0" * 100, content[: len(content) // 2], b"PK\3\4" + content[4:90]):
            reply = side.ask("model_file", name=name, payload=damaged)
            assert not reply["ok"]
            assert reply["error"]["type"] in ("CheckpointError", "GraphError")
            assert name in reply["error"]["message"]
            assert name != "net.onnx" or "export it again" in reply["error"]["message"]
        assert side.ask("model_file", name=name, payload=content)["ok"]


# Keras converts arrays to torch by a protocol that NumPy 2 deprecates.
@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
def test_a_file_of_open_length_is_read_with_one(tmp_path: Path) -> None:
    from tests.interchange.keras_side import keras

    inputs = keras.Input(batch_shape=(2, None, 3))
    network = keras.Sequential([inputs, keras.layers.LSTM(4, stateful=True)])
    network.save(tmp_path / "steps.keras")
    content = (tmp_path / "steps.keras").read_bytes()
    with python_side() as side:
        refused = side.ask("model_file", name="steps.keras", payload=content)
        assert not refused["ok"]
        assert refused["error"]["type"] == "SequenceLengthError"
        answers = [
            side.ask("model_file", name="steps.keras", payload=content, sequence_length=steps)
            for steps in (5, 9)
        ]
    for steps, answer in zip((5, 9), answers, strict=True):
        assert answer["ok"], answer
        assert answer["answer"]["sequence_length"] == steps
        assert answer["answer"]["inputs"] == [{"shape": [steps, 3], "dtype": "float32"}]


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
def test_a_file_that_takes_any_length_is_described(tmp_path: Path) -> None:
    from tests.interchange.keras_side import keras

    keras.Sequential([keras.Input((None, 3)), keras.layers.LSTM(4)]).save(tmp_path / "any.keras")
    content = (tmp_path / "any.keras").read_bytes()
    with python_side() as side:
        answer = side.ask("model_file", name="any.keras", payload=content)
    assert answer["ok"], answer
    assert answer["answer"]["sequence_length"] is None
    assert answer["answer"]["inputs"] == [{"shape": [None, 3], "dtype": "float32"}]


def test_the_page_and_python_bound_sequences_alike() -> None:
    form = (paths.static() / "js/own-data/data-model-form.js").read_text()
    assert f"LONGEST_SEQUENCE = {MOST_STEPS:_};" in form


class WithFiles(PythonSide):
    """A page whose visitor has brought files."""

    def bring(self, monkeypatch: pytest.MonkeyPatch, files: dict[str, bytes]) -> None:
        from playgrad.page import browser_user_data

        host = browser_user_data.host
        monkeypatch.setattr(host, "fetch_data", lambda path: memoryview(files[path]))


def test_programs_read_files_that_the_browser_keeps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    content = exported(tmp_path / "elsewhere", "net.onnx")
    weights = exported(tmp_path / "elsewhere", "net.safetensors")
    files = {"/data/yours/models/": b"[]", "/data/yours/models/my%20net.onnx": content}
    files["/data/yours/models/w.safetensors"] = weights
    program = "import playgrad as pg\nmodel = pg.load_model('my net.onnx')\n"
    with python_side(WithFiles) as side:
        side.bring(monkeypatch, files)
        assert side.run(program) == "error"
        error = side.of("error")[-1]
        assert error["type"] == "CheckpointError"
        assert "cannot read 'my net.onnx'" in error["message"]
        assert 'Press "Your data"' in error["message"]
        assert error["line"] == 2
        files["/data/yours/models/"] = b'["my net.onnx", "w.safetensors"]'
        assert side.run(f"{program}print(model.count_params())\n") == "done"
        assert str(3 * 3 * 2 * 3 + 3 + 48 * 4 + 4) in side.output
        loading = "pg.load_model('w.safetensors').load_weights('w.safetensors')"
        assert side.run(f"import playgrad as pg\n{loading}\n") == "done"
        # A file that the program has written comes first.
        written = "pg.Sequential([pg.Input((3,)), pg.nn.Dense(2)]).export('my net.onnx')"
        program = f"import playgrad as pg\n{written}\n{program}print('now', model.inputs[0].shape)"
        assert side.run(program) == "done"
        assert "now (None, 3)" in side.output


def test_the_desktop_reads_the_file_beside_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    network().export("net.onnx")
    assert pg.load_model("net.onnx").predict(np.ones((1, 6, 6, 2), np.float32)).shape == (1, 4)
