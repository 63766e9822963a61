"""Models of the visitor: brought to the page, inspected, trained further, exported, kept."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import onnxruntime
import pytest
from playwright.sync_api import expect

import playgrad as pg
from playgrad import nn
from tests.browser.playground import Playground
from tests.browser.test_own_data import bring, open_project
from tests.interchange import torch_networks
from tests.interchange.keras_side import keras, predicted

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# Keras converts arrays of torch by a protocol that NumPy 2 deprecates.
pytestmark = [
    pytest.mark.browser,
    pytest.mark.gpu,
    pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"),
]

Array = np.ndarray[Any, Any]

PREDICT = """
import json
import numpy as np
import playgrad as pg
from playgrad import nn

x = np.random.default_rng(0).normal(size=({sizes})).astype(np.float32)
model = pg.Sequential([nn.Flatten(), nn.Dense(2)])
print("predictions", json.dumps(model.predict(x).tolist()))
"""
FINE_TUNE = """
base = model
model = pg.Model(base.inputs, nn.Dense(3)(base.get_layer(index=-1).input))
model.compile(pg.optim.Adam(0.01), nn.SparseCategoricalCrossentropy(from_logits=True))
history = model.fit(x, np.arange(len(x)) % 3, batch_size=8, epochs=30, verbose=0)
print("losses", json.dumps(history.history["loss"]))
"""


@pytest.fixture(scope="module")
def visitor(chromium: Browser, desk_server: str) -> Iterator[Playground]:
    opened = Playground(chromium, desk_server)
    opened.expect_status("ready")
    opened.choose_device("cpu")
    yield opened
    opened.close()


def samples(*sizes: int) -> Array:
    return np.random.default_rng(0).normal(size=sizes).astype(np.float32)


def printed(output: str, word: str) -> Array:
    line = re.search(rf"^{word} (\[.*\])$", output, re.MULTILINE)
    assert line, output
    return np.array(json.loads(line[1]), np.float32)


def use(visitor: Playground, path: Path, *sizes: int) -> str:
    """Bring a model to a program that predicts; return the program."""
    visitor.write(PREDICT.format(sizes=", ".join(map(str, sizes))))
    bring(visitor, path)
    visitor.at("model-use").click()
    expect(visitor.at("data-drawer")).to_have_count(0)
    return code(visitor)


def code(visitor: Playground) -> str:
    source: str = visitor.page.evaluate(
        "async () => (await import('/static/js/state/store.js')).source.value"
    )
    return source


def test_a_pytorch_lenet_is_imported_trained_and_exported(
    visitor: Playground, tmp_path: Path
) -> None:
    (x_train, y_train), _ = torch_networks.images()
    theirs = torch_networks.trained(torch_networks.lenet(), x_train[:128], y_train[:128], 2)
    path = tmp_path / "shapes.onnx"
    path.write_bytes(torch_networks.exported(theirs, x_train[:1]))
    x = samples(24, 1, 20, 20)

    source = use(visitor, path, 24, 1, 20, 20)
    assert 'model = pg.load_model("shapes.onnx")\n' in source
    assert "Sequential" not in source
    output = visitor.finish()
    expected = torch_networks.predicted(theirs, x)
    np.testing.assert_allclose(printed(output, "predictions"), expected, rtol=1e-5, atol=1e-5)
    visitor.at("tab-graph").click()
    expect(visitor.page.locator("[data-testid=graph-view] [data-id]")).not_to_have_count(0)

    output = visitor.finish(source + FINE_TUNE)
    losses = printed(output, "losses")
    assert losses[-1] < 0.8 * losses[0]
    visitor.at("tab-inspect").click()
    expect(visitor.at("inspect")).to_contain_text("dense")

    visitor.at("export").click()
    again = visitor.download("export-menu-onnx", tmp_path)
    visitor.page.keyboard.press("Escape")
    onnx.checker.check_model(str(again), full_check=True)
    session = onnxruntime.InferenceSession(again, providers=["CPUExecutionProvider"])
    (result,) = session.run(None, {session.get_inputs()[0].name: x})
    ours = pg.load_model(again).predict(x)
    np.testing.assert_allclose(result, ours, rtol=1e-5, atol=1e-5)
    assert result.shape == (24, 3)


def test_a_keras_model_predicts_the_same_and_survives_a_reload(
    visitor: Playground, tmp_path: Path
) -> None:
    keras.utils.set_random_seed(0)
    theirs = keras.Sequential([
        keras.Input((8, 8, 2)),
        keras.layers.Conv2D(4, 3, activation="relu"),
        keras.layers.BatchNormalization(),
        keras.layers.Flatten(),
        keras.layers.Dense(5),
    ])  # fmt: skip
    theirs.compile("adam", "mse")
    path = tmp_path / "theirs.keras"
    theirs.save(path)
    expected = predicted(theirs, [samples(6, 8, 8, 2)])

    source = use(visitor, path, 6, 8, 8, 2)
    assert 'model = pg.load_model("theirs.keras")\n' in source
    output = visitor.finish()
    np.testing.assert_allclose(printed(output, "predictions"), expected, rtol=1e-5, atol=1e-5)
    visitor.at("project-menu").click()
    project = visitor.download("project-save", tmp_path)

    visitor.page.reload()
    visitor.expect_status("done", "ready")
    output = visitor.finish()
    np.testing.assert_allclose(printed(output, "predictions"), expected, rtol=1e-5, atol=1e-5)
    visitor.at("data-open").click()
    entry = visitor.page.locator("[data-testid=data-entry][data-name='theirs.keras']")
    expect(entry).to_contain_text("Takes samples of 8 × 8 × 2 (float32), and gives 5 (float32).")
    expect(entry).to_contain_text("The file has the settings of compile.")
    saved = visitor.download_from(entry.get_by_test_id("data-entry-save"), tmp_path)
    assert saved.read_bytes() == path.read_bytes()
    entry.get_by_test_id("data-entry-rename").click()
    entry.get_by_label("New name of theirs.keras").fill("mine")
    entry.get_by_role("button", name="Rename", exact=True).click()
    expect(visitor.at("data-drawer")).to_contain_text("ends in .keras")
    entry.get_by_role("button", name="Cancel").click()
    entry.get_by_test_id("data-entry-remove").click()
    entry.get_by_test_id("data-entry-remove-confirm").click()
    visitor.at("data-close").click()

    # Without the file the page says so, and so does Python; the project brings it back.
    expect(visitor.at("data-note")).to_contain_text("no file of that name")
    visitor.finish(state="error")
    expect(visitor.at("error")).to_contain_text("cannot read 'theirs.keras'")
    open_project(visitor, project)
    output = visitor.finish()
    np.testing.assert_allclose(printed(output, "predictions"), expected, rtol=1e-5, atol=1e-5)


def test_exports_for_pytorch_and_tensorflow_js_come_back(
    visitor: Playground, tmp_path: Path
) -> None:
    model = pg.Sequential([pg.Input((8, 8, 2)), nn.Conv2D(4, 3), nn.Flatten(), nn.Dense(5)])
    expected = model.predict(samples(6, 8, 8, 2))
    model.export(tmp_path / "ours.pt.zip")
    model.export(tmp_path / "web.tfjs.zip")
    (tmp_path / "web.tfjs.zip").rename(tmp_path / "web.zip")
    for file, name in (("ours.pt.zip", "ours.pt.zip"), ("web.zip", "web.tfjs.zip")):
        source = use(visitor, tmp_path / file, 6, 8, 8, 2)
        assert f'model = pg.load_model("{name}")\n' in source
        output = visitor.finish()
        np.testing.assert_allclose(printed(output, "predictions"), expected, rtol=1e-5, atol=1e-5)
    (tmp_path / "model.json").write_text("{}")
    bring(visitor, tmp_path / "model.json")
    expect(visitor.at("data-drawer")).to_contain_text("Pack model.json and its .bin files")
    visitor.at("data-close").click()


def test_the_page_asks_for_the_length_of_sequences(visitor: Playground, tmp_path: Path) -> None:
    inputs = keras.Input(batch_shape=(5, None, 3))
    theirs = keras.Sequential([inputs, keras.layers.LSTM(4, stateful=True)])
    path = tmp_path / "steps.keras"
    theirs.save(path)
    visitor.write(PREDICT.format(sizes="5, 7, 3"))
    bring(visitor, path)
    form = visitor.at("sequence-length")
    expect(form).to_contain_text("takes sequences of any length")
    form.get_by_label("Steps in a sample").fill("7")
    form.get_by_role("button").click()
    expect(visitor.at("model-summary")).to_contain_text("Takes samples of 7 × 3 (float32)")
    expect(visitor.at("model-summary")).to_contain_text("loads it for 7 steps")
    visitor.at("model-use").click()
    assert 'model = pg.load_model("steps.keras", sequence_length=7)\n' in code(visitor)
    output = visitor.finish()
    expected = predicted(theirs, [samples(5, 7, 3)])
    np.testing.assert_allclose(printed(output, "predictions"), expected, rtol=1e-5, atol=1e-5)


def test_a_new_program_shows_a_model_and_predicts(visitor: Playground, tmp_path: Path) -> None:
    model = pg.Sequential([pg.Input((5,)), pg.nn.Dense(3), pg.nn.Softmax()])
    model.export(tmp_path / "small.safetensors")
    bring(visitor, tmp_path / "small.safetensors")
    expect(visitor.at("model-summary")).to_contain_text("2 layers with 18 parameters.")
    visitor.at("model-begin").click()
    output = visitor.finish()
    assert "18" in output
    assert len(re.findall(r"\[[\d. e-]+\]", output)) == 2
    visitor.at("tab-graph").click()
    expect(visitor.at("graph-view")).to_contain_text("softmax")
    visitor.runs_well()


def nested(depth: int) -> bytes:
    """An ONNX file in which graphs are attributes of the nodes of graphs, and so on."""
    graph = b""
    for _ in range(depth):
        for tag in (b"\x32", b"\x2a", b"\x0a"):  # AttributeProto.g, NodeProto.attribute, .node
            graph = tag + varint(len(graph)) + graph
    return b"\x08\x0b\x3a" + varint(len(graph)) + graph


def varint(number: int) -> bytes:
    """A number as protocol buffers write it."""
    groups = []
    while number > 127:
        groups.append(number & 127 | 128)
        number >>= 7
    return bytes([*groups, number])


def test_damaged_and_foreign_files_change_nothing(visitor: Playground, tmp_path: Path) -> None:
    model = pg.Sequential([pg.Input((5,)), pg.nn.Dense(3)])
    model.export(tmp_path / "whole.onnx")
    model.export(tmp_path / "whole.keras")
    onnx_file, keras_file = (
        (tmp_path / f"whole.{kind}").read_bytes() for kind in ("onnx", "keras")
    )
    bad = {
        "cut.onnx": (
            onnx_file[:-9],
            "cut.onnx: the file is not in the ONNX format, or is damaged.",
        ),
        "text.onnx": (b"hello", "text.onnx: the file is not in the ONNX format, or is damaged."),
        "deep.onnx": (nested(5000), "deep.onnx: the file is not in the ONNX format"),
        "cut.keras": (keras_file[:-40], "cut.keras: "),
        "zip.keras": (b"PK\x05\x06" + bytes(18), "zip.keras: "),
        "bad.safetensors": (b"\xff" * 64, "bad.safetensors: "),
        "empty.onnx": (b"", "empty.onnx is empty."),
    }
    before = code(visitor)
    visitor.at("data-open").click()
    for name, (content, words) in bad.items():
        (tmp_path / name).write_bytes(content)
        visitor.at("data-file").set_input_files(tmp_path / name)
        expect(visitor.at("data-problem").first).to_contain_text(words)
        expect(visitor.at("model-use")).to_have_count(0)
        back = visitor.at("data-back")
        if back.count():
            back.click()
    expect(visitor.page.locator("[data-testid=data-entry][data-name*=cut]")).to_have_count(0)
    visitor.at("data-close").click()
    assert code(visitor) == before
    visitor.runs_well()
