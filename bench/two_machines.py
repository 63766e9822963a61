"""Two machines on one: network namespaces, joined by a link of a chosen speed. Linux, as root.

    python -m bench.two_machines --rate 100 --latency 2 -- playgrad hosts {hosts} --rsh {rsh}

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
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.delayed_link import DEVICE

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
def two_machines(rate: int | None, latency: float = 0.0) -> Iterator[TwoMachines]:
    """Yield two machines, which are gone after the block.

    Args:
        rate: Mbit/s of the link in each direction; None for no limit.
        latency: milliseconds in each direction; it needs a rate.

    Raises:
        OSError: there can be no namespaces here, or the link cannot be shaped.
    """
    pid = os.getpid()
    names = (f"pg{pid}a", f"pg{pid}b")
    with ExitStack() as stack:
        for name in names:
            _run("ip", "netns", "add", name)
            stack.callback(subprocess.run, ["ip", "netns", "del", name], check=False)
        if latency:
            assert rate is not None
            ends = _delayed(stack, names, rate, latency)
        else:
            ends = _joined(names, rate)
        for name, end, address in zip(names, ends, ADDRESSES, strict=True):
            _run("ip", "-n", name, "address", "add", f"{address}/24", "dev", end)
            _run("ip", "-n", name, "link", "set", end, "up")
            _run("ip", "-n", name, "link", "set", "lo", "up")
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        script = Path(folder, "rsh")
        script.write_text(
            _SHELL.format(first=ADDRESSES[0], second=ADDRESSES[1], a=names[0], b=names[1])
        )
        script.chmod(0o755)
        yield TwoMachines(names, ends, str(script))


def _joined(names: tuple[str, str], rate: int | None) -> tuple[str, str]:
    """Join two namespaces by a pair of virtual devices; return their names."""
    ends = ("v0", "v1")
    _run("ip", "link", "add", ends[0], "netns", names[0], "type", "veth",
         "peer", "name", ends[1], "netns", names[1])  # fmt: skip
    for name, end in zip(names, ends, strict=True):
        if rate is not None:
            # What the bucket holds passes at once: a millisecond's worth, but a whole segment.
            burst = max(rate * 125, 16_000)
            if burst < _LARGEST_SEGMENT:
                _run("ip", "-n", name, "link", "set", end, "gso_max_size", "1500")
            shape = f"root tbf rate {rate}mbit burst {burst} limit 1m"
            _run("tc", "-n", name, "qdisc", "add", "dev", end, *shape.split())
    return ends


def _delayed(
    stack: ExitStack, names: tuple[str, str], rate: int, latency: float
) -> tuple[str, str]:
    """Join two namespaces by a process that holds packets back; return the devices' names."""
    words = [*names, "--latency", str(latency), "--rate", str(rate)]
    carrier = stack.enter_context(
        subprocess.Popen(
            [sys.executable, "-m", "bench.delayed_link", *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).resolve().parent.parent,
        )
    )
    assert carrier.stdin is not None
    assert carrier.stdout is not None
    stack.callback(carrier.stdin.close)
    if carrier.stdout.readline() != "ready\n":
        raise OSError("no link with a latency can be made here.")
    return DEVICE, DEVICE


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rate", type=int, help="Mbit/s")
    parser.add_argument("--latency", type=float, default=0.0, help="milliseconds")
    parser.add_argument("words", nargs="+")
    options = parser.parse_args()
    with two_machines(options.rate, options.latency) as machines:
        hosts, script = machines.hosts(), machines.script
        words = [w.replace("{hosts}", hosts).replace("{rsh}", script) for w in options.words]
        sys.exit(subprocess.run([*machines.on_first, *words]).returncode)


if __name__ == "__main__":
    main()
