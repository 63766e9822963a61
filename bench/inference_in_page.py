"""Measures inference in the page without a GPU: a batch from host memory to outputs in host memory,
by compiled code, by ONNX Runtime Web and by TensorFlow.js, both in WebAssembly.

python -m bench.install
python -m bench.inference_in_page
python -m bench.inference_in_page --only w3 --batch 1 --repeats 3

All have the same weights. ONNX Runtime Web, on two threads as playgrad, reads the network with its
channels first, which it computes with. Peers take turns, each in a fresh page of one Chromium;
their outputs are compared with those of NumPy alone.
"""

from __future__ import annotations

import argparse
import statistics
from typing import Any

import numpy as np

import playgrad as pg
from bench.browser import Tab, opened_tab, playgrad_program
from bench.paths import DATA
from bench.peers.onnx_network import write_onnx
from bench.peers.playgrad_program import layer_of
from bench.workload_files import data, weights, write
from playgrad import nn
from playgrad.benchmark.workloads import WORKLOADS

Array = np.ndarray[Any, Any]
NETWORKS = ("w1", "w1b", "w3")
BATCHES = (1, 64, 128)
PEERS = ("playgrad", "ort", "tfjs")
THREADS = 2
PROGRAM = """
from playgrad.runtime.step_host import page_host

spec = json.loads(bytes(read(f"{WORKLOAD}.json")))
blob = bytes(read(f"{WORKLOAD}.bin"))

def array(entry):
    size = int(np.prod(entry["shape"]))
    return np.frombuffer(blob, entry["dtype"], size, entry["offset"]).reshape(entry["shape"])

model = pg.Sequential([layer_of(layer) for layer in WORKLOADS[WORKLOAD].layers])
model.compile("sgd", nn.SparseCategoricalCrossentropy(from_logits=True), device="cpu")
x = array(spec["x"])[:BATCH].copy()
model.build(x.shape[1:])
model.set_weights([array(entry) for entry in spec["weights"]["tensorflow"]])
outputs = model.predict(x, BATCH)
end = time.perf_counter() + 1.0
while time.perf_counter() < end:  # until it is compiled, and threads have come
    model.predict(x, BATCH)
times, count = [], 1
end = time.perf_counter() + SECONDS
while time.perf_counter() < end:
    began = time.perf_counter()
    for _ in range(count):
        model.predict(x, BATCH)
    times.append(1000 * (time.perf_counter() - began) / count)
    count = max(1, round(5 / times[-1]))
(runnable,) = model.session._programs._runnables.values()
compiled = runnable.host_program.compiled
print("RESULT" + json.dumps({
    "outputs": outputs.ravel().tolist(), "times": times[1:], "threads": page_host().threads,
    "compiled": None if compiled is None else compiled.step.threads,
}))
"""


def expected_outputs(name: str) -> Array:
    """Return the outputs for the first samples of a workload, by NumPy alone."""
    model = pg.Sequential([layer_of(layer) for layer in WORKLOADS[name].layers])
    loss = nn.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("sgd", loss, device="reference")
    model.build(WORKLOADS[name].input_shape)
    model.set_weights(weights(WORKLOADS[name], "tensorflow"))
    outputs: Array = model.predict(data(WORKLOADS[name])[0][: max(BATCHES)])
    model.close()
    return outputs


def of_playgrad(tab: Tab, name: str, batch: int, seconds: float) -> dict[str, Any]:
    """Return the outputs and the milliseconds of calls of ``model.predict``."""
    program = playgrad_program({"WORKLOAD": name, "SECONDS": seconds, "BATCH": batch}, PROGRAM)
    ran = tab.run_playgrad(program, "cpu")
    return ran if "error" in ran else dict(ran["results"][0])


def of_peer(tab: Tab, peer: str, name: str, batch: int, seconds: float) -> dict[str, Any]:
    """Return the outputs and the milliseconds of calls of a peer, or its error."""
    numbers = {"batch": batch, "seconds": seconds, "threads": THREADS}
    return tab.outcome("inference.html", {"peer": peer, "workload": name, **numbers})


def row(name: str, batch: int, runs: dict[str, list[dict[str, Any]]], expected: Array) -> str:
    """Return the fastest round and the median of each peer, and playgrad's lead by the fastest."""
    cells, best = [name.upper(), str(batch)], {}
    for peer in PEERS:
        problem = next((run["error"] for run in runs[peer] if "error" in run), None)
        if problem is not None:
            cells.append(f"{problem:.60}")
            continue
        times = [each for run in runs[peer] for each in run["times"]]
        outputs = np.array(runs[peer][0]["outputs"]).reshape(batch, -1)
        apart = np.abs(outputs - expected[:batch]).max() / np.abs(expected).max()
        wrong = f", outputs differ by {apart:.0e}" if not apart < 1e-3 else ""
        best[peer] = min(times)
        cells.append(f"{best[peer]:.3g} ({statistics.median(times):.3g}){wrong}")
    for peer in PEERS[1:]:
        known = peer in best and "playgrad" in best
        cells.append(f"{best[peer] / best['playgrad']:.2f}×" if known else "–")
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Print a row for each network and batch."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--only", action="append", choices=NETWORKS)
    parser.add_argument("--batch", action="append", type=int, choices=BATCHES)
    parser.add_argument("--seconds", type=float, default=2.0, help="for each measurement")
    parser.add_argument("--repeats", type=int, default=2)
    options = parser.parse_args()
    write(DATA)
    print("| | batch | playgrad, ms | ONNX Runtime Web | TensorFlow.js | lead | lead |")
    print("|---|---|---|---|---|---|---|")
    with opened_tab(120) as tab:
        for name in options.only or NETWORKS:
            write_onnx(WORKLOADS[name], DATA / f"{name}-inference.onnx")
            expected = expected_outputs(name)
            for batch in options.batch or BATCHES:
                runs: dict[str, list[dict[str, Any]]] = {peer: [] for peer in PEERS}
                for _ in range(options.repeats):
                    runs["playgrad"].append(of_playgrad(tab, name, batch, options.seconds))
                    for peer in PEERS[1:]:
                        runs[peer].append(of_peer(tab, peer, name, batch, options.seconds))
                print(row(name, batch, runs, expected), flush=True)


if __name__ == "__main__":
    main()
