"""Runs programs under the eyes of the doctor."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence
from typing import Any

import playgrad as pg
from playgrad.doctor.finding import Finding
from playgrad.doctor.inspector import Inspector
from playgrad.graph.graph import reset_default_graph
from playgrad.networks.shared_session import shared_session
from playgrad.runtime.options import Options, options_set

FILE = "watched.py"


class StrictInspector(Inspector):
    """An inspector whose failures are failures of the test."""

    def _safely(self, action: Any) -> object:
        return action()


class Watched:
    """A program that has run.

    Attributes:
        findings: at its end.
        namespace: its names.
        reports: all that was reported meanwhile: the findings, and whether the training was lost.
    """

    def __init__(self, text: str, file: str = FILE, kind: type[Inspector] = StrictInspector):
        self.reports: list[tuple[list[Finding], bool]] = []
        self.namespace: dict[str, Any] = {"__name__": "__main__", "__file__": file}
        inspector = kind(text, file, self._report)
        reset_default_graph(0)
        with (
            options_set(Options(device="cpu", observer=inspector)),
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.suppress(pg.NonFiniteError),
        ):
            exec(compile(text, file, "exec"), self.namespace)
        self.findings = inspector.findings

    def _report(self, findings: Sequence[Finding], lost: bool) -> None:
        self.reports.append((list(findings), lost))

    @property
    def codes(self) -> list[str]:
        return [finding.code for finding in self.findings]

    def value(self, expression: str) -> float:
        """Return the value of an expression of the program."""
        return float(eval(expression, self.namespace))

    def close(self) -> None:
        """Free the sessions of its models."""
        for value in self.namespace.values():
            if isinstance(value, pg.Model):
                value.close()
        shared_session(pg.get_default_graph()).close()
