"""Asks each machine of a run for an account of itself, over ssh or what takes its place."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, TypeAlias

from playgrad.cluster import facts as facts_script
from playgrad.cluster.hosts import LOCAL, SSH, HostSlots
from playgrad.cluster.launch import FORWARDED

Process: TypeAlias = "subprocess.Popen[bytes]"
SECONDS = 30.0
"""The time for a machine to answer; loading playgrad takes seconds on a busy one."""
_AT_ONCE = 32
_CLOCK_READINGS = 8
_LONGEST_ACCOUNT = 1 << 20
_START = "import sys; exec(compile(sys.stdin.buffer.read({size}), 'facts', 'exec'))"
_ADVICE = (
    (
        r"HOST IDENTIFICATION HAS CHANGED",
        "the key of {host} is not the one that ssh knows: if the machine was set up anew, run "
        "ssh-keygen -R {host}, then ssh {host}",
    ),
    (
        r"Host key verification failed",
        "ssh does not know the key of {host}: run ssh {host} once, and confirm it",
    ),
    (
        r"Permission denied|password",
        "ssh asks for a password: put your public key there with ssh-copy-id {host}",
    ),
    (
        r"resolve hostname|Name or service not known|nodename nor servname",
        "the name {host} is not known: add it to /etc/hosts, or use the machine's address",
    ),
    (r"Connection refused", "{host} has no ssh server: start sshd there"),
    (
        r"timed out|No route to host|unreachable",
        "{host} does not answer: check that it is on, and that no firewall is between",
    ),
    (
        r"No such file or directory|not found",
        "{host} has no {python}: install Python and playgrad at the same path as here",
    ),
)


@dataclass(frozen=True)
class Account:
    """A machine's account of itself, as `playgrad.cluster.facts` gives it.

    Attributes:
        facts: empty if the machine was not reached.
        problem: the reason for that, and what to do about it.
        offset: seconds that its clock is ahead of this machine's.
        uncertainty: the greatest error of ``offset``, half of the quickest round trip.
    """

    host: HostSlots
    facts: dict[str, Any] = field(default_factory=dict)
    problem: str = ""
    offset: float = 0.0
    uncertainty: float = 0.0


class StartedProcesses:
    """Processes that end together: none is forgotten while it is being started."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._processes: list[Process] = []
        self._are_over = False

    def start(self, command: Sequence[str]) -> Process:
        """Start a process with pipes, and without a terminal to ask for a password."""
        pipe = subprocess.PIPE
        with self._lock:
            process = subprocess.Popen(
                command, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
            )
            self._processes.append(process)
            if self._are_over:
                _kill(process)
        return process

    def end(self) -> None:
        """End all of them, also those that are started from now on."""
        with self._lock:
            self._are_over = True
            for process in self._processes:
                _kill(process)


def ask_all(hosts: Sequence[HostSlots], shell: str | None, folder: str) -> list[Account]:
    """Ask ``hosts`` at the same time.

    Args:
        shell: what takes the place of ``ssh``; None for that.
        folder: the working folder of the run.
    """
    started = StartedProcesses()
    pool = ThreadPoolExecutor(min(len(hosts), _AT_ONCE))
    try:
        return list(pool.map(lambda host: ask(host, shell, folder, started=started), hosts))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        started.end()  # after Ctrl+C


def ask(
    host: HostSlots,
    shell: str | None,
    folder: str,
    seconds: float = SECONDS,
    started: StartedProcesses | None = None,
) -> Account:
    """Ask a machine; the answer says why if there was none within ``seconds``.

    Args:
        started: where the process that asks belongs.
    """
    source = Path(facts_script.__file__).read_bytes()
    try:
        process = (started or StartedProcesses()).start(_command(host, shell, folder, len(source)))
    except OSError as error:
        program = shlex.split(shell)[0] if shell else "ssh"
        reason = f"{program} cannot be run here ({error.strerror}): install it, or name another "
        return Account(host, problem=f"{reason}with --rsh")
    late = threading.Event()

    def end() -> None:
        late.set()
        _kill(process)

    timer = threading.Timer(seconds, end)
    timer.start()
    assert process.stdin is not None and process.stdout is not None and process.stderr is not None
    errors: list[bytes] = []
    reader = threading.Thread(target=lambda file: errors.append(file.read()), args=[process.stderr])
    reader.start()
    try:
        with suppress(BrokenPipeError):
            process.stdin.write(source)
            process.stdin.flush()
        account = _read(host, process.stdin, process.stdout)
    finally:
        timer.cancel()
        for stream in (process.stdin, process.stdout):
            with suppress(OSError):
                stream.close()
        with suppress(subprocess.TimeoutExpired):
            process.wait(2.0)
        if process.poll() is None:
            end()
        process.wait()
        reader.join()
        process.stderr.close()
    if account is None:
        reason = f"no answer within {seconds:g} s" if late.is_set() else ""
        return Account(
            host, problem=_problem(host.name, reason, errors[0].decode("utf-8", "replace"))
        )
    return account


def _kill(process: Process) -> None:
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def _command(host: HostSlots, shell: str | None, folder: str, size: int) -> list[str]:
    command = [sys.executable, "-c", _START.format(size=size), folder]
    if host.name in LOCAL:
        return command
    settings = [f"{name}={os.environ[name]}" for name in FORWARDED if name in os.environ]
    agent = SSH if shell is None else shlex.split(shell)
    return [*agent, host.name, shlex.join(["env", *settings, *command])]


def _read(host: HostSlots, stdin: IO[bytes], stdout: IO[bytes]) -> Account | None:
    """Read the account, and then the clock a few times."""
    facts: Any = None
    while not isinstance(facts, dict) or "python" not in facts:  # a login may print greetings
        line = stdout.readline(_LONGEST_ACCOUNT)
        if not line:
            return None
        with suppress(ValueError):
            facts = json.loads(line)
    readings = []
    for _ in range(_CLOCK_READINGS):
        try:
            before = time.time()
            stdin.write(b"\n")
            stdin.flush()
            line = stdout.readline(100)
            after = time.time()
            readings.append(((after - before) / 2, float(line) - (before + after) / 2))
        except (OSError, ValueError):
            return None
    uncertainty, offset = min(readings)
    return Account(host, facts, "", offset, uncertainty)


def _problem(host: str, reason: str, errors: str) -> str:
    """Return why a machine could not be asked, and what to do."""
    for pattern, advice in _ADVICE:
        if re.search(pattern, errors):
            return advice.format(host=host, python=sys.executable)
    lines = errors.strip().splitlines()
    said = reason or (lines[-1] if lines else "the connection ended without a word")
    return f"{said:.300}: check that a command can be run there without a password"
