"""The programs that `bench.members` compares: one network in playgrad and in PyTorch."""

from __future__ import annotations

BATCH, STEPS = 256, 56
"""Samples of a step, and steps that are timed, after 16 others."""
NETWORKS = {
    "mlp 64-128-128-10": "mlp(64, 128, 128, 10)",
    "mlp 784-1024-1024-10": "mlp(784, 1024, 1024, 10)",
    "cnn 14 x 14, 8-16": "cnn(14, 8, 16)",
    "attention 16 x 32, 4 heads": "attention(16, 32, 4)",
}
_DATA = """
import numpy as np

rng = np.random.default_rng(0)


def samples(shape, words=0):
    if words:
        return rng.integers(0, words, (8 * BATCH, *shape)).astype(np.int32)
    return rng.standard_normal((8 * BATCH, *shape)).astype(np.float32)

"""
_PLAYGRAD = """
import os
import time
import playgrad as pg
from playgrad import nn


def mlp(features, *widths):
    hidden = [nn.Dense(width, activation="relu") for width in widths[:-1]]
    return [*hidden, nn.Dense(widths[-1])], samples((features,))


def cnn(side, first, second):
    layers = [
        nn.Conv2D(first, 3, padding="same", activation="relu"),
        nn.Conv2D(second, 3, padding="same", activation="relu"),
        nn.MaxPool2D(2),
        nn.Flatten(),
        nn.Dense(10),
    ]
    return layers, samples((side, side, 1))


def attention(length, width, heads):
    layers = [
        nn.Embedding(100, width),
        nn.MultiHeadAttention(heads, width // heads),
        nn.GlobalAveragePooling1D(),
        nn.Dense(width, activation="relu"),
        nn.Dense(10),
    ]
    return layers, samples((length,), 100)


layers, x = NETWORK
y = rng.integers(0, 10, 8 * BATCH).astype(np.int32)
model = pg.Sequential(layers)
model.compile(pg.optim.SGD(0.01), loss=nn.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, batch_size=BATCH, epochs=2, verbose=0, shuffle=False)
began = time.process_time()
history = model.fit(x, y, batch_size=BATCH, epochs=STEPS // 8, verbose=0, shuffle=False)
print("rate", STEPS / history.seconds, (time.process_time() - began) / STEPS)
weights = model.get_weights()
if pg.parallel.writes_files() and "BENCH_WEIGHTS" in os.environ:
    np.savez(os.environ["BENCH_WEIGHTS"], *weights)
"""
_TORCH = """
import time
import torch
import torch.distributed as dist
from torch import nn


def mlp(features, *widths):
    layers = []
    for width, following in zip((features, *widths), widths):
        layers += [nn.Linear(width, following), nn.ReLU()]
    return layers[:-1], samples((features,))


def cnn(side, first, second):
    layers = [
        nn.Conv2d(1, first, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(first, second, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(second * (side // 2) ** 2, 10),
    ]
    return layers, samples((1, side, side))


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.inputs, self.output = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        parts = self.inputs(x).chunk(3, -1)
        parts = [part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in parts]
        context = nn.functional.scaled_dot_product_attention(*parts)
        return self.output(context.transpose(1, 2).flatten(2)).mean(1)


def attention(length, width, heads):
    layers = [
        nn.Embedding(100, width),
        Attention(width, heads),
        nn.Linear(width, width),
        nn.ReLU(),
        nn.Linear(width, 10),
    ]
    return layers, samples((length,), 100)


dist.init_process_group("gloo")
torch.set_num_threads(1)
rank, size = dist.get_rank(), dist.get_world_size()
layers, x = NETWORK
x = torch.from_numpy(x)
y = torch.from_numpy(rng.integers(0, 10, 8 * BATCH))
model = nn.parallel.DistributedDataParallel(nn.Sequential(*layers))
optimizer = torch.optim.SGD(model.parameters(), 0.01)
loss_of = nn.CrossEntropyLoss()
share = BATCH // size


def step(number):
    first = number % 8 * BATCH + rank * share
    optimizer.zero_grad()
    loss_of(model(x[first : first + share]), y[first : first + share]).backward()
    optimizer.step()


for number in range(16):
    step(number)
dist.barrier()
started, began = time.perf_counter(), time.process_time()
for number in range(STEPS):
    step(number)
dist.barrier()
if rank == 0:
    processor = (time.process_time() - began) / STEPS
    print("rate", STEPS / (time.perf_counter() - started), processor)
dist.destroy_process_group()
"""


def program(library: str, network: str) -> str:
    """Return the text of a program.

    Args:
        library: "playgrad" or "torch".
        network: a name in `NETWORKS`.
    """
    text = _DATA + {"playgrad": _PLAYGRAD, "torch": _TORCH}[library]
    values = {"NETWORK": NETWORKS[network], "BATCH": str(BATCH), "STEPS": str(STEPS)}
    for word, value in values.items():
        text = text.replace(word, value)
    return text
