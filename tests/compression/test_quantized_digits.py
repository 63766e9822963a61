"""Digits in 8 and in 4 bits, and beside PyTorch's quantization of the same weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch.ao import quantization

import playgrad as pg
from playgrad import nn

pytestmark = pytest.mark.slow
Array = np.ndarray[Any, Any]


def compiled(model: pg.Model, rate: float = 2e-3) -> pg.Model:
    loss = nn.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(pg.optim.Adam(rate), loss, ["accuracy"], device="cpu")
    return model


@pytest.fixture(scope="module")
def digits() -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    return pg.data.mnist()


@pytest.fixture(scope="module")
def trained(digits: Any) -> pg.Model:
    (x, y), _ = digits
    model = pg.Sequential(
        [
            nn.Rescaling(1 / 255),
            nn.Reshape((28, 28, 1)),
            nn.Conv2D(8, 3, use_bias=False),
            nn.BatchNormalization(epsilon=1e-5),
            nn.ReLU(),
            nn.MaxPool2D(2),
            nn.Conv2D(16, 3, activation="relu"),
            nn.MaxPool2D(2),
            nn.Flatten(),
            nn.Dense(64, activation="relu"),
            nn.Dense(10),
        ]
    )
    compiled(model).fit(x, y, batch_size=128, epochs=1, seed=1, verbose=0)
    return model


def accuracy(model: pg.Model, data: tuple[Array, Array]) -> float:
    return float(model.evaluate(*data)[1])


def test_eight_bits_lose_little(trained: pg.Model, digits: Any) -> None:
    (x, _), test = digits
    report = pg.quantize(trained, x).report(test_data=test)
    (_, each) = report.comparisons
    assert each.samples == 10_000 and each.data == "test data"
    assert each.before > 0.95
    assert each.after > each.before - 0.003
    assert report.before.raw / report.after.raw > 3.8


@pytest.mark.filterwarnings("ignore")  # torch.ao.quantization moves to another package
def test_pytorch_does_not_lose_less(trained: pg.Model, digits: Any) -> None:
    """The same weights and the same 512 samples, with two engines and two schemes of ranges each.

    Of 10,000 digits, some 20 change their class by rounding alone, so accuracies have a margin of
    10. The scores themselves are compared with those of the scheme that is also ours.
    """
    (x, _), test = digits
    images = torch.tensor(test[0][:, None].astype(np.float32) / 255)
    chosen = np.linspace(0, len(x) - 1, 512).round().astype(int)
    samples = torch.tensor(x[chosen][:, None].astype(np.float32) / 255)
    with torch.no_grad():
        exact = as_torch(trained)(images).numpy()
    assert share(exact, test[1]) == pytest.approx(accuracy(trained, test), abs=2e-4)
    small = pg.quantize(trained, x)
    error = float(np.linalg.norm(small.predict(test[0]) - exact))
    shares = []
    for engine in ("x86", "qnnpack"):
        torch.backends.quantized.engine = engine
        ours = quantization.QConfig(
            activation=quantization.MinMaxObserver.with_args(dtype=torch.quint8),
            weight=quantization.default_per_channel_weight_observer,
        )
        for scheme in (quantization.get_default_qconfig(engine), ours):
            scores = quantized_by_torch(trained, scheme, samples)(images).numpy()
            shares.append(share(scores, test[1]))
            if scheme is ours:
                assert error < 1.1 * float(np.linalg.norm(scores - exact))
    assert accuracy(small, test) >= np.mean(shares) - 0.001


def test_training_with_rounding_regains_half_of_what_four_bits_lose(
    trained: pg.Model, digits: Any
) -> None:
    (x, y), test = digits
    exact = accuracy(trained, test)
    before = accuracy(pg.quantize(trained, x, weights="int4"), test)
    aware = compiled(pg.quantization_aware(trained, x, bits=4), 1e-3)
    aware.fit(x, y, batch_size=128, epochs=1, seed=2, verbose=0)
    small = pg.quantize(aware)
    assert before < exact
    assert accuracy(small, test) - before >= 0.5 * (exact - before)
    steps = np.abs(small.predict(test[0]) - aware.predict(test[0])) / small.layers[-1].scale
    assert steps.max() <= 1.01
    assert (steps > 0.5).mean() < 1e-3


def share(scores: Array, labels: Array) -> float:
    return float((scores.argmax(1) == labels).mean())


def quantized_by_torch(model: pg.Model, scheme: Any, samples: torch.Tensor) -> torch.nn.Module:
    """Return the network of integers that PyTorch makes of the same weights."""
    fused = quantization.fuse_modules(as_torch(model), [["0", "1", "2"], ["4", "5"], ["8", "9"]])
    stubs = quantization.QuantStub(), quantization.DeQuantStub()
    network = torch.nn.Sequential(stubs[0], fused, stubs[1]).eval()
    network.qconfig = scheme
    prepared = quantization.prepare(network)
    prepared(samples)
    converted: torch.nn.Module = quantization.convert(prepared)
    return converted


class _ChannelsLast(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.permute(0, 2, 3, 1).reshape(x.shape[0], -1)


def as_torch(model: pg.Model) -> torch.nn.Sequential:
    """Return the network for pixels from 0 to 1, with the same weights."""
    layers = torch.nn.Sequential(
        torch.nn.Conv2d(1, 8, 3, bias=False),
        torch.nn.BatchNorm2d(8, eps=1e-5),
        torch.nn.ReLU(),
        torch.nn.MaxPool2d(2),
        torch.nn.Conv2d(8, 16, 3),
        torch.nn.ReLU(),
        torch.nn.MaxPool2d(2),
        _ChannelsLast(),
        torch.nn.Linear(400, 64),
        torch.nn.ReLU(),
        torch.nn.Linear(64, 10),
    ).eval()
    values = model.named_weights()
    state = {"1.num_batches_tracked": np.array(1)}
    for mine, theirs in (("conv2d_1", "0"), ("conv2d_2", "4")):
        state[f"{theirs}.weight"] = values[f"{mine}/kernel"].transpose(3, 2, 0, 1)
    for mine, theirs in (("dense_1", "8"), ("dense_2", "10")):
        state[f"{theirs}.weight"] = values[f"{mine}/kernel"].T
    for mine, theirs in (("conv2d_2", "4"), ("dense_1", "8"), ("dense_2", "10")):
        state[f"{theirs}.bias"] = values[f"{mine}/bias"]
    for mine, theirs in (
        ("gamma", "weight"),
        ("beta", "bias"),
        ("moving_mean", "running_mean"),
        ("moving_variance", "running_var"),
    ):
        state[f"1.{theirs}"] = values[f"batch_normalization_1/{mine}"]
    layers.load_state_dict({key: torch.tensor(value) for key, value in state.items()})
    return layers
