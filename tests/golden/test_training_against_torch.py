"""Training compared with PyTorch: equal weights and batches give equal loss curves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

import playgrad as pg
from playgrad import nn
from playgrad.ops.core.counter_random import batch_indices
from playgrad.runtime.options import Options, options_set
from playgrad.training.step_graphs import SHUFFLE_SEED

torch.set_num_threads(1)
STEPS, BATCH, SAMPLES = 50, 32, 1000
Array = np.ndarray[Any, Any]


@pytest.fixture(scope="module")
def digits() -> tuple[Array, Array]:
    (x, y), _ = pg.data.mnist()
    return x[:SAMPLES], y[:SAMPLES]


def mlp() -> pg.Sequential:
    return pg.Sequential(
        [nn.Rescaling(1 / 255), nn.Flatten(), nn.Dense(32, activation="relu"), nn.Dense(10)]
    )


def cnn() -> pg.Sequential:
    return pg.Sequential(
        [
            nn.Rescaling(1 / 255),
            nn.Reshape((28, 28, 1)),
            nn.Conv2D(6, 5, activation="relu"),
            nn.MaxPool2D(2),
            nn.Conv2D(8, 3, padding="same", activation="tanh"),
            nn.AveragePool2D(2),
            nn.Flatten(),
            nn.Dense(10),
        ]
    )


def normalized_cnn() -> pg.Sequential:
    return pg.Sequential(
        [
            nn.Rescaling(1 / 255),
            nn.Reshape((28, 28, 1)),
            nn.Conv2D(6, 5, use_bias=False),
            nn.BatchNormalization(momentum=0.9),
            nn.Activation("relu"),
            nn.MaxPool2D(2),
            nn.Flatten(),
            nn.Dense(16, use_bias=False),
            nn.BatchNormalization(),
            nn.Activation("tanh"),
            nn.Dense(10),
        ]
    )


def torch_mlp(x: torch.Tensor, w: dict[str, torch.Tensor]) -> torch.Tensor:
    hidden = torch.relu(x.reshape(len(x), -1) @ w["dense_1/kernel"] + w["dense_1/bias"])
    return hidden @ w["dense_2/kernel"] + w["dense_2/bias"]


def torch_cnn(x: torch.Tensor, w: dict[str, torch.Tensor]) -> torch.Tensor:
    def conv(x: torch.Tensor, name: str, padding: int) -> torch.Tensor:
        kernel = w[f"{name}/kernel"].permute(3, 2, 0, 1)
        return torch.nn.functional.conv2d(x, kernel, w[f"{name}/bias"], padding=padding)

    y = torch.max_pool2d(torch.relu(conv(x[:, None], "conv2d_1", 0)), 2)
    y = torch.nn.functional.avg_pool2d(torch.tanh(conv(y, "conv2d_2", 1)), 2)
    flat = y.permute(0, 2, 3, 1).reshape(len(x), -1)
    return flat @ w["dense_1/kernel"] + w["dense_1/bias"]


def torch_normalized_cnn(x: torch.Tensor, w: dict[str, torch.Tensor]) -> torch.Tensor:
    def normalize(x: torch.Tensor, name: str, momentum: float) -> torch.Tensor:
        axes = [axis for axis in range(x.ndim) if axis != 1]
        with torch.no_grad():  # the moving averages use the biased variance, as in Keras
            moments = {"mean": x.mean(axes), "variance": x.var(axes, unbiased=False)}
            for moment, value in moments.items():
                w[f"{name}/moving_{moment}"].mul_(momentum).add_(value, alpha=1 - momentum)
        gamma, beta = w[f"{name}/gamma"], w[f"{name}/beta"]
        return torch.nn.functional.batch_norm(x, None, None, gamma, beta, True, eps=1e-3)

    kernel = w["conv2d_1/kernel"].permute(3, 2, 0, 1)
    y = torch.nn.functional.conv2d(x[:, None], kernel)
    y = torch.max_pool2d(torch.relu(normalize(y, "batch_normalization_1", 0.9)), 2)
    flat = y.permute(0, 2, 3, 1).reshape(len(x), -1)
    hidden = torch.tanh(normalize(flat @ w["dense_1/kernel"], "batch_normalization_2", 0.99))
    return hidden @ w["dense_2/kernel"] + w["dense_2/bias"]


NETWORKS = {
    "mlp": (mlp, torch_mlp),
    "cnn": (cnn, torch_cnn),
    "normalized cnn": (normalized_cnn, torch_normalized_cnn),
}
OPTIMIZERS = {
    "adam": (
        lambda: pg.optim.Adam(0.002),
        lambda w: torch.optim.Adam(w, 0.002, eps=1e-7),
    ),
    "sgd": (lambda: pg.optim.SGD(0.05), lambda w: torch.optim.SGD(w, 0.05)),
    "nesterov": (
        lambda: pg.optim.SGD(0.02, momentum=0.9, nesterov=True),
        lambda w: torch.optim.SGD(w, 0.02, momentum=0.9, nesterov=True),
    ),
}


def reference_curve(
    network: str,
    optimizer: str,
    weights: dict[str, Array],
    digits: tuple[Array, Array],
    dtype: torch.dtype,
) -> tuple[list[float], dict[str, Array]]:
    """Return the loss of each step, and the final weights, computed in ``dtype``."""
    forward, make = NETWORKS[network][1], OPTIMIZERS[optimizer][1]
    w = {
        name: torch.tensor(value, dtype=dtype, requires_grad=True)
        for name, value in weights.items()
    }
    torch_optimizer = make(list(w.values()))
    x, y = torch.tensor(digits[0]).to(dtype) / 255, torch.tensor(digits[1]).long()
    losses = []
    length = -(-SAMPLES // BATCH)
    for step in range(STEPS):
        batch = SAMPLES % BATCH if step % length == length - 1 else BATCH
        index = torch.tensor(
            batch_indices((0, SHUFFLE_SEED), step, SAMPLES, batch, True, (length, BATCH))
        ).long()
        loss = torch.nn.functional.cross_entropy(forward(x[index], w), y[index])
        torch_optimizer.zero_grad()
        loss.backward()
        torch_optimizer.step()
        losses.append(loss.item())
    return losses, {name: value.detach().numpy() for name, value in w.items()}


@pytest.fixture
def trained(
    request: pytest.FixtureRequest, digits: tuple[Array, Array], device: str
) -> Iterator[tuple[pg.Sequential, dict[str, Array], Array]]:
    """A model after STEPS steps, its initial weights, and the loss of each step."""
    network, optimizer = request.param
    model = NETWORKS[network][0]()
    model.compile(
        OPTIMIZERS[optimizer][0](),
        nn.SparseCategoricalCrossentropy(from_logits=True),
        device=device,
    )
    model.build((28, 28), "uint8")
    before = model.named_weights()
    with options_set(Options(steps=STEPS)):
        history = model.fit(*digits, batch_size=BATCH, verbose=0)
    yield model, before, history.losses
    model.close()


CASES = [
    ("mlp", "adam"),
    ("mlp", "sgd"),
    ("mlp", "nesterov"),
    ("cnn", "adam"),
    ("normalized cnn", "adam"),
]
ON_GPU = [("mlp", "nesterov"), ("normalized cnn", "adam")]
"""In every run; the network with the fewest kernels, and that with the most kinds."""


def trainings() -> Iterator[Any]:
    for case in CASES:
        yield pytest.param("cpu", case, case)
        marks = [pytest.mark.gpu, *([] if case in ON_GPU else [pytest.mark.slow])]
        yield pytest.param("gpu", case, case, marks=marks)


@pytest.mark.parametrize(("device", "trained", "case"), list(trainings()), indirect=["trained"])
def test_loss_curve_and_weights_match_pytorch(
    trained: tuple[pg.Sequential, dict[str, Array], Array],
    case: tuple[str, str],
    digits: tuple[Array, Array],
) -> None:
    """The weights are compared with PyTorch's in float64, beside PyTorch's own float32.

    Adam divides by the root of the squared gradient, so where a gradient is almost zero, rounding
    decides the direction of a step: two trainings in float32 part further from each other than
    either from the exact one, and how far differs from processor to processor.
    """
    model, before, losses = trained
    expected, exact = reference_curve(*case, before, digits, torch.float64)
    _, rounded = reference_curve(*case, before, digits, torch.float32)
    assert len(losses) == STEPS
    np.testing.assert_allclose(losses, expected, rtol=2e-5)
    assert losses[-5:].mean() < 0.6 * losses[:5].mean()
    for name, value in model.named_weights().items():
        moved = np.linalg.norm(exact[name] - before[name])
        rounding = np.linalg.norm(rounded[name] - exact[name])
        assert np.linalg.norm(value - exact[name]) < 3e-4 * moved + rounding, name
