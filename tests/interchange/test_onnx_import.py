"""Networks trained in PyTorch come in as ONNX, predict the same, and are trained further."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from torch.onnx import TrainingMode

import playgrad as pg
from playgrad import nn
from playgrad.errors import CheckpointError
from playgrad.runtime.options import Options, options_set
from tests.interchange import torch_networks
from tests.interchange.networks import MODELS, built, predictions

Array = np.ndarray[Any, Any]

(X_TRAIN, Y_TRAIN), (X_TEST, Y_TEST) = torch_networks.images()
NETWORKS = {"lenet": (torch_networks.lenet, 8), "resnet": (torch_networks.SmallResNet, 8)}
LOSS = nn.SparseCategoricalCrossentropy(from_logits=True)
NEW_LABELS = (Y_TRAIN % 3).astype(np.int32)
"""Three classes of two shapes each: another task for the same images."""


@pytest.fixture(autouse=True)
def on_cpu() -> Iterator[None]:
    """Software GPUs compile the kernels of these networks for a long time."""
    with options_set(Options(device="cpu")):
        yield


@cache
def trained(name: str) -> Any:
    build, epochs = NETWORKS[name]
    torch_networks.torch.manual_seed(0)
    return torch_networks.trained(build(), X_TRAIN, Y_TRAIN, epochs)


@cache
def file_of(name: str) -> bytes:
    return torch_networks.exported(trained(name), X_TRAIN[:2])


def accuracy(scores: Array) -> float:
    return float(np.mean(scores.argmax(1) == Y_TEST))


def run_by_onnxruntime(path: Path, x: Array) -> Array:
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    (source,) = session.get_inputs()
    (result,) = session.run(None, {source.name: x})
    return result


def with_new_head(base: pg.Model, name: str) -> pg.Model:
    """Return ``base`` with a layer of three classes instead of the layer ``name``."""
    return pg.Model(base.inputs, nn.Dense(3, name="new_head")(base.get_layer(name).input))


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize(("opset", "mode"), [(13, "EVAL"), (17, "PRESERVE"), (20, "EVAL")])
def test_imported_networks_predict_the_same(name: str, opset: int, mode: str) -> None:
    network = trained(name)
    model = pg.load_model(
        torch_networks.exported(network, X_TRAIN[:2], opset, getattr(TrainingMode, mode))
    )
    expected, seen = torch_networks.predicted(network, X_TEST), model.predict(X_TEST)
    np.testing.assert_allclose(seen, expected, rtol=1e-5, atol=1e-5)
    assert accuracy(seen) == accuracy(expected) > 0.5  # by chance: 1/6
    for batch in (X_TEST[:1], X_TEST[:7]):  # the size of a batch is free
        np.testing.assert_allclose(
            model.predict(batch), expected[: len(batch)], rtol=1e-5, atol=1e-5
        )


@pytest.mark.gpu
def test_an_imported_network_runs_on_a_gpu() -> None:
    with options_set(Options(device="gpu")):
        scores = pg.load_model(file_of("lenet")).predict(X_TEST[:32])
    expected = torch_networks.predicted(trained("lenet"), X_TEST[:32])
    np.testing.assert_allclose(scores, expected, rtol=1e-4, atol=1e-4)


def test_weights_keep_names_and_values() -> None:
    model = pg.load_model(file_of("resnet"))
    state = {
        name: tensor
        for name, tensor in trained("resnet").state_dict().items()
        if not name.endswith("num_batches_tracked")
    }
    weights = {name.replace("/", "."): array for name, array in model.named_weights().items()}
    # The exporter stores equal arrays once; these biases add up, so they are trained alike.
    assert set(state) - set(weights) == {"blocks.1.shortcut.1.bias"}
    assert set(weights) <= set(state)
    for name, array in weights.items():
        np.testing.assert_array_equal(array, state[name].numpy())
    fixed = {v.node.name.rsplit("/")[-1] for v in model.weights if not v.trainable}
    assert fixed == {"running_mean", "running_var"}


@pytest.mark.parametrize(("name", "last"), [("lenet", "10"), ("resnet", "fc")])
def test_fine_tuning_reaches_all_layers(name: str, last: str, tmp_path: Path) -> None:
    model = with_new_head(pg.load_model(file_of(name)), last)
    before = model.named_weights()
    model.compile(pg.optim.Adam(1e-3), LOSS)
    history = model.fit(X_TRAIN, NEW_LABELS, batch_size=32, epochs=3, verbose=0)
    assert history.history["loss"][-1] < 0.8 * history.history["loss"][0]
    after = model.named_weights()
    for weight, array in before.items():
        assert not np.array_equal(array, after[weight]), f"{weight} has not changed"
    path = tmp_path / "fine_tuned.onnx"
    model.export(path)
    onnx.checker.check_model(str(path), full_check=True)
    scores = run_by_onnxruntime(path, X_TEST)
    np.testing.assert_allclose(scores, model.predict(X_TEST), rtol=1e-5, atol=1e-5)
    assert float(np.mean(scores.argmax(1) == Y_TEST % 3)) > 0.55  # by chance: 1/3


@pytest.mark.parametrize(("name", "last"), [("lenet", "10"), ("resnet", "fc")])
def test_frozen_layers_keep_their_weights(name: str, last: str) -> None:
    base = pg.load_model(file_of(name))
    base.trainable = False
    model = with_new_head(base, last)
    assert {variable.node.name for variable in model.trainable_variables} == {
        "new_head/kernel",
        "new_head/bias",
    }
    before = model.named_weights()
    model.compile(pg.optim.Adam(1e-2), LOSS)
    history = model.fit(X_TRAIN, NEW_LABELS, batch_size=32, epochs=3, verbose=0)
    assert history.history["loss"][-1] < 0.95 * history.history["loss"][0]
    changed = {k for k, v in model.named_weights().items() if not np.array_equal(v, before[k])}
    assert changed == {"new_head/kernel", "new_head/bias"}


def test_an_imported_model_is_described_by_its_weights_file(tmp_path: Path) -> None:
    model = pg.load_model(file_of("resnet"))
    model.save_weights(tmp_path / "resnet.safetensors")
    again = pg.load_model(tmp_path / "resnet.safetensors")
    np.testing.assert_array_equal(again.predict(X_TEST[:9]), model.predict(X_TEST[:9]))
    np.testing.assert_array_equal(model.clone().predict(X_TEST[:9]), model.predict(X_TEST[:9]))


def test_an_unknown_operator_is_named() -> None:
    node = onnx.helper.make_node("NonMaxSuppression", ["x", "x"], ["y"], name="boxes/best")
    info = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        [node], "g", [info("x", 1, [1, 4, 4])], [info("y", 7, [None, 3])]
    )
    content = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)])
    message = "NonMaxSuppression, node 'boxes/best' of opset 17: playgrad has no such operator"
    with pytest.raises(CheckpointError, match=message):
        pg.load_model(content.SerializeToString())


@pytest.mark.parametrize("name", MODELS)
def test_exports_of_playgrad_come_back(name: str, tmp_path: Path) -> None:
    with pg.Graph().as_default():
        model, x = built(name)
    model.export(tmp_path / "model.onnx")
    again = pg.load_model(tmp_path / "model.onnx")
    for batch in (x, x[:1]):
        expected, seen = predictions(model, batch), predictions(again, batch)
        for result, wanted in zip(seen, expected, strict=True):
            np.testing.assert_allclose(result, wanted, rtol=1e-5, atol=1e-5)
    weights = {name.replace("/", "."): array for name, array in again.named_weights().items()}
    for weight, array in model.named_weights().items():
        np.testing.assert_array_equal(weights[weight.replace("/", ".")], array)


def test_batch_normalization_in_training_is_refused_with_advice() -> None:
    file = torch_networks.exported(trained("resnet"), X_TRAIN[:2], mode=TrainingMode.TRAINING)
    trained("resnet").eval()
    with pytest.raises(CheckpointError, match="training_mode=1") as caught:
        pg.load_model(file)
    assert "TrainingMode.PRESERVE" in str(caught.value)
