"""A step of gradient descent on an imported network has the same effect as in PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import playgrad as pg
from playgrad.runtime.options import Options, options_set
from tests.interchange import torch_architectures as architectures
from tests.interchange import torch_networks
from tests.interchange.networks import predictions, randoms

Array = np.ndarray[Any, Any]

NETWORKS: dict[str, tuple[Callable[[], nn.Module], Array]] = {
    "transformer": (
        architectures.Encoder,
        np.random.default_rng(0).integers(0, 20, (4, 6)).astype(np.int64),
    ),
    "u-net": (architectures.UNet, randoms(4, 3, 8, 8)),
    "mobile": (architectures.Mobile, randoms(4, 3, 12, 12)),
    "sequences": (architectures.Sequences, randoms(4, 3, 10)),
    "reader": (architectures.Reader, randoms(4, 5, 4)),
    "parts": (architectures.Parts, randoms(4, 8)),
    "resnet": (torch_networks.SmallResNet, randoms(4, 1, 20, 20)),
}
RATE = 0.05


@pytest.fixture(autouse=True)
def on_cpu() -> Iterator[None]:
    """Software GPUs compile the kernels of these networks for minutes."""
    with options_set(Options(device="cpu")):
        yield


def outputs(network: nn.Module, x: Array) -> list[torch.Tensor]:
    result = network(torch.from_numpy(x))
    return list(result) if isinstance(result, tuple) else [result]


def step(network: nn.Module, x: Array, targets: list[Array]) -> None:
    """Do a step of gradient descent on the mean squared error."""
    optimizer = torch.optim.SGD(network.parameters(), RATE)
    losses = [
        nn.functional.mse_loss(output, torch.from_numpy(target))
        for output, target in zip(outputs(network, x), targets, strict=True)
    ]
    torch.stack(losses).sum().backward()
    optimizer.step()


@pytest.mark.parametrize("name", NETWORKS)
def test_a_training_step_matches_pytorch(name: str) -> None:
    build, x = NETWORKS[name]
    torch.manual_seed(3)
    torch.set_num_threads(1)
    network = build().eval()
    with torch.no_grad():  # the exporter stores equal weights once, and they would stay equal
        for weight in [*network.parameters(), *network.buffers()]:
            if weight.is_floating_point():
                weight += 0.05 * torch.rand(weight.shape)
    model = pg.load_model(torch_networks.exported(network, x[:2]))
    before = [output.detach().numpy() for output in outputs(network, x)]
    taken = x.astype(np.int32) if x.dtype == np.int64 else x
    for seen, expected in zip(predictions(model, taken), before, strict=True):
        np.testing.assert_allclose(seen, expected, rtol=1e-5, atol=1e-5)

    targets = [output + 1 for output in before]
    model.compile(pg.optim.SGD(RATE), "mse")
    model.fit(taken, targets if len(targets) > 1 else targets[0], batch_size=4, verbose=0)
    step(network.train(), x, targets)
    network.eval()

    after = [output.detach().numpy() for output in outputs(network, x)]
    # PyTorch averages the unbiased variance in batch normalization, ONNX the biased one.
    tolerance = 2e-3 if name == "resnet" else 1e-4
    for seen, expected, start in zip(predictions(model, taken), after, before, strict=True):
        np.testing.assert_allclose(seen, expected, rtol=tolerance, atol=tolerance)
        assert np.abs(expected - start).max() > 20 * tolerance
    weights = {key.replace("/", "."): array for key, array in model.named_weights().items()}
    state = {key: tensor.numpy() for key, tensor in network.state_dict().items()}
    same = [key for key in weights if key in state and not key.endswith("running_var")]
    assert len(same) >= 2
    for key in same:
        np.testing.assert_allclose(weights[key], state[key], rtol=1e-4, atol=1e-5, err_msg=key)
