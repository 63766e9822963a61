"""Weights that PyTorch and others trained, in playgrad's networks."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
import safetensors.torch
import torch

import playgrad as pg
from playgrad import nn
from playgrad.errors import CheckpointError, GraphError
from tests.interchange.pytorch_networks import NETWORKS, network
from tests.interchange.test_pytorch_models import REFUSED

Array = np.ndarray[Any, Any]


class TorchLeNet(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1 = torch.nn.Conv2d(1, 6, 5, padding=2)
        self.bn1 = torch.nn.BatchNorm2d(6)
        self.conv2 = torch.nn.Conv2d(6, 16, 5)
        self.fc1 = torch.nn.Linear(400, 120)
        self.fc2 = torch.nn.Linear(120, 120)
        self.fc3 = torch.nn.Linear(120, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.bn1(self.conv1(x)))
        x = torch.nn.functional.max_pool2d(x, 2)
        x = torch.nn.functional.avg_pool2d(torch.relu(self.conv2(x)), 2)
        x = torch.tanh(self.fc1(torch.flatten(x, 1)))
        return self.fc3(torch.tanh(self.fc2(x)))


def lenet() -> pg.Model:
    return pg.Sequential([
        pg.Input((28, 28, 1)), nn.Conv2D(6, 5, padding="same"), nn.BatchNormalization(epsilon=1e-5),
        nn.ReLU(), nn.MaxPooling2D(), nn.Conv2D(16, 5, activation="relu"), nn.AveragePooling2D(),
        nn.Flatten(), nn.Dense(120, activation="tanh"), nn.Dense(120, activation="tanh"),
        nn.Dense(10),
    ])  # fmt: skip


IMAGES = np.random.default_rng(3).normal(size=(32, 28, 28, 1)).astype(np.float32)


@pytest.fixture(scope="module")
def trained() -> TorchLeNet:
    """A network that PyTorch has trained for a few steps."""
    torch.manual_seed(0)
    net = TorchLeNet()
    x = torch.from_numpy(IMAGES.transpose(0, 3, 1, 2).copy())
    labels = torch.arange(32) % 10
    optimizer = torch.optim.Adam(net.parameters(), 1e-3)
    for _ in range(5):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(x), labels).backward()
        optimizer.step()
    return net.eval()


def predicted(net: torch.nn.Module, x: Array) -> Array:
    with torch.no_grad():
        return np.asarray(net(torch.from_numpy(x)).numpy())


def as_pt(net: torch.nn.Module) -> bytes:
    buffer = io.BytesIO()
    torch.save(net.state_dict(), buffer)
    return buffer.getvalue()


def as_npz(net: torch.nn.Module) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **{name: array.numpy() for name, array in net.state_dict().items()})
    return buffer.getvalue()


FILES: dict[str, Callable[[torch.nn.Module], bytes]] = {
    "pt": as_pt,
    "safetensors": lambda net: safetensors.torch.save(net.state_dict()),
    "npz": as_npz,
}


@pytest.mark.parametrize("ending", FILES)
def test_a_lenet_of_pytorch_predicts_the_same(
    ending: str, trained: TorchLeNet, tmp_path: Path
) -> None:
    path = tmp_path / f"lenet.{ending}"
    path.write_bytes(FILES[ending](trained))
    model = lenet()
    before = model.get_weights()
    matching = pg.match_weights(model, path)
    assert matching.fits
    assert matching["dense_1/kernel"] == "fc1.weight"
    assert matching["batch_normalization_1/moving_variance"] == "bn1.running_var"
    for array, same in zip(model.get_weights(), before, strict=True):
        np.testing.assert_array_equal(array, same)  # nothing has changed yet
    matching.apply()
    expected = predicted(trained, IMAGES.transpose(0, 3, 1, 2).copy())
    np.testing.assert_allclose(model.predict(IMAGES), expected, rtol=1e-5, atol=1e-5)
    other = lenet()
    assert pg.load_model(path, model=other) is other
    np.testing.assert_array_equal(other.predict(IMAGES), model.predict(IMAGES))


def test_the_matching_table_can_be_corrected() -> None:
    torch.manual_seed(1)
    net = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Tanh(), torch.nn.Linear(3, 3))
    state = {"b." + name: array.numpy() for name, array in net[0].state_dict().items()}
    state |= {"a." + name: array.numpy() for name, array in net[2].state_dict().items()}
    state["step"] = np.zeros((), np.float32)
    model = pg.Sequential([pg.Input((3,)), nn.Dense(3, activation="tanh"), nn.Dense(3)])
    matching = pg.match_weights(model, safetensors.numpy.save(state))
    assert str(matching) == (
        "weight          shape   in the file  shape   matched by\n"
        "------------------------------------------------------------\n"
        "dense_1/kernel  (3, 3)  a.weight     (3, 3)  layer and order\n"
        "dense_1/bias    (3,)    a.bias       (3,)    layer and order\n"
        "dense_2/kernel  (3, 3)  b.weight     (3, 3)  layer and order\n"
        "dense_2/bias    (3,)    b.bias       (3,)    layer and order\n"
        "not used: step ()"
    )
    for layer, source in (("dense_1", "b"), ("dense_2", "a")):
        matching[f"{layer}/kernel"] = f"{source}.weight"
        matching[f"{layer}/bias"] = f"{source}.bias"
    assert "dense_1/kernel  (3, 3)  b.weight     (3, 3)  you" in str(matching)
    matching.apply()
    x = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)
    np.testing.assert_allclose(model.predict(x), predicted(net, x), rtol=1e-5, atol=1e-6)


def test_mismatched_weights_leave_the_model_unchanged(trained: TorchLeNet) -> None:
    model = lenet()
    before = model.get_weights()
    state = {k: v for k, v in trained.state_dict().items() if k != "fc2.weight"}
    state["fc2.index"] = torch.zeros((120, 120), dtype=torch.int32)
    matching = pg.match_weights(model, safetensors.torch.save(state))
    assert matching["dense_2/kernel"] is None
    assert "dense_2/kernel" in str(matching)
    assert "nothing" in str(matching)
    assert matching.unused == ["fc2.index"]
    with pytest.raises(CheckpointError, match=r"'dense_2/kernel' needs one of shape \(120, 120\)"):
        matching.apply()
    with pytest.raises(CheckpointError, match=r"'fc3.weight' has shape \(10, 120\), but"):
        matching["dense_2/kernel"] = "fc3.weight"
    with pytest.raises(CheckpointError, match=r"'fc2\.index' is int32"):
        matching["dense_2/kernel"] = "fc2.index"
    with pytest.raises(CheckpointError, match=r"the file has no tensor 'fc9\.weight'"):
        matching["dense_2/kernel"] = "fc9.weight"
    with pytest.raises(CheckpointError, match="the model has no weight 'dense_9/kernel'"):
        matching["dense_9/kernel"] = "fc3.weight"
    with pytest.raises(CheckpointError, match="takes 1 tensors, got 2"):
        matching["dense_2/kernel"] = ("fc3.weight", "fc3.bias")
    matching["dense_1/bias"] = None
    assert len(matching.missing) == 2
    for array, same in zip(model.get_weights(), before, strict=True):
        np.testing.assert_array_equal(array, same)


class TorchReader(torch.nn.Module):
    """Recurrent layers, which have two biases in PyTorch, and attention, whose kernels it joins."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens = torch.nn.Embedding(9, 8)
        self.lstm = torch.nn.LSTM(8, 8, batch_first=True)
        self.gru = torch.nn.GRU(8, 4, batch_first=True, bidirectional=True)
        self.attention = torch.nn.MultiheadAttention(8, 2, batch_first=True)
        self.block = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        self.norm = torch.nn.LayerNorm(8)
        self.head = torch.nn.Linear(8, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x, _ = self.lstm(self.tokens(x))
        x, _ = self.gru(x)
        x, _ = self.attention(x, x, x)
        return self.head(self.norm(self.block(x)))


@pytest.mark.parametrize("ending", ["pt", "safetensors"])
def test_gates_biases_and_joined_kernels_are_converted(ending: str) -> None:
    torch.manual_seed(2)
    net = TorchReader().eval()
    for parameter in net.parameters():
        torch.nn.init.normal_(parameter, std=0.4)
    inputs = pg.Input((6,), dtype="int32")
    x = nn.LSTM(8, return_sequences=True)(nn.Embedding(9, 8)(inputs))
    x = nn.Bidirectional(nn.GRU(4, return_sequences=True))(x)
    x = nn.MultiHeadAttention(2, 4)(x, x)
    x = nn.LayerNormalization(epsilon=1e-5)(nn.TransformerEncoder(16, 2)(x))
    model = pg.Model(inputs, nn.Dense(3)(x))
    matching = pg.match_weights(model, FILES[ending](net))
    assert matching.fits, matching
    assert matching["lstm_1/bias"] == ("lstm.bias_ih_l0", "lstm.bias_hh_l0")
    assert matching["multi_head_attention_1/key_kernel"] == "attention.in_proj_weight"
    matching.apply()
    x = np.arange(18, dtype=np.int32).reshape(3, 6) % 9
    np.testing.assert_allclose(model.predict(x), predicted(net, x), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", [n for n in NETWORKS if n not in REFUSED])
def test_exported_weights_are_matched_back(name: str, tmp_path: Path) -> None:
    model, _ = network(name)
    expected = model.named_weights()
    model.export(tmp_path / "model.pt.zip")
    model.set_weights([np.zeros_like(each) for each in model.get_weights()])
    pg.match_weights(model, tmp_path / "model.pt.zip").apply()
    for weight, array in model.named_weights().items():
        np.testing.assert_array_equal(array, expected[weight])


def test_layouts_of_keras_are_kept(tmp_path: Path) -> None:
    model = lenet()
    model.set_weights([w + 0.1 for w in model.get_weights()])
    expected = model.get_weights()
    renamed = {f"layers/{i}": each.astype(np.float64) for i, each in enumerate(expected)}
    np.savez(tmp_path / "lenet.npz", **renamed)
    model.set_weights([np.zeros_like(each) for each in expected])
    pg.match_weights(model, tmp_path / "lenet.npz").apply()
    for array, wanted in zip(model.get_weights(), expected, strict=True):
        np.testing.assert_array_equal(array, wanted)


def test_the_arguments_are_checked(tmp_path: Path) -> None:
    with pytest.raises(GraphError, match="is not built"):
        pg.match_weights(pg.Sequential([nn.Dense(2)]), as_npz(torch.nn.Linear(2, 2)))
    model = pg.Sequential([pg.Input((2,)), nn.Dense(2)])
    with pytest.raises(CheckpointError, match="layout must be"):
        pg.match_weights(model, as_npz(torch.nn.Linear(2, 2)), "onnx")  # type: ignore[arg-type]
    with pytest.raises(CheckpointError, match="not a safetensors, npz or PyTorch file"):
        pg.match_weights(model, b"some words of text")
