"""Measures what copies of the variables in host memory cost: the share of the time of training.

python -m bench.copies                      on the desktop and in the page
python -m bench.copies --parts desktop

Each network trains for a while, and its variables are copied many times meanwhile. The share is the
time of one copy, without the step that it waits for, over the time between two copies.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from typing import Any

from bench.browser import opened_tab
from bench.paths import ROOT

NETWORKS = {
    "MNIST MLP": ((28, 28), '[nn.Flatten(), nn.Dense(128, "relu"), nn.Dense(10)]'),
    "MNIST CNN": (
        (28, 28, 1),
        '[nn.Conv2D(16, 3, activation="relu"), nn.MaxPool2D(2), '
        'nn.Conv2D(32, 3, activation="relu"), nn.MaxPool2D(2), nn.Flatten(), nn.Dense(10)]',
    ),
    "MLP 784-2048-2048-10": (
        (28, 28),
        '[nn.Flatten(), nn.Dense(2048, "relu"), nn.Dense(2048, "relu"), nn.Dense(10)]',
    ),
}
PROGRAM = """
import json, statistics, time
import numpy as np
import playgrad as pg
from playgrad import nn
from playgrad.runtime.host_copies import COPY_SECONDS

random = np.random.default_rng(0)
x = random.integers(0, 256, (640, *{shape}), np.uint8)
y = random.integers(0, 10, 640).astype(np.int32)
model = pg.Sequential([nn.Rescaling(1 / 255), *{layers}])
loss = nn.SparseCategoricalCrossentropy(from_logits=True)
model.compile("adam", loss, device="gpu")
model.fit(x, y, batch_size=64, verbose=0)
session, spent = model.session, []
for _ in range({copies}):
    session.repeat(model.training_step, 1)
    session.value(model.optimizer.iterations)  # waits for the step
    started = time.perf_counter()
    session.keep_copy()
    spent.append(time.perf_counter() - started)
started, steps = time.perf_counter(), 0
while time.perf_counter() - started < 1.0:
    steps += session.repeat(model.training_step, 1).steps_done
session.value(model.optimizer.iterations)
step = (time.perf_counter() - started) / steps
copies = session._store.copies
print("RESULT" + json.dumps({
    "bytes": sum(array.nbytes for array in copies.values.values()),
    "seconds": statistics.median(spent),
    "step": step,
    "share": statistics.median(spent) / COPY_SECONDS,
}))
session.close()
"""


def program(network: str, copies: int) -> str:
    shape, layers = NETWORKS[network]
    text = PROGRAM.replace("{shape}", str(shape)).replace("{layers}", layers)
    return text.replace("{copies}", str(copies))


def on_desktop(source: str) -> dict[str, Any]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "app")])}
    command = [sys.executable, "-c", source]
    ran = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    if ran.returncode:
        raise SystemExit(ran.stderr)
    result: dict[str, Any] = json.loads(ran.stdout.rpartition("RESULT")[2])
    return result


def row(where: str, network: str, result: dict[str, Any]) -> str:
    return (
        f"| {where} | {network} | {result['bytes'] / 1e6:.1f} MB | {1e3 * result['seconds']:.1f} "
        f"| {1e3 * result['step']:.1f} | {result['share']:.2%} |"
    )


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.copies")
    parser.add_argument("--parts", nargs="+", default=["desktop", "page"])
    parser.add_argument("--copies", type=int, default=20)
    parser.add_argument("--hardware", action="store_true", help="use the machine's GPU in the page")
    options = parser.parse_args(arguments)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    print("| host | network | copied | ms per copy | ms per step | share of training |")
    print("|---|---|---:|---:|---:|---:|")
    if "desktop" in options.parts:
        for network in NETWORKS:
            print(row("wgpu-py", network, on_desktop(program(network, options.copies))))
    if "page" in options.parts:
        with opened_tab(300, options.hardware) as tab:
            for network in NETWORKS:
                ran = tab.run_playgrad(program(network, options.copies), "gpu")
                if "error" in ran:
                    raise SystemExit(ran["error"])
                print(row("page", network, ran["results"][0]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
