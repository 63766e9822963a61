"""The main task, with the real buttons: train, draw a digit, save and load weights."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch
from playwright.sync_api import expect
from safetensors.numpy import save
from safetensors.torch import load_file

import playgrad as pg
from tests.browser.playground import Playground
from tests.interchange.keras_side import keras
from tests.sweeps import slow

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.browser, pytest.mark.gpu]

Array = np.ndarray[Any, Any]
SHAPES = {
    "dense_1/kernel": (784, 128),
    "dense_1/bias": (128,),
    "dense_2/kernel": (128, 10),
    "dense_2/bias": (10,),
}
ZERO = [(0.5, 0.2), (0.3, 0.35), (0.3, 0.65), (0.5, 0.8), (0.7, 0.65), (0.7, 0.35), (0.5, 0.2)]
NUMBERS = ("epoch", "step-count", "loss", "accuracy", "test-accuracy", "steps-per-second")

# The network of the small example on few digits; `rate` decides whether it learns.
SHORT = """
import playgrad as pg
from playgrad import nn

(x_train, y_train), (x_test, y_test) = pg.data.mnist()
model = pg.Sequential([
    nn.Rescaling(1 / 255), nn.Flatten(), nn.Dense(128, activation="relu"), nn.Dense(10),
])
model.compile(
    optimizer=pg.optim.SGD(learning_rate={rate}),
    loss=nn.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(x_train[:640], y_train[:640], batch_size=64, validation_data=(x_test, y_test))
"""


@dataclass
class Trained:
    """A page that ran the small example to its end, with its observations."""

    playground: Playground
    badge: str
    seen: list[dict[str, str]] = field(default_factory=list)
    predictions: list[str] = field(default_factory=list)
    accuracy: float = 0.0
    """Accuracy on the 10,000 test images in percent, as the page shows it."""


@pytest.fixture(scope="module")
def trained(chromium: Browser, desk_server: str) -> Iterator[Trained]:
    playground = Playground(chromium, desk_server)
    playground.expect_status("ready")
    playground.choose_device("gpu")
    trained = Trained(playground, playground.text("backend-badge"))
    playground.at("example-select").select_option("mnist-cnn")
    playground.at("example-select").select_option("mnist-mlp")  # chosen, so shown in Watch
    trained.seen.append({name: playground.text(name) for name in NUMBERS})
    playground.choose_device("cpu")
    playground.draw(ZERO)
    playground.start()
    playground.wait(lambda: playground.steps > 0)
    while playground.expect_status("running", "done") != "done":
        seen = {name: playground.text(name) for name in (*NUMBERS, "time-left")}
        seen["percent"] = playground.at("progress").get_attribute("aria-valuenow") or ""
        trained.seen.append(seen)
        trained.predictions.append(playground.text("digit-prediction"))
        playground.page.wait_for_timeout(50)
    trained.accuracy = playground.number("test-accuracy")
    yield trained
    playground.close()


def accuracy_by_numpy(weights: dict[str, Array]) -> float:
    """Accuracy of the small network on the test images in percent, computed without playgrad."""
    _, (x, y) = pg.data.mnist()
    pixels = x.reshape(len(x), 784).astype(np.float32) / np.float32(255)
    hidden = np.maximum(pixels @ weights["dense_1/kernel"] + weights["dense_1/bias"], 0)
    scores = hidden @ weights["dense_2/kernel"] + weights["dense_2/bias"]
    return float(np.mean(scores.argmax(axis=1) == y)) * 100


def read(path: Path) -> dict[str, Array]:
    """The arrays of a weights file, read by another library."""
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as archive:
            return dict(archive)
    return {name: tensor.numpy() for name, tensor in load_file(path).items()}


def test_a_fresh_page_names_its_device(trained: Trained) -> None:
    assert "swiftshader" in trained.badge.lower()
    assert "software" in trained.badge
    assert set(trained.seen[0].values()) == {"–"}


def test_numbers_move_while_it_trains(trained: Trained) -> None:
    during = trained.seen[1:]
    assert len(during) > 5
    for name in ("step-count", "loss", "accuracy", "steps-per-second", "percent"):
        assert len({seen[name] for seen in during}) > 3, name
    steps = [int(seen["step-count"]) for seen in during]
    assert steps == sorted(steps)
    assert {seen["epoch"] for seen in during} == {"1"}
    assert float(during[-1]["loss"]) < 0.7
    assert any(seen["time-left"].endswith(" s") for seen in during)
    speed = float(during[-1]["steps-per-second"])
    print(f"the small example in Chromium: {1000 / speed:.1f} ms a step")


def test_a_drawing_is_classified_while_it_trains(trained: Trained) -> None:
    assert set(trained.predictions) & set("0123456789")
    assert trained.predictions[-1] == "0"


def test_the_small_example_reaches_its_accuracy(trained: Trained) -> None:
    print(f"test accuracy of the small example: {trained.accuracy:.2f}%")
    assert trained.accuracy >= 95
    assert trained.playground.at("progress").get_attribute("aria-valuenow") == "100"
    assert "epoch 1/1" in trained.playground.text("console")


@pytest.mark.parametrize("kind", ["safetensors", "npz"])
def test_saved_weights_are_as_good_in_numpy(trained: Trained, kind: str, tmp_path: Path) -> None:
    path = trained.playground.download(f"export-{kind}", tmp_path)
    assert path.name == f"weights.{kind}"
    weights = read(path)
    assert {name: array.shape for name, array in weights.items()} == SHAPES
    assert {array.dtype.name for array in weights.values()} == {"float32"}
    assert accuracy_by_numpy(weights) == pytest.approx(trained.accuracy, abs=1e-6)


def test_saved_weights_open_in_torch(trained: Trained, tmp_path: Path) -> None:
    tensors = load_file(trained.playground.download("export-safetensors", tmp_path))
    layer = torch.nn.Linear(784, 128)
    state = {"weight": tensors["dense_1/kernel"].T, "bias": tensors["dense_1/bias"]}
    layer.load_state_dict(state)


def test_the_graph_leads_from_top_to_bottom(trained: Trained) -> None:
    """A scope with something in between, such as the batch with its loss, is drawn in parts."""
    trained.playground.at("tab-graph").click()
    graph = trained.playground.at("graph-view")
    behind = ("train: loss", "gradients", "train: gradients", "adam 2/2", "train: step")

    def top(label: str) -> float:
        box = graph.get_by_text(label, exact=True).first.bounding_box()
        assert box
        return box["y"]

    def assert_ordered(*labels: str) -> None:
        tops = [top(label) for label in labels]
        assert tops == sorted(tops), dict(zip(labels, tops, strict=True))

    try:
        expect(graph.get_by_text("train: step", exact=True)).to_be_attached()
        assert_ordered("data", "train: batch", "dense_1", "dense_2", *behind)
        graph.get_by_text("dense_1", exact=True).click()
        expect(graph.get_by_text("matmul ?×128")).to_be_attached()
        assert_ordered("data", "train: batch", "matmul_1", "relu_1", "dense_2", *behind)
    finally:
        trained.playground.at("tab-training").click()


def test_weights_come_back_after_reset(trained: Trained, tmp_path: Path) -> None:
    playground = trained.playground
    saved = playground.download("export-npz", tmp_path)
    playground.at("reset").click()
    playground.expect_status("ready")
    assert {playground.text(name) for name in NUMBERS} == {"–"}
    expect(playground.at("export-npz")).to_be_disabled()

    playground.finish(SHORT.format(rate=0.01))
    assert playground.number("test-accuracy") < trained.accuracy - 5
    fresh = playground.weights()
    playground.load(saved)
    expect(playground.page.get_by_text("Loaded 4 variables from weights.npz")).to_be_visible()
    loaded = playground.weights()
    for name, wanted in read(saved).items():
        np.testing.assert_array_equal(loaded[name], wanted)
        assert not np.array_equal(fresh[name], wanted)
    playground.draw(ZERO)
    expect(playground.at("digit-prediction")).to_have_text("0")


def test_a_paused_run_continues_with_loaded_weights(trained: Trained, tmp_path: Path) -> None:
    """With a tiny learning rate, the test accuracy of the run equals the file's."""
    playground = trained.playground
    saved = playground.download("export-safetensors", tmp_path)
    playground.write(SHORT.format(rate=1e-30))
    playground.at("step").click()
    playground.expect_status("paused")
    playground.load(saved)
    expect(playground.page.get_by_text("Loaded 4 variables")).to_be_visible()
    playground.at("resume").click()
    playground.expect_status("done")
    assert playground.number("test-accuracy") == pytest.approx(trained.accuracy, abs=1e-6)


def test_weights_of_pytorch_are_loaded(trained: Trained, tmp_path: Path) -> None:
    playground = trained.playground
    wanted = {name: array[..., ::-1].copy() for name, array in playground.weights().items()}
    file = tmp_path / "net.pt"
    torch.save({"state_dict": {n: torch.from_numpy(a) for n, a in wanted.items()}}, file)
    playground.load(file)
    expect(playground.page.get_by_text("Loaded 4 variables from net.pt")).to_be_visible()
    loaded = playground.weights()
    for name, array in wanted.items():
        np.testing.assert_array_equal(loaded[name], array)


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
def test_weights_of_keras_are_loaded(trained: Trained, tmp_path: Path) -> None:
    layers = keras.layers
    dense = [layers.Dense(128), layers.Dense(10)]
    other = keras.Sequential(
        [layers.Input((28, 28)), layers.Rescaling(1), layers.Flatten(), *dense]
    )
    file = tmp_path / "net.weights.h5"
    other.save_weights(file)
    trained.playground.load(file)
    expect(
        trained.playground.page.get_by_text("Loaded 4 variables from net.weights.h5")
    ).to_be_visible()
    loaded = trained.playground.weights()
    for name, array in zip(SHAPES, other.get_weights(), strict=True):
        np.testing.assert_array_equal(loaded[name], array)


def other_shapes(weights: dict[str, Array]) -> bytes:
    return save({**weights, "dense_2/bias": np.zeros(7, np.float32)})


def npz(weights: dict[str, Array]) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **weights)
    return buffer.getvalue()


