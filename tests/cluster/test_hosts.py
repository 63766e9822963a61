"""``playgrad train --hosts`` on one machine: what a user sees, and what goes wrong."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from playgrad.cluster.hosts import parse_hosts
from tests.cluster.conftest import PATIENCE, Launcher


@pytest.mark.parametrize(
    "text",
    ["", "a:0", "a:-1", "a:4,a:2", "localhost:1,127.0.0.1:1", "a b:1", "-x:1", "a:99999", "a,,b"],
)
def test_hosts_that_are_not_valid_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"host|processes"):
        parse_hosts(text)


def test_a_run_looks_like_one_on_a_single_process(launcher: Launcher, tmp_path: Path) -> None:
    weights, report = tmp_path / "w.safetensors", tmp_path / "report.html"
    files = ("--export", weights, "--trace", tmp_path / "t.json", "--report", report)
    run = launcher.start(launcher.trains(2), "localhost:2", *files)
    assert run.wait() == 0, run.err
    assert run.out.count("weights [") == 1
    assert run.err.count("epoch 2/2: loss") == 1
    assert run.out.count("moving tensors") == 1
    assert weights.exists()
    assert all(f"<td>cpu:{rank}</td>" in report.read_text() for rank in (0, 1))  # tracks


@pytest.mark.slow
def test_all_members_can_be_watched(launcher: Launcher) -> None:
    run = launcher.start(launcher.trains(100_000), "localhost:2", "--watch", "0")
    run.wait_for("epoch 2/")
    shown = re.search(r"playgrad watch (127\.0\.0\.1:\d+)#(\S+)", run.err + run.out)
    assert shown is not None
    request = Request(f"http://{shown[1]}/events", headers={"Authorization": f"Bearer {shown[2]}"})
    with urlopen(request, timeout=PATIENCE) as events:
        trace = next(line for line in events if b'"kind":"trace"' in line)
    assert {b"cpu:0", b"cpu:1"} <= set(re.findall(rb"cpu:\d", trace))
    run.process.send_signal(signal.SIGTERM)
    assert run.wait() == 143


OVERLAPS = """
import numpy as np
import playgrad as pg
from playgrad import nn

x = np.random.default_rng(0).standard_normal((64, 64)).astype(np.float32)
trained = []
for collective in ("ring", "native"):
    pg.reset_default_graph(3)
    model = pg.Sequential([nn.Dense(64, activation="relu") for _ in range(4)])
    strategy = pg.parallel.DataParallel(2, collective, bucket_bytes=1 << 14)
    model.compile(pg.optim.SGD(0.01), loss="mse", strategy=strategy)
    model.fit(x, x, batch_size=32, epochs=25, verbose=0)
    trained.append(np.concatenate([array.ravel() for array in model.get_weights()]))
print("apart", abs(trained[0] - trained[1]).max(), abs(trained[0]).max())
"""


@pytest.mark.parametrize("is_compiled", [True, False])
def test_gradients_are_added_up_during_the_backward_pass(
    launcher: Launcher, tmp_path: Path, is_compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if is_compiled:
        monkeypatch.delenv("PLAYGRAD_SIMD")
    file = tmp_path / "t.json"
    run = launcher.start(launcher.program(OVERLAPS), "localhost:2", "--trace", file)
    assert run.wait() == 0, run.err
    apart, largest = map(float, run.out.splitlines()[0].split()[1:])
    assert apart < 1e-5 * largest  # MPI may add in another order
    events = json.loads(file.read_text())["traceEvents"]
    tracks = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    for device in ("cpu:0", "cpu:1"):
        mine = [e for e in events if e["ph"] == "X" and tracks[e["tid"]].startswith(device)]
        sums = [e["ts"] for e in mine if "(sums)" in tracks[e["tid"]]]
        backward = [e["ts"] for e in mine if e["cat"] == "gradient"]
        assert len(sums) > 2
        assert min(sums) < max(backward)
        assert all(e["args"].get("bytes", 1) for e in mine if "(sums)" in tracks[e["tid"]])


SLOW = """
import os
import time

if os.environ.get("OMPI_COMM_WORLD_RANK") == "1":
    from playgrad.runtime import runnable

    time.sleep(1)
    compute = runnable.Runnable._compute

    def late(*arguments):
        time.sleep(0.03)
        with open(f"{os.path.dirname(__file__)}/late", "a") as file:
            file.write("x")
        return compute(*arguments)

    runnable.Runnable._compute = late
"""


def test_a_slow_member_changes_no_number(launcher: Launcher) -> None:
    program = launcher.trains(2)
    expected = launcher.start(program, "localhost:2")
    late = launcher.start(launcher.program(SLOW + program.read_text()), "localhost:2")
    assert (expected.wait(), late.wait()) == (0, 0), late.err
    assert late.out.splitlines()[0] == expected.out.splitlines()[0]
    assert len((program.parent / "late").read_text()) >= 32  # steps


def test_asynchronous_training_says_what_to_use_instead(launcher: Launcher) -> None:
    run = launcher.start(launcher.trains(1), "localhost:2", "--parallel", "async")
    assert run.wait() == 1
    assert "asynchronous replicas belong to one process" in run.err
    assert "--parallel sync" in run.err


READS = """
import os
import numpy as np
import playgrad as pg
from playgrad import nn

calls = 0


def read(number):
    global calls
    calls += 1
    x = np.random.default_rng(int(number)).standard_normal(6).astype("f")
    return x, np.int32(x[0] > 0)


data = pg.data.Dataset.range(320).shuffle(320, seed=3).map(read).batch(16).prefetch(1)
model = pg.Sequential([nn.Dense(8, activation="tanh"), nn.Dense(2)])
model.compile(
    pg.optim.Adam(0.01),
    loss=nn.SparseCategoricalCrossentropy(from_logits=True),
    strategy=pg.parallel.DataParallel(2),
)
for epochs in (2, 1):
    model.fit(data, epochs=epochs, verbose=0)
print("weights", [f"{value:.9g}" for value in model.get_weights()[0].ravel()])
print("whole", len([None for x, y in pg.data.Dataset.range(320).map(read).batch(16)]))
rank = os.environ.get("OMPI_COMM_WORLD_RANK", "alone")
open(f"{os.path.dirname(__file__)}/calls_{rank}", "w").write(str(calls - 320))
"""


def test_each_member_reads_its_share_of_a_stream(launcher: Launcher) -> None:
    program = launcher.program(READS)
    run = launcher.start(program, "localhost:2")
    alone = subprocess.run(
        [sys.executable, str(program)], capture_output=True, text=True, check=True
    )
    assert run.wait() == 0, run.err
    assert run.out.splitlines()[:2] == alone.stdout.splitlines()
    calls = [int((program.parent / f"calls_{rank}").read_text()) for rank in (0, 1)]
    assert int((program.parent / "calls_alone").read_text()) == 3 * 320
    assert max(calls) <= 3 * 160 + 2 * 5 * 16  # each fit first reads ahead a few whole batches
