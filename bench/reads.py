"""Measures a training step whose loss is read: where its time goes, and what is left of it without
Python.

python -m bench.reads                       W0 in the page, on the software adapter
python -m bench.reads --hardware --only w0 --only w1
python -m bench.reads --desktop             with wgpu-py

Three tables. The parts of a step, from `Session.run` to the loss. The floor: the same kernels
submitted by a worker without Python, which reads four bytes, with each way to make the browser look
for finished work. And the way from one worker to another and back.
"""

from __future__ import annotations

import argparse
import time
from itertools import pairwise
from typing import Any

import numpy as np

from bench.browser import Tab, opened_tab, playgrad_program
from bench.paths import DATA
from bench.workload_files import write
from playgrad.benchmark.workload_trainer import WorkloadTrainer
from playgrad.benchmark.workloads import WORKLOADS

Row = dict[str, Any]
PARTS = (
    "Python, until the device is called",
    "the call, until the worker begins",
    "until the step is submitted",
    "the step, its copy and the mapping",
    "the answer, until Python is awake",
    "Python, until the loss is returned",
)
PROGRAM = """
import js
trainer = PlaygradTrainer(read, WORKLOAD, DEVICE)
(loaded,) = trainer.session.compiled([trainer.loss, trainer.run]).plans.values()
host = loaded.device.host
connection = host._connection
origin = js.performance.timeOrigin
clock = js.performance.now
now = lambda: origin + clock()
trainer.steps(100)
def steps(count):
    began = time.perf_counter()
    for _ in range(count):
        trainer.step_and_read()
    return 1000 * (time.perf_counter() - began) / count
plain = sorted(steps(20) for _ in range(COUNT // 20))

moments = {}
post, wait, result = connection.post, connection.wait, gpus.Executing.result
def timed_post(*arguments):
    moments["called"] = now()
    return post(*arguments)
def timed_wait(answer):
    wait(answer)
    moments["awake"] = now()
def timed_result(executing):
    value = result(executing)
    moments["device"] = value.clock
    return value
connection.post, connection.wait, gpus.Executing.result = timed_post, timed_wait, timed_result
rows = []
for _ in range(COUNT):
    start = now()
    trainer.step_and_read()
    end = now()
    times = [start, moments["called"], *moments["device"], moments["awake"], end]
    rows.append([after - before for before, after in zip(times, times[1:])])
print("RESULT" + json.dumps({"plain": plain, "rows": rows, "plan": loaded.plan}))
"""
RAW = """async (plan) => {
  const worker = new Worker("/bench/reads.js", { type: "module" });
  return await new Promise((resolve) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = ({ message }) => resolve({ error: message });
    worker.postMessage({ plan });
  });
}"""


def in_page(tab: Tab, name: str, count: int) -> Row:
    """Return the parts of steps in the page, and the times of the raw reads and ways."""
    names = {"WORKLOAD": name, "DEVICE": "gpu", "COUNT": count}
    program = playgrad_program(names, "from playgrad.devices._browser import gpus\n" + PROGRAM)
    ran = tab.run_playgrad(program, "gpu")
    if "error" in ran:
        raise SystemExit(f"bench: {ran['error']}")
    (measured,) = ran["results"]
    with tab.page() as page:
        page.goto(f"{tab.playgrad}/healthz")
        raw = page.evaluate(RAW, measured["plan"])
    if "error" in raw:
        raise SystemExit(f"bench: {raw['error']}")
    return {**measured, **raw}


def on_desktop(name: str, count: int) -> list[list[float]]:
    """Return the milliseconds of steps with wgpu-py: Python, the device, Python."""
    trainer = WorkloadTrainer(WORKLOADS[name], "gpu")
    runnable = trainer.session.compiled([trainer.loss, trainer.run])
    assert runnable is not None
    (loaded,) = runnable.plans.values()
    host: Any = loaded.device.host
    begin, moments = host.begin, [0.0, 0.0]

    def timed(execution: Any) -> Any:
        began = time.perf_counter()
        result = begin(execution)
        moments[:] = began, time.perf_counter()
        return result

    host.begin = timed
    trainer.steps(100)
    rows = []
    for _ in range(count):
        began = time.perf_counter()
        trainer.step_and_read()
        times = [began, *moments, time.perf_counter()]
        rows.append([1000 * (after - before) for before, after in pairwise(times)])
    trainer.close()
    return rows


def parts_table(names: tuple[str, ...], rows: Any) -> str:
    """Return the parts of a step as Markdown."""
    times = np.array(rows)
    times = np.column_stack([times, times.sum(axis=1)])
    lines = ["| ms | median | one in ten is below |", "|---|---|---|"]
    for name, part in zip((*names, "the whole step"), times.T, strict=True):
        lines.append(f"| {name} | {np.median(part):.3f} | {np.quantile(part, 0.1):.3f} |")
    return "\n".join(lines)


def ways_table(title: str, rows: list[Row]) -> str:
    """Return the times of ways to do the same as Markdown."""
    lines = [f"| {title}, ms | median | least |", "|---|---|---|"]
    lines += [f"| {row['name']} | {row['median']:.3f} | {row['least']:.3f} |" for row in rows]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--only", choices=sorted(WORKLOADS), action="append", help="a workload")
    parser.add_argument("--count", type=int, default=1000, help="steps that are measured")
    parser.add_argument("--desktop", action="store_true", help="with wgpu-py instead of the page")
    parser.add_argument("--hardware", action="store_true", help="use the machine's GPU")
    options = parser.parse_args()
    names = options.only or ["w0"]
    if options.desktop:
        for name in names:
            parts = (PARTS[0], "wgpu-py: the step, its copy and the mapping", PARTS[-1])
            print(f"\n## {name}\n\n{parts_table(parts, on_desktop(name, options.count))}")
        return
    write(DATA)
    with opened_tab(120, options.hardware) as tab:
        for name in names:
            found = in_page(tab, name, options.count)
            blocks = found["plain"]
            print(f"\n## {name}\n")
            print(
                f"Blocks of 20 steps: {np.median(blocks):.3f} ms a step, least {min(blocks):.3f}\n"
            )
            print(f"{parts_table(PARTS, found['rows'])}\n")
            print(f"{ways_table('submit, copy and map without Python', found['reads'])}\n")
            print(f"{ways_table('another worker and back', found['hops'])}", flush=True)


if __name__ == "__main__":
    main()
