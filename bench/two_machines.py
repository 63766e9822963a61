"""Two machines on one: network namespaces, joined by a link of a chosen bandwidth. Linux, as root.

    python -m bench.two_machines --rate 100 -- playgrad hosts {hosts} --rsh {rsh}

runs the command on the first of them; ``{hosts}`` becomes both, with a process each, and ``{rsh}``
the command that reaches the second one.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

_LARGEST_SEGMENT = 1 << 16
ADDRESSES = ("10.86.0.1", "10.86.0.2")
_SHELL = """#!/bin/sh
# ssh for the namespaces: HOST COMMAND...
host=$1; shift
case $host in
  {first}) name={a} ;;
  {second}) name={b} ;;
  *) echo "there is no machine $host" >&2; exit 255 ;;
esac
exec ip netns exec $name unshare --uts sh -c "hostname $name; $*"
"""


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


@contextmanager
def two_machines(rate: int | None) -> Iterator[tuple[list[str], str]]:
    """Yield what to put before a command that runs on the first machine, and the path of a script
    that takes the place of ssh.

    Args:
        rate: Mbit/s of the link in each direction; None for no limit.
    """
    names = tuple(f"pg{os.getpid()}{letter}" for letter in "ab")
    ends = tuple(f"v{os.getpid()}{letter}" for letter in "ab")
    try:
        for name in names:
            _ip("netns", "add", name)
        _ip("link", "add", ends[0], "netns", names[0], "type", "veth",
            "peer", "name", ends[1], "netns", names[1])  # fmt: skip
        for name, end, address in zip(names, ends, ADDRESSES, strict=True):
            _ip("-n", name, "address", "add", f"{address}/24", "dev", end)
            _ip("-n", name, "link", "set", end, "up")
            _ip("-n", name, "link", "set", "lo", "up")
            if rate is not None:
                # What the bucket holds passes at once: a millisecond's worth, but a whole segment.
                burst = max(rate * 125, 16_000)
                if burst < _LARGEST_SEGMENT:
                    _ip("-n", name, "link", "set", end, "gso_max_size", "1500")
                shape = f"root tbf rate {rate}mbit burst {burst} limit 1m"
                subprocess.run(
                    ["tc", "-n", name, "qdisc", "add", "dev", end, *shape.split()], check=True
                )
        with tempfile.TemporaryDirectory() as folder:
            script = Path(folder, "rsh")
            script.write_text(
                _SHELL.format(first=ADDRESSES[0], second=ADDRESSES[1], a=names[0], b=names[1])
            )
            script.chmod(0o755)
            yield ["ip", "netns", "exec", names[0]], str(script)
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], check=False)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rate", type=int, help="Mbit/s")
    parser.add_argument("words", nargs="+")
    options = parser.parse_args()
    with two_machines(options.rate) as (before, script):
        sys.exit(subprocess.run([*before, *filled(options.words, script)]).returncode)


def filled(words: Sequence[str], script: str, slots: int = 1) -> list[str]:
    """Return ``words`` with the names of both machines and the script in their places."""
    hosts = ",".join(f"{address}:{slots}" for address in ADDRESSES)
    return [word.replace("{hosts}", hosts).replace("{rsh}", script) for word in words]


if __name__ == "__main__":
    main()
