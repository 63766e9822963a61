"""One measurement of a machine: some workloads and a matrix product, on some of its devices.

The way of measuring is that of ``bench/measure.py``, with which the known card was measured: steps
in a row with one read at the end ("once"), and steps of which each is read ("each").
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Literal

from playgrad.benchmark.product import FLOPS, ProductTrainer
from playgrad.benchmark.reference_card import LOSSES, TOLERANCE
from playgrad.benchmark.workload_trainer import WorkloadTrainer
from playgrad.benchmark.workloads import WORKLOADS, flops
from playgrad.errors import KernelError, PlaygradError

PRODUCT = "product"
MEASURED = ("w0", "w1", "w1b", "w2", "w3", PRODUCT)
"""The rows for each device, in the order in which they are measured."""
SECONDS = 0.4
"""Of steps in a row, and again of steps that are read, for each row."""
LEAST, MOST = 4, 3000
"""Bounds of the number of steps of each."""

State = Literal["waiting", "compiling", "in a row", "each read", "done", "failed"]


@dataclass
class SpeedRow:
    """A row of the table: a workload, or the product, on a device.

    Attributes:
        device: "cpu", "gpu" or "gpu:1".
        once, each: milliseconds of a step, in a row and with each one read; of the product only
            the former.
        gflops: 10⁹ floating-point operations a second, in a row.
        dispatches: of a step; None without a GPU.
        error: why there are no numbers.
    """

    device: str
    work: str
    state: State = "waiting"
    once: float | None = None
    each: float | None = None
    gflops: float | None = None
    dispatches: int | None = None
    error: PlaygradError | MemoryError | None = None


class SpeedRun:
    """Measures the rows of a table one after the other, a piece at a time.

    A row that fails has its error, and the others go on: a device that was lost is opened again by
    the next row.

    Args:
        devices: for each all rows are measured.
        work: the rows, of `MEASURED`.
        seconds: as `SECONDS`.
    """

    def __init__(
        self,
        devices: Sequence[str],
        work: Sequence[str] = MEASURED,
        seconds: float = SECONDS,
    ) -> None:
        self.rows = [SpeedRow(device, name) for device in devices for name in work]
        self._seconds = seconds
        self._pieces = self._measured()

    @property
    def is_done(self) -> bool:
        """True once no row is left."""
        return all(row.state in ("done", "failed") for row in self.rows)

    def advance(self) -> SpeedRow | None:
        """Do the next piece of work, of about `SECONDS` or the time to compile a step.

        Returns:
            The row that is measured next; None at the end.
        """
        return next(self._pieces, None)

    def close(self) -> None:
        """Leave the rows that are not done, and free what is on devices."""
        self._pieces.close()

    def _measured(self) -> Generator[SpeedRow, None, None]:
        for row in self.rows:
            try:
                row.state = "compiling"
                yield row
                yield from self._product(row) if row.work == PRODUCT else self._workload(row)
                row.state = "done"
            except (PlaygradError, MemoryError) as error:
                row.state, row.error = "failed", error
                row.once = row.each = row.gflops = None

    def _workload(self, row: SpeedRow) -> Iterator[SpeedRow]:
        workload = WORKLOADS[row.work]
        with closing(WorkloadTrainer(workload, row.device)) as trainer:
            row.dispatches = trainer.prepare() or None
            _check_losses(row.work, [trainer.step_and_read() for _ in LOSSES[row.work]])
            row.state = "in a row"
            yield row
            trainer.steps(1)
            started = time.perf_counter()
            trainer.steps(1)
            fitting = self._seconds / max(time.perf_counter() - started, 1e-6)
            count = max(LEAST, min(MOST, round(fitting)))
            started = time.perf_counter()
            trainer.steps(count)
            row.once = 1000 * (time.perf_counter() - started) / count
            row.gflops = flops(workload) / row.once / 1e6
            row.state = "each read"
            yield row
            started = time.perf_counter()
            for _ in range(count):
                trainer.step_and_read()
            row.each = 1000 * (time.perf_counter() - started) / count

    def _product(self, row: SpeedRow) -> Iterator[SpeedRow]:
        with closing(ProductTrainer(row.device)) as trainer:
            trainer.gflops()  # warms up
            trainer.check()
            row.state = "in a row"
            yield row
            row.gflops = trainer.gflops()
            row.once = FLOPS / row.gflops / 1e6


def _check_losses(work: str, losses: Sequence[float]) -> None:
    """Check the losses of the first steps.

    Raises:
        KernelError: one is wrong.
    """
    for step, (loss, expected) in enumerate(zip(losses, LOSSES[work], strict=True), 1):
        if not abs(loss - expected) <= TOLERANCE * abs(expected):
            raise KernelError(
                f"W{work[1:]} trains wrongly here: the loss of step {step} is {loss:.5g} "
                f"instead of {expected:.5g}.",
                hint="Its speed is not reported. Update the browser or the GPU's driver.",
            )
