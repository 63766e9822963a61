"""The passes of a pipeline: computations of a stage for a micro-batch without a break."""

from __future__ import annotations

from typing import NamedTuple

INPUTS, WEIGHTS = "inputs", "weights"
"""The parts of a divided backward pass: gradients that earlier stages wait for, and the rest."""


class Pass(NamedTuple):
    """The forward or backward computation of one stage for one micro-batch.

    In a schedule with two streams of micro-batches, each stream counts its own from 0.

    Attributes:
        part: `INPUTS` or `WEIGHTS`, the gradients that a divided backward pass computes; else "".
    """

    stage: int
    micro_batch: int
    backward: bool
    stream: int = 0
    part: str = ""

    @property
    def units(self) -> int:
        """The time it takes: a forward pass and a part of a backward pass 1, a whole one 2."""
        return 2 if self.backward and not self.part else 1

    @property
    def kind(self) -> str:
        """Its name in timelines."""
        if self.part == WEIGHTS:
            return "weights"
        return "backward" if self.backward else "forward"


class TimedPass(NamedTuple):
    """A pass with its device and start, in units of time; see `Pass.units`."""

    entry: Pass
    device: int
    start: int

    @property
    def end(self) -> int:
        return self.start + self.entry.units


Orders = list[list[Pass]]
"""The passes of each device, in order."""


def needed_by(entry: Pass, last_stage: int) -> list[Pass]:
    """Return the passes that ``entry`` waits for."""
    stage = entry.stage
    if not entry.backward:
        return [entry._replace(stage=stage - 1)] if stage else []
    if entry.part == WEIGHTS:
        return [entry._replace(part=INPUTS)]
    later = [entry._replace(stage=stage + 1)] if stage < last_stage else []
    return [entry._replace(backward=False, part=""), *later]


def task_name(entry: Pass, names_stage: bool, names_stream: bool) -> str:
    """Return the name of a pass in timelines.

    Args:
        names_stage: whether devices have several stages of a stream, which the name tells apart.
        names_stream: whether there are several streams.
    """
    name = f"{entry.kind} {entry.micro_batch}"
    if names_stage:
        name += f" of stage {entry.stage}"
    return f"{name} of stream {entry.stream}" if names_stream else name
