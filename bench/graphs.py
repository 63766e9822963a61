"""Measures W6: training steps of a graph network on the processor, beside PyTorch.

Two graph convolutions (Kipf and Welling 2017) over 10,000 nodes with 128 features and 100,000
edges, 64 hidden units, 16 classes, cross-entropy of all nodes, Adam: every peer has the same
weights, and its first losses are compared.

python -m bench.graphs
python -m bench.graphs --repeats 1 --peer playgrad
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from bench.paths import ROOT

Array = np.ndarray[Any, Any]
NODES, EDGES, FEATURES, HIDDEN, CLASSES = 10_000, 100_000, 128, 64, 16
RATE, STEPS, FIRST = 0.01, 20, 5
Step = Callable[[int], list[float]]
"""Trains the given number of steps; returns the loss of each."""


def data() -> tuple[Array, Array, Array, list[Array]]:
    """Return features, edges, classes and the kernels of both layers."""
    random = np.random.default_rng(0)
    x = random.normal(size=(NODES, FEATURES)).astype(np.float32)
    edges = random.integers(0, NODES, (2, EDGES)).astype(np.int32)
    y = random.integers(0, CLASSES, NODES).astype(np.int32)
    sizes = ((FEATURES, HIDDEN), (HIDDEN, CLASSES))
    kernels = [(random.normal(size=s) * math.sqrt(2 / sum(s))).astype(np.float32) for s in sizes]
    return x, edges, y, kernels


def playgrad() -> Step:
    import playgrad as pg
    from playgrad import nn

    x, edges, y, kernels = data()
    inputs = [pg.Input(x.shape), pg.Input(edges.shape, dtype="int32")]
    layers = [nn.GCNConv(HIDDEN, "relu"), nn.GCNConv(CLASSES)]
    model = pg.Model(inputs, layers[1](layers[0](*inputs), inputs[1]))
    loss = nn.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(pg.optim.Adam(RATE, epsilon=1e-7), loss, device="cpu")
    model.set_weights([kernels[0], np.zeros(HIDDEN), kernels[1], np.zeros(CLASSES)])

    def steps(count: int) -> list[float]:
        epochs = count if count == FIRST else 1  # an epoch has one loss
        ran = model.fit(
            [x[None], edges[None]],
            y[None],
            epochs=epochs,
            steps_per_epoch=count // epochs,
            verbose=0,
        )
        losses: list[float] = ran.history["loss"]
        return losses

    return steps


def _torch(network: Callable[[list[Any]], Any]) -> Step:
    import torch

    x, edges, y, kernels = data()
    model = network([torch.from_numpy(kernel) for kernel in kernels])
    optimizer = torch.optim.Adam(model.parameters(), RATE, eps=1e-7, fused=True)
    features, labels = torch.from_numpy(x), torch.from_numpy(y.astype(np.int64))
    index = torch.from_numpy(edges.astype(np.int64))

    def steps(count: int) -> list[float]:
        losses = []
        for _ in range(count):
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(features, index), labels)
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
        return [float(loss) for loss in losses]

    return steps


def torch_geometric() -> Step:
    import torch
    from torch_geometric.nn import GCNConv

    class Network(torch.nn.Module):
        def __init__(self, kernels: list[torch.Tensor]) -> None:
            super().__init__()
            self.layers = torch.nn.ModuleList(
                GCNConv(*kernel.shape, cached=False) for kernel in kernels
            )
            for layer, kernel in zip(self.layers, kernels, strict=True):
                layer.lin.weight = torch.nn.Parameter(kernel.T.contiguous())

        def forward(self, x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
            first, second = self.layers
            result: torch.Tensor = second(first(x, index).relu(), index)
            return result

    return _torch(Network)


def torch_by_hand() -> Step:
    """The same with ``index_add``, and factors of nodes in the place of factors of edges."""
    import torch

    class Network(torch.nn.Module):
        def __init__(self, kernels: list[torch.Tensor]) -> None:
            super().__init__()
            self.kernels = torch.nn.ParameterList(kernels)
            self.biases = torch.nn.ParameterList(torch.zeros(k.shape[1]) for k in kernels)

        def layer(self, number: int, x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
            source, target = index
            loops = torch.zeros(NODES).index_add(0, target, (source == target).float())
            degree = torch.bincount(target, minlength=NODES) + 1 - loops
            scale = degree.rsqrt()[:, None]
            y = (x @ self.kernels[number]) * scale
            total = torch.zeros_like(y).index_add(0, target, y[source])
            return (total + (1 - loops)[:, None] * y) * scale + self.biases[number]

        def forward(self, x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
            return self.layer(1, self.layer(0, x, index).relu(), index)

    return _torch(Network)


PEERS: dict[str, Callable[[], Step]] = {
    "playgrad": playgrad,
    "torch_geometric": torch_geometric,
    "torch index_add": torch_by_hand,
}


def _measured(peer: str) -> dict[str, Any]:
    steps = PEERS[peer]()
    losses = steps(FIRST)
    steps(STEPS)
    began = time.perf_counter()
    steps(STEPS)
    return {"losses": losses, "step": (time.perf_counter() - began) / STEPS}


def _run(peer: str) -> dict[str, Any]:
    command = [sys.executable, "-W", "ignore", "-m", "bench.graphs", "--run", peer]
    path = os.pathsep.join([str(ROOT), str(ROOT / "app")])
    environment = os.environ | {"PYTHONPATH": path}
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    if ran.returncode:
        raise SystemExit(f"bench: {peer}: {ran.stderr.strip().splitlines()[-1]}")
    outcome: dict[str, Any] = json.loads(ran.stdout.rpartition("RESULT")[2])
    return outcome


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--peer", choices=PEERS, action="append")
    parser.add_argument("--run", choices=PEERS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        print("RESULT" + json.dumps(_measured(options.run)))
        return
    peers = options.peer or list(PEERS)
    outcomes: dict[str, list[dict[str, Any]]] = {peer: [] for peer in peers}
    for _ in range(options.repeats):  # interleaved, as the machine's speed varies
        for peer in peers:
            outcomes[peer].append(_run(peer))
    print("| W6 gcn, 10,000 nodes, 100,000 edges | a step, ms | loss |\n|---|---|---|")
    for peer, ran in outcomes.items():
        times = sorted(1000 * each["step"] for each in ran)
        losses = ran[0]["losses"]
        span = f"{statistics.median(times):.3g} ({times[0]:.3g}–{times[-1]:.3g})"
        print(f"| {peer} | {span} | {losses[0]:.5f} → {losses[-1]:.5f} |")
    all_losses = [ran[0]["losses"] for ran in outcomes.values()]
    if not np.allclose(all_losses, all_losses[0], rtol=1e-4):
        raise SystemExit("bench: the peers' losses differ.")


if __name__ == "__main__":
    main()