def flipped(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 0xFF]) + content[middle + 1 :]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda whole, _: whole[: len(whole) // 2], "truncated"),
        (lambda whole, _: whole[:5], "not a safetensors file"),
        (lambda _, __: b"PK\x03\x04 nothing else", "not an npz file"),
        (lambda _, __: b"<!doctype html>\n<title>not found</title>", "not a safetensors, npz or"),
        (lambda _, __: b"", "is empty"),
        (lambda _, weights: other_shapes(weights), "'dense_2/bias' has shape (7,) in the file"),
        (lambda _, weights: flipped(npz(weights)), "Bad CRC-32 for file 'dense_1/kernel"),
        (lambda _, weights: npz({"k": np.zeros((2, 3))}), "the file has 'k', not in"),
    ],
    ids=["truncated", "stump", "broken-zip", "web-page", "empty", "other-shapes",
         "broken-npz", "other-npz"],
)  # fmt: skip
def test_a_bad_file_is_refused_and_changes_nothing(
    trained: Trained, make: Any, words: str, tmp_path: Path
) -> None:
    playground = trained.playground
    before = playground.weights()
    bad = tmp_path / "bad.weights"
    bad.write_bytes(make(save(before), before))
    playground.load(bad)
    error = playground.at("weights-outcome")
    expect(error).to_contain_text(words)
    expect(error).to_contain_text("bad.weights: ")  # where
    expect(error).to_contain_text(re.compile("(Save|Load|Convert) (it|them) "))  # what to do
    expect(playground.page.locator(".weights [data-failed]")).to_contain_text(words)
    expect(playground.page.get_by_text("bad.weights: ")).to_have_count(1)  # told once
    after = playground.weights()
    for name, array in before.items():
        np.testing.assert_array_equal(after[name], array)


