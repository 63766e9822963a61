"""PyTorch on the CPU, in eager mode, as its tutorials show for small networks."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from bench.peers.common import Loaded, load, main


def network(loaded: Loaded) -> nn.Sequential:
    layers: list[nn.Module] = []
    weights = iter(loaded.weights)
    for spec in loaded.spec["layers"]:
        kind = spec["kind"]
        if kind in ("flatten", "pool"):
            layers.append(nn.Flatten() if kind == "flatten" else nn.MaxPool2d(2))
            continue
        kernel, bias = (torch.from_numpy(next(weights)) for _ in range(2))
        layer: Any
        if kind == "conv":
            out, channels, size, _ = kernel.shape
            layer = nn.Conv2d(channels, out, size, padding=spec["padding"])
        else:
            layer = nn.Linear(kernel.shape[1], kernel.shape[0])
        layer.weight, layer.bias = nn.Parameter(kernel), nn.Parameter(bias)
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
        if loaded.spec["optimizer"] == "sgd":
            self.optimizer = torch.optim.SGD(self.model.parameters(), rate)
        else:
            # One pass over all parameters.
            self.optimizer = torch.optim.Adam(self.model.parameters(), rate, eps=1e-7, fused=True)
        self.batches = [
            (torch.from_numpy(x), torch.from_numpy(y if mse else y.astype("int64")))
            for x, y in loaded.batches
        ]
        self.count = 0

    def step(self) -> torch.Tensor:
        x, y = self.batches[self.count % len(self.batches)]
        self.count += 1
        self.optimizer.zero_grad()
        loss: torch.Tensor = self.criterion(self.model(x), y)
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
