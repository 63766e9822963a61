"""Training on several processes: playgrad over MPI beside PyTorch over gloo, and one process.

    python -m bench.members [--rounds 3] [--processes 2 4] [--json FILE]

Each row trains the same network on the same batches; rows take turns in each round. Columns:

- steps per second, the median of the rounds; their share of the ideal, which is the speed of one
  process times the number of processes, but never more than the cores allow;
- ``processor``: milliseconds of processor time that the first process takes for a step, the least
  of the rounds. Other work on the machine changes it less than the speed;
- ``differs``: the largest difference of a weight, after 72 steps, from those of one process with
  as many devices and the same strategy, as a share of the largest weight;
- ``moving``: the share of a traced step in which a member receives or waits for what it receives;
- ``overlap``: the share of the time of MPI's own sums in which the member computes. Collectives
  of single messages are parts of a member's work: it computes before or after them.

With ``--hosts A:1,B:1 --rsh COMMAND`` playgrad's processes run on several machines.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench.member_programs import BATCH, NETWORKS, program

ROOT = Path(__file__).resolve().parent.parent
STRATEGIES = {
    "sync": ("sync",),
    **{f"sync, {name}": ("sync", "--collective", name) for name in ("ring", "tree", "native")},
    "local SGD": ("local",),
    "pipeline": ("pipeline",),
}


@dataclass(frozen=True)
class Row:
    """A way to train.

    Attributes:
        command: prints its steps per second.
        alone: the same strategy in one process; empty where there is nothing to compare.
    """

    library: str
    name: str
    processes: int
    command: tuple[str, ...]
    alone: tuple[str, ...] = ()


def rows(folder: Path, network: str, options: argparse.Namespace) -> Iterator[Row]:
    """Yield all ways to train a network."""
    paths = {}
    for library in ("playgrad", "torch"):
        paths[library] = folder / f"{list(NETWORKS).index(network)}_{library}.py"
        paths[library].write_text(program(library, network))
    train = (sys.executable, "-m", "playgrad", "train", str(paths["playgrad"]), "--device", "cpu")
    torchrun = (sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node")
    yield Row("playgrad", "one process", 1, train)
    yield Row("PyTorch", "one process", 1, (*torchrun, "1", str(paths["torch"])))
    for count in options.processes:
        where = ["--hosts", options.hosts or f"localhost:{count}"]
        where += ["--rsh", options.rsh] if options.rsh else []
        for name, words in STRATEGIES.items():
            chosen = ("--parallel", words[0], "--devices", str(count), *words[1:])
            # MPI's sums are compared with exact ones.
            alone = tuple(word.replace("native", "ring") for word in chosen)
            yield Row("playgrad", name, count, (*train, *where, *chosen), (*train, *alone))
        yield Row("PyTorch", "DDP, gloo", count, (*torchrun, str(count), str(paths["torch"])))


def output_of(command: Sequence[str], **variables: str) -> str:
    """Return what a command prints."""
    threads = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    environment = {**os.environ, **threads, "PYTHONPATH": f"{ROOT / 'app'}", **variables}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr[-800:]}")
    return done.stdout


def rate(row: Row) -> tuple[float, float]:
    """Return the steps per second of a way to train, and the first process's processor time of
    each."""
    (line,) = (each for each in output_of(row.command).splitlines() if each.startswith("rate "))
    steps, processor = map(float, line.split()[1:])
    return steps, processor


def described(row: Row, folder: Path) -> dict[str, float]:
    """Return how far weights differ from those of one process, and how a traced step passes."""
    files = [folder / "alone.npz", folder / "members.npz"]
    trace = folder / "trace.json"
    output_of(row.alone, BENCH_WEIGHTS=str(files[0]))
    output_of((*row.command, "--trace", str(trace)), BENCH_WEIGHTS=str(files[1]))
    alone, members = (list(np.load(file).values()) for file in files)
    largest = max(float(abs(array).max()) for array in alone)
    apart = max(float(abs(a - b).max()) for a, b in zip(alone, members, strict=True))
    return {"differs": apart / largest, **moving_and_overlap(json.loads(trace.read_text()))}


def moving_and_overlap(trace: dict[str, Any]) -> dict[str, float]:
    """Return the shares of a trace's time in which members wait, and in which sums are made while
    they compute."""
    events = trace["traceEvents"]
    tracks = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    spans: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for event in events:
        if event["ph"] == "X":
            device, _, beside = tracks[event["tid"]].partition(" (")
            kind = "sum" if beside.startswith("sums") else event["cat"]
            kind = kind if kind in ("sum", "receive", "send") else "compute"
            spans.setdefault((device, kind), []).append((event["ts"], event["ts"] + event["dur"]))
    devices = {device for device, _ in spans}
    times = [time for found in spans.values() for span in found for time in span]
    sums = overlapping = receiving = 0.0
    for device in devices:
        receiving += sum(end - start for start, end in spans.get((device, "receive"), ()))
        for start, end in spans.get((device, "sum"), ()):
            sums += end - start
            overlapping += sum(
                max(0.0, min(end, until) - max(start, since))
                for since, until in spans.get((device, "compute"), ())
            )
    moving = receiving / (max(times) - min(times)) / len(devices)
    return {"moving": moving, **({"overlap": overlapping / sums} if sums else {})}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--processes", type=int, nargs="+", default=[2])
    parser.add_argument("--networks", nargs="+", choices=NETWORKS, default=list(NETWORKS))
    parser.add_argument("--hosts", default="")
    parser.add_argument("--rsh", default="")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    results = []
    print(f"batches of {BATCH}, {options.rounds} rounds, {os.cpu_count()} cores\n")
    print("| network | processes | | steps/s | of ideal | processor | differs | moving | overlap |")
    print("|---|---|---|---:|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for network in options.networks:
            listed = list(rows(folder, network, options))
            rates: dict[Row, list[float]] = {row: [] for row in listed}
            processor = dict.fromkeys(listed, math.inf)
            for _ in range(options.rounds):
                for row in listed:
                    steps, seconds = rate(row)
                    rates[row].append(steps)
                    processor[row] = min(processor[row], seconds)
            middle = {row: statistics.median(rates[row]) for row in listed}
            alone = {row.library: middle[row] for row in listed if row.processes == 1}
            for row in listed:
                ideal = alone[row.library] * min(row.processes, os.cpu_count() or 1)
                more = described(row, folder) if row.alone else {}
                result = {"network": network, "library": row.library, "way": row.name}
                found = {"rates": rates[row], "of_ideal": middle[row] / ideal, **more}
                found["processor"] = processor[row]
                results.append({**result, "processes": row.processes, **found})
                shown = ["", "", ""]
                if more:
                    shares = [f"{more[k]:.0%}" if k in more else "" for k in ("moving", "overlap")]
                    shown = [f"{more['differs']:.1g}", *shares]
                print(
                    f"| {network} | {row.processes} | {row.library}, {row.name} "
                    f"| {middle[row]:.4g} | {middle[row] / ideal:.0%} "
                    f"| {1e3 * processor[row]:.3g} ms | {' | '.join(shown)} |",
                    flush=True,
                )
    if options.json is not None:
        options.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
