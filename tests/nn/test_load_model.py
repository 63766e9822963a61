"""Models from files of weights, which describe their layers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import io, nn
from playgrad.errors import CheckpointError, GraphError
from playgrad.io import safetensors
from playgrad.models.trainable import ARCHITECTURE

Array = np.ndarray[Any, Any]


@pytest.fixture
def images() -> Array:
    return np.random.default_rng(0).normal(size=(16, 6, 6, 1)).astype(np.float32)


def trained(images: Array) -> pg.Sequential:
    layers = [
        nn.Conv2D(4, 3, activation="relu"),
        nn.BatchNormalization(),
        nn.Flatten(),
        nn.Dense(3),
    ]
    model = pg.Sequential(layers, name="small")
    model.compile("adam", nn.SparseCategoricalCrossentropy(from_logits=True))
    model.fit(images, np.arange(len(images)) % 3, epochs=2, verbose=0)
    return model


@pytest.mark.parametrize("as_bytes", [False, True])
def test_a_file_of_weights_makes_the_model(tmp_path: Path, images: Array, as_bytes: bool) -> None:
    model = trained(images)
    path = tmp_path / "small.safetensors"
    model.save_weights(path)
    loaded = pg.load_model(path.read_bytes() if as_bytes else path)
    assert type(loaded) is pg.Sequential
    assert loaded.name == "small"
    assert loaded.graph is not model.graph
    np.testing.assert_allclose(loaded.predict(images), model.predict(images), rtol=1e-4, atol=1e-5)
    loaded.compile("sgd", nn.SparseCategoricalCrossentropy(from_logits=True))
    loaded.fit(images, np.zeros(len(images), np.int32), epochs=1, verbose=0)
    assert not np.array_equal(loaded.predict(images), model.predict(images))


def test_branches_are_described_too(tmp_path: Path) -> None:
    inputs = pg.Input((4,))
    hidden = nn.Dense(3, activation="tanh")(inputs)
    model = pg.Model(inputs, [nn.Dense(2)(hidden), nn.Dense(1)(hidden)])
    path = tmp_path / "branches.safetensors"
    model.save_weights(path)
    x = np.random.default_rng(1).normal(size=(5, 4)).astype(np.float32)
    loaded = pg.load_model(path)
    for expected, seen in zip(model.get_weights(), loaded.get_weights(), strict=True):
        assert np.array_equal(expected, seen)
    # Each model chooses its device, and devices round differently.
    for expected, seen in zip(model.predict(x), loaded.predict(x), strict=True):
        np.testing.assert_allclose(seen, expected, rtol=1e-5, atol=1e-6)


def test_other_programs_still_read_the_file(tmp_path: Path, images: Array) -> None:
    from safetensors.numpy import load_file

    model = trained(images)
    path = tmp_path / "small.safetensors"
    model.save_weights(path)
    seen = load_file(path)
    assert seen.keys() == model.named_weights().keys()
    assert all(np.array_equal(seen[name], array) for name, array in model.named_weights().items())


def test_weights_alone_are_not_a_model(tmp_path: Path, images: Array) -> None:
    model = trained(images)
    path = tmp_path / "small.npz"
    model.save_weights(path)
    with pytest.raises(CheckpointError, match="does not describe the layers"):
        pg.load_model(path)
    io.save(model.named_weights(), tmp_path / "plain.safetensors")
    with pytest.raises(CheckpointError, match="does not describe the layers"):
        pg.load_model(tmp_path / "plain.safetensors")


def test_functions_are_not_described(tmp_path: Path) -> None:
    model = pg.Sequential([nn.Lambda(lambda x: x * 2), nn.Dense(1)])
    model.build((3,))
    path = tmp_path / "function.safetensors"
    model.save_weights(path)
    with pytest.raises(CheckpointError, match="does not describe the layers"):
        pg.load_model(path)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "[" * 100_000, '{"class_name": "os.system", "config": {}}']
)
def test_a_damaged_description_is_an_error(images: Array, text: str) -> None:
    content = safetensors.dump(trained(images).named_weights(), {ARCHITECTURE: text})
    with pytest.raises(GraphError):
        pg.load_model(content)


def test_weights_of_other_layers_are_refused(images: Array) -> None:
    model = trained(images)
    data = json.loads(model.to_json())
    text = json.dumps(data).replace('"units": 3', '"units": 1000000')
    assert text != json.dumps(data)
    with pytest.raises(CheckpointError, match=r"has shape \(64, 3\)"):
        pg.load_model(safetensors.dump(model.named_weights(), {ARCHITECTURE: text}))
