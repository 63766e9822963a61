"""Trials of a sweep per minute: one after the other, in processes, and on Ray.

    python -m bench.sweeps [--rounds 3] [--trials 12] [--parallel 2] [--epochs 60]

Each trial trains a small network, once for as long as ``--epochs`` say and once hardly at all,
which shows what a trial costs by itself. Starting and ending Ray counts. Ideal is the rate of one
trial after the other, times the trials at a time.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAM = """
import numpy as np
import playgrad as pg

rate = 0.1
x = np.random.default_rng(0).standard_normal((4096, 64)).astype(np.float32)
model = pg.Sequential([pg.nn.Dense(128, activation="relu"), pg.nn.Dense(64)])
model.compile(pg.optim.SGD(rate), loss="mse", device="cpu")
model.fit(x, x, batch_size=64, epochs=EPOCHS, verbose=0)
"""


def trials_per_minute(epochs: int, trials: int, words: list[str]) -> float:
    """Sweep over learning rates; return the rate of trials."""
    with tempfile.TemporaryDirectory() as name:
        program = Path(name, "program.py")
        program.write_text(PROGRAM.replace("EPOCHS", str(epochs)))
        line = [sys.executable, "-m", "playgrad", "sweep", str(program)]
        line += ["--random", "rate=1e-4..1e-1:log", "--trials", str(trials), *words]
        began = time.perf_counter()
        subprocess.run(line, check=True, capture_output=True, cwd=name)
        return 60 * trials / (time.perf_counter() - began)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--trials", type=int, default=12)
    parser.add_argument("--parallel", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=60)
    options = parser.parse_args()
    together = ["--parallel", str(options.parallel)]
    ways = {
        "one after the other": ["--parallel", "1"],
        f"{options.parallel} processes": together,
        f"{options.parallel} on Ray": [*together, "--ray"],
    }
    print("| epochs of a trial | way | trials per minute | range | of ideal |")
    print("|---|---|---:|---|---:|")
    for epochs in (options.epochs, 1):
        rates: dict[str, list[float]] = {way: [] for way in ways}
        for _ in range(options.rounds):
            for way, words in ways.items():
                rates[way].append(trials_per_minute(epochs, options.trials, words))
        (alone, *_) = (statistics.median(found) for found in rates.values())
        for number, (way, found) in enumerate(rates.items()):
            middle = statistics.median(found)
            ideal = alone * (options.parallel if number else 1)
            print(
                f"| {epochs} | {way} | {middle:.1f} | {min(found):.1f} to {max(found):.1f} "
                f"| {middle / ideal:.0%} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
