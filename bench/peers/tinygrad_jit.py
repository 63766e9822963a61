"""tinygrad: the whole step under ``TinyJit``. The environment (``DEV``) selects its device."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tinygrad import Context, Device, Tensor, TinyJit
from tinygrad.nn.optim import SGD, AdamW

from bench.peers.common import load, main


def block(x: Tensor, heads: int, weights: Iterator[Tensor]) -> Tensor:
    """Apply a block of GPT-2 with the next 16 of ``weights``."""
    products = [(next(weights).T, next(weights)) for _ in range(4)]
    norms = [(next(weights), next(weights)) for _ in range(2)]
    hidden, result = ((next(weights).T, next(weights)) for _ in range(2))
    normal = normalized(x, *norms[0])
    query, key, value = (
        normal.linear(*product).unflatten(-1, (heads, -1)).transpose(1, 2)
        for product in products[:3]
    )
    context = query.scaled_dot_product_attention(key, value, is_causal=True)
    x = x + context.transpose(1, 2).flatten(2).linear(*products[3])
    return x + normalized(x, *norms[1]).linear(*hidden).gelu().linear(*result)


def normalized(x: Tensor, gamma: Tensor, beta: Tensor) -> Tensor:
    return x.layernorm(eps=1e-5) * gamma + beta


def lstm(x: Tensor, whole: bool, weights: Iterator[Tensor]) -> Tensor:
    kernel, recurrent, bias = next(weights), next(weights), next(weights)
    products = x.linear(kernel.T, bias)
    outputs: list[Tensor] = []
    memory = None
    for t in range(x.shape[1]):
        gates = products[:, t]
        if outputs:
            gates = gates + outputs[-1].linear(recurrent.T)
        i, f, g, o = gates.chunk(4, dim=1)
        candidate = i.sigmoid() * g.tanh()
        memory = candidate if memory is None else f.sigmoid() * memory + candidate
        outputs.append(o.sigmoid() * memory.tanh())
    return outputs[0].stack(*outputs[1:], dim=1) if whole else outputs[-1]


def sequence_layer(x: Tensor, layer: dict[str, Any], weights: Iterator[Tensor]) -> Tensor:
    """Apply one of the layers for sequences."""
    kind = layer["kind"]
    if kind == "embedding":
        return next(weights)[x]
    if kind == "positions":
        return x + next(weights)
    if kind == "norm":
        return normalized(x, next(weights), next(weights))
    if kind == "block":
        return block(x, layer["heads"], weights)
    return lstm(x, layer["whole"], weights)


class Trainer:
    def __init__(self, workload: str, device: str) -> None:
        loaded = load(workload)
        self.spec = loaded.spec
        self.backend = Device.DEFAULT.lower()
        self.weights = [Tensor(array).realize() for array in loaded.weights]
        rate = self.spec["learning_rate"]
        sgd = self.spec["optimizer"] == "sgd"
        # AdamW without decay is Adam.
        adam = {"eps": 1e-7, "weight_decay": self.spec["decay"]}
        self.optimizer = SGD(self.weights, rate) if sgd else AdamW(self.weights, rate, **adam)
        self.batches = [(Tensor(x).realize(), Tensor(y).realize()) for x, y in loaded.batches]
        self.jitted = TinyJit(self._step)
        self.count = 0

    def _loss(self, x: Tensor, y: Tensor) -> Tensor:
        weights = iter(self.weights)
        for layer in self.spec["layers"]:
            if layer["kind"] == "flatten":
                x = x.flatten(1)
                continue
            if layer["kind"] == "pool":
                x = x.max_pool2d(2)
                continue
            if layer["kind"] not in ("conv", "dense"):
                x = sequence_layer(x, layer, weights)
                continue
            kernel, bias = next(weights), next(weights)
            if layer["kind"] == "conv":
                around = layer["size"] // 2 if layer["padding"] == "same" else 0
                x = x.conv2d(kernel, bias, padding=around)
            else:
                x = x.linear(kernel.T, bias)
            if layer["activation"]:
                x = x.relu() if layer["activation"] == "relu" else x.tanh()
        if self.spec["loss"] == "mse":
            return (x - y).square().mean()
        if y.ndim == 2:  # a class for each position
            x, y = x.flatten(0, 1), y.flatten()
        return x.sparse_categorical_crossentropy(y)

    def _step(self, x: Tensor, y: Tensor) -> Tensor:
        self.optimizer.zero_grad()
        loss = self._loss(x, y).backward()
        return loss.realize(*self.optimizer.schedule_step())

    @Context(TRAINING=1)
    def step(self) -> Tensor:
        x, y = self.batches[self.count % len(self.batches)]
        self.count += 1
        return self.jitted(x, y)

    def step_and_read(self) -> float:
        return self.step().item()

    def steps(self, count: int) -> float:
        for _ in range(count):
            loss = self.step()
        return loss.item()


if __name__ == "__main__":
    main(Trainer)
