"""A kernel of a training step on the bench: other WGSL in its place, checked and timed.

An operation of the step, with those that the compiler fuses with it, is compiled alone for the kind
of GPU that trains, and runs on a device of its own: a kernel that loses its device takes nothing of
the training with it. Variables are fed, so nothing of the model can change.
"""

from __future__ import annotations

import copy
import difflib
import re
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from playgrad.compiler.compile import Compiled, run_passes
from playgrad.compiler.place import Policy
from playgrad.compiler.plan import PlanBuilder
from playgrad.compiler.program import Program
from playgrad.contract.cases import Case, add_case, cases_of
from playgrad.contract.comparison import BrokenRuleError, expect_close
from playgrad.devices import registry
from playgrad.devices.base import check_plan
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
from playgrad.graph.tensor import Node
from playgrad.inspection.kernel_report import KernelReport, KernelTimes, SampleCheck
from playgrad.inspection.loop_guard import guarded
from playgrad.inspection.node_kernel import node_kernel
from playgrad.inspection.node_values import NodeValues
from playgrad.inspection.physical_limit import physical_limit
from playgrad.inspection.problem import Unavailable
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
_GPU = "gpu:0"


class KernelBench:
    """The kernels of an operation, and a place to try others; see `Inspection.kernel`.

    Attributes:
        name: the node that was asked for.
        nodes: those that the kernels compute: fused ones are computed together.
        kernels: the WGSL of each kernel, in the order in which they run.
        device: the name of the adapter.
    """

    def __init__(
        self, session: Session, targets: Sequence[Node], values: NodeValues, node: Node
    ) -> None:
        shown = node_kernel(session, targets, node)
        if not shown.device.startswith("gpu"):
            raise Unavailable("no_wgsl", device=shown.device)
        self.name = node.name
        self.nodes = tuple(dict.fromkeys([*shown.fused, shown.within or node.name]))
        if node.name not in self.nodes:
            self.nodes = (node.name, *self.nodes)
        self._device: WebGpuDevice | None = None
        self._target = session.opened(shown.device).target
        self._program, self._feeds = self._alone(values, shown.within or node.name)
        self._compiled = _compiled(self._program, self._feeds)
        self._plan = self._planned(self._compiled)
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
        """Compare what an edited kernel computes with NumPy.

        Args:
            wgsl: the whole text, in place of ``kernels[kernel]``.

        Returns:
            A report, false if the kernel does not compile or computes something else. The samples
            are the inputs of the first batch, others of the same shapes, and those samples of the
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
        plan = self._guarded(self._plan, kernel, wgsl)
        try:
            samples = [
                SampleCheck(name, self._problem(plan, feeds)) for name, feeds in self._samples()
            ]
        finally:
            plan.unload()
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
        trial = self._guarded(self._plan, kernel, wgsl)
        try:
            problem = self._problem(trial, self._feeds)
        finally:
            trial.unload()
        if problem is not None:
            raise KernelError(f"only a kernel that computes what NumPy does is timed: {problem}")
        plans = [self._loaded(self._plan)]
        try:
            plans.append(self._loaded(self._edited(self._plan, kernel, wgsl)))
            for plan in plans:
                plan.run(0, _read_by(plan, self._feeds), [])
            runs = 1
            while runs < MOST_RUNS and self._seconds(plans[0], runs) < ROUND_SECONDS / 2:
                runs *= 2
            rounds = [[self._seconds(plan, runs) for plan in plans] for _ in range(ROUNDS)]
        finally:
            for plan in plans:
                plan.unload()
        before, after = (statistics.median(each) / runs for each in zip(*rounds, strict=True))
        nodes = [node for node in self._compiled.order if node.inputs]
        return KernelTimes(before, after, physical_limit(self._opened(), nodes), runs)

    # The operation alone

    def _alone(self, values: NodeValues, last: str) -> tuple[Program, dict[str, Array]]:
        """Return the group of nodes as a program whose inputs are fed, and their values."""
        originals = [values.tensor(name).node for name in self.nodes]
        inside = set(originals)
        entries = dict.fromkeys(
            tensor for node in originals for tensor in node.inputs if tensor.node not in inside
        )
        arrays = values.values(list(entries)) if entries else []
        copies = {tensor: values.copy_of(tensor.node).outputs[tensor.index] for tensor in entries}
        feeds = {copies[tensor].node.name: copies[tensor] for tensor in entries}
        fetches = list(values.copy_of(values.tensor(last).node).outputs)
        program = Program(fetches[0].graph, fetches, [], feeds)
        known = {
            copies[tensor].node.name: np.asarray(array)
            for tensor, array in zip(entries, arrays, strict=True)
        }
        return program, known

    def _planned(self, compiled: Compiled) -> dict[str, Any]:
        """Return the Plan in which each dispatch has a kernel of its own."""
        segments, fetches = compiled.segments[_GPU], compiled.program.fetches
        builder = PlanBuilder(segments, fetches, self._target, {}, merge_dispatches=False)
        plan = builder.build()
        texts = {kernel["id"]: kernel for kernel in plan["kernels"]}
        kernels = []
        for number, command in enumerate(plan["commands"]):
            kernels.append({**texts[command["kernel"]], "id": number})
            command["kernel"] = number
        return {**plan, "kernels": kernels}

    @staticmethod
    def _edited(plan: Mapping[str, Any], kernel: int, wgsl: str) -> dict[str, Any]:
        edited = copy.deepcopy(dict(plan))
        edited["kernels"][kernel]["wgsl"] = wgsl
        return edited

    def _opened(self) -> WebGpuDevice:
        if self._device is None or self._device.lost:
            self._device = registry.open_scratch_gpu()
        return self._device

    def _loaded(self, plan: Mapping[str, Any]) -> LoadedPlan:
        return self._opened().load(dict(plan), {})

    def _guarded(self, plan: Mapping[str, Any], kernel: int, wgsl: str) -> LoadedPlan:
        """Load a Plan with an edited kernel whose loops end.

        Raises:
            KernelError: the kernel as it was written does not compile.
        """
        loaded = self._loaded(self._edited(plan, kernel, wgsl))
        ending = guarded(wgsl)
        if ending == wgsl:
            return loaded
        try:
            guard = self._loaded(self._edited(plan, kernel, ending))
        except KernelError:  # such as a function that only returns from within its loop
            return loaded
        loaded.unload()
        return guard

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
            ("step", self._feeds),
            ("normal", others(lambda array: random.normal(size=array.shape))),
            ("zeros", others(lambda array: np.zeros(array.shape))),
            ("large", others(lambda array: 30 * random.normal(size=array.shape))),
        ]

    def _problem(self, plan: LoadedPlan, feeds: Mapping[str, Array]) -> str | None:
        fetches = self._program.fetches
        with Session(self._program.graph, "cpu:0", threads=1) as session:
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

        They are those of the operation, or of the product, reduction or the like to which others
        were fused: its kernel has the same lines, but for those of the others.
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
            compiled = _compiled(program, feeds)
            plan = self._planned(compiled)
        except PlaygradError:
            return None
        if len(plan["commands"]) != len(self.kernels):
            return None
        text = patched(plan["kernels"][kernel]["wgsl"], self.kernels[kernel], wgsl)
        if text is None:
            return None
        expected = case.op.reference(list(case.sample.inputs), case.sample.attrs)
        try:
            loaded = self._guarded(plan, kernel, text)
        except KernelError as error:
            return error.message
        try:
            names = [tensor.name for tensor in compiled.program.fetches]
            results = loaded.run(0, _read_by(loaded, feeds), names).arrays
        except DeviceLostError:
            raise
        except PlaygradError as error:
            return error.message
        finally:
            loaded.unload()
        tolerance = max(TOLERANCE, case.sample.tolerance)
        return _difference([results[name] for name in names], expected, tolerance) or ""


def _compiled(program: Program, feeds: Mapping[str, Array]) -> Compiled:
    shapes = {name: array.shape for name, array in feeds.items()}
    return run_passes(program, shapes, Policy(_GPU, [_GPU]))


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


def patched(text: str, before: str, after: str) -> str | None:
    """Return ``text`` with the change from ``before`` to ``after``, line by line.

    Returns:
        None if ``text`` does not have the lines that were changed, or those beside an addition.
    """
    old, new, lines = before.split("\n"), after.split("\n"), text.split("\n")
    same = difflib.SequenceMatcher(None, old, lines, autojunk=False).get_matching_blocks()
    place = {block.a + i: block.b + i for block in same for i in range(block.size)}
    changes = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    for kind, i1, i2, j1, j2 in reversed(changes):
        if kind == "equal":
            continue
        places = [place.get(i) for i in range(i1, i2)]
        if i1 in place:
            start = place[i1]
        elif i1 == i2 and i1 - 1 in place:  # an addition, after a line that is there
            start = place[i1 - 1] + 1
        else:
            return None
        if places != list(range(start, start + i2 - i1)):
            return None
        lines[start : start + i2 - i1] = new[j1:j2]
    return "\n".join(lines)
