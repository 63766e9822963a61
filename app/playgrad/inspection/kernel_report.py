"""The report of the kernel bench on an edited kernel."""

from __future__ import annotations

from dataclasses import dataclass

from playgrad.inspection.physical_limit import PhysicalLimit


@dataclass(frozen=True)
class SampleCheck:
    """A check of a kernel with one set of inputs.

    Attributes:
        name: "step" for the inputs of the first batch, "normal", "zeros" or "large" for others of
            the same shapes, or "contract 3" for a sample of the op contract.
        problem: the difference, in words; None if there is none.
    """

    name: str
    problem: str | None


@dataclass(frozen=True)
class KernelReport:
    """The result of `KernelBench.check`.

    Attributes:
        samples: the checks that were made.
        other_kernels: samples of the op contract whose kernels do not have the lines that were
            changed, and which say nothing about the change.
        error: of the compiler; then there are no checks.
        line: that of the kernel which the error is about, from 1; None if it names none.
    """

    samples: tuple[SampleCheck, ...] = ()
    other_kernels: int = 0
    error: str | None = None
    line: int | None = None

    @property
    def passed(self) -> bool:
        """True if the kernel compiles and computes what NumPy does."""
        return self.error is None and all(each.problem is None for each in self.samples)

    def __bool__(self) -> bool:
        return self.passed

    def __str__(self) -> str:
        if self.error is not None:
            return self.error
        lines = [f"{each.name}: {each.problem or 'the same as NumPy'}" for each in self.samples]
        if self.other_kernels:
            lines.append(f"{self.other_kernels} samples of the contract run another kernel")
        return "\n".join(lines)


@dataclass(frozen=True)
class KernelTimes:
    """Seconds of a run, medians of some rounds in which both kernels take turns.

    Attributes:
        before, after: with the compiler's kernel, and with the edited one.
        limit: the least seconds that this device could take; see `physical_limit`.
        runs: in a row, in each round.
    """

    before: float
    after: float
    limit: PhysicalLimit
    runs: int
