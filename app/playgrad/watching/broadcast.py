"""What a training tells those who watch it: its program, events, output, and traced steps."""

from __future__ import annotations

import platform
import sys
import time
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import playgrad
from playgrad.errors import PlaygradError
from playgrad.page.lab import Lab
from playgrad.page.output import Stream
from playgrad.runtime.hooks import Event
from playgrad.runtime.trace import Trace
from playgrad.watching.event_log import EventLog
from playgrad.watching.messages import WatchedForm

LONGEST_PROGRAM = 200_000
"""Characters of the program that readers get."""
LONGEST_MESSAGE = 8_000
_EVENTS = {
    "status", "fit_begin", "progress", "epoch_end", "rating", "fit_end", "setting", "stderr",
}  # fmt: skip
"""Events of training that readers get as they are."""


class Broadcast:
    """Fills a log with what the page shows of a run in its Lab.

    Args:
        program: the file that is run.
    """

    def __init__(self, log: EventLog, program: Path) -> None:
        self.log = log
        self._file = str(program)
        self._lab = Lab(delays=None)
        self._streams = {kind: Stream(kind, log.add) for kind in ("stdout", "stderr")}
        form: WatchedForm = {
            "program": program.stem,
            "source": program.read_text(encoding="utf-8", errors="replace")[:LONGEST_PROGRAM],
            "began": int(1000 * time.time()),
            "host": platform.node(),
            "version": playgrad.__version__,
        }
        log.add({"kind": "watched", **form})
        log.add({"kind": "status", "state": "running"})

    def emit(self, event: Event) -> None:
        if event["kind"] in _EVENTS:
            self.send_output()
            self.log.add(event)

    def fitting(self, model: Any) -> None:
        self.log.add(self._lab.fitting(model))

    def new_trace(self) -> Trace | None:
        return self._lab.new_trace()

    def traced(self, trace: Trace, steps: int, seconds: float) -> None:
        report = self._lab.report(trace, steps, seconds)
        if report is not None:
            self.log.add(report)

    def send_output(self) -> None:
        """Send the output held back. Called between chunks of steps."""
        for stream in self._streams.values():
            stream.send()

    @contextmanager
    def of_run(self) -> Iterator[None]:
        """Send what the block prints, and how it ends."""
        before = sys.stdout, sys.stderr
        sys.stdout = _Tee(before[0], self._streams["stdout"])
        sys.stderr = _Tee(before[1], self._streams["stderr"])
        state = "done"
        try:
            yield
        except Exception as error:
            state = "error"
            self.send_output()
            self.log.add({"kind": "error", **self._described(error)})
            raise
        except BaseException:  # Ctrl+C and other signals; sys.exit
            state = "stopped"
            raise
        finally:
            sys.stdout, sys.stderr = before
            self.send_output()
            self.log.add({"kind": "status", "state": state})

    def _described(self, error: Exception) -> Event:
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if frame.filename == self._file]
        return {
            "type": type(error).__name__,
            "message": str(error)[:LONGEST_MESSAGE],
            "line": lines[-1] if lines else None,
            "op": error.op if isinstance(error, PlaygradError) else None,
        }


class _Tee:
    """A stream that writes what it gets to another one, too."""

    def __init__(self, stream: TextIO, copy: Stream) -> None:
        self._stream = stream
        self._copy = copy

    def write(self, text: str) -> int:
        written = self._stream.write(text)
        self._copy.write(text)
        return written

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
