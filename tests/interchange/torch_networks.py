"""Networks of PyTorch, trained a little on images of shapes and exported to ONNX."""

from __future__ import annotations

import io
import warnings
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.onnx import TrainingMode

import playgrad as pg

Array = np.ndarray[Any, Any]


def lenet() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(144, 60), nn.Tanh(), nn.Dropout(0.2), nn.Linear(60, 6),
    )  # fmt: skip


class Block(nn.Module):
    """A residual block, with a convolution around it where the size changes."""

    def __init__(self, before: int, after: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(before, after, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(after)
        self.conv2 = nn.Conv2d(after, after, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(after)
        self.shortcut = (
            nn.Sequential(nn.Conv2d(before, after, 1, stride, bias=False), nn.BatchNorm2d(after))
            if stride > 1
            else nn.Identity()
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(self.bn1(self.conv1(x)))
        return torch.relu(self.bn2(self.conv2(y)) + self.shortcut(x))


class SmallResNet(nn.Module):
    """A convolution with batch normalization, two residual blocks, and a dense layer."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 8, 3, 1, 1, bias=False)
        self.bn = nn.BatchNorm2d(8)
        self.blocks = nn.Sequential(Block(8, 8, 1), Block(8, 16, 2))
        self.fc = nn.Linear(16, 6)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.blocks(torch.relu(self.bn(self.conv(x))))
        # Sizes that are computed become a chain of Shape, Gather and Concat in ONNX.
        return self.fc(y.view(y.size(0), y.size(1), -1).mean(2))


def images() -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """Return outlines of shapes, of one channel that comes first, and their classes."""
    parts = pg.data.shapes(800, size=20, noise=0.0, seed=1)
    train, test = ((_unlike_the_ground(x.astype(np.float32)), y) for x, y in parts)
    return train, test


def _unlike_the_ground(x: Array) -> Array:
    difference: Array = np.abs(x - x[:, :1, :1]).max(-1)
    return difference[:, None] / 128


def trained(network: nn.Module, x: Array, y: Array, epochs: int) -> nn.Module:
    """Train ``network`` and return it, in the mode that predicts."""
    torch.set_num_threads(1)
    optimizer = torch.optim.Adam(network.parameters(), 3e-3)
    xs, ys = torch.from_numpy(x), torch.from_numpy(y).long()
    network.train()
    for _ in range(epochs):
        for start in range(0, len(x), 32):
            optimizer.zero_grad()
            part = slice(start, start + 32)
            nn.functional.cross_entropy(network(xs[part]), ys[part]).backward()
            optimizer.step()
    return network.eval()


def predicted(network: nn.Module, x: Array) -> Array:
    with torch.no_grad():
        result: Array = network(torch.from_numpy(x)).numpy()
    return result


def exported(
    network: nn.Module, x: Array, opset: int = 17, mode: TrainingMode = TrainingMode.PRESERVE
) -> bytes:
    """Return ``network`` as an ONNX file whose batch has any size.

    Args:
        mode: EVAL makes batch normalization part of the convolution before it.
    """
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            network,
            (torch.from_numpy(x),),
            file,
            dynamo=False,
            opset_version=opset,
            input_names=["images"],
            dynamic_axes={"images": {0: "batch"}},
            training=mode,
        )
    return file.getvalue()
