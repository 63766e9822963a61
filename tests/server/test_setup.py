"""Set-up: a step runs when it must and only then; a wheel with another hash is refused."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tools.setup import node, pyodide, steps, system
from tools.setup.pyodide import SOURCES, TARGET, Wheel, fetch_wheel, locked_wheel
from tools.setup.steps import SetupError, Step, run_step

CONTENT = b"the wheel"
WHEEL = Wheel("numpy.whl", hashlib.sha256(CONTENT).hexdigest())


def _fails(wheel: Wheel) -> bytes:
    raise OSError("no network")


def test_wheel_with_another_hash_is_refused(tmp_path: Path) -> None:
    target = tmp_path / "numpy.whl"
    with pytest.raises(SetupError) as raised:
        fetch_wheel(WHEEL, target, {"the CDN": _fails, "the carrier": lambda wheel: b"tampered"})
    text = str(raised.value)
    assert "the CDN: no network" in text
    found = hashlib.sha256(b"tampered").hexdigest()
    assert f"numpy.whl has SHA-256 {found}, the lock file says {WHEEL.sha256}" in text
    assert not target.exists()


def test_wheel_comes_from_the_first_source_that_has_it(tmp_path: Path) -> None:
    target = tmp_path / "numpy.whl"
    fetch_wheel(WHEEL, target, {"a": _fails, "b": lambda wheel: b"x", "c": lambda wheel: CONTENT})
    assert target.read_bytes() == CONTENT


def test_wheel_that_is_there_is_kept_and_a_damaged_one_replaced(tmp_path: Path) -> None:
    target = tmp_path / "numpy.whl"
    target.write_bytes(CONTENT)
    fetch_wheel(WHEEL, target, {"a": _fails})
    target.write_bytes(CONTENT[:-1])
    fetch_wheel(WHEEL, target, {"a": lambda wheel: CONTENT})
    assert target.read_bytes() == CONTENT
    target.write_bytes(CONTENT[:-1])
    with pytest.raises(SetupError, match="no usable NumPy wheel"):
        fetch_wheel(WHEEL, target, {"a": _fails})
    assert not target.exists()


def test_wheel_in_use_is_the_locked_one() -> None:
    wheel = locked_wheel(TARGET / "pyodide-lock.json", "numpy")
    wheel.check((TARGET / wheel.name).read_bytes())
    assert len(json.loads((TARGET / "package.json").read_text())["version"]) > 4


def test_wheel_comes_from_the_cdn_where_it_answers(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pyodide, "_CDN", server + "/pyodide/{version}/{name}")
    wheel = locked_wheel(TARGET / "pyodide-lock.json", "numpy")
    fetch_wheel(wheel, tmp_path / wheel.name, {"the CDN": SOURCES["Pyodide's CDN"]})
    assert (tmp_path / wheel.name).read_bytes() == (TARGET / wheel.name).read_bytes()


@pytest.fixture
def stamps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(steps, "_STAMPS", tmp_path / "stamps")
    monkeypatch.setattr(steps, "ROOT", tmp_path)
    return tmp_path


def test_step_runs_again_only_for_new_inputs_or_lost_outputs(stamps: Path) -> None:
    source, output = stamps / "in", stamps / "out"

    def make() -> None:
        output.write_bytes(source.read_bytes())

    step = Step("copy", [source, "version 1"], [output], make)
    source.write_text("one")
    assert run_step(step)
    assert not run_step(step)
    source.write_text("two")
    assert run_step(step)
    assert output.read_text() == "two"
    output.unlink()
    assert run_step(step)
    assert not run_step(step)
    assert run_step(Step("copy", [source, "version 2"], [output], make))


def test_step_that_fails_is_not_taken_for_done(stamps: Path) -> None:
    def make() -> None:
        raise SetupError("no")

    step = Step("broken", [], [], make)
    for _ in range(2):
        with pytest.raises(SetupError, match="no"):
            run_step(step)
    with pytest.raises(SetupError, match="the step 'idle' did not make out"):
        run_step(Step("idle", [], [stamps / "out"], lambda: None))


def test_missing_system_packages_without_root_give_the_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(system, "_missing_for_tests", lambda: ["chromium", "libvulkan1"])
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    command = "sudo apt-get update && sudo apt-get install -y chromium libvulkan1"
    with pytest.raises(SetupError, match=f"please run: {command}"):
        system.test_step().make()


def test_missing_system_packages_without_apt_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system, "_missing_for_tests", lambda: ["chromium"])
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(SetupError, match="install the equivalents of these packages: chromium"):
        system.test_step().make()


def test_missing_vulkan_driver_does_not_stop_the_page(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(system, "_has_vulkan", lambda: False)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    system.vulkan_step().make()
    assert "`--device gpu` will find no adapter here" in capsys.readouterr().out


def test_old_or_missing_node_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SetupError, match="node and npm are not both on PATH"):
        node.packages_step().make()
    for name in ("node", "npm"):
        (tmp_path / name).write_text("#!/bin/sh\necho v18.19.0\n")
        (tmp_path / name).chmod(0o755)
    with pytest.raises(SetupError, match=r"node is v18\.19\.0, which is too old: install Node"):
        node.packages_step().make()


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("exit 1", "no Python 3.11 or newer on PATH"),
        ('case "$2" in *ensurepip*) exit 1;; esac', "python3 has no venv or ensurepip module"),
    ],
)
def test_missing_python_is_told(tmp_path: Path, script: str, told: str) -> None:
    (tmp_path / "python3").write_text(f"#!/bin/sh\n{script}\n")
    (tmp_path / "python3").chmod(0o755)
    finder = Path(__file__).resolve().parents[2] / "tools" / "find-python"
    result = subprocess.run(
        ["/bin/sh", finder], env={"PATH": str(tmp_path)}, capture_output=True, text=True
    )
    assert result.returncode == 1
    assert told in result.stderr
