"""Models restored from checkpoints, without the programs that trained them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.devices import registry
from playgrad.errors import CheckpointError, ExportError
from playgrad.interchange.keras.export import keras_bytes
from playgrad.page.restored_model import RestoredModel
from playgrad.training.checkpoints.capture import checkpoint_of
from playgrad.training.checkpoints.record import Checkpoint
from tests.nn.resumed_runs import Trained, run
from tests.page.python_side import python_side

Array = np.ndarray[Any, Any]
X = np.random.default_rng(1).normal(size=(24, 8, 8, 1)).astype(np.float32)
LABELS = np.arange(24, dtype=np.int32) % 3


def dense() -> list[nn.Layer]:
    return [nn.Flatten(), nn.Dense(6, activation="relu"), nn.Dropout(0.5), nn.Dense(3)]


def convolution() -> list[nn.Layer]:
    return [
        nn.Conv2D(4, 3, activation="relu"),
        nn.BatchNormalization(),
        nn.MaxPool2D(2),
        nn.Flatten(),
        nn.Dense(3),
    ]


def sharded() -> list[nn.Layer]:
    devices = ["cpu:0", "cpu:1"]
    return [
        nn.Flatten(),
        nn.ColumnParallelDense(6, devices, activation="relu"),
        nn.RowParallelDense(3, devices),
    ]


NETWORKS: dict[str, Callable[[], list[nn.Layer]]] = {
    "dense": dense,
    "convolution": convolution,
    "sharded": sharded,
}


@pytest.fixture(autouse=True)
def two_processors() -> Iterator[None]:
    registry.set_logical_devices(cpu=2)
    yield
    registry.reset_logical_devices()


def trained(layers: Callable[[], list[nn.Layer]]) -> tuple[pg.Sequential, bytes, Array]:
    """Return a trained model, its last checkpoint, and its predictions."""
    models: list[pg.Sequential] = []
    predictions: list[Array] = []

    def program() -> Trained:
        model = pg.Sequential(layers())
        model.compile("adam", nn.SparseCategoricalCrossentropy(from_logits=True), device="cpu")
        history = model.fit(X, LABELS, 8, 3, 0)
        models.append(model)
        predictions.append(model.predict(X[:4]))
        return Trained([model], [history])

    outcome = run(program)
    return models[0], outcome.checkpoints[-1], predictions[0]


@pytest.fixture(scope="module")
def checkpoint() -> bytes:
    return trained(dense)[1]


@pytest.mark.survival("Models without their programs")
@pytest.mark.parametrize("name", NETWORKS)
def test_weights_and_predictions_match_the_model(name: str) -> None:
    model, content, predictions = trained(NETWORKS[name])
    restored = RestoredModel(Checkpoint.decode(content))
    assert np.allclose(restored.predict(X[:4]), predictions, rtol=1e-5, atol=1e-6)
    assert restored.input_shape == model.input_shape
    assert restored.input_dtype == "float32"
    assert restored.gives_logits
    assert restored.input_description == model.input_description
    assert restored.input_description.high == (X.max(),)
    weights = restored.named_weights()
    changed = {key: array + np.float32(1) for key, array in weights.items()}
    restored.set_weights(changed)
    again = RestoredModel(Checkpoint.decode(restored.checkpoint.encode()))
    assert again.named_weights().keys() == changed.keys()
    for key, array in again.named_weights().items():
        assert np.array_equal(array, changed[key])
    assert not np.allclose(again.predict(X[:4]), predictions)


def test_layers_match_the_model(checkpoint: bytes) -> None:
    restored = RestoredModel(Checkpoint.decode(checkpoint))
    graph = trained(dense)[0].layer_graph()
    assert restored.layer_graph()["layers"] == graph["layers"]
    assert len(keras_bytes(restored.layer_graph(), restored.named_weights())) > 1000
    record = Checkpoint.decode(checkpoint)
    record.model.file_metadata = {}
    with pytest.raises(ExportError, match=r"does not describe its layers.*Press Resume"):
        RestoredModel(record).layer_graph()


def test_weights_that_do_not_fit_are_refused_as_by_a_model(checkpoint: bytes) -> None:
    model = trained(dense)[0]
    model = pg.Sequential(dense())
    model.build((8, 8, 1))
    restored = RestoredModel(Checkpoint.decode(checkpoint))
    before = restored.named_weights()
    kernel = before["dense_1/kernel"]
    wrong = [
        {},
        {"other": kernel},
        before | {"dense_1/kernel": kernel[:1]},
        before | {"dense_1/kernel": kernel.astype(np.float64)},
    ]
    for weights in wrong:
        messages = []
        for each in (model, restored):
            with pytest.raises(CheckpointError) as caught:
                each.set_weights(weights)
            messages.append(str(caught.value))
        assert messages[0] == messages[1]
    for name, array in restored.named_weights().items():
        assert np.array_equal(array, before[name])


def test_an_operation_that_is_not_registered_is_named_by_predictions_only(
    checkpoint: bytes,
) -> None:
    decoded = Checkpoint.decode(checkpoint)
    text = json.dumps(decoded.model.graph).replace('"relu"', '"my_activation"')
    decoded.model.graph = json.loads(text)
    restored = RestoredModel(Checkpoint.decode(decoded.encode()))
    assert restored.named_weights()
    with pytest.raises(CheckpointError, match=r"no operation 'my_activation'.*Press Resume"):
        restored.predict(X[:1])


@pytest.mark.survival("Damaged checkpoints")
def test_damaged_checkpoints_are_refused_with_a_typed_error(
    checkpoint: bytes, record_property: Callable[[str, object], None]
) -> None:
    random = np.random.default_rng(0)
    damaged = [b"", b"x", checkpoint[:-1], checkpoint + b"\0", b"PK" + checkpoint]
    damaged += [checkpoint[: random.integers(len(checkpoint))] for _ in range(100)]
    for _ in range(400):
        copy = bytearray(checkpoint)
        at = int(random.integers(len(copy)))
        copy[at] ^= 1 << int(random.integers(8))
        damaged.append(bytes(copy))
    for content in damaged:
        with pytest.raises(CheckpointError):
            Checkpoint.decode(content)
    record_property("tried", len(damaged))


@pytest.mark.survival("Damaged checkpoints")
def test_checkpoints_with_other_content_are_refused_with_a_typed_error(
    checkpoint: bytes, record_property: Callable[[str, object], None]
) -> None:
    """Parts that are missing or of another type, with a checksum that is right."""

    def remade(change: Callable[[Checkpoint], object]) -> bytes:
        decoded = Checkpoint.decode(checkpoint)
        change(decoded)
        return decoded.encode()

    changes: list[Callable[[Checkpoint], object]] = [
        lambda c: c.states[0].clear(),  # type: ignore[union-attr]
        lambda c: c.states.clear(),
        lambda c: c.models.clear(),
        lambda c: setattr(c, "current", 7),
        lambda c: setattr(c, "current", None),
        lambda c: setattr(c.fits[0], "step", 3),
        lambda c: setattr(c.fits[0], "model", 3),
        lambda c: setattr(c.fits[0], "steps", [1, 2]),
        lambda c: setattr(c.models[0], "weights", {"a": {"variables": 3}}),
        lambda c: setattr(c.models[0], "weights", {"a": 3}),
        lambda c: setattr(c.models[0], "variables", {"a": [3]}),
        lambda c: setattr(c.models[0], "variables", 3),
        lambda c: setattr(c.models[0], "state", "x"),
        lambda c: setattr(c.models[0], "state", -9),
    ]
    for number, change in enumerate(changes):
        content = remade(change)
        with pytest.raises(CheckpointError):
            Checkpoint.decode(content)
            raise AssertionError(f"change {number} went unnoticed")
    record_property("tried", len(changes))


def test_a_weights_file_is_not_a_checkpoint() -> None:
    content = pg.io.encode({"a": np.zeros(3, np.float32)}, "safetensors")
    with pytest.raises(CheckpointError, match="not a checkpoint of a training"):
        Checkpoint.decode(content)


def test_a_checkpoint_of_a_later_version_is_refused(
    checkpoint: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    from playgrad.training.checkpoints import record as module

    monkeypatch.setattr(module, "VERSION", 1)
    with pytest.raises(CheckpointError, match=r"of version 2, .* reads versions up to 1.*Update"):
        Checkpoint.decode(checkpoint)


def test_a_model_that_takes_any_size_waits_for_its_program() -> None:
    x = pg.Input((None, 2))
    model = pg.Model(x, nn.LSTM(3)(x))
    model.compile("sgd", "mse", device="cpu")
    model.fit(np.ones((4, 5, 2), "f"), np.ones((4, 3), "f"), verbose=0)
    restored = RestoredModel(checkpoint_of(model, model.recipe, model._training))
    with pytest.raises(CheckpointError, match="before the program runs: it takes inputs of any si"):
        restored.predict(np.ones((4, 5, 2), np.float32))
    assert restored.named_weights().keys() == model.named_weights().keys()


IMAGES_OF_ANY_SIZE = """
import numpy as np, playgrad as pg
from playgrad import nn
x = pg.Input((None, None, 1))
model = pg.Model(x, nn.Dense(3)(nn.GlobalMaxPooling2D()(nn.Conv2D(4, 3)(x))))
model.compile("adam", nn.SparseCategoricalCrossentropy(from_logits=True), device="cpu")
model.fit(np.random.default_rng(0).random((9, 8, 8, 1)).astype("float32"), np.arange(9) % 3)
"""


def test_drawings_have_the_size_of_the_last_images_if_any_fits() -> None:
    with python_side() as side:
        assert side.run(IMAGES_OF_ANY_SIZE) == "done"
        answers = [side.ask("predict", pixels=[0.5] * 64)]
        refused = side.ask("predict", pixels=[0.5] * 63)
        checkpoint = side.checkpoint
        side.requests.append({"kind": "reset"})
        assert side.ask("restore", payload=checkpoint)["ok"]
        answers.append(side.ask("predict", pixels=[0.5] * 64))
    assert answers[0]["answer"] == answers[1]["answer"]
    assert "takes inputs of shape (8, 8, 1)" in refused["error"]["message"]
