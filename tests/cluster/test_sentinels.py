"""A member in a call that holds Python's lock is healthy; one that is stopped is not."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from playgrad.cluster import supervisor, watched
from playgrad.cluster.hosts import HostSlots
from playgrad.cluster.sentinel import look_at
from playgrad.cluster.watched import LostMember
from tests.cluster.conftest import HostsRun, Launcher
from tests.cluster.test_failures import on_one

HELD = 3.0
"""Seconds for which a member's call holds the lock; longer than the silence in these tests."""
SILENCE = 1.2
HOLDS = f"""
if rank == 1:
    import ctypes
    print("holding")
    ctypes.PyDLL(None).usleep({int(HELD * 1e6)})
"""


def outcome_of(
    program: Path, monkeypatch: pytest.MonkeyPatch, held: float
) -> tuple[int | LostMember, float]:
    """Supervise a run in this process, with little patience; return its outcome and seconds."""
    monkeypatch.setattr(watched, "SILENCE_SECONDS", SILENCE)
    monkeypatch.setattr(watched, "HELD_SECONDS", held)
    command = [sys.executable, "-m", "playgrad", "train", str(program), "--hosts", "localhost:2"]
    job = supervisor.RunOfMembers([HostSlots("localhost", 2)], command, None)
    started = time.monotonic()
    return job.run(), time.monotonic() - started


def test_a_call_that_holds_the_lock_is_waited_for(
    launcher: Launcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    result, seconds = outcome_of(launcher.program(on_one(HOLDS)), monkeypatch, held=60.0)
    assert result == 0
    assert seconds > HELD


def test_a_member_that_neither_answers_nor_computes_is_given_up(
    launcher: Launcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = on_one(HOLDS.replace(str(int(HELD * 1e6)), str(60_000_000)))
    result, _ = outcome_of(launcher.program(text), monkeypatch, held=2.0)
    assert result == LostMember(1, "has neither answered nor computed for 2 s", True)


def test_a_sentinel_does_not_answer_for_a_process_that_is_stopped() -> None:
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as process:
        try:
            seen = []
            while len({each for each in seen if each is not None}) < 3:  # it computes
                seen.append(look_at(process.pid))
            os.kill(process.pid, signal.SIGSTOP)
            while look_at(process.pid) is not None:
                time.sleep(0.01)
        finally:
            process.kill()
            process.wait()
    assert look_at(process.pid) is None


def sentinels_of(run: HostsRun) -> list[int]:
    """Return the sentinels of the members."""
    members = set(run.members())
    found = []
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            parent = re.search(r"PPid:\s+(\d+)", status.read_text())
            command = status.with_name("cmdline").read_bytes()
        except OSError:
            continue
        if parent is not None and int(parent[1]) in members and b"sentinel.py" in command:
            found.append(int(status.parent.name))
    return found


def test_sentinels_end_with_their_members(launcher: Launcher) -> None:
    run = launcher.start(launcher.trains(100_000), "localhost:2")
    run.wait_for("epoch 2/")
    sentinels = sentinels_of(run)
    assert len(sentinels) == 2
    os.kill(sentinels[0], signal.SIGKILL)  # its member answers for itself
    time.sleep(1.0)
    assert run.process.poll() is None
    for pid in run.members():
        os.kill(pid, signal.SIGKILL)
    assert run.wait() == 1
    assert "has died" in run.err
    assert not any(look_at(pid) is not None for pid in sentinels)
