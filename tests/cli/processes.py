"""The command line as a process of its own, which can be sent signals."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

APP = Path(__file__).resolve().parents[2] / "app"
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE)


class Ended(NamedTuple):
    """The end of a process. A signal that ended it is a negative code."""

    code: int
    out: str
    err: str


def environment(**changes: str | None) -> dict[str, str]:
    """Return the environment with ``changes``; None removes a variable."""
    merged = {**os.environ, "PYTHONPATH": str(APP), "PYTHONUNBUFFERED": None, **changes}
    return {name: value for name, value in merged.items() if value is not None}


@contextmanager
def running(
    *arguments: str,
    env: dict[str, str] | None = None,
    prepare: Callable[[], object] | None = None,
    cwd: Path | None = None,
) -> Iterator[subprocess.Popen[bytes]]:
    """Run ``playgrad`` in a process that ignores no signal; kill it at the end of the block."""

    def before() -> None:
        for number in SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        if prepare is not None:
            prepare()

    process = subprocess.Popen(
        [sys.executable, "-m", "playgrad", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=env or environment(),
        preexec_fn=before,
        cwd=cwd,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def end_of(process: subprocess.Popen[bytes], seconds: float = 500) -> Ended:
    """Wait for the end of ``process``."""
    out, err = process.communicate(timeout=seconds)
    return Ended(process.returncode, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"))


def run_process(arguments: Sequence[str], **options: object) -> Ended:
    """Run ``playgrad`` to its end; ``options`` are as in `running`."""
    with running(*arguments, **options) as process:  # type: ignore[arg-type]
        return end_of(process)


def wait_for_handlers(process: subprocess.Popen[bytes]) -> float:
    """Wait until ``process`` catches SIGTERM, which Python by itself does not.

    Returns:
        The seconds that it took. Before, no code of playgrad's has run.
    """
    begin = time.perf_counter()
    status = Path(f"/proc/{process.pid}/status")
    while process.poll() is None:
        line = next(line for line in status.read_text().splitlines() if line.startswith("SigCgt"))
        if int(line.split()[1], 16) & 1 << (signal.SIGHUP - 1):  # the last to be installed
            break
    return time.perf_counter() - begin
