"""Trials on a Ray cluster of two machines, which both are this one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

import playgrad as pg
from playgrad import nn
from playgrad.runtime.options import get_options
from playgrad.sweeps.record import FILE

pytestmark = pytest.mark.slow  # 14 trials and Ray itself are forty processes

CPUS = 2
"""Of each machine."""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A cluster with token authentication, which has a machine more than its head."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_AUTH_MODE", "token")
        patch.setenv("RAY_AUTH_TOKEN", "0123456789abcdef" * 4)
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        from ray.cluster_utils import Cluster

        machines = Cluster(True, head_node_args={"num_cpus": CPUS, "include_dashboard": False})
        machines.add_node(num_cpus=CPUS, num_gpus=2)  # so it says
        yield machines
        machines.shutdown()


@pytest.fixture
def address(cluster: Any) -> str:
    return str(cluster.address)


def train(rate: float, folder: str) -> Any:
    x = np.linspace(-1, 1, 64, dtype=np.float32)[:, None]
    for victim, killed in ((0.05, os.getpid()), (0.1, os.getppid())):
        mark = Path(folder, str(victim))
        if rate == victim and not mark.exists():
            mark.touch()
            os.kill(killed, signal.SIGKILL)
    model = pg.Sequential([nn.Dense(1)])
    model.compile(pg.optim.SGD(rate), loss="mse")
    print("rate", rate)
    return model.fit(x, 3 * x, batch_size=16, epochs=4, verbose=0)


def test_of_twelve_trials_two_are_killed_and_started_again(address: str, tmp_path: Path) -> None:
    rates = [0.3, 0.05, 0.1, *(10.0**-n for n in range(2, 11))]
    grid = {"rate": rates, "folder": [str(tmp_path)]}
    folder = tmp_path / "sweep"
    result = pg.sweep(train, grid=grid, ray=pg.Ray(address), folder=folder, verbose=0)
    assert [trial.state for trial in result.trials] == 12 * ["done"], str(result)
    assert [trial.attempts for trial in result.trials] == [1, 2, 2, *(9 * [1])]
    assert result.best.number == 1 and result.weights is not None
    (kernel,) = [v for n, v in load_file(result.weights).items() if "kernel" in n]
    assert kernel.item() == pytest.approx(3, abs=0.3)
    assert (folder / "trial-2.log").read_text() == "rate 0.05\n"
    # Continued on this machine: nothing is run again.
    assert pg.sweep(train, grid=grid, folder=folder, verbose=0).trials == result.trials


class Killer(pg.nn.Callback):
    """Kills the process of the first replica, and trains on until it has come back."""

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        server = self.model.parameter_server
        client, report = server.clients[0], server.report
        if epoch == 0:
            import ray

            number = ray.get(client.actor.__ray_call__.remote(lambda actor: os.getpid()))
            os.kill(number, signal.SIGKILL)
        elif epoch > 40 and report.returns and client.opening is None:
            self.model.stop_training = True


def test_a_replica_that_is_killed_comes_back_and_training_converges(address: str) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(330, 3)).astype(np.float32)
    y = x @ np.array([[1.0], [-2.0], [0.5]], np.float32)
    model = pg.Sequential([nn.Dense(1)])
    strategy = pg.parallel.AsynchronousDataParallel(2, staleness=8, ray=pg.Ray(address))
    model.compile(pg.optim.SGD(0.05), loss="mse", strategy=strategy)
    history = model.fit(x, y, batch_size=32, epochs=100_000, verbose=0, callbacks=[Killer()])
    report = history.parallel
    assert report["returns"] == {"cpu:0": 1} and report["lost"] == {}
    assert sum(report["updates"].values()) == len(history.losses) == history.steps.shape[0]
    assert all(report["updates"].values())
    assert max(map(int, report["staleness"])) <= 2 * 8 + 1
    assert history.losses[-1] < 1e-3


def test_a_single_replica_on_ray_trains_as_one_device(address: str) -> None:
    x = np.random.default_rng(0).normal(size=(70, 6)).astype(np.float32)
    weights = []
    for strategy in (None, pg.parallel.AsynchronousDataParallel(1, ray=pg.Ray(address))):
        pg.reset_default_graph(3)
        model = pg.Sequential([nn.Dense(16, activation="relu"), nn.Dropout(0.5), nn.Dense(1)])
        model.compile(pg.optim.Adam(0.01), loss="mse", strategy=strategy)
        for _ in range(2):
            model.fit(x, x[:, :1], batch_size=16, epochs=3, verbose=0)
        weights.append(model.get_weights())
    for plain, on_ray in zip(*weights, strict=True):
        np.testing.assert_array_equal(plain, on_ray)


def test_what_a_replica_cannot_compute_ends_it_by_name(address: str) -> None:
    twice = pg.register_op("twice_on_ray", lambda x: 2 * x, gradient=lambda d, y, x: [2 * d])
    model = pg.Sequential([nn.Dense(1), nn.Lambda(twice)])
    strategy = pg.parallel.AsynchronousDataParallel(2, ray=pg.Ray(address))
    model.compile(pg.optim.SGD(0.1), loss="mse", strategy=strategy)
    x = np.ones((8, 2), np.float32)
    with pytest.raises(pg.GraphError, match="twice_on_ray"):
        model.fit(x, x[:, :1], batch_size=4, verbose=0)


def leave_or_fail(path: str) -> None:
    if path:
        print("almost there")
        os._exit(3)
    raise ValueError("the disk is upside down")


def test_trials_that_fail_twice_are_named(address: str, tmp_path: Path) -> None:
    result = pg.sweep(
        leave_or_fail, grid={"path": ["a", ""]}, ray=pg.Ray(address), folder=tmp_path, verbose=0
    )
    assert [(trial.state, trial.attempts) for trial in result.trials] == 2 * [("failed", 2)]
    assert [trial.error for trial in result.trials] == [
        "its process exited with status 3: almost there",
        "ValueError: the disk is upside down",
    ]


PROGRAM = """
import numpy as np, playgrad as pg, time
rate = 0.1
x = np.linspace(-1, 1, 32, dtype=np.float32)[:, None]
model = pg.Sequential([pg.nn.Dense(1)])
model.compile(pg.optim.SGD(rate), loss="mse")
time.sleep(0 if rate > 0.1 else 1)
model.fit(x, 3 * x, batch_size=8, epochs=9)
"""


def command(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "playgrad", "sweep", "program.py", *arguments],
        cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def test_a_program_is_swept_and_bad_trials_end_early(address: str, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    process = command(
        tmp_path, "--grid", "rate=0.4,1e-6,1e-7", "--epochs", "9", "--halving", "--parallel", "1",
        "--json", "--ray", address, "--trial-cpus", "2",
    )  # fmt: skip
    out, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    result = json.loads(out.splitlines()[-1])
    assert [trial["state"] for trial in result["trials"]] == ["done", "cut", "cut"]
    assert (tmp_path / "sweep-program" / "sweep.playgrad").exists()


def wait_for(condition: Callable[[], Any]) -> None:
    while not condition():
        time.sleep(0.05)


def has_ended(process: str) -> bool:
    """Whether a process has ended, by its number; it may not have been waited for."""
    stat = Path("/proc", process, "stat")
    return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z"


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_ctrl_c_ends_all_trials_and_the_sweep_is_continued(address: str, tmp_path: Path) -> None:
    folder, marks = tmp_path / "sweep-program", tmp_path / "marks"
    marks.mkdir()
    program = f"""
