"""Models and weights that Keras saved: the same predictions, training, export; hostile files."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import playgrad as pg
from playgrad import nn
from playgrad.errors import CheckpointError
from playgrad.interchange.keras.importing.model import model_from_keras
from playgrad.nn.layer import record_of
from tests.interchange.keras_side import check_same, keras, opened
from tests.interchange.networks import MODELS, built
from tests.interchange.test_keras_models import TORCH_CANNOT, network
from tests.io.test_damage import measured
from tests.nn.test_layers import TABLE

# Keras converts arrays by a protocol that NumPy 2 deprecates.
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")

Array = np.ndarray[Any, Any]
Change = Callable[[Any], object]
layers = keras.layers

KNOWN = [
    name for name in TABLE if record_of(TABLE[name][0].kind).keras and name not in TORCH_CANNOT
]


def saved_by_keras(model: pg.Model, folder: Path) -> Path:
    """Return a file that Keras wrote of a model that playgrad exported."""
    model.export(folder / "ours.keras")
    other = opened(folder / "ours.keras")
    other.save(folder / "theirs.keras")
    other.save_weights(folder / "theirs.weights.h5")
    return folder / "theirs.keras"


def check_equal(model: pg.Model, other: pg.Model, xs: list[Array]) -> None:
    x: Any = xs if len(xs) > 1 else xs[0]
    for a, b in zip(listed(model.predict(x)), listed(other.predict(x)), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-5)


def listed(results: Any) -> list[Array]:
    return results if isinstance(results, list) else [results]


@pytest.mark.parametrize("name", [*KNOWN, *MODELS])
def test_layers_and_networks_come_back(name: str, tmp_path: Path) -> None:
    if name in MODELS:
        model, x = built(name)
        arrays = [x]
    else:
        model, arrays = network(name)
    path = saved_by_keras(model, tmp_path)
    back = pg.load_model(path)
    assert {n for n, _ in back.named_layers()} == {n for n, _ in model.named_layers()}
    check_equal(back, model, arrays)
    check_equal(pg.load_model(path.read_bytes()), model, arrays)
    expected = back.get_weights()
    back.set_weights([np.zeros_like(weight) for weight in expected])
    back.load_weights(tmp_path / "theirs.weights.h5")
    for one, other in zip(back.get_weights(), expected, strict=True):
        np.testing.assert_array_equal(one, other)


def sequential() -> Any:
    model = keras.Sequential([
        layers.Input((8, 8, 1), name="digits"),
        layers.Conv2D(3, 3, activation="relu", kernel_regularizer="l2", name="first"),
        layers.MaxPooling2D(),
        layers.BatchNormalization(),
        layers.Flatten(),
        layers.Dropout(0.5),
        layers.Dense(4, activation="softmax", kernel_constraint=keras.constraints.MaxNorm(2)),
    ])  # fmt: skip
    rate = keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.5)
    model.compile(
        keras.optimizers.SGD(rate),
        "sparse_categorical_crossentropy",
        metrics=["accuracy", keras.metrics.SparseTopKCategoricalAccuracy(2)],
    )
    return model


def functional() -> Any:
    one, two = layers.Input((5, 8)), layers.Input((5, 8))
    x = layers.MultiHeadAttention(2, 4)(query=one, value=two, use_causal_mask=True)
    x = layers.Add()([x, one])
    shared = layers.Dense(3, activation="tanh")
    outputs = [layers.TimeDistributed(shared)(x), layers.Bidirectional(layers.LSTM(3))(x)]
    return keras.Model([one, two], outputs)


def siamese() -> Any:
    inner = keras.Sequential([layers.Input((4,)), layers.Dense(3, name="same", activation="relu")])
    one, two = layers.Input((4,)), layers.Input((4,))
    difference = layers.Subtract()([inner(one), inner(two)])
    return keras.Model([one, two], layers.Dense(2, name="same")(difference), name="siamese")


@pytest.mark.parametrize("build", [sequential, functional, siamese])
def test_models_of_keras_predict_the_same(build: Callable[[], Any], tmp_path: Path) -> None:
    other = build()
    other.save(tmp_path / "m.keras")
    model = pg.load_model(tmp_path / "m.keras")
    random = np.random.default_rng(0)
    xs = [random.normal(size=(3, *x.shape[1:])).astype(np.float32) for x in model.inputs]
    check_same(model, other, xs)
    model.export(tmp_path / "again.keras")
    check_same(model, opened(tmp_path / "again.keras"), xs)


def test_equally_named_layers_of_nested_models_are_renamed(tmp_path: Path) -> None:
    siamese().save(tmp_path / "m.keras")
    names = [name for name, _ in pg.load_model(tmp_path / "m.keras").named_layers()]
    assert len(names) == 3
    assert {"same", "siamese_same"} < set(names)


def test_training_continues_as_in_keras(tmp_path: Path) -> None:
    other = sequential()
    other.layers[4].rate = 0.0  # without random numbers
    other.save(tmp_path / "m.keras")
    model = pg.load_model(tmp_path / "m.keras")
    random = np.random.default_rng(4)
    x = random.normal(size=(12, 8, 8, 1)).astype(np.float32)
    y = random.integers(0, 4, 12)
    for _ in range(3):
        ours = model.train_on_batch(x, y, return_dict=True)
        theirs = other.train_on_batch(x, y, return_dict=True)
        assert ours["loss"] == pytest.approx(theirs["loss"], rel=1e-4)
    assert set(ours) == set(theirs)
    check_same(model, other, [x], 1e-4)


def test_a_last_layer_is_replaced_and_trained(tmp_path: Path) -> None:
    sequential().save(tmp_path / "m.keras")
    base = pg.load_model(tmp_path / "m.keras")
    base.trainable = False
    model = pg.Model(base.inputs, nn.Dense(2)(base.get_layer(index=4).input))
    model.compile(pg.optim.Adam(0.05), nn.SparseCategoricalCrossentropy(from_logits=True))
    kernel = base.named_weights()["first/kernel"]
    x = np.random.default_rng(5).normal(size=(32, 8, 8, 1)).astype(np.float32)
    y = (x.mean((1, 2, 3)) > 0).astype(np.int32)
    losses = model.fit(x, y, epochs=20, verbose=0).history["loss"]
    assert losses[-1] < 0.8 * losses[0]
    np.testing.assert_array_equal(model.named_weights()["first/kernel"], kernel)


def test_settings_that_playgrad_lacks_are_left_out_with_a_warning(tmp_path: Path) -> None:
    other = keras.Sequential([layers.Input((3,)), layers.Dense(2)])
    other.compile("ftrl", "mse")
    other.save(tmp_path / "m.keras")
    with pytest.warns(
        RuntimeWarning, match=r"not compiled as it was in Keras: playgrad has no Ftrl"
    ):
        model = pg.load_model(tmp_path / "m.keras")
    assert model.optimizer is None


@keras.saving.register_keras_serializable("mine")
class Doubled(layers.Layer):  # type: ignore[misc]
    def call(self, x: Any) -> Any:
        return 2 * x


@pytest.mark.parametrize(
    ("layer", "message"),
    [
        (lambda: layers.Lambda(lambda x: x), r"layer 'lambda.*' \(Lambda\).*nothing in a file is"),
        (lambda: Doubled(), r"'Doubled', which is part of a program.*nothing in a file is"),
        (lambda: layers.ConvLSTM1D(2, 2), r"layer 'conv_lst.*' \(ConvLSTM1D\).*no such layer"),
        (lambda: layers.Dense(2, dtype="float16"), r"'dense.*' \(Dense\).*computes in 'float16'"),
        (lambda: layers.Dense(2, activation="celu"), r"'dense.*' \(Dense\).*no activation 'celu'"),
    ],
)
def test_layers_that_playgrad_lacks_are_named(
    layer: Callable[[], Any], message: str, tmp_path: Path
) -> None:
    shape = (5, 4, 3) if message.count("ConvLSTM1D") else (4, 3)
    other = keras.Sequential([layers.Input(shape), layer()])
    other.save(tmp_path / "m.keras")
    with pytest.raises(CheckpointError, match=message):
        pg.load_model(tmp_path / "m.keras")


def test_weights_of_another_model_are_refused(tmp_path: Path) -> None:
    def model(units: int, count: int) -> Any:
        return keras.Sequential([layers.Input((4,)), *(layers.Dense(units) for _ in range(count))])

    mine = pg.Sequential([pg.Input((4,)), nn.Dense(3), nn.Dense(3)])
    before = mine.get_weights()
    for units, count, message in (
        (5, 2, r"'dense_1/kernel' has shape \(4, 5\) in the Keras file, but \(4, 3\)"),
        (3, 1, r"no weight 'dense_2/kernel'"),
        (3, 3, r"'layers/dense_2/vars/0', not in the model"),
    ):
        model(units, count).save_weights(tmp_path / "w.weights.h5")
        with pytest.raises(CheckpointError, match=message):
            mine.load_weights(tmp_path / "w.weights.h5")
    for one, other in zip(mine.get_weights(), before, strict=True):
        np.testing.assert_array_equal(one, other)
    other = model(3, 2)
    other.save_weights(tmp_path / "w.weights.h5")
    with open(tmp_path / "w.weights.h5", "rb") as file:
        mine.load_weights(file)
    check_same(mine, other, [np.ones((2, 4), np.float32)])


# Hostile files

SMALL = pg.Sequential([pg.Input((3,)), nn.Dense(2, name="a"), nn.Dense(2, name="b")])


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("keras") / "m.keras"
    SMALL.export(path)
    return path.read_bytes()


def members(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(parts: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return file.getvalue()


def changed(content: bytes, change: Change) -> bytes:
    """Return the file with another configuration."""
    parts = members(content)
    config = json.loads(parts["config.json"])
    change(config)
    return zipped(parts | {"config.json": json.dumps(config).encode()})


def layer(config: Any, number: int) -> Any:
    return config["config"]["layers"][number]


def call(config: Any, number: int) -> Any:
    return layer(config, number)["inbound_nodes"][0]["args"][0]["config"]["keras_history"]


CONFIGS: dict[str, tuple[Change, str]] = {
    "a cycle": (lambda c: call(c, 1).__setitem__(0, "b"), "needs itself"),
    "an unknown layer": (lambda c: call(c, 1).__setitem__(0, "x"), "call 0 of layer 'x'"),
    "an unknown call": (lambda c: call(c, 2).__setitem__(1, 10**20), "of layer 'a' is missing"),
    "an unknown result": (lambda c: call(c, 2).__setitem__(2, 7), "'a' has no result 7"),
    "no result": (lambda c: call(c, 2).__setitem__(2, None), "is not the result of a layer"),
    "the same name": (lambda c: layer(c, 2).__setitem__("name", "a"), "two layers are named 'a'"),
    "no class": (lambda c: layer(c, 1).pop("class_name"), "an object has no class"),
    "no configuration": (lambda c: layer(c, 1).__setitem__("config", 3), "no configuration"),
    "a module": (lambda c: layer(c, 1).__setitem__("module", "os"), "part of a program"),
    "a function": (
        lambda c: layer(c, 1)["config"].__setitem__(
            "activation", {"class_name": "function", "module": "os", "config": "system"}
        ),
        "no activation",
    ),
    "a lambda": (  # Keras writes the bytecode, the defaults and the closure
        lambda c: layer(c, 1)["config"].__setitem__("activation", {"value": ["4wE=", None, None]}),
        "no activation",
    ),
    "a list of activations": (
        lambda c: layer(c, 1)["config"].__setitem__("activation", ["relu"]),
        "no activation",
    ),
    "a huge layer": (lambda c: layer(c, 1)["config"].__setitem__("units", 2**60), "Keras file"),
    "text as number": (lambda c: layer(c, 1)["config"].__setitem__("units", "x"), "a whole number"),
    "a huge input": (
        lambda c: layer(c, 0)["config"].__setitem__("batch_shape", [None, 2**40]),
        "an input has the shape",
    ),
    "no layers": (lambda c: c["config"].__setitem__("layers", {}), "a list is missing"),
    "no outputs": (lambda c: c["config"].__setitem__("output_layers", []), "Keras file"),
    "an output of another shape": (
        lambda c: c["config"].__setitem__("output_layers", [["a"]]),
        "is not the result of a layer",
    ),
    "other model": (lambda c: c.__setitem__("class_name", "Net"), "a model of class Net"),
    "old calls": (
        lambda c: layer(c, 1).__setitem__("inbound_nodes", [[["input", 0, 0, {}]]]),
        "Keras 2",
    ),
}


@pytest.mark.parametrize("name", CONFIGS)
def test_damaged_configurations_are_refused(name: str, small: bytes) -> None:
    change, message = CONFIGS[name]
    with measured() as peak, pytest.raises(CheckpointError, match=message):
        pg.load_model(changed(small, change))
    assert peak() < 64 << 20


def test_archives_that_do_harm_are_refused(small: bytes) -> None:
    parts = members(small)
    deep = b"[" * 10**6
    bomb = {"config.json": parts["config.json"], "model.weights.h5": bytes(10**8)}
    files = {
        "no 'config.json'": zipped({"model.weights.h5": parts["model.weights.h5"]}),
        "no 'model.weights.h5'": zipped({"config.json": parts["config.json"]}),
        "inside each other": zipped(parts | {"config.json": deep}),
        "does not describe a model": zipped(parts | {"config.json": b"3"}),
        "has 100,000,000 bytes, more than": zipped(bomb, zipfile.ZIP_DEFLATED),
        "not an HDF5 file": zipped(parts | {"model.weights.h5": b"x"}),
        "compressed by a method": zipped(parts, zipfile.ZIP_LZMA),
        "the Keras file is damaged": small[: len(small) // 2],
    }
    for message, content in files.items():
        with measured() as peak, pytest.raises(CheckpointError, match=message):
            model_from_keras(content)
        assert peak() < len(content) + (64 << 20), message
    outside = zipped(parts | {"../../outside": b"x", "/tmp/outside": b"x"})
    assert model_from_keras(outside).named_weights().keys() == SMALL.named_weights().keys()


@given(st.data())
def test_random_damage_is_refused_or_harmless(small: bytes, data: st.DataObject) -> None:
    content = bytearray(small)
    for _ in range(data.draw(st.integers(1, 6))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] = data.draw(st.integers(0, 255))
    end = data.draw(st.sampled_from([len(content), len(content) - 1, len(content) // 3]))
    try:
        model = model_from_keras(bytes(content[:end]))
    except CheckpointError:
        return
    assert sum(w.nbytes for w in model.get_weights()) <= len(small)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)


@given(st.data())
def test_random_configurations_are_refused_or_harmless(small: bytes, data: st.DataObject) -> None:
    def change(config: Any) -> None:
        where = config
        while True:
            keys = list(where) if isinstance(where, dict) else list(range(len(where)))
            key = data.draw(st.sampled_from(keys))
            if (
                not isinstance(where[key], (dict, list))
                or not where[key]
                or data.draw(st.booleans())
            ):
                where[key] = data.draw(JSON)
                return
            where = where[key]

    try:
        model_from_keras(changed(small, change))
    except CheckpointError as error:
        assert len(str(error)) < 2000
