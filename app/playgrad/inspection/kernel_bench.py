"""A kernel of a training step or a run on the bench: other WGSL in its place, checked and timed.

An operation, with everything that the compiler fuses with it, is compiled alone for the kind
of GPU that trains, and runs on a device of its own: a kernel that loses its device takes nothing of
the training with it. Variables are fed, so nothing of the model can change.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from playgrad.compiler.program import Program
from playgrad.contract.cases import Case, add_case, cases_of
from playgrad.contract.comparison import BrokenRuleError, expect_close
from playgrad.devices import registry
from playgrad.devices.base import check_plan
from playgrad.devices.kinds import kind_of
from playgrad.devices.pending import patience
from playgrad.devices.webgpu import LoadedPlan, WebGpuDevice
from playgrad.dtypes import dtype
from playgrad.errors import (
    DeviceLostError,
    DeviceTimeoutError,
    GraphError,
    KernelError,
    PlaygradError,
)
from playgrad.graph.graph import Graph
from playgrad.graph.opdef import lookup
from playgrad.graph.tensor import Node, Tensor
from playgrad.inspection.edited_plan import edited_plan, ending_plan
from playgrad.inspection.kernel_patch import patched
from playgrad.inspection.kernel_report import KernelReport, KernelTimes, SampleCheck
from playgrad.inspection.lone_operation import operation_alone, planned
from playgrad.inspection.node_kernel import node_kernel
from playgrad.inspection.node_values import NodeValues
from playgrad.inspection.physical_limit import physical_limit
from playgrad.inspection.problem import Unavailable
from playgrad.runtime.feeds import FeedDict
from playgrad.runtime.session import Session

Array = np.ndarray[Any, Any]
TOLERANCE = 1e-4
"""Relative to the largest number of a result, as in the op contract."""
PATIENCE_SECONDS = 20.0
"""A kernel that takes longer has an endless loop, in all likelihood."""
ROUNDS = 7
ROUND_SECONDS = 0.05
MOST_RUNS = 1024
_ENDLESS = f"no answer within {PATIENCE_SECONDS:.0f} s: the kernel probably has an endless loop."
_LINE = re.compile(r"(?:line |wgsl:)(\d+)")


@dataclass(frozen=True)
class Trial:
    """A Plan with an edited kernel.

    Attributes:
        written: with the kernel as it was written.
        ending: with loops that end, and an alarm if the driver ends them early; the same as
            ``written`` if the kernel has none.
    """

    written: LoadedPlan
    ending: LoadedPlan


class KernelBench:
    """The kernels of an operation, and a place to try others; see `Inspection.kernel`.

    Args:
        session: that of the training, or one that can repeat the program's run.
        fetches: the results of the step or the run.
        values: of the graph.
        node: the operation.
        feeds: the feeds of the run; None for a training step.

    Attributes:
        of_run: whether it is of a run of the program, not of a training step.
        name: the node that was asked for.
        nodes: the nodes that the kernels compute, fused ones together.
        kernels: the WGSL of each kernel, in the order in which they run.
        device: the name of the adapter.
    """

    def __init__(
        self,
        session: Session,
        fetches: Sequence[Node | Tensor],
        values: NodeValues,
        node: Node,
        feeds: FeedDict = None,
    ) -> None:
        shown = node_kernel(session, fetches, node, feeds)
        self.of_run = feeds is not None
        if not kind_of(shown.device).runs_plans:
            raise Unavailable("no_wgsl", device=shown.device)
        self.name = node.name
        self.nodes = tuple(dict.fromkeys([*shown.fused, shown.within or node.name]))
        if node.name not in self.nodes:
            self.nodes = (node.name, *self.nodes)
        self._device: WebGpuDevice | None = None
        self._target = session.opened(shown.device).target
        self._program, self._feeds = operation_alone(values, self.nodes, shown.within or node.name)
        self._compiled, self._plan = planned(self._program, self._feeds, self._target)
        by_id = {kernel["id"]: str(kernel["wgsl"]) for kernel in self._plan["kernels"]}
        self.kernels = tuple(by_id[command["kernel"]] for command in self._plan["commands"])
        if not self.kernels:
            raise Unavailable("resolved")
        try:
            check_plan(self._plan, self._target.limits)
        except PlaygradError as error:  # variables that share a buffer in the step do not here
            raise Unavailable("not_measured", message=error.message) from None
        self.workgroups = tuple(tuple(c["workgroups"]) for c in self._plan["commands"])

    @property
    def device(self) -> str:
        """The name of the adapter."""
        return self._opened().host.info.name

    def close(self) -> None:
        """Close the device of the bench."""
        if self._device is not None:
            self._device.destroy()
        self._device = None

    def check(self, wgsl: str, kernel: int = 0) -> KernelReport:
        """Compare the results of an edited kernel with NumPy.

        Args:
            wgsl: the whole text, in place of ``kernels[kernel]``.

        Returns:
            A report, false if the kernel does not compile or computes something else. The samples
            are the inputs of the first batch, others of the same shapes, and the samples of the
            op contract whose kernels have the lines that were changed.
        """
        self._expect_kernel(kernel)
        try:
            with patience(PATIENCE_SECONDS):
                return self._checked(wgsl, kernel)
        except KernelError as error:
            match = _LINE.search(str(error))
            return KernelReport(error=error.message, line=int(match[1]) if match else None)
        except DeviceTimeoutError:
            return KernelReport(error=_ENDLESS)
        except DeviceLostError as error:
            return KernelReport(error=f"the kernel lost its device: {error.message}")

    def _checked(self, wgsl: str, kernel: int) -> KernelReport:
        with self._trial(self._plan, kernel, wgsl) as trial:
            samples = [
                SampleCheck(name, self._problem(trial.ending, feeds))
                for name, feeds in self._samples()
            ]
        of_contract, others = self._contract(kernel, wgsl)
        return KernelReport((*samples, *of_contract), others)

    def time(self, wgsl: str, kernel: int = 0) -> KernelTimes:
        """Measure an edited kernel beside the compiler's, with the inputs of the first batch.

        Raises:
            KernelError: the kernel does not compile, or computes something else.
            DeviceLostError: it does not end, or the device was lost.
        """
        self._expect_kernel(kernel)
        with patience(PATIENCE_SECONDS):
            return self._timed(wgsl, kernel)

    def _expect_kernel(self, number: int) -> None:
        if not 0 <= number < len(self.kernels):
            raise GraphError(
                f"'{self.name}' has {len(self.kernels)} kernels, not a number {number}."
            )

    def _timed(self, wgsl: str, kernel: int) -> KernelTimes:
        with self._trial(self._plan, kernel, wgsl) as trial:
            problem = self._problem(trial.ending, self._feeds)
            if problem is not None:
                raise KernelError(
                    f"the kernel was not timed, because its result differs from NumPy's: {problem}"
                )
            before = self._loaded(self._plan)
            try:
                runs, rounds = self._rounds([before, trial.written])
            finally:
                before.unload()
        own, edited = (statistics.median(each) / runs for each in zip(*rounds, strict=True))
        nodes = [node for node in self._compiled.order if node.inputs]
        return KernelTimes(own, edited, physical_limit(self._opened(), nodes), runs)

    def _rounds(self, plans: Sequence[LoadedPlan]) -> tuple[int, list[list[float]]]:
        """Return the number of runs in a measurement, and the seconds that each Plan took."""
        for plan in plans:
            plan.run(0, _read_by(plan, self._feeds), [])
        runs = 1
        while runs < MOST_RUNS and self._seconds(plans[0], runs) < ROUND_SECONDS / 2:
            runs *= 2
        return runs, [[self._seconds(plan, runs) for plan in plans] for _ in range(ROUNDS)]

    # Plans on the device of the bench

    def _opened(self) -> WebGpuDevice:
        if self._device is None or self._device.lost:
            self._device = registry.open_scratch_gpu()
        return self._device

    def _loaded(self, plan: Mapping[str, Any]) -> LoadedPlan:
        return self._opened().load(dict(plan), {})

    @contextmanager
    def _trial(self, plan: Mapping[str, Any], kernel: int, wgsl: str) -> Iterator[Trial]:
        """Load a Plan with an edited kernel, also with loops that end.

        Raises:
            KernelError: the kernel as it was written does not compile.
        """
        written = ending = self._loaded(edited_plan(plan, kernel, wgsl))
        try:
            other = ending_plan(plan, kernel, wgsl, self._target)
            if other is not None:
                # It does not compile if a function returns only from within its loop.
                with suppress(KernelError):
                    ending = self._loaded(other)
            yield Trial(written, ending)
        finally:
            written.unload()
            if ending is not written:
                ending.unload()

    @staticmethod
    def _seconds(plan: LoadedPlan, runs: int) -> float:
        return plan.run(0, {}, [], runs).seconds

    # Checks

    def _samples(self) -> list[tuple[str, dict[str, Array]]]:
        """Return feeds of the step's shapes; integers and bools stay, as indices must be valid."""
        random = np.random.default_rng(0)

        def others(make: Any) -> dict[str, Array]:
            return {
                name: make(array).astype(array.dtype) if dtype(array.dtype).floating else array
                for name, array in self._feeds.items()
            }

        return [
            ("run" if self.of_run else "step", self._feeds),
            ("normal", others(lambda array: random.normal(size=array.shape))),
            ("zeros", others(lambda array: np.zeros(array.shape))),
            ("large", others(lambda array: 30 * random.normal(size=array.shape))),
        ]

    def _problem(self, plan: LoadedPlan, feeds: Mapping[str, Array]) -> str | None:
        fetches = self._program.fetches
        graph, precision = self._program.graph, self._program.precision
        with Session(graph, "cpu:0", threads=1, precision=precision) as session:
            expected = session.run(fetches, {self._program.feeds[n]: a for n, a in feeds.items()})
        names = [tensor.name for tensor in self._compiled.program.fetches]
        try:
            results = plan.run(0, _read_by(plan, feeds), names).arrays
        except DeviceLostError:
            raise
        except PlaygradError as error:
            return error.message
        return _difference([results[name] for name in names], expected)

    def _contract(self, kernel: int, wgsl: str) -> tuple[list[SampleCheck], int]:
        """Check the samples of the op contract.

        They are the samples of the operation, or of the product, reduction or the like to which
        others were fused: its kernel has the same lines, without the lines of the others.
        """
        names = {node.op.name for node in self._program.roots}
        if len(self.nodes) > 1:
            compiled = self._compiled.order
            names = {node.attrs["base"] for node in compiled if "base" in node.attrs}
        ops = [lookup(name) for name in sorted(names)]
        checks, others = [], 0
        for case in (case for op in ops if not op.writes for case in cases_of(op)):
            outcome = self._case(case, kernel, wgsl)
            if outcome is None:
                others += 1
            else:
                checks.append(SampleCheck(f"contract {case.number}", outcome or None))
        return checks, others

    def _case(self, case: Case, kernel: int, wgsl: str) -> str | None:
        """Return the difference in a sample, empty for none; None if it has another kernel."""
        added = add_case(case, Graph())
        feeds = {tensor.node.name: array for tensor, array in added.feeds.items()}
        if len(feeds) != len(added.inputs) or not feeds:
            return None
        by_name = {tensor.node.name: tensor for tensor in added.feeds}
        program = Program(added.node.graph, list(added.node.outputs), [], by_name)
        try:
            compiled, plan = planned(program, feeds, self._target)
        except PlaygradError:
            return None
        if len(plan["commands"]) != len(self.kernels):
            return None
        text = patched(plan["kernels"][kernel]["wgsl"], self.kernels[kernel], wgsl)
        if text is None:
            return None
        expected = case.op.reference(list(case.sample.inputs), case.sample.attrs)
        names = [tensor.name for tensor in compiled.program.fetches]
        try:
            with self._trial(plan, kernel, text) as trial:
                results = trial.ending.run(0, _read_by(trial.ending, feeds), names).arrays
        except DeviceLostError:
            raise
        except PlaygradError as error:
            return error.message
        tolerance = max(TOLERANCE, case.sample.tolerance)
        return _difference([results[name] for name in names], expected, tolerance) or ""


def _read_by(plan: LoadedPlan, feeds: Mapping[str, Array]) -> dict[str, Array]:
    """Return the feeds that a Plan reads: of some inputs only the shape counts."""
    return {name: array for name, array in feeds.items() if name in plan.plan["feeds"]}


def _difference(
    results: Sequence[Array], expected: Sequence[Array], tolerance: float = TOLERANCE
) -> str | None:
    for number, (actual, reference) in enumerate(zip(results, expected, strict=True)):
        finite = np.abs(reference[np.isfinite(reference)]) if reference.size else reference
        scale = float(finite.max()) if finite.size else 0.0
        what = "the result" if len(results) == 1 else f"result {number + 1}"
        try:
            expect_close(what, actual, np.asarray(reference), tolerance, tolerance * max(scale, 1))
        except BrokenRuleError as error:
            return str(error)
    return None
