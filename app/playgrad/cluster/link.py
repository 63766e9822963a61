"""The connection of a member to the supervisor: each knows within seconds if the other is gone."""

from __future__ import annotations

import io
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ADDRESS, TOKEN, TERMINAL = "PLAYGRAD_SUPERVISOR", "PLAYGRAD_CLUSTER_TOKEN", "PLAYGRAD_TERMINAL"
"""Environment variables that a member is started with."""
HOSTS = "PLAYGRAD_HOSTS"
"""The same: the machines that this start of the run has, of those in the command."""
BEAT_SECONDS = 0.5
SILENCE_SECONDS = 8.0
"""After this time without a word, the other end is given up."""
LONGEST_LINE = 1 << 20
LONGEST_TEXT = 1 << 16
"""Characters of a message: JSON writes up to 12 bytes for one."""
LOST = 75
"""The exit code of a member that has lost its supervisor: others may go on without it."""


class Link:
    """Tells the supervisor that this member is alive, and ends the member if nobody hears it.

    Args:
        address: ``host:port`` of the supervisor.
        token: shows that the member belongs to the run.

    Raises:
        OSError: the supervisor cannot be reached.
    """

    def __init__(self, address: str, token: str, rank: int) -> None:
        host, _, port = address.rpartition(":")
        self._socket = socket.create_connection((host, int(port)), SILENCE_SECONDS)
        self._socket.settimeout(SILENCE_SECONDS)
        self._lock = threading.Lock()
        self._ends = False
        self.send({"token": token, "rank": rank, "pid": os.getpid()})
        self._sentinel = _start_sentinel(address, token, rank)
        for work in (self._beat, self._listen):
            threading.Thread(target=work, daemon=True).start()

    def send(self, message: Mapping[str, Any]) -> None:
        """Send a message; without a supervisor, end the process."""
        line = json.dumps(message).encode() + b"\n"
        try:
            with self._lock:
                self._socket.sendall(line)
        except OSError:
            self._lost()

    def end(self, code: int, text: str) -> None:
        """Tell the supervisor that this member ends, with its exit code and its error."""
        self._ends = True
        self.send({"end": code, "text": text})
        self._sentinel.communicate()  # it ends as its input does

    def _beat(self) -> None:
        while not self._ends:
            time.sleep(BEAT_SECONDS)
            self.send({})

    def _listen(self) -> None:
        file = self._socket.makefile("rb")
        while True:
            try:
                line = file.readline(LONGEST_LINE)
            except OSError:
                line = b""
            if not line:
                self._lost()
                return
            number = json.loads(line).get("signal")
            if number is not None:
                os.kill(os.getpid(), signal.Signals(number))

    def _lost(self) -> None:
        if not self._ends:
            os.write(2, b"playgrad: this member has lost its supervisor, and ends\n")
            os._exit(LOST)


def _start_sentinel(address: str, token: str, rank: int) -> subprocess.Popen[str]:
    """Start the process that answers for this one while a call holds Python's lock."""
    about = {"address": address, "token": token, "rank": rank, "pid": os.getpid()}
    about |= {"beat": BEAT_SECONDS, "silence": SILENCE_SECONDS}
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", str(Path(__file__).with_name("sentinel.py"))],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdin is not None
    process.stdin.write(json.dumps(about) + "\n")
    process.stdin.flush()
    return process


class LinkedStream(io.TextIOBase):
    """A standard stream that the supervisor writes to its own, both streams in order.

    Args:
        name: "stdout" or "stderr".
    """

    def __init__(self, link: Link, name: str) -> None:
        self._link = link
        self._name = name

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return self._name == "stderr" and bool(os.environ.get(TERMINAL))

    def fileno(self) -> int:
        """Return the number of the process's own stream, which the launcher forwards."""
        return 1 if self._name == "stdout" else 2

    def write(self, text: str) -> int:
        for start in range(0, len(text), LONGEST_TEXT):
            self._link.send({self._name: text[start : start + LONGEST_TEXT]})
        return len(text)


class SilentStream(io.TextIOBase):
    """A standard stream of which nothing is shown: what all members say, the first one says."""

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        """Return the number of the process's own standard error, for what is not Python's."""
        return 2

    def write(self, text: str) -> int:
        return len(text)
