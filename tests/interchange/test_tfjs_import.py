"""Models of TensorFlow.js, as it saves them and as playgrad exports them, become models again."""

from __future__ import annotations

import contextlib
import io
import json
import re
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.cli import main
from playgrad.errors import CheckpointError, ExportError
from tests.interchange.networks import randoms
from tests.interchange.test_keras_models import network
from tests.interchange.tfjs_side import TensorFlowJs, arrays_of
from tests.io.damage import delete, edit_directory, flip_bits, insert, truncate
from tests.nn.test_layers import TABLE
from tests.sweeps import budget, dice

Array = np.ndarray[Any, Any]
Model = dict[str, Any]
SOURCE = Path(__file__).with_name("tfjs_models.mjs").read_text(encoding="utf-8")
SINGLE = re.findall(r"^  (\w+): \[layers", SOURCE, re.MULTILINE)
NAMES = ["mlp", "cnn", "reader", "open", "branches", *SINGLE]


@pytest.fixture(scope="module")
def tensorflow_js(tmp_path_factory: pytest.TempPathFactory) -> TensorFlowJs:
    return TensorFlowJs(tmp_path_factory.mktemp("program"))


@pytest.fixture(scope="module")
def saved(tensorflow_js: TensorFlowJs, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the models that TensorFlow.js saved."""
    folder = tmp_path_factory.mktemp("saved")
    tensorflow_js.make(folder)
    return folder


def zipped(folder: Path, inside: str = "") -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path in folder.iterdir():
            archive.write(path, inside + path.name)
    return buffer.getvalue()


def check(model: pg.Model, folder: Path) -> None:
    check_outputs(model, folder, arrays_of(folder)[1])


def check_outputs(model: pg.Model, folder: Path, expected: list[Array]) -> None:
    inputs, _ = arrays_of(folder)
    xs = [x.astype(tensor.dtype) for x, tensor in zip(inputs, model.inputs, strict=True)]
    results = as_list(model.predict(xs if len(xs) > 1 else xs[0]))
    for one, other in zip(results, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


@pytest.mark.parametrize("name", NAMES)
def test_what_tensorflow_js_saves_is_read(name: str, saved: Path) -> None:
    check(pg.load_model(saved / name / "model.json"), saved / name)


def test_folders_and_archives_are_read(saved: Path, tmp_path: Path) -> None:
    (tmp_path / "m.tfjs.zip").write_bytes(zipped(saved / "branches", "digits/"))
    (tmp_path / "m.zip").write_bytes(zipped(saved / "branches"))
    sources = (
        saved / "branches", tmp_path / "m.tfjs.zip", tmp_path / "m.zip", zipped(saved / "branches"),
    )  # fmt: skip
    for source in sources:
        check(pg.load_model(source), saved / "branches")


def test_names_penalties_and_frozen_layers_are_kept(saved: Path) -> None:
    model = pg.load_model(saved / "mlp")
    first = model.layers[0]
    assert first.name == "first"
    config = first.get_config()
    assert config["kernel_regularizer"] == {"kind": "l1_l2", "l1": 0.01, "l2": 0.02}
    assert config["kernel_constraint"]["max_value"] == 2
    assert not pg.load_model(saved / "no_bias").layers[0].trainable
    x = randoms(32, 6)
    model.compile("adam", nn.MeanSquaredError())
    history = model.fit(x, np.eye(3, dtype=np.float32)[np.arange(32) % 3], epochs=3, verbose=0)
    assert history.history["loss"][-1] < history.history["loss"][0]


@pytest.mark.parametrize("name", ["converted_net", "converted_fun"])
def test_converted_models_of_keras_2_are_read(name: str) -> None:
    """``tensorflow/make.py`` made them."""
    folder = Path(__file__).parent / "tensorflow" / name
    with np.load(folder / "predictions.npz") as arrays:
        results = as_list(pg.load_model(folder).predict(arrays["x"]))
        for number, result in enumerate(results):
            np.testing.assert_allclose(result, arrays[f"arr_{number}"], rtol=1e-5, atol=1e-5)


def test_what_was_read_can_be_exported(saved: Path, tmp_path: Path) -> None:
    model = pg.load_model(saved / "reader")  # with the hard sigmoid of Keras 2
    for ending in ("tfjs.zip", "onnx", "safetensors"):
        model.export(tmp_path / f"again.{ending}")
        check(pg.load_model(tmp_path / f"again.{ending}"), saved / "reader")
    with pytest.raises(ExportError, match="Keras has no activation 'keras2_hard_sigmoid'"):
        model.export(tmp_path / "again.keras")


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float16"])
def test_quantized_weights_are_those_of_tensorflow_js(
    dtype: str, saved: Path, tensorflow_js: TensorFlowJs, tmp_path: Path
) -> None:
    """The files are quantized as the converter of TensorFlow.js does it."""
    for name in ("mlp", "reader"):
        target = tmp_path / name
        shutil.copytree(saved / name, target)
        content = json.loads((target / "model.json").read_text())
        (group,) = content["weightsManifest"]
        values = np.frombuffer(b"".join((target / p).read_bytes() for p in group["paths"]), "<f4")
        stored = b""
        for entry in group["weights"]:
            size = int(np.prod(entry["shape"]))
            array, values = values[:size], values[size:]
            entry["quantization"] = {"dtype": dtype, "original_dtype": "float32"}
            if dtype != "float16":
                scale = float(np.ptp(array)) / np.iinfo(dtype).max or 1.0
                entry["quantization"] |= {"min": float(array.min()), "scale": scale}
                array = np.round((array - array.min()) / scale)
            stored += array.astype(dtype).tobytes()
        group["paths"] = ["all.bin"]
        (target / "all.bin").write_bytes(stored)
        (target / "model.json").write_text(json.dumps(content))
    results = tensorflow_js.predict(tmp_path / "mlp", tmp_path / "reader")
    for name, expected in zip(("mlp", "reader"), results, strict=True):
        check_outputs(pg.load_model(tmp_path / name), tmp_path / name, expected)
        _, exact = arrays_of(tmp_path / name)
        assert np.abs(expected[0] - exact[0]).max() > 1e-7  # they are rounded


@pytest.mark.parametrize("name", TABLE)
def test_our_export_is_a_model_again(name: str, tmp_path: Path) -> None:
    model, xs = network(name)
    path = tmp_path / "m.tfjs.zip"
    try:
        model.export(path)
    except ExportError:
        return  # which the tests of the export check
    x = xs if len(xs) > 1 else xs[0]
    loaded = pg.load_model(path)
    for one, other in zip(as_list(loaded.predict(x)), as_list(model.predict(x)), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)


def test_the_input_description_comes_back(tmp_path: Path) -> None:
    model = pg.Sequential([pg.Input((4, 4)), nn.Flatten(), nn.Dense(2)])
    model.input_description = pg.data.InputDescription((4, 4), (0.0,), (255.0,))
    model.export(tmp_path / "m.tfjs.zip")
    assert pg.load_model(tmp_path / "m.tfjs.zip").input_description == model.input_description


def test_open_sequences_take_a_length(saved: Path) -> None:
    assert pg.load_model(saved / "open").inputs[0].shape == (None, None)
    model = pg.load_model(saved / "open", sequence_length=6)
    assert model.inputs[0].shape == (None, 6)
    check(model, saved / "open")


def test_the_command_line_reads_them(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (inputs,), _ = arrays_of(saved / "mlp")
    np.save(tmp_path / "x.npy", inputs)
    assert main(["predict", str(saved / "mlp" / "model.json"), str(tmp_path / "x.npy")]) == 0
    target = tmp_path / "net.onnx"
    assert main(["export", str(saved / "mlp" / "model.json"), str(target)]) == 0
    assert "net.onnx" in capsys.readouterr().out
    np.testing.assert_allclose(
        pg.load_model(target).predict(inputs), arrays_of(saved / "mlp")[1][0], atol=1e-5
    )


def without(model: Model) -> None:
    del model["weightsManifest"]


def first(model: Model) -> Model:
    """The description of the first layer."""
    layer: Model = model["modelTopology"]["config"]["layers"][0]
    return layer


def weight(model: Model) -> Model:
    entry: Model = model["weightsManifest"][0]["weights"][0]
    return entry


HOSTILE: dict[str, Callable[[Model], Any]] = {
    "has a graph model of TensorFlow.js": lambda m: m.update(format="graph-model"),
    "which has operations, not layers": lambda m: m.update(modelTopology={"node": []}),
    "does not describe a model of TensorFlow.js": lambda m: m.pop("modelTopology"),
    "a list is missing": without,
    "an object is missing": lambda m: m["weightsManifest"].append(3),
    "is not the name of a file beside model.json": (
        lambda m: m["weightsManifest"][0].update(paths=["../../secret"])
    ),
    "'/etc/passwd' is not the name": (
        lambda m: m["weightsManifest"][0].update(paths=["/etc/passwd"])
    ),
    "'http://host/w.bin' is not the name": (
        lambda m: m["weightsManifest"][0].update(paths=["http://host/w.bin"])
    ),
    "has no 'other.bin'": lambda m: m["weightsManifest"][0].update(paths=["other.bin"]),
    "more than 10,000 files of weights": lambda m: (
        m["weightsManifest"][0].update(paths=["group1-shard1of2.bin"] * 10_001)
    ),
    "'group1-shard1of2.bin' has the weights of two places": (
        lambda m: m["weightsManifest"][0].update(paths=["group1-shard1of2.bin"] * 9)
    ),
    "is of booleans, but has bytes other than 0 and 1": lambda m: weight(m).update(
        dtype="bool", quantization=None
    ),
    "the values of 'dense_Dense\\d/kernel' are truncated": (
        lambda m: m["weightsManifest"][0]["paths"].pop()
    ),
    "values of .* are truncated": lambda m: weight(m).update(shape=[1 << 40, 3]),
    "is too large": lambda m: weight(m).update(shape=[1 << 60, 1 << 60]),
    "the shape of 'first/kernel' is not valid": lambda m: weight(m).update(shape=[-1]),
    "is not valid": lambda m: weight(m).update(shape="six"),
    "is stored as 'string'": lambda m: weight(m).update(dtype="string"),
    "is stored as 'complex64'": lambda m: weight(m).update(quantization={"dtype": "complex64"}),
    "the scale of 'first/kernel' is not valid": lambda m: (
        weight(m).update(quantization={"dtype": "float16"}, shape=[12, 8]),
        weight(m).update(quantization={"dtype": "uint16", "scale": "1", "min": 0}),
    ),
    "occurs twice": lambda m: m["weightsManifest"][0]["weights"].append(weight(m)),
    "bytes belong to no weight": lambda m: m["weightsManifest"][0]["weights"].pop(),
    "belong to no layer: 'lost/kernel'": lambda m: weight(m).update(name="lost/kernel"),
    "'first/bias' in the TensorFlow.js file is not 'first/kernel'": (
        lambda m: m["weightsManifest"][0]["weights"][0].update(name="first/bias", shape=[48])
        or m["weightsManifest"][0]["weights"][1].update(name="first/kernel")
    ),
    "has shape \\(8, 6\\) in the TensorFlow.js file": lambda m: weight(m).update(shape=[8, 6]),
    "of the TensorFlow.js file: playgrad has no such layer": (
        lambda m: first(m).update(class_name="ConvLSTM2D")
    ),
    "\\(Lambda\\) of the TensorFlow.js file": lambda m: first(m).update(class_name="Lambda"),
    "playgrad has no activation 'snake'": lambda m: first(m)["config"].update(activation="snake"),
    "of class AutoEncoder": lambda m: m["modelTopology"].update(class_name="AutoEncoder"),
    "units": lambda m: first(m)["config"].update(units=-3),
    "needs|fit|shape": lambda m: first(m)["config"].update(batch_input_shape=[None, 0]),
    "playgrad has no initial_state": lambda m: first(m)["config"].update(initial_state=5),
}  # fmt: skip


@pytest.mark.parametrize("words", HOSTILE)
def test_hostile_files_are_refused_by_name(words: str, saved: Path, tmp_path: Path) -> None:
    shutil.copytree(saved / "mlp", tmp_path / "m")
    (tmp_path / "m" / "predictions.json").unlink()
    path = tmp_path / "m" / "model.json"
    content = json.loads(path.read_text())
    HOSTILE[words](content)
    path.write_text(json.dumps(content))
    with pytest.raises(CheckpointError, match=words):
        pg.load_model(zipped(tmp_path / "m"))
    with pytest.raises(CheckpointError):
        pg.load_model(path)


def test_damaged_archives_and_lone_descriptions_are_refused(saved: Path) -> None:
    text = (saved / "mlp" / "model.json").read_bytes()
    with pytest.raises(CheckpointError, match=r"without its weights.*or a ZIP archive"):
        pg.load_model(text)
    with pytest.raises(CheckpointError, match="not JSON"):
        pg.load_model(b'{"weightsManifest"' + b"[" * 10**5)
    content = zipped(saved / "mlp")
    with pytest.raises(CheckpointError, match=r"the TensorFlow\.js file is damaged"):
        pg.load_model(content[:-200])
    both = io.BytesIO(content)
    with zipfile.ZipFile(both, "a") as archive:
        archive.writestr("other/model.json", text)
    with pytest.raises(CheckpointError, match=r"has 2 files model\.json"):
        pg.load_model(both.getvalue())
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("model.json", text)
        archive.writestr("group1-shard1of2.bin", bytes(1 << 28))
    with pytest.raises(CheckpointError, match=r"has 268,435,456 bytes, more than"):
        pg.load_model(bomb.getvalue())
    data = json.loads(text)
    data["weightsManifest"][0]["paths"] = [f"{number}.bin" for number in range(9)]
    several = io.BytesIO()
    with zipfile.ZipFile(several, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("model.json", json.dumps(data))
        for number in range(9):
            archive.writestr(f"{number}.bin", bytes(1 << 22))
    with pytest.raises(CheckpointError, match=r"'4\.bin' .* has 4,194,304 bytes, more than"):
        pg.load_model(several.getvalue())


ODD: tuple[Any, ...] = (
    None, True, -1, 0, 3, 2**40, 2**70, 0.5, "", "x", "tanh", [], [[]], [[["x", 0, 0]]], {},
)  # fmt: skip


@pytest.mark.parametrize("name", ["mlp", "reader", "branches"])
def test_random_changes_are_refused_or_harmless(name: str, saved: Path, tmp_path: Path) -> None:
    """Any value of the description is replaced by another."""
    random = dice(f"tfjs {name}")
    shutil.copytree(saved / name, tmp_path / "m")
    text = (tmp_path / "m" / "model.json").read_text()
    for _ in range(budget(20, 1500)):
        content = where = json.loads(text)
        while True:
            key = random.choice(list(where) if isinstance(where, dict) else range(len(where)))
            if not isinstance(where[key], (dict, list)) or not where[key] or random.random() < 0.1:
                where[key] = random.choice(ODD)
                break
            where = where[key]
        (tmp_path / "m" / "model.json").write_text(json.dumps(content))
        try:
            pg.load_model(tmp_path / "m").close()
        except CheckpointError as error:
            assert len(str(error)) < 2000


def test_random_damage_is_refused_or_harmless(saved: Path) -> None:
    random = dice("tfjs damage")
    content = zipped(saved / "branches")
    for _ in range(budget(25, 1500)):
        damaged = bytearray(content)
        random.choice((flip_bits, truncate, delete, insert, edit_directory))(random, damaged)
        with contextlib.suppress(CheckpointError):
            pg.load_model(bytes(damaged)).close()
