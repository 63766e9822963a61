"""Trains on samples of a graph; prints the same on one process as on several, and writes down which
nodes each process has sampled."""

import os
from pathlib import Path

import numpy as np

import playgrad as pg
from playgrad import nn

RANK = os.environ.get("OMPI_COMM_WORLD_RANK", os.environ.get("PMI_RANK", "alone"))
NODES, SEEDS = 300, 64
random = np.random.default_rng(0)
source = random.integers(0, NODES, 3000)
y = random.integers(0, 2, NODES)
target = random.integers(0, NODES // 2, 3000) * 2 + y[source]
x = (random.normal(size=(NODES, 4)) + y[:, None]).astype(np.float32)
weights = random.uniform(0.5, 1.5, 3000).astype(np.float32)
graph = pg.data.CSRGraph.from_edges(np.stack([source, target]), NODES, weights)
sampled = []


class Noted(pg.data.NeighborSampler):
    def sample(self, nodes):
        sampled.append(tuple(nodes))
        return super().sample(nodes)


sampler = Noted(graph, [4, 3], x, y, np.arange(SEEDS), batch_size=8)
inputs = [
    pg.Input((sampler.num_nodes, 4)),
    pg.Input((2, sampler.num_edges), dtype="int32"),
    pg.Input((sampler.num_edges,)),
]
first = nn.GCNConv(8, "relu", normalize=False)
second = nn.GCNConv(2, normalize=False)
model = pg.Model(inputs, second(first(*inputs), *inputs[1:]))
loss = nn.SparseCategoricalCrossentropy(from_logits=True)
model.compile(pg.optim.Adam(0.02), loss, strategy=pg.parallel.DataParallel(2))
losses = model.fit(sampler.dataset(samples=2), epochs=3, verbose=0).history["loss"]
print("losses", [f"{value:.9g}" for value in losses])
print("weights", [f"{value:.9g}" for value in model.get_weights()[0].ravel()[:6]])
lines = [" ".join(map(str, sorted(nodes))) for nodes in sampled]
Path(__file__).with_name(f"sampled_{RANK}").write_text("\n".join(lines))
print("the end")
