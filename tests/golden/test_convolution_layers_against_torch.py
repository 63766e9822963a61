"""Training with the layers of the convolution family compared with PyTorch in float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as torch_nn

import playgrad as pg
from playgrad import nn

STEPS, BATCH = 20, 8
Array = np.ndarray[Any, Any]
Weights = dict[str, torch.Tensor]
random = np.random.default_rng(8)


def image_net() -> pg.Sequential:
    return pg.Sequential(
        [
            nn.ZeroPadding2D(((1, 0), (0, 2))),
            nn.Conv2D(6, 3, dilation_rate=(1, 2), groups=2),
            nn.GroupNormalization(3),
            nn.PReLU("normal", shared_axes=[1, 2]),
            nn.MaxPooling2D(),
            nn.SeparableConv2D(4, 3, padding="same", depth_multiplier=2, activation="tanh"),
            nn.Conv2DTranspose(5, 3, 2, "same"),
            nn.DepthwiseConv2D(2, strides=2, activation="tanh"),
            nn.UpSampling2D(2, interpolation="bilinear"),
            nn.Cropping2D((1, 0)),
            nn.GlobalAveragePooling2D(),
            nn.Dense(3),
        ]
    )


def torch_image_net(x: torch.Tensor, w: Weights) -> torch.Tensor:
    def kernel(name: str) -> torch.Tensor:
        return w[name].permute(3, 2, 0, 1)

    def depths(name: str) -> torch.Tensor:
        height, width, channels, multiplier = w[name].shape
        return w[name].reshape(height, width, 1, channels * multiplier).permute(3, 2, 0, 1)

    x = torch_nn.pad(x.permute(0, 3, 1, 2), (0, 2, 1, 0))
    x = torch_nn.conv2d(x, kernel("conv2d_1/kernel"), w["conv2d_1/bias"], dilation=(1, 2), groups=2)
    normalization = "group_normalization_1"
    x = torch_nn.group_norm(x, 3, w[f"{normalization}/gamma"], w[f"{normalization}/beta"], 1e-3)
    x = torch_nn.max_pool2d(torch_nn.prelu(x, w["prelu_1/alpha"].flatten()), 2)
    x = torch_nn.conv2d(x, depths("separable_conv2d_1/depthwise_kernel"), padding=1, groups=6)
    pointwise = kernel("separable_conv2d_1/pointwise_kernel")
    x = torch.tanh(torch_nn.conv2d(x, pointwise, w["separable_conv2d_1/bias"]))
    x = torch_nn.conv_transpose2d(x, kernel("conv2d_transpose_1/kernel"), stride=2)[..., :-1, :-1]
    x = x + w["conv2d_transpose_1/bias"][:, None, None]
    depthwise = depths("depthwise_conv2d_1/kernel")
    x = torch_nn.conv2d(x, depthwise, w["depthwise_conv2d_1/bias"], stride=2, groups=5)
    x = torch_nn.interpolate(torch.tanh(x), scale_factor=2, mode="bilinear")[:, :, 1:-1]
    return x.mean((2, 3)) @ w["dense_1/kernel"] + w["dense_1/bias"]


def text_net() -> pg.Sequential:
    return pg.Sequential(
        [
            nn.Embedding(11, 6),
            nn.Conv1D(8, 3, padding="causal", dilation_rate=2, activation="tanh"),
            nn.MaxPooling1D(2),
            nn.UpSampling1D(3),
            nn.Conv1D(6, 2, 2, groups=2),
            nn.AveragePooling1D(2, padding="same"),
            nn.GlobalMaxPooling1D(),
            nn.Dense(3),
        ]
    )


def torch_text_net(x: torch.Tensor, w: Weights) -> torch.Tensor:
    x = w["embedding_1/embeddings"][x].permute(0, 2, 1)
    first, second = (w[f"conv1d_{n}/kernel"].permute(2, 1, 0) for n in (1, 2))
    x = torch.tanh(torch_nn.conv1d(torch_nn.pad(x, (4, 0)), first, w["conv1d_1/bias"], dilation=2))
    x = torch_nn.max_pool1d(x, 2).repeat_interleave(3, 2)
    x = torch_nn.conv1d(x, second, w["conv1d_2/bias"], stride=2, groups=2)
    x = torch_nn.avg_pool1d(x, 2, ceil_mode=True)
    return x.amax(2) @ w["dense_1/kernel"] + w["dense_1/bias"]


CASES: dict[str, tuple[Any, Callable[..., torch.Tensor], Array]] = {
    "images": (image_net, torch_image_net, random.normal(size=(BATCH, 9, 10, 4)).astype("f")),
    "text": (text_net, torch_text_net, random.integers(0, 11, (BATCH, 10)).astype(np.int32)),
}


@pytest.mark.parametrize("device", ["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])
@pytest.mark.parametrize("case", CASES)
def test_losses_and_weights_match_pytorch(case: str, device: str) -> None:
    build, forward, x = CASES[case]
    y = np.arange(BATCH) % 3
    model = build()
    rate = 0.2
    loss = nn.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(pg.optim.SGD(rate), loss, device=device)
    model.build(x.shape[1:], x.dtype.name)
    weights = {
        name: torch.tensor(value, dtype=torch.float64, requires_grad=True)
        for name, value in model.named_weights().items()
    }
    samples = torch.tensor(x).double() if x.dtype == np.float32 else torch.tensor(x).long()
    expected, actual = [], []
    for _ in range(STEPS):
        value = torch_nn.cross_entropy(forward(samples, weights), torch.tensor(y))
        grads = torch.autograd.grad(value, list(weights.values()))
        with torch.no_grad():
            for weight, grad in zip(weights.values(), grads, strict=True):
                weight -= rate * grad
        expected.append(value.item())
        actual.append(float(model.train_on_batch(x, y)))
    np.testing.assert_allclose(actual, expected, rtol=1e-4)
    assert expected[-1] < 0.95 * expected[0]
    for name, array in model.named_weights().items():
        np.testing.assert_allclose(array, weights[name].detach(), rtol=1e-3, atol=1e-4)
    model.close()
