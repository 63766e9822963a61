"""Two machines: network namespaces that a pair of virtual devices joins, over a shaped link."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cluster.conftest import Launcher

_numbers = itertools.count()
BYTES_PER_SECOND = 12_500_000


@dataclass
class TwoMachines:
    """Two namespaces with an address each, and a command in the place of ssh."""

    names: tuple[str, str]
    addresses: tuple[str, str]
    shell: Path

    @property
    def hosts(self) -> str:
        return ",".join(f"{address}:1" for address in self.addresses)

    @property
    def on_first(self) -> list[str]:
        """What runs a command on the first machine."""
        return ["ip", "netns", "exec", self.names[0]]

    def cut(self) -> None:
        """Take the link down."""
        _ip("-n", self.names[1], "link", "set", "link1", "down")


def _ip(*arguments: str) -> None:
    _run("ip", *arguments)


def _run(*command: str) -> None:
    made = subprocess.run(command, capture_output=True, text=True)
    if made.returncode:
        raise OSError(f"{' '.join(command)}: {made.stderr.strip()}")


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[TwoMachines]:
    number = next(_numbers) + os.getpid() % 200 * 8
    names = (f"pg{number}a", f"pg{number}b")
    subnet = f"10.{77 + number // 250}.{number % 250}"
    addresses = (f"{subnet}.1", f"{subnet}.2")
    shell = tmp_path / "shell"
    shell.write_text(
        '#!/bin/sh\nhost=$1\nshift\ncase "$host" in\n'
        + "".join(f"{a}) n={n} ;;\n" for a, n in zip(addresses, names, strict=True))
        + 'esac\nexec ip netns exec "$n" sh -c "$*"\n'
    )
    shell.chmod(0o755)
    try:
        for name in names:
            _ip("netns", "add", name)
    except OSError as error:
        pytest.skip(f"no network namespaces here: {error}")
    try:
        first, second = names
        _ip("-n", first, "link", "add", "link0", "type", "veth", "peer", "link1", "netns", second)
        for place, (name, address) in enumerate(zip(names, addresses, strict=True)):
            _ip("-n", name, "addr", "add", f"{address}/24", "dev", f"link{place}")
            for device in ("lo", f"link{place}"):
                _ip("-n", name, "link", "set", device, "up")
            shape = ["tbf", "rate", f"{8 * BYTES_PER_SECOND}bit", "burst", "64k", "latency", "50ms"]
            try:
                _run("tc", "-n", name, "qdisc", "add", "dev", f"link{place}", "root", *shape)
            except OSError as error:
                pytest.skip(f"no link can be shaped here: {error}")
        yield TwoMachines(names, addresses, shell)
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], check=False)


def test_two_machines_train_as_one_does(launcher: Launcher, machines: TwoMachines) -> None:
    program = launcher.trains(3)
    apart = launcher.start(
        program, machines.hosts, "--rsh", machines.shell, prefix=machines.on_first
    )
    assert apart.wait() == 0, apart.err
    together = launcher.start(program, "localhost:2")
    assert together.wait() == 0, together.err
    assert apart.out.splitlines()[0] == together.out.splitlines()[0]


def test_a_link_that_is_cut_ends_one_half_and_the_other_goes_on(
    launcher: Launcher, machines: TwoMachines, tmp_path: Path
) -> None:
    program = launcher.trains(150)
    checkpoints = ["--checkpoint", tmp_path / "c", "--checkpoint-every", 160]
    run = launcher.start(
        program,
        machines.hosts,
        "--rsh",
        machines.shell,
        *checkpoints,
        prefix=machines.on_first,
    )
    run.wait_for("epoch 25/")
    machines.cut()
    assert run.wait() == 0, run.err
    lost = machines.addresses[1]
    assert f"member 1 ({lost}) has not answered for 8 s" in run.err
    assert f"without {lost}" in run.err
    step = re.search(r"continuing after step (\d+)", run.err)
    assert step is not None
    assert int(step[1]) >= 160
    assert "weights [" in run.out
    assert run.members() == []