import os, pathlib, time
rate = 0.4
if rate < 0.4 and not pathlib.Path({str(marks / "go")!r}).exists():
    child = os.fork()
    pathlib.Path({str(marks)!r}, str(os.getpid())).touch()
    time.sleep(600)
"""
    (tmp_path / "program.py").write_text(program + PROGRAM.replace("rate = 0.1\n", ""))
    arguments = ("--grid", "rate=0.4,0.3,0.2", "--ray", address, "--json")
    process = command(tmp_path, *arguments)
    # Each of two has a child, which continues after the fork, too.
    wait_for(lambda: len(list(marks.iterdir())) == 4 and '"done"' in read(folder / FILE))
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=300)
    assert process.returncode == 130
    wait_for(lambda: all(has_ended(mark.name) for mark in marks.iterdir()))
    record = json.loads((folder / FILE).read_text())
    assert sum(trial["state"] == "done" for trial in record["trials"]) == 1
    (marks / "go").touch()
    process = command(tmp_path, *arguments)
    out, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    assert "continuing: 1 trials" in errors
    assert [t["state"] for t in json.loads(out.splitlines()[-1])["trials"]] == 3 * ["done"]


def read(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def wait_until_gone(mark: str) -> int:
    Path(mark, str(os.getpid())).touch()
    while not Path(mark, "go").exists():
        time.sleep(0.05)
    return 1


@pytest.mark.filterwarnings("ignore:Exception ignored in.*FileIO")  # by Ray's own psutil
def test_trials_of_a_machine_that_is_lost_run_on_another(cluster: Any, tmp_path: Path) -> None:
    machine = cluster.add_node(num_cpus=4)  # the only one that is large enough
    grid, lost = {"mark": [str(tmp_path)]}, []
    with ThreadPoolExecutor(1) as pool:
        started = pool.submit(
            pg.sweep, wait_until_gone, grid=grid, ray=pg.Ray(cluster.address, cpus=3),
            folder=tmp_path / "sweep", verbose=0,
        )  # fmt: skip
        wait_for(lambda: lost.extend(tmp_path.glob("[0-9]*")) or lost)
        cluster.remove_node(machine)
        replacement = cluster.add_node(num_cpus=4)
        (tmp_path / "go").touch()
        (trial,) = started.result().trials
    cluster.remove_node(replacement)
    assert (trial.state, trial.attempts) == ("done", 2)
    wait_for(lambda: has_ended(lost[0].name))


def meet(name: str, folder: str) -> int:
    Path(folder, name).touch()
    while len(list(Path(folder).iterdir())) < 2:
        time.sleep(0.05)
    return int(str(get_options().device).removeprefix("gpu:"))


def test_trials_that_reserve_a_gpu_train_on_different_ones(address: str, tmp_path: Path) -> None:
    meeting = tmp_path / "meeting"
    meeting.mkdir()
    grid = {"name": ["a", "b"], "folder": [str(meeting)]}
    cluster = pg.Ray(address, gpus=1)
    result = pg.sweep(meet, grid=grid, ray=cluster, folder=tmp_path / "sweep", verbose=0)
    assert {trial.value for trial in result.trials} == {0, 1}, result.trials
    with pytest.raises(pg.DeviceError, match=r"no machine .*CPU: 1, GPU: 3"):
        pg.sweep(meet, grid=grid, ray=pg.Ray(address, gpus=3), parallel=1, verbose=0)


LISTENING = """
import os
from pathlib import Path
import playgrad as pg

