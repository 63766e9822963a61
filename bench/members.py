"""Training on several processes: playgrad over MPI beside PyTorch over gloo, and one process.

    python -m bench.members [--rounds 3] [--processes 2 4] [--json FILE]

Each row trains the same network on the same batches; rows take turns in each round. The ideal is
the speed of one process times the number of processes, but never more than the cores allow. With
``--hosts A:1,B:1 --rsh COMMAND`` playgrad's processes run on several machines.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BATCH, STEPS = 256, 60
SIZES = {"small": (64, 128, 128, 10), "large": (784, 1024, 1024, 10)}
PLAYGRAD = """
import numpy as np
import playgrad as pg
from playgrad import nn

widths = WIDTHS
rng = np.random.default_rng(0)
x = rng.standard_normal((8 * BATCH, widths[0])).astype(np.float32)
y = rng.integers(0, widths[-1], 8 * BATCH).astype(np.int32)
model = pg.Sequential(
    [*[nn.Dense(width, activation="relu") for width in widths[1:-1]], nn.Dense(widths[-1])]
)
model.compile(pg.optim.SGD(0.01), loss=nn.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, batch_size=BATCH, epochs=2, verbose=0, shuffle=False)
history = model.fit(x, y, batch_size=BATCH, epochs=STEPS // 8, verbose=0, shuffle=False)
print("rate", len(history.losses) / history.seconds)
"""
TORCH = """
import time
import numpy as np
import torch
import torch.distributed as dist

widths = WIDTHS
dist.init_process_group("gloo")
torch.set_num_threads(1)
rank, size = dist.get_rank(), dist.get_world_size()
rng = np.random.default_rng(0)
x = torch.from_numpy(rng.standard_normal((8 * BATCH, widths[0])).astype(np.float32))
y = torch.from_numpy(rng.integers(0, widths[-1], 8 * BATCH))
layers = []
for width, following in zip(widths, widths[1:]):
    layers += [torch.nn.Linear(width, following), torch.nn.ReLU()]
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Sequential(*layers[:-1]))
optimizer = torch.optim.SGD(model.parameters(), 0.01)
loss_of = torch.nn.CrossEntropyLoss()
share = BATCH // size


def step(number):
    first = number % 8 * BATCH + rank * share
    optimizer.zero_grad()
    loss_of(model(x[first : first + share]), y[first : first + share]).backward()
    optimizer.step()


for number in range(16):
    step(number)
dist.barrier()
started = time.perf_counter()
for number in range(STEPS // 8 * 8):
    step(number)
dist.barrier()
if rank == 0:
    print("rate", STEPS // 8 * 8 / (time.perf_counter() - started))
dist.destroy_process_group()
"""


@dataclass(frozen=True)
class Row:
    """A way to train: its name, and the command that prints its steps per second."""

    name: str
    processes: int
    command: tuple[str, ...]


def rows(folder: Path, size: str, processes: list[int], hosts: str, shell: str) -> Iterator[Row]:
    """Yield all ways to train a network of ``size``."""
    programs = {}
    for name, text in (("playgrad", PLAYGRAD), ("torch", TORCH)):
        for word, value in (("WIDTHS", SIZES[size]), ("BATCH", BATCH), ("STEPS", STEPS)):
            text = text.replace(word, str(value))
        programs[name] = folder / f"{size}_{name}.py"
        programs[name].write_text(text)
    train = (sys.executable, "-m", "playgrad", "train", str(programs["playgrad"]))
    yield Row("playgrad, one process", 1, (*train, "--device", "cpu"))
    torchrun = (sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node")
    yield Row("PyTorch, one process", 1, (*torchrun, "1", str(programs["torch"])))
    for count in processes:
        where = ("--hosts", hosts or f"localhost:{count}", *(("--rsh", shell) if shell else ()))
        for collective in ("ring", "tree", "native"):
            chosen = ("--parallel", "sync", "--devices", str(count), "--collective", collective)
            yield Row(f"playgrad sync {collective}", count, (*train, *where, *chosen))
        local = ("--parallel", "local", "--devices", str(count))
        yield Row("playgrad local SGD", count, (*train, *where, *local))
        pipeline = ("--parallel", "pipeline", "--devices", str(count))
        yield Row("playgrad pipeline", count, (*train, *where, *pipeline))
        yield Row("PyTorch DDP, gloo", count, (*torchrun, str(count), str(programs["torch"])))


def rate(row: Row) -> float:
    """Return the steps per second of a way to train."""
    environment = {
        **os.environ,
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": f"{ROOT / 'app'}",
    }
    done = subprocess.run(row.command, capture_output=True, text=True, env=environment, timeout=300)
    for line in done.stdout.splitlines():
        if line.startswith("rate "):
            return float(line.split()[1])
    raise RuntimeError(f"{row.name}: {done.stderr[-800:]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--processes", type=int, nargs="+", default=[2])
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=list(SIZES))
    parser.add_argument("--hosts", default="")
    parser.add_argument("--rsh", default="")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for size in options.sizes:
            listed = list(rows(Path(folder), size, options.processes, options.hosts, options.rsh))
            rates: dict[Row, list[float]] = {row: [] for row in listed}
            for _ in range(options.rounds):
                for row in listed:
                    rates[row].append(rate(row))
            alone = {
                row.name.split()[0].strip(","): statistics.median(rates[row])
                for row in listed
                if row.processes == 1
            }
            print(f"{size}: {'-'.join(map(str, SIZES[size]))}, batches of {BATCH}")
            for row in listed:
                middle = statistics.median(rates[row])
                ideal = alone[row.name.split()[0].strip(",")] * min(
                    row.processes, os.cpu_count() or 1
                )
                print(
                    f"  {row.processes}  {row.name:24} {middle:8.1f} steps/s"
                    f"  ({min(rates[row]):.1f} to {max(rates[row]):.1f})"
                    f"  {middle / ideal:5.0%} of ideal",
                    flush=True,
                )
                results.append(
                    {
                        "size": size,
                        "row": row.name,
                        "processes": row.processes,
                        "rates": rates[row],
                        "of_ideal": middle / ideal,
                    }
                )
    if options.json is not None:
        options.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
