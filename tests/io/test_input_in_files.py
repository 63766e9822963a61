"""The description of the input comes back with the weights in every loader."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.data.input_description import KEY, InputDescription
from playgrad.io import safetensors
from playgrad.page.questions.weights_import import import_weights
from playgrad.page.restored_model import RestoredModel
from playgrad.training.checkpoints import record
from playgrad.training.checkpoints.capture import checkpoint_of

DATA = np.linspace(-1, 1, 320).reshape(5, 8, 8).astype(np.float32)


def network() -> pg.Model:
    model = pg.Sequential([pg.Input((8, 8)), nn.Flatten(), nn.Dense(2)])
    model.compile("sgd", "mse")
    return model


@pytest.fixture
def trained() -> pg.Model:
    model = network()
    model.fit(DATA, np.zeros((5, 2), np.float32), epochs=1, verbose=0)
    return model


@pytest.mark.parametrize("ending", ["safetensors", "playgrad"])
def test_weights_bring_the_description(trained: pg.Model, tmp_path: Path, ending: str) -> None:
    described = InputDescription((8, 8), (-1.0,), (1.0,))
    assert trained.input_description == described
    path = tmp_path / f"net.{ending}"
    trained.save(path)
    other = network()
    other.load_weights(path)
    assert other.input_description == described
    assert other.clone().input_description == described


def test_weights_without_a_description_leave_it(trained: pg.Model, tmp_path: Path) -> None:
    described = trained.input_description
    trained.save_weights(tmp_path / "net.npz")
    trained.load_weights(tmp_path / "net.npz")
    assert trained.input_description == described
    other = network()
    other.load_weights(tmp_path / "net.npz")
    assert other.input_description is None


@pytest.mark.parametrize("is_restored", [False, True])
def test_the_page_takes_the_description_of_weights(
    trained: pg.Model, tmp_path: Path, is_restored: bool
) -> None:
    trained.save_weights(tmp_path / "net.safetensors")
    other = network()
    model = RestoredModel(checkpoint_of(other, None, other._training)) if is_restored else other
    assert model.input_description is None
    payload = (tmp_path / "net.safetensors").read_bytes()
    import_weights(model, {"name": "net.safetensors", "payload": payload})
    assert model.input_description == trained.input_description
    assert model.inference_graph().input == trained.input_description


def test_checkpoints_with_the_largest_input_alone_are_read(trained: pg.Model) -> None:
    content = checkpoint_of(trained, trained.recipe, trained._training).encode()
    tensors, text = safetensors.parse(content), safetensors.metadata(content)[record._KEY]
    about = json.loads(text)
    (model,) = about["models"]
    model["input_maximum"] = 255.0
    del model["file_metadata"][KEY]
    text = json.dumps(about)
    metadata = {record._SUM: record._checksum(text, tensors), record._KEY: text}
    earlier = record.Checkpoint.decode(safetensors.dump(tensors, metadata))
    described = RestoredModel(earlier).input_description
    assert described == InputDescription((8, 8), (0.0,), (255.0,))
