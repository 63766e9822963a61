"""A link with a latency between two network namespaces: packets are read, held and written on.

    python -m bench.delayed_link NAMESPACE NAMESPACE --latency MS --rate MBITS

Not every kernel has the queueing discipline that delays packets (netem), but all have TUN devices:
each namespace gets one, and this process carries packets from one to the other. A packet leaves
when those before it have passed at the rate, and arrives after the latency. It prints "ready" when
the devices exist, and ends with its input.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import os
import selectors
import struct
import subprocess
import sys
import time
from collections import deque

DEVICE = "link0"
_SET_NAME = 0x400454CA  # TUNSETIFF of linux/if_tun.h
_TUN, _NO_HEADER = 0x0001, 0x1000
_LARGEST = 9000
"""Bytes of a packet, as in data centres: the fewer packets, the less work for each byte."""
_MOST_WAITING = 4 << 20
"""Bytes that wait for their turn in one direction. More are lost, as in a router."""


class _Direction:
    """Packets on their way from one end to the other.

    Args:
        latency: seconds.
        rate: bytes per second.
    """

    def __init__(self, source: int, target: int, latency: float, rate: float) -> None:
        self.source, self.target = source, target
        self._latency, self._rate = latency, rate
        self._free_at = 0.0
        self._held: deque[tuple[float, bytes]] = deque()

    def read(self, now: float) -> None:
        """Take all packets that have been sent."""
        while True:
            try:
                packet = os.read(self.source, _LARGEST)
            except BlockingIOError:
                return
            if (self._free_at - now) * self._rate > _MOST_WAITING:
                continue
            self._free_at = max(now, self._free_at) + len(packet) / self._rate
            self._held.append((self._free_at + self._latency, packet))

    def write(self, now: float) -> float | None:
        """Deliver what has arrived; return when the next packet does, if one is under way."""
        while self._held and self._held[0][0] <= now:
            packet = self._held.popleft()[1]
            with contextlib.suppress(OSError):  # a device that is down takes nothing
                os.write(self.target, packet)
        return self._held[0][0] if self._held else None


def _end_in(namespace: str) -> int:
    """Return the open TUN device of a namespace."""
    end = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    name = f"t{os.getpid()}n{end}"
    fcntl.ioctl(end, _SET_NAME, struct.pack("16sH22x", name.encode(), _TUN | _NO_HEADER))
    move = ["ip", "link", "set", name, "netns", namespace, "name", DEVICE]
    subprocess.run([*move, "mtu", str(_LARGEST)], check=True)
    return end


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("namespaces", nargs=2)
    parser.add_argument("--latency", type=float, required=True, help="milliseconds")
    parser.add_argument("--rate", type=float, required=True, help="Mbit/s in each direction")
    options = parser.parse_args()
    first, second = map(_end_in, options.namespaces)
    timing = options.latency / 1e3, options.rate * 125_000
    directions = [_Direction(first, second, *timing), _Direction(second, first, *timing)]
    selector = selectors.SelectSelector()  # others wait for whole milliseconds
    for direction in directions:
        selector.register(direction.source, selectors.EVENT_READ, direction)
    selector.register(sys.stdin, selectors.EVENT_READ)
    print("ready", flush=True)
    due: float | None = None
    while True:
        wait = None if due is None else max(0.0, due - time.monotonic())
        for key, _ in selector.select(wait):
            if key.data is None:
                return
            key.data.read(time.monotonic())
        moments = [direction.write(time.monotonic()) for direction in directions]
        due = min((moment for moment in moments if moment is not None), default=None)


if __name__ == "__main__":
    main()
