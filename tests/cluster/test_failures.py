"""Members that die, hang or fail: an error names them, nobody waits for ever, and with checkpoints
the run goes on."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.conftest import HostsRun, Launcher

ON_ONE = """
import os
import numpy as np
import playgrad as pg
from playgrad import nn

rank = int(os.environ.get("OMPI_COMM_WORLD_RANK", os.environ.get("PMI_RANK", "0")))
x = np.random.default_rng(0).standard_normal((64, 4)).astype(np.float32)
PREPARE
model = pg.Sequential([nn.Dense(4), nn.Dense(1)])
model.compile(pg.optim.SGD(RATE), loss="mse")
model.fit(x, x[:, :1], batch_size=16, epochs=4, verbose=0)
"""


def weights_of(run: HostsRun) -> list[float]:
    return [float(number) for number in re.findall(r"'(.*?)'", run.out.splitlines()[0])]


def on_one(prepare: str = "", rate: float = 0.01) -> str:
    return ON_ONE.replace("PREPARE", prepare).replace("RATE", str(rate))


def test_a_member_that_dies_ends_the_run_and_is_named(launcher: Launcher) -> None:
    run = launcher.start(launcher.trains(100_000), "localhost:2")
    run.wait_for("epoch 3/")
    run.send(signal.SIGKILL, 1)
    assert run.wait() == 1
    assert "member 1 (localhost) has died" in run.err
    assert "--checkpoint" in run.err
    assert run.members() == []


def test_a_run_goes_on_from_its_checkpoint_with_the_same_numbers(
    launcher: Launcher, tmp_path: Path
) -> None:
    program = launcher.trains(60)  # the end must not come before the signal
    whole = launcher.start(program, "localhost:2")
    assert whole.wait() == 0, whole.err
    cut = launcher.start(
        program, "localhost:2", "--checkpoint", tmp_path / "c", "--checkpoint-every", 64
    )
    cut.wait_for("epoch 6/")
    cut.send(signal.SIGKILL, 0)
    assert cut.wait() == 0, cut.err
    assert "member 0 (localhost) has died. The run starts again from the last" in cut.err
    step = re.search(r"continuing after step (\d+)", cut.err)
    assert step is not None
    assert int(step[1]) >= 64
    assert cut.out.splitlines()[0] == whole.out.splitlines()[0]


def test_a_checkpoint_of_one_process_continues_on_two(launcher: Launcher, tmp_path: Path) -> None:
    program = launcher.trains(6)
    checkpoints = ["--checkpoint", tmp_path / "c", "--checkpoint-every", 32]
    half = launcher.start(program, "localhost:1", *checkpoints, "--steps", 48)
    assert half.wait() == 0, half.err
    rest = launcher.start(program, "localhost:2", *checkpoints, "--resume", "--steps", 96)
    whole = launcher.start(program, "localhost:2", "--steps", 96)
    assert (rest.wait(), whole.wait()) == (0, 0), rest.err
    assert "continuing after step 48" in rest.err
    assert weights_of(rest) == pytest.approx(weights_of(whole), abs=1e-5)  # sums of two parts


@pytest.mark.slow
def test_a_member_that_hangs_is_named(launcher: Launcher) -> None:
    run = launcher.start(launcher.trains(100_000), "localhost:2")
    run.wait_for("epoch 3/")
    stopped = run.members()[1]
    os.kill(stopped, signal.SIGSTOP)
    assert run.wait() == 1
    assert "member 1 (localhost) has not answered for 8 s" in run.err


def test_an_error_on_one_machine_is_told_with_its_name(launcher: Launcher) -> None:
    program = launcher.program(on_one('if rank == 1:\n    open("/no/such/file")'))
    run = launcher.start(program, "localhost:2")
    assert run.wait() == 1
    assert "member 1 (localhost): FileNotFoundError" in run.err
    assert "member 0" not in run.err


def test_an_error_of_all_is_told_once(launcher: Launcher) -> None:
    run = launcher.start(launcher.program(on_one(rate=1e30)), "localhost:2")
    assert run.wait() == 1
    assert run.err.count("NonFiniteError") == 1
    assert "member" not in run.err


def test_members_with_other_data_are_an_error(launcher: Launcher) -> None:
    program = launcher.program(on_one("x = np.random.standard_normal((64, 4)).astype('f')"))
    run = launcher.start(program, "localhost:2")
    assert run.wait() == 1
    assert "the data differs between the members" in run.err
    assert "seed" in run.err


def test_members_with_other_networks_are_an_error(launcher: Launcher) -> None:
    text = on_one().replace("nn.Dense(4)", "nn.Dense(4), *[nn.ReLU()] * rank")
    run = launcher.start(launcher.program(text), "localhost:2")
    assert run.wait() == 1
    assert "the graph differs between the members" in run.err


def test_a_signal_ends_all_between_two_steps(launcher: Launcher, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    run = launcher.start(launcher.trains(100_000), "localhost:2", "--checkpoint", folder)
    run.wait_for("epoch 3/")
    run.process.send_signal(signal.SIGTERM)
    assert run.wait() == 143
    assert run.members() == []
    assert list(folder.glob("step-*.playgrad"))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder with room for 16 kB."""
    folder = tmp_path / "small"
    folder.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=16k", "none", str(folder)], capture_output=True
    )
    if made.returncode:
        pytest.skip(f"no file system can be mounted here: {made.stderr.decode().strip()}")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_full_disk_stops_no_training(launcher: Launcher, small_disk: Path) -> None:
    folder = small_disk / "c"
    folder.mkdir()
    (small_disk / "filler").write_bytes(bytes(12 << 10))
    program = launcher.trains(20)
    run = launcher.start(program, "localhost:2", "--checkpoint", folder, "--checkpoint-every", 64)
    run.wait()
    assert "No space left" in run.err
    assert "training continues" in run.err
    assert "weights [" in run.out


@pytest.mark.slow
def test_random_kills_always_end_with_the_same_numbers(launcher: Launcher, tmp_path: Path) -> None:
    program = launcher.trains(24)
    whole = launcher.start(program, "localhost:2")
    assert whole.wait() == 0, whole.err
    for case in range(20):
        folder = tmp_path / f"c{case}"
        run = launcher.start(
            program, "localhost:2", "--checkpoint", folder, "--checkpoint-every", 16
        )
        run.wait_for("epoch 1/")
        time.sleep(0.05 * case)
        members = run.members()
        if len(members) == 2:
            os.kill(members[case % 2], signal.SIGKILL)
        assert run.wait() == 0, run.err
        assert run.out.splitlines()[0] == whole.out.splitlines()[0]


def test_ssh_does_not_wait_for_machines_and_passwords(
    launcher: Launcher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ssh = tmp_path / "ssh"
    ssh.write_text('#!/bin/sh\necho "asked with: $*" >&2\nexit 255\n')
    ssh.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    run = launcher.start(launcher.trains(1), "localhost:1,192.0.2.1:1")
    assert run.wait() == 1
    assert re.search(r"asked with: .*BatchMode=yes -o ConnectTimeout=\d+ .*192\.0\.2\.1", run.err)
    assert "member 1 (192.0.2.1) did not start" in run.err
