"""A measurement with the machine that it is of."""

from __future__ import annotations

from dataclasses import dataclass

from playgrad.benchmark.speed_report import MachineFacts
from playgrad.benchmark.speed_run import SpeedRun


@dataclass
class MeasuredMachine:
    """A measurement that is under way, and what it is made on."""

    machine: MachineFacts
    run: SpeedRun
