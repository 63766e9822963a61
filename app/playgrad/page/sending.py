"""Events, output and figures on their way from Python to the page, in their order."""

from __future__ import annotations

from collections.abc import Sequence

from playgrad.devices import _browser as host
from playgrad.doctor.finding import Finding
from playgrad.page.figure_limit import FigureLimit
from playgrad.page.output import Stream
from playgrad.runtime.hooks import Event
from playgrad.training.checkpoints.record import Checkpoint


def emit(event: Event) -> None:
    """Send an event, after everything that was printed before it."""
    send_output()
    host.emit(event)


streams = {kind: Stream(kind, host.emit) for kind in ("stdout", "stderr")}


def print_text(text: str) -> None:
    streams["stdout"].write(text)


def print_error(text: str) -> None:
    send_output()  # of the other stream first
    streams["stderr"].write(text)


figures = FigureLimit(lambda figure: emit({"kind": "figure", "figure": figure}), print_text)


def send_output() -> None:
    # Not sys.stdout, which the program may have closed or replaced.
    for stream in streams.values():
        stream.send()


def emit_checkpoint(checkpoint: Checkpoint) -> None:
    emit({"kind": "checkpoint", "bytes": checkpoint.encode(), **checkpoint.info()})


def emit_findings(findings: Sequence[Finding], lost: bool) -> None:
    described = [finding.as_dict() for finding in findings]
    emit({"kind": "doctor", "findings": described, "lost": lost})