def parents():
    for stat in Path("/proc").glob("[0-9]*/stat"):
        yield int(stat.parent.name), int(stat.read_text().rpartition(")")[2].split()[1])

def inode(file):
    try:
        return os.readlink(file).removeprefix("socket:").strip("[]")
    except FileNotFoundError:  # closed meanwhile
        return None

with pg.Ray().connected() as ray:
    assert ray._raylet.get_authentication_mode() == ray._raylet.AuthenticationMode.TOKEN
    assert ray.get(ray.remote(lambda: 3).remote()) == 3
    family, known = {os.getpid()}, 0
    while len(family) > known:
        known = len(family)
        family |= {process for process, parent in parents() if parent in family}
    inodes = {inode(file) for process in family for file in Path(f"/proc/{process}/fd").iterdir()}
    for table in ("tcp", "tcp6"):
        for row in Path("/proc/net", table).read_text().splitlines()[1:]:
            _, local, _, state, *rest = row.split()
            if state == "0A" and rest[5] in inodes:
                print(local.partition(":")[0])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_ray_that_a_sweep_starts_is_private(tmp_path: Path) -> None:
    environment = {**os.environ, "HOME": str(tmp_path)}
    for name in ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN"):
        environment.pop(name, None)
    ended = subprocess.run(
        [sys.executable, "-c", LISTENING], env=environment, capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stderr
    addresses = ended.stdout.split()
    assert len(addresses) >= 4, "of a raylet, the head and workers"
    assert {address[-8:] for address in addresses} == {"0100007F"}, "127.0.0.1"
    assert list(tmp_path.iterdir()) == [], "a token in a file can be read by others"
