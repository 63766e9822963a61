"""PyTorch on the CPU, in eager mode, as its tutorials show for small networks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

from bench.peers.common import Loaded, load, main


class Block(nn.Module):
    """A block of GPT-2, from the next 16 of ``weights``."""

    def __init__(self, weights: Iterator[torch.Tensor], spec: dict[str, Any]) -> None:
        super().__init__()
        self.query, self.key, self.value, self.output = (linear(weights) for _ in range(4))
        self.heads = spec["heads"]
        self.norm_1, self.norm_2 = norm(weights), norm(weights)
        self.network = nn.Sequential(linear(weights), nn.GELU("tanh"), linear(weights))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        normal = self.norm_1(x)
        query, key, value = (
            layer(normal).unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for layer in (self.query, self.key, self.value)
        )
        context = nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.output(context.transpose(1, 2).flatten(2))
        result: torch.Tensor = x + self.network(self.norm_2(x))
        return result


class Positions(nn.Module):
    def __init__(self, table: torch.Tensor) -> None:
        super().__init__()
        self.table = nn.Parameter(table)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.table


class Recurrent(nn.Module):
    """An LSTM with one bias, as in the other libraries: the second stays 0."""

    def __init__(self, weights: Iterator[torch.Tensor], spec: dict[str, Any]) -> None:
        super().__init__()
        kernel, recurrent, bias = next(weights), next(weights), next(weights)
        self.whole = spec["whole"]
        self.lstm = nn.LSTM(kernel.shape[1], spec["units"], batch_first=True)
        self.lstm.weight_ih_l0 = nn.Parameter(kernel)
        self.lstm.weight_hh_l0 = nn.Parameter(recurrent)
        self.lstm.bias_ih_l0 = nn.Parameter(bias)
        self.lstm.bias_hh_l0 = nn.Parameter(torch.zeros_like(bias), requires_grad=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y: torch.Tensor = self.lstm(x)[0]
        return y if self.whole else y[:, -1]


def linear(weights: Iterator[torch.Tensor]) -> nn.Linear:
    kernel, bias = next(weights), next(weights)
    layer = nn.Linear(kernel.shape[1], kernel.shape[0])
    layer.weight, layer.bias = nn.Parameter(kernel), nn.Parameter(bias)
    return layer


def norm(weights: Iterator[torch.Tensor]) -> nn.LayerNorm:
    gamma, beta = next(weights), next(weights)
    layer = nn.LayerNorm(len(gamma))
    layer.weight, layer.bias = nn.Parameter(gamma), nn.Parameter(beta)
    return layer


def sequence_layer(weights: Iterator[torch.Tensor], spec: dict[str, Any]) -> nn.Module:
    """Return the layer of a description of one of the layers for sequences."""
    kind = spec["kind"]
    if kind == "embedding":
        return nn.Embedding.from_pretrained(next(weights), freeze=False)
    if kind == "positions":
        return Positions(next(weights))
    if kind == "norm":
        return norm(weights)
    return {"block": Block, "lstm": Recurrent}[kind](weights, spec)


def network(loaded: Loaded) -> nn.Sequential:
    layers: list[nn.Module] = []
    weights = map(torch.from_numpy, loaded.weights)
    for spec in loaded.spec["layers"]:
        kind = spec["kind"]
        if kind in ("flatten", "pool"):
            layers.append(nn.Flatten() if kind == "flatten" else nn.MaxPool2d(2))
            continue
        if kind not in ("conv", "dense"):
            layers.append(sequence_layer(weights, spec))
            continue
        layer: Any
        if kind == "conv":
            kernel, bias = next(weights), next(weights)
            out, channels, size, _ = kernel.shape
            layer = nn.Conv2d(channels, out, size, padding=spec["padding"])
            layer.weight, layer.bias = nn.Parameter(kernel), nn.Parameter(bias)
        else:
            layer = linear(weights)
        layers.append(layer)
        if spec["activation"]:
            layers.append({"relu": nn.ReLU, "tanh": nn.Tanh}[spec["activation"]]())
    return nn.Sequential(*layers)


class Trainer:
    backend = "cpu"

    def __init__(self, workload: str, device: str) -> None:
        loaded = load(workload)
        rate = loaded.spec["learning_rate"]
        self.model = network(loaded)
        mse = loaded.spec["loss"] == "mse"
        self.criterion = nn.MSELoss() if mse else nn.CrossEntropyLoss()
        self.optimizer: torch.optim.Optimizer
        trained = [each for each in self.model.parameters() if each.requires_grad]
        if loaded.spec["optimizer"] == "sgd":
            self.optimizer = torch.optim.SGD(trained, rate)
        else:
            # AdamW without decay is Adam. Fused: one pass over all parameters.
            self.optimizer = torch.optim.AdamW(
                trained, rate, eps=1e-7, weight_decay=loaded.spec["decay"], fused=True
            )
        self.batches = [
            (torch.from_numpy(x), torch.from_numpy(y if mse else y.astype("int64")))
            for x, y in loaded.batches
        ]
        self.count = 0

    def step(self) -> torch.Tensor:
        x, y = self.batches[self.count % len(self.batches)]
        self.count += 1
        self.optimizer.zero_grad()
        result = self.model(x)
        if y.ndim == 2 and not y.is_floating_point():  # a class for each position
            result, y = result.flatten(0, 1), y.flatten()
        loss: torch.Tensor = self.criterion(result, y)
        loss.backward()
        self.optimizer.step()
        return loss

    def step_and_read(self) -> float:
        return self.step().item()

    def steps(self, count: int) -> float:
        for _ in range(count):
            loss = self.step()
        return loss.item()


if __name__ == "__main__":
    main(Trainer)
