"""A process beside each member, which answers for it while a call holds Python's lock.

A member's own threads cannot tell the supervisor that they are alive as long as a call, of a
library written in C for example, holds the lock of Python's interpreter. The sentinel looks at the
member from outside: it reports the processor time that the member has used, as long as that process
exists and is not stopped. It ends with the member.

This file is executed by itself, and imports nothing of playgrad, so that it starts in a few
milliseconds. Its first line of input is JSON with the member and the supervisor.
"""

from __future__ import annotations

import json
import os
import select
import socket
import subprocess
import sys

_STOPPED = "TtZX"
"""States of processes that are stopped, or have ended."""


def look_at(pid: int) -> float | None:
    """Return the seconds of processor time that a process has used; None if it is stopped or gone.

    Linux lists both in ``/proc``; elsewhere, ``ps`` does.
    """
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        state, ticks = fields[0].decode(), int(fields[11]) + int(fields[12])
        return None if state in _STOPPED else ticks / os.sysconf("SC_CLK_TCK")
    except FileNotFoundError:
        if os.path.isdir("/proc/self"):
            return None
    line = subprocess.run(
        ["ps", "-o", "state=,time=", "-p", str(pid)], capture_output=True, text=True, check=False
    ).stdout.split()
    if len(line) != 2 or line[0][0] in _STOPPED:
        return None
    seconds = 0.0
    for part in line[1].replace("-", ":").split(":"):
        seconds = 60 * seconds + float(part)
    return seconds


def main() -> None:
    """Report until the member or the supervisor is gone."""
    about = json.loads(sys.stdin.readline())
    member, beat = int(about["pid"]), float(about["beat"])
    host, _, port = str(about["address"]).rpartition(":")
    hello = {"token": about["token"], "rank": about["rank"], "sentinel": True}
    with socket.create_connection((host, int(port)), float(about["silence"])) as connection:
        connection.sendall(json.dumps(hello).encode() + b"\n")
        while os.getppid() == member:
            seconds = look_at(member)
            if seconds is not None:
                connection.sendall(json.dumps({"cpu": seconds}).encode() + b"\n")
            if select.select([sys.stdin], [], [], beat)[0]:  # it ends when the member does
                return
            while select.select([connection], [], [], 0)[0]:
                if not connection.recv(1 << 16):
                    return


if __name__ == "__main__":
    try:
        main()
    except OSError:  # the supervisor has gone
        sys.exit(1)