def test_a_huge_file_is_not_even_read(trained: Trained, tmp_path: Path) -> None:
    huge = tmp_path / "films.npz"
    with huge.open("wb") as file:
        file.truncate(6 << 30)
    trained.playground.load(huge)
    error = trained.playground.at("weights-outcome")
    expect(error).to_contain_text("films.npz is 6.0 GiB, far larger than the weights of")
    expect(error).to_contain_text("Choose a file")


@pytest.mark.parametrize(("steps", "percent"), [(60, 75), *slow((200, 90))])
def test_the_convolutional_example_learns_and_stops(
    trained: Trained, steps: int, percent: int
) -> None:
    playground = trained.playground
    playground.choose_device("cpu")
    playground.at("example-select").select_option("mnist-cnn")
    playground.start()
    playground.wait(
        lambda: playground.expect_status("running") == "running" and playground.steps >= steps,
        seconds=240,
    )
    speed = playground.number("steps-per-second")
    answer = playground.timed("stop", "stopped")
    print(f"the convolutional example: {1000 / speed:.0f} ms a step; stopped in {answer:.0f} ms")
    weights = playground.weights()
    assert weights["conv2d_1/kernel"].shape == (5, 5, 1, 8)
    assert accuracy_of_cnn(weights) > percent


def accuracy_of_cnn(weights: dict[str, Array]) -> float:
    """Accuracy on the first 1,000 test images in percent, computed by PyTorch."""
    _, (x, y) = pg.data.mnist()
    tensors = {name: torch.from_numpy(array) for name, array in weights.items()}
    image = torch.from_numpy(x[:1000].astype(np.float32) / 255)[:, None]
    for layer in ("conv2d_1", "conv2d_2"):
        kernel = tensors[f"{layer}/kernel"].permute(3, 2, 0, 1)
        image = torch.relu(torch.nn.functional.conv2d(image, kernel, tensors[f"{layer}/bias"]))
        image = torch.max_pool2d(image, 2)
    flat = image.permute(0, 2, 3, 1).reshape(len(image), -1)
    scores = flat @ tensors["dense_1/kernel"] + tensors["dense_1/bias"]
    return float((scores.argmax(1).numpy() == y[:1000]).mean()) * 100
