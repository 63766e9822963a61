"""What a user of several machines reads of a device says which machine it is on."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from bench.two_machines import ADDRESSES, TwoMachines
from playgrad.cluster.hosts import HostSlots, device_numbers
from playgrad.devices.kinds import kind_of
from playgrad.devices.machines import full_name, full_names, machines_set
from playgrad.errors import DeviceError
from tests.cluster.conftest import Launcher

PROGRAM = Path(__file__).with_name("named_devices.py").read_text()
AHEAD = 100_000
"""Seconds by which the second machine's clock is ahead: it counts from when a machine started."""


def test_names_have_machines_where_there_are_several() -> None:
    with machines_set(["a", "a", "b"]):
        assert full_names(["gpu:0", "cpu:2", "cpu:3"]) == "a/gpu:0, b/cpu:2, cpu:3"
        assert full_name("cpu:1 (weights)") == "a/cpu:1 (weights)"
        assert full_name(full_name("cpu:2")) == "b/cpu:2"
        assert [full_name(other) for other in ("cpu", "stage:x", "")] == ["cpu", "stage:x", ""]
        with machines_set(["a", "a"]):
            assert full_name("cpu:1") == "cpu:1"
    assert full_name("cpu:1") == "cpu:1"
    assert device_numbers([HostSlots("a", 4), HostSlots("b", 1)]) == [range(4), range(4, 5)]


def test_a_name_that_was_copied_from_an_error_is_explained() -> None:
    with pytest.raises(DeviceError, match=r"'b/gpu:3' is not a device\. Write gpu:3: the number"):
        kind_of("b/gpu:3")


@pytest.fixture
def shell(machines: TwoMachines, tmp_path: Path) -> Path:
    """What takes the place of ssh, to machines whose clocks are ahead."""
    words = ["unshare", "--time", "--monotonic", str(AHEAD), "--fork"]
    made = subprocess.run([*words, "true"], capture_output=True, text=True)
    if made.returncode:
        pytest.skip(f"no clock of one's own here: {made.stderr.strip()}")
    text = Path(machines.script).read_text()
    assert text.count("unshare") == 1
    shell = tmp_path / "shell"
    shell.write_text(text.replace("unshare", " ".join(words)))
    shell.chmod(0o755)
    return shell


def test_errors_placements_and_traces_name_machines(
    launcher: Launcher, machines: TwoMachines, shell: Path
) -> None:
    run = launcher.start(
        launcher.program(PROGRAM), machines.hosts(), "--rsh", shell, prefix=machines.on_first
    )
    run.wait()
    said = json.loads(next(line for line in run.out.splitlines() if line.startswith("{")))
    first, second = (f"{address}/cpu:{rank}" for rank, address in enumerate(ADDRESSES))
    assert f"Available: {first}, {second}" in said["absent"]
    assert "Write cpu:1: the number says" in said["copied"]
    assert f"{second} was computing 'far'" in said["index"]
    assert set(said["placement"]) == {first, second}
    assert f"  {second}  mul_1, far: set" in said["summary"]
    # Each of two runs has the same events, with the times of one clock.
    assert set(said["events"]) == {first, second}
    assert all(count % 2 == 0 for count in said["events"].values())
    assert said["seconds"] < AHEAD / 2
    assert said["clocks"] == {first: "operations", second: "operations"}
    assert f"{second}: operations ran" in said["table"]
