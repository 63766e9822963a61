"""Measures what compiling a ``while_loop`` gains in a page without a GPU: the same runs by compiled
code, beside NumPy operation by operation.

python -m bench.compiled_loops
python -m bench.compiled_loops --only small --seconds 20

Both run by turns in one page, and the shortest run of each counts. The results are compared.
"""

from __future__ import annotations

import argparse
import json

from bench.browser import opened_tab

LOOPS = {
    "counter": "200 iterations of integers (Fibonacci numbers modulo 2³²)",
    "small": "a recurrent network of 16 units until it settles, at most 300 iterations",
    "wide": "the same of 256 units for 64 rows, 30 iterations",
    "training": "a step of gradient descent through 6 iterations of 16 units",
}
PROGRAM = """
import json, time
import numpy as np
import playgrad as pg
from playgrad.runtime import host_program
from playgrad.runtime.step_host import page_host, using_step_host

host_program.SECONDS_OF_NODE = 0.0  # also compile what changes no variable, at once

def network(units, rows, least, most):
    random = np.random.default_rng(0)
    w = pg.Variable((random.normal(size=(units, units)) / units).astype(np.float32))
    x = pg.Variable(random.normal(size=(rows, units)).astype(np.float32))
    def moves(i, y, moved):
        return moved > least
    def body(i, y, moved):
        after = pg.tanh(y @ w + x)
        return i + 1, after, pg.reduce_max(pg.abs(after - y))
    return w, pg.while_loop(moves, body, (0, pg.zeros((rows, units)), 1.0), most)

def fetches(name):
    if name == "counter":
        first = pg.Variable(np.uint32(1), trainable=False)
        loop = pg.while_loop(
            lambda i, a, b: i < 200, lambda i, a, b: (i + 1, b, a + b), (0, first * 1, first * 1))
        return [loop[1]]
    if name == "training":
        w, (_, y, _) = network(16, 8, 0.0, 6)
        loss = pg.reduce_mean(pg.square(y - 0.5))
        return [loss, w.assign_sub(1e-3 * pg.gradients(loss, [w])[0])]
    w, loop = network(16, 8, 1e-6, 300) if name == "small" else network(256, 64, -1.0, 30)
    return list(loop[:2])

def session(host):
    with using_step_host(host), pg.Graph().as_default() as graph:
        wanted = fetches(NAME)
        session = pg.Session(graph, device="cpu")
        return (lambda: session.run(wanted)), session.run(wanted)

(apart, expected), (compiled, result) = session(None), session(page_host())
runs = {"apart": apart, "compiled": compiled}
best = dict.fromkeys(runs, 1e9)
end = time.perf_counter() + SECONDS
while time.perf_counter() < end:
    for name, run in runs.items():
        started = time.perf_counter()
        run()
        best[name] = min(best[name], time.perf_counter() - started)
place = 0 if NAME == "training" else -1
one, two = (np.asarray(each[place], float) for each in (expected, result))
print("RESULT" + json.dumps({
    "ms": {name: 1000 * seconds for name, seconds in best.items()},
    "differs": float(np.abs(one - two).max() / max(np.abs(one).max(), 1e-9)),
}))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", choices=LOOPS)
    parser.add_argument("--seconds", type=float, default=5.0, help="for each loop")
    options = parser.parse_args()
    print("| loop | apart, ms | compiled, ms | |\n|---|---|---|---|")
    with opened_tab(600) as tab:
        for name in options.only or LOOPS:
            source = f"NAME = {name!r}\nSECONDS = {options.seconds}\n{PROGRAM}"
            ran = tab.run_playgrad(source, "cpu")
            if "error" in ran:
                print(f"| {name} | {json.dumps(ran['error'])[:300]} |", flush=True)
                continue
            (result,) = ran["results"]
            before, after = result["ms"]["apart"], result["ms"]["compiled"]
            cells = [LOOPS[name], f"{before:.3g}", f"{after:.3g}", f"{before / after:.1f}×"]
            print(f"| {' | '.join(cells)} |", flush=True)
            if result["differs"] > 1e-3:
                print(f"the results of {name} differ by {result['differs']:.1e}", flush=True)


if __name__ == "__main__":
    main()
