"""The kernel bench of the page: tries other WGSL for a kernel of a training step or a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from playgrad.compiler.program import Program
from playgrad.errors import DeviceLostError, KernelError
from playgrad.inspection.kernel_bench import KernelBench
from playgrad.inspection.problem import Unavailable
from playgrad.page.node_view import NodeViews
from playgrad.page.session_runs import SessionRuns
from playgrad.runtime.hooks import Request

View = dict[str, Any]


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

    def answer(self, model: Any, programs: Sequence[Program], request: Request) -> View:
        """Open the bench of the node called ``name``, or check or time ``payload`` on it.

        Args:
            request: with ``action``, "open", "check", "time" or "close", and the number of the
                ``kernel`` that the payload stands for.
        """
        view: View = {"opened": None, "report": None, "times": None, "problem": None}
        action, name = request["action"], str(request["name"])
        kernel, text = int(request["kernel"]), bytes(request.get("payload") or b"").decode()
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

    def _bench_of(self, model: Any, programs: Sequence[Program], name: str) -> KernelBench:
        if self._bench is None or self._of != (model, name):
            self.clear()
            values, known = self._nodes.values_of(model, programs, name)
            node = values.tensor(known).node
            if model is None:
                self._bench = self._runs.first_of(
                    node,
                    lambda session, run: KernelBench(session, run.fetches, values, node, run.feeds),
                )
            else:
                self._bench = KernelBench(model.session, values.targets, values, node)
            self._of = (model, name)
        return self._bench


def _report(bench: KernelBench, text: str, kernel: int) -> View:
    report = bench.check(text, kernel)
    return {
        "passed": report.passed,
        "samples": [{"name": each.name, "problem": each.problem} for each in report.samples],
        "others": report.other_kernels,
        "error": report.error,
        "line": report.line,
    }


def _times(bench: KernelBench, text: str, kernel: int) -> View:
    view: View = {"before": 0.0, "after": 0.0, "limit": 0.0, "moved": 0, "operations": 0}
    view |= {"runs": 0, "error": None}
    try:
        times = bench.time(text, kernel)
    except (DeviceLostError, KernelError) as error:
        return view | {"error": error.message}
    limit = times.limit
    return view | {
        "before": times.before,
        "after": times.after,
        "limit": limit.seconds,
        "moved": limit.moved,
        "operations": limit.operations,
        "runs": times.runs,
    }
