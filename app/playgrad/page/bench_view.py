"""The kernel bench of the page: tries other WGSL for a kernel of a training step or a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NotRequired, TypedDict

from playgrad.compiler.program import Program
from playgrad.errors import DeviceLostError, KernelError
from playgrad.inspection.kernel_bench import KernelBench
from playgrad.inspection.problem import Unavailable, UnavailableForm
from playgrad.page.node_view import ModelOfGraph, NodeViews, session_of
from playgrad.page.session_runs import SessionRuns


class BenchQuestion(TypedDict):
    """Open the bench of a node's kernels, or try the ``payload`` in place of number `kernel` of
    them: check its results, or measure its time."""

    name: str
    action: Literal["open", "check", "time", "close"]
    kernel: int
    payload: NotRequired[bytes]


class OpenedBench(TypedDict):
    """`nodes`: computed by the kernels; `kernels`: their WGSL."""

    adapter: str
    of_run: bool
    nodes: list[str]
    kernels: list[str]


class CheckedSample(TypedDict):
    name: str
    problem: str | None


class KernelReportForm(TypedDict):
    """`samples`: "step", "run", "normal", "zeros", "large" or "contract 3"; `others`: samples of
    the op contract with another kernel; `error`: of the compiler, about a line."""

    passed: bool
    samples: list[CheckedSample]
    others: int
    error: str | None
    line: int | None


class KernelTimesForm(TypedDict):
    """Seconds of a run with the compiler's kernel, with the edited one, and the least that the
    device could take to move that many bytes and do that many operations."""

    before: float
    after: float
    limit: float
    moved: int
    operations: int
    runs: int
    error: str | None


class KernelBenchForm(TypedDict):
    """The answer to a question about kernels: the field that was asked for is not null."""

    opened: OpenedBench | None
    report: KernelReportForm | None
    times: KernelTimesForm | None
    problem: UnavailableForm | None


class BenchView:
    """Holds the bench of one operation at a time, from the first question until `clear`.

    Args:
        nodes: know the values of the graphs.
        runs: the last runs of the program's own sessions.
    """

    def __init__(self, nodes: NodeViews, runs: SessionRuns) -> None:
        self._nodes, self._runs = nodes, runs
        self._bench: KernelBench | None = None
        self._of: tuple[Any, str] | None = None

    def clear(self) -> None:
        """Close the device of the bench."""
        if self._bench is not None:
            self._bench.close()
        self._bench = self._of = None

    def answer(
        self, model: ModelOfGraph, programs: Sequence[Program], request: BenchQuestion
    ) -> KernelBenchForm:
        """Open the bench of the node called ``name``, or check or time ``payload`` on it."""
        view: KernelBenchForm = {"opened": None, "report": None, "times": None, "problem": None}
        action, name, kernel = request["action"], request["name"], request["kernel"]
        text = bytes(request.get("payload", b"")).decode()
        if action == "close":
            self.clear()
            return view
        try:
            bench = self._bench_of(model, programs, name)
            if action == "open":
                view["opened"] = {
                    "adapter": bench.device,
                    "of_run": bench.of_run,
                    "nodes": list(bench.nodes),
                    "kernels": list(bench.kernels),
                }
            elif action == "check":
                view["report"] = _report(bench, text, kernel)
            else:
                view["times"] = _times(bench, text, kernel)
        except Unavailable as problem:
            view["problem"] = problem.as_dict()
        return view

    def _bench_of(self, model: ModelOfGraph, programs: Sequence[Program], name: str) -> KernelBench:
        if self._bench is None or self._of != (model, name):
            self.clear()
            values, known = self._nodes.values_of(model, programs, name)
            node = values.tensor(known).node
            session = session_of(model)
            if session is None:
                self._bench = self._runs.first_of(
                    node,
                    lambda session, run: KernelBench(session, run.fetches, values, node, run.feeds),
                )
            else:
                self._bench = KernelBench(session, values.targets, values, node)
            self._of = (model, name)
        return self._bench


def _report(bench: KernelBench, text: str, kernel: int) -> KernelReportForm:
    report = bench.check(text, kernel)
    return {
        "passed": report.passed,
        "samples": [{"name": each.name, "problem": each.problem} for each in report.samples],
        "others": report.other_kernels,
        "error": report.error,
        "line": report.line,
    }


def _times(bench: KernelBench, text: str, kernel: int) -> KernelTimesForm:
    view: KernelTimesForm = {
        "before": 0.0, "after": 0.0, "limit": 0.0, "moved": 0, "operations": 0, "runs": 0,
        "error": None,
    }  # fmt: skip
    try:
        times = bench.time(text, kernel)
    except (DeviceLostError, KernelError) as error:
        view["error"] = error.message
        return view
    limit = times.limit
    return {
        "before": times.before,
        "after": times.after,
        "limit": limit.seconds,
        "moved": limit.moved,
        "operations": limit.operations,
        "runs": times.runs,
        "error": None,
    }
