"""Two machines: network namespaces that a link with a bandwidth, and a latency, joins."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bench.two_machines import ADDRESSES, TwoMachines
from tests.cluster.conftest import LATENCY, Launcher


def test_two_machines_train_as_one_does(launcher: Launcher, machines: TwoMachines) -> None:
    program = launcher.trains(3)
    apart = launcher.start(
        program, machines.hosts(), "--rsh", machines.script, prefix=machines.on_first
    )
    assert apart.wait() == 0, apart.err
    together = launcher.start(program, "localhost:2")
    assert together.wait() == 0, together.err
    assert apart.out.splitlines()[0] == together.out.splitlines()[0]


def test_pieces_are_a_tensor_of_any_size() -> None:
    from playgrad.cluster.mpi_transport import pieces

    for size in (0, 1, 7, 8, 9, 24):
        array = np.arange(size, dtype=np.uint8)
        found = [bytes(piece) for piece, _ in pieces(array, 8)]
        assert b"".join(found) == array.tobytes()
        assert len(found) == max(1, -(-size // 8))


LARGE = """
import numpy as np
import playgrad as pg
from zlib import crc32

x = np.random.default_rng(0).standard_normal((16, 700)).astype(np.float32)
model = pg.Sequential([pg.nn.Dense(700, activation="tanh"), pg.nn.Dense(2)])
for collective in ("ring", "central"):
    model.compile("adam", "mse", strategy=pg.parallel.DataParallel(2, collective))
    model.fit(x, x[:, :2], batch_size=8, epochs=2, verbose=0)
    print(collective, [crc32(array.tobytes()) for array in model.get_weights()])
"""


@pytest.mark.slow
def test_tensors_of_several_pieces_have_the_same_bits(
    launcher: Launcher, machines: TwoMachines
) -> None:
    program = launcher.program(LARGE)
    shell = ("--rsh", machines.script)
    apart = launcher.start(program, machines.hosts(), *shell, prefix=machines.on_first)
    together = launcher.start(program, "localhost:2")
    assert (apart.wait(), together.wait()) == (0, 0), apart.err + together.err
    assert apart.out.splitlines()[:2] == together.out.splitlines()[:2]


def test_the_latency_of_a_link_is_measured(machines: TwoMachines) -> None:
    words = ["hosts", machines.hosts(), "--rsh", machines.script, "--json"]
    line = [*machines.on_first, sys.executable, "-m", "playgrad", *words]
    ended = subprocess.run(line, capture_output=True, text=True, check=True)
    (link,) = json.loads(ended.stdout)["links"]
    assert link["latency"] >= LATENCY / 1e3  # a busy machine adds to it


def test_a_link_that_is_cut_ends_one_half_and_the_other_goes_on(
    launcher: Launcher, machines: TwoMachines, tmp_path: Path
) -> None:
    program = launcher.trains(150)
    checkpoints = ["--checkpoint", tmp_path / "c", "--checkpoint-every", 160]
    run = launcher.start(
        program,
        machines.hosts(),
        "--rsh",
        machines.script,
        *checkpoints,
        prefix=machines.on_first,
    )
    run.wait_for("epoch 25/")
    machines.cut()
    assert run.wait() == 0, run.err
    lost = ADDRESSES[1]
    assert f"member 1 ({lost}) has not answered for 8 s" in run.err
    assert f"without {lost}" in run.err
    step = re.search(r"continuing after step (\d+)", run.err)
    assert step is not None
    assert int(step[1]) >= 160
    assert "weights [" in run.out
    assert run.members() == []


def test_another_version_of_the_program_on_a_machine_is_an_error(
    launcher: Launcher, machines: TwoMachines, tmp_path: Path
) -> None:
    program, other = launcher.trains(3), tmp_path / "other"
    other.write_text(program.read_text().replace("Adam(0.003)", "Adam(0.004)"))
    shell = tmp_path / "shell"
    text = Path(machines.script).read_text()
    hidden = f"mount --bind {other} {program}; $*"
    assert text.count("$*") == 1  # `unshare` gives the machine mounts of its own
    shell.write_text(text.replace("--uts", "--uts --mount").replace("$*", hidden))
    shell.chmod(0o755)
    run = launcher.start(program, machines.hosts(), "--rsh", shell, prefix=machines.on_first)
    assert run.wait() == 1
    assert f"member 1 ({ADDRESSES[1]}) would run something else than member 0" in run.err
    assert f"{program.name} is " in run.err
    assert "Adam" in program.read_text() and "0.004" not in program.read_text()
