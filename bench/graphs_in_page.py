"""Measures W6 in the page: training steps of a graph network, beside TensorFlow.js by hand.

The network, its data and its weights are those of `bench.graphs`. TensorFlow.js has no layers of
graph networks; its step is written by hand (bench/web/graphs.js): with ``sparse.sparseSegmentSum``,
its only operation that adds up rows of neighbours without a copy of them, or with ``gather`` and
``scatterND``. The peers take turns, and their first losses are compared.

python -m bench.install
python -m bench.graphs_in_page
"""

from __future__ import annotations

import argparse
import json
import statistics
from typing import Any

from bench.browser import Tab, opened_tab
from bench.graphs import CLASSES, FIRST, HIDDEN, RATE, data
from bench.paths import DATA

STEPS, ROUNDS = 3, 4
PEERS = ("wasm segment", "wasm scatter", "cpu segment")
"""Backends of TensorFlow.js, each with the way to add up rows. "webgpu" is possible, too: its
``sparseSegmentSum`` has results of another shape, and ``scatterND`` takes minutes without a GPU."""
_PROGRAM = """
import json, time
import numpy as np
import playgrad as pg
from playgrad import nn
from playgrad.devices import _browser

spec = json.loads(bytes(_browser.fetch_data("/data/bench/w6.json")))
content = bytes(_browser.fetch_data("/data/bench/w6.bin"))
arrays = [
    np.frombuffer(content, a["dtype"], int(np.prod(a["shape"])), a["offset"]).reshape(a["shape"])
    for a in spec["arrays"]
]
x, edges, y, *kernels = arrays
inputs = [pg.Input(x.shape), pg.Input(edges.shape, dtype="int32")]
layers = [nn.GCNConv(spec["hidden"], "relu"), nn.GCNConv(spec["classes"])]
model = pg.Model(inputs, layers[1](layers[0](*inputs), inputs[1]))
loss = nn.SparseCategoricalCrossentropy(from_logits=True)
model.compile(pg.optim.Adam(spec["rate"], epsilon=1e-7), loss, device="cpu")
first, second = kernels
model.set_weights([first, np.zeros(first.shape[1]), second, np.zeros(second.shape[1])])

def steps(count, epochs):
    ran = model.fit([x[None], edges[None]], y[None], epochs=epochs, steps_per_epoch=count // epochs,
                    verbose=0)
    return ran.history["loss"]

losses = steps(FIRST, FIRST)
times = []
for _ in range(ROUNDS):
    began = time.perf_counter()
    steps(STEPS, 1)
    times.append(1000 * (time.perf_counter() - began) / STEPS)
print("RESULT" + json.dumps({"backend": "cpu", "losses": losses, "times": times}))
"""


def write_data() -> None:
    """Write the arrays to var/bench/data: ``w6.bin``, and ``w6.json`` with their places."""
    x, edges, y, kernels = data()
    spec: dict[str, Any] = {"hidden": HIDDEN, "classes": CLASSES, "rate": RATE, "arrays": []}
    content = b""
    for array in (x, edges, y, *kernels):
        place = {"shape": array.shape, "dtype": str(array.dtype), "offset": len(content)}
        spec["arrays"].append(place)
        content += array.tobytes()
    DATA.mkdir(parents=True, exist_ok=True)
    (DATA / "w6.bin").write_bytes(content)
    (DATA / "w6.json").write_text(json.dumps(spec), encoding="utf-8")


def of_playgrad(tab: Tab) -> dict[str, Any]:
    """Return the losses and times of playgrad on the page's processor."""
    names = f"FIRST, STEPS, ROUNDS = {FIRST}, {STEPS}, {ROUNDS}\n"
    ran = tab.run_playgrad(names + _PROGRAM, "cpu")
    return ran if "error" in ran else dict(ran["results"][0])


def of_tfjs(tab: Tab, peer: str) -> dict[str, Any]:
    """Return the losses and times of TensorFlow.js, or the error of a backend without a kernel."""
    backend, _, sums = peer.partition(" ")
    numbers = {"first": FIRST, "steps": STEPS, "rounds": ROUNDS}
    return tab.outcome("graphs.html", {"backend": backend, "sum": sums, **numbers})


def main() -> None:
    """Print a row of a table for each peer."""
    parser = argparse.ArgumentParser(prog="bench.graphs_in_page")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=180)
    parser.add_argument("--peer", action="append", help=f"of {PEERS}; default: all")
    options = parser.parse_args()
    write_data()
    peers = PEERS if options.peer is None else options.peer
    runs: dict[str, list[dict[str, Any]]] = {}
    with opened_tab(options.seconds) as tab:
        for _ in range(options.repeats):
            runs.setdefault("playgrad cpu", []).append(of_playgrad(tab))
            for peer in peers:
                runs.setdefault(f"tfjs {peer}", []).append(of_tfjs(tab, peer))
    print("| W6 gcn, in the page | a step, ms | loss after five steps |\n|---|---|---|")
    for name, outcomes in runs.items():
        print(row(name, outcomes))


def row(name: str, outcomes: list[dict[str, Any]]) -> str:
    """Return the median of all rounds, with the smallest and the largest, or what went wrong."""
    for outcome in outcomes:
        if "error" in outcome:
            return f"| {name} | {outcome['error']:.90} | |"
        if outcome["backend"] != name.split()[1]:
            return f"| {name} | runs on {outcome['backend']} | |"
    times = [each for outcome in outcomes for each in outcome["times"]]
    losses = outcomes[0]["losses"]
    middle = f"{statistics.median(times):.3g} ({min(times):.3g}–{max(times):.3g})"
    return f"| {name} | {middle} | {losses[0]:.5f} → {losses[-1]:.5f} |"


if __name__ == "__main__":
    main()
