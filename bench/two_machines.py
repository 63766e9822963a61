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
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
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


@dataclass(frozen=True)
class TwoMachines:
    """Two namespaces, and a command in the place of ssh.

    Attributes:
        names, ends: the namespaces, and the end of the link in each.
        script: the path of the command.
    """

    names: tuple[str, str]
    ends: tuple[str, str]
    script: str

    @property
    def on_first(self) -> list[str]:
        """The words before a command that runs on the first machine."""
        return ["ip", "netns", "exec", self.names[0]]

    def hosts(self, slots: int = 1) -> str:
        """Return both machines as ``--hosts`` names them."""
        return ",".join(f"{address}:{slots}" for address in ADDRESSES)

    def cut(self) -> None:
        """Take the link down."""
        _run("ip", "-n", self.names[1], "link", "set", self.ends[1], "down")


def _run(*words: str) -> None:
    made = subprocess.run(words, capture_output=True, text=True)
    if made.returncode:
        raise OSError(f"{' '.join(words)}: {made.stderr.strip()}")


@contextmanager
def two_machines(rate: int | None) -> Iterator[TwoMachines]:
    """Yield two machines, which are gone after the block.

    Args:
        rate: Mbit/s of the link in each direction; None for no limit.

    Raises:
        OSError: there can be no namespaces here, or the link cannot be shaped.
    """
    pid = os.getpid()
    names, ends = (f"pg{pid}a", f"pg{pid}b"), (f"v{pid}a", f"v{pid}b")
    try:
        for name in names:
            _run("ip", "netns", "add", name)
        _run("ip", "link", "add", ends[0], "netns", names[0], "type", "veth",
             "peer", "name", ends[1], "netns", names[1])  # fmt: skip
        for name, end, address in zip(names, ends, ADDRESSES, strict=True):
            _run("ip", "-n", name, "address", "add", f"{address}/24", "dev", end)
            _run("ip", "-n", name, "link", "set", end, "up")
            _run("ip", "-n", name, "link", "set", "lo", "up")
            if rate is not None:
                # What the bucket holds passes at once: a millisecond's worth, but a whole segment.
                burst = max(rate * 125, 16_000)
                if burst < _LARGEST_SEGMENT:
                    _run("ip", "-n", name, "link", "set", end, "gso_max_size", "1500")
                shape = f"root tbf rate {rate}mbit burst {burst} limit 1m"
                _run("tc", "-n", name, "qdisc", "add", "dev", end, *shape.split())
        with tempfile.TemporaryDirectory() as folder:
            script = Path(folder, "rsh")
            script.write_text(
                _SHELL.format(first=ADDRESSES[0], second=ADDRESSES[1], a=names[0], b=names[1])
            )
            script.chmod(0o755)
            yield TwoMachines(names, ends, str(script))
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], check=False)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rate", type=int, help="Mbit/s")
    parser.add_argument("words", nargs="+")
    options = parser.parse_args()
    with two_machines(options.rate) as machines:
        hosts, script = machines.hosts(), machines.script
        words = [w.replace("{hosts}", hosts).replace("{rsh}", script) for w in options.words]
        sys.exit(subprocess.run([*machines.on_first, *words]).returncode)


if __name__ == "__main__":
    main()
