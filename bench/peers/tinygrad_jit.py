"""tinygrad: the whole step under ``TinyJit``. The environment (``DEV``) selects its device."""

from __future__ import annotations

from tinygrad import Context, Device, Tensor, TinyJit
from tinygrad.nn.optim import SGD, Adam

from bench.peers.common import load, main


class Trainer:
    def __init__(self, workload: str, device: str) -> None:
        loaded = load(workload)
        self.spec = loaded.spec
        self.backend = Device.DEFAULT.lower()
        self.weights = [Tensor(array).realize() for array in loaded.weights]
        rate = self.spec["learning_rate"]
        sgd = self.spec["optimizer"] == "sgd"
        self.optimizer = SGD(self.weights, rate) if sgd else Adam(self.weights, rate, eps=1e-7)
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
