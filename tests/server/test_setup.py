"""Set-up: a step runs only when it must; files with the wrong hash are refused."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from playgrad.assets import PYODIDE, PYODIDE_VERSION, Asset, DownloadError, File, fetch
from playgrad.assets.pins import LOCK, NUMPY, NUMPY_FOR_PROGRAMS
from playgrad.assets.progress import DownloadProgress
from playgrad.assets.sources import Website
from tools.setup import steps, system
from tools.setup.steps import SetupError, Step, run_step

CONTENT = b"the wheel"
WHEEL = File("numpy.whl", len(CONTENT), hashlib.sha256(CONTENT).hexdigest())


@dataclass(frozen=True)
class Memory:
    """A source that returns ``content`` for every file, or fails if it is None."""

    title: str
    content: bytes | None = None

    def __str__(self) -> str:
        return self.title

    def read(
        self, files: Sequence[File], progress: DownloadProgress
    ) -> Iterator[tuple[File, bytes]]:
        if self.content is None:
            raise OSError("no network")
        for file in files:
            yield file, self.content


@pytest.fixture
def target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The path of the wheel that `fetch_wheel` fetches."""
    monkeypatch.setenv("PLAYGRAD_VAR", str(tmp_path))
    return tmp_path / "wheels" / WHEEL.name


def fetch_wheel(*sources: Memory) -> None:
    fetch(Asset("NumPy", "wheels", (WHEEL,), sources))


def test_wheel_with_another_hash_is_refused(target: Path) -> None:
    with pytest.raises(DownloadError) as raised:
        fetch_wheel(Memory("the CDN"), Memory("the carrier", b"tampered"))
    text = str(raised.value)
    assert "the CDN: no network" in text
    actual = hashlib.sha256(b"tampered").hexdigest()
    assert f"numpy.whl has SHA-256 {actual}, expected {WHEEL.sha256}" in text
    assert not target.exists()


def test_wheel_comes_from_the_first_source_that_has_it(target: Path) -> None:
    fetch_wheel(Memory("a"), Memory("b", b"x"), Memory("c", CONTENT))
    assert target.read_bytes() == CONTENT


def test_wheel_that_is_there_is_kept_and_a_damaged_one_replaced(target: Path) -> None:
    target.parent.mkdir()
    target.write_bytes(CONTENT)
    fetch_wheel(Memory("a"))
    target.write_bytes(CONTENT[:-1])
    fetch_wheel(Memory("a", CONTENT))
    assert target.read_bytes() == CONTENT
    target.write_bytes(b"THE wheel")
    with pytest.raises(DownloadError, match="cannot fetch NumPy: a: no network"):
        fetch_wheel(Memory("a"))
    assert not target.exists()


def test_wheel_in_use_is_the_locked_one() -> None:
    """The pins match the npm package, whose version package.json pins."""
    modules = Path(__file__).resolve().parents[2] / "node_modules"
    lock = json.loads((modules / "pyodide" / "pyodide-lock.json").read_text())
    assert lock["info"] == LOCK["info"]
    numpy = lock["packages"]["numpy"]
    assert numpy.pop("sha256") == NUMPY.published.sha256
    part = NUMPY_FOR_PROGRAMS
    sent = {"sha256": part.sha256, "file_name": part.name}
    assert LOCK["packages"]["numpy"] == numpy | sent  # type: ignore[index]
    manifest = json.loads((modules / "pyodide" / "package.json").read_text())
    assert manifest["version"] == PYODIDE_VERSION
    assert all(file.is_in(PYODIDE.folder()) for file in PYODIDE.files)


def test_file_comes_from_a_site_that_answers(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = PYODIDE.pinned["pyodide.asm.mjs"]
    content = (PYODIDE.folder() / code.name).read_bytes()
    monkeypatch.setenv("PLAYGRAD_VAR", str(tmp_path))
    site = Website("the CDN", f"{server}/pyodide/{PYODIDE_VERSION}/{{name}}")
    folder = fetch(Asset("Pyodide", "code", (code,), (site,)))
    assert (folder / code.name).read_bytes() == content


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
    monkeypatch.setattr(
        system, "_missing_for_tests", lambda: ["chromium-headless-shell", "libvulkan1"]
    )
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    command = "sudo apt-get update && sudo apt-get install -y chromium-headless-shell libvulkan1"
    with pytest.raises(SetupError, match=f"please run: {command}"):
        system.test_step().make()


def test_firefox_is_installed_without_recommended_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = iter([["chromium", "firefox-esr"]] * 2 + [[]])
    commands: list[tuple[str, ...]] = []
    monkeypatch.setattr(system, "_missing_for_tests", lambda: next(missing))
    monkeypatch.setattr(system, "run", lambda *command, env: commands.append(command))
    monkeypatch.setattr(shutil, "which", lambda name: name if name == "apt-get" else None)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    system.test_step().make()
    assert commands == [
        ("apt-get", "update", "-qq"),
        ("apt-get", "install", "-y", "-qq", "chromium"),
        ("apt-get", "install", "-y", "-qq", "--no-install-recommends", "firefox-esr"),
    ]


@pytest.mark.parametrize("kind", ["script", "link"])
def test_a_firefox_from_a_snap_is_not_taken_for_one_that_tests_can_drive(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: str
) -> None:
    """Ubuntu's package is a script; the folder of snaps has links to their launcher."""
    programs = tmp_path / "bin"
    programs.mkdir()
    firefox, launcher = programs / "firefox", tmp_path / "snap"
    launcher.write_bytes(b"\x7fELF")
    if kind == "script":
        firefox.write_text('#!/bin/sh\nexec /snap/bin/firefox "$@"\n')
    else:
        firefox.symlink_to(launcher)
    others = [programs / name for name in ("chromium-headless-shell", "apt-get", "gcc")]
    for program in (launcher, firefox, *others):
        program.touch()
        program.chmod(0o755)
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setattr(system, "_has_vulkan", lambda: True)
    with pytest.raises(SetupError, match="firefox is a snap, which the tests cannot drive"):
        system.test_step().make()
    firefox.unlink()
    firefox.write_bytes(b"\x7fELF")
    firefox.chmod(0o755)
    system.test_step().make()  # nothing is missing


def test_missing_system_packages_without_apt_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system, "_missing_for_tests", lambda: ["chromium"])
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(SetupError, match="install the equivalents of these packages: chromium"):
        system.test_step().make()


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("exit 1", "no Python 3.11 or newer on PATH"),
        ('case "$2" in *ensurepip*) exit 1;; esac', "python3 has no venv or ensurepip module"),
    ],
)
def test_missing_python_is_reported(tmp_path: Path, script: str, message: str) -> None:
    (tmp_path / "python3").write_text(f"#!/bin/sh\n{script}\n")
    (tmp_path / "python3").chmod(0o755)
    finder = Path(__file__).resolve().parents[2] / "tools" / "find-python"
    result = subprocess.run(
        ["/bin/sh", finder], env={"PATH": str(tmp_path)}, capture_output=True, text=True
    )
    assert result.returncode == 1
    assert message in result.stderr
