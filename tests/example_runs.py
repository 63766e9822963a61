"""Runs of the example programs, and the numbers that they print."""

from __future__ import annotations

import re

import pytest

import playgrad as pg
from playgrad.cli import main
from playgrad.graph.graph import reset_default_graph


def output(capsys: pytest.CaptureFixture[str], example: str, *options: str) -> str:
    """Return the output of ``playgrad train example``, which must succeed."""
    try:
        assert main(["train", example, *options]) == 0
    finally:
        reset_default_graph()
    return capsys.readouterr().out


def few_digits(monkeypatch: pytest.MonkeyPatch, train: int, test: int) -> None:
    """Have ``pg.data.mnist`` return the first digits only."""
    (x, y), (x_test, y_test) = pg.data.mnist()
    few = (x[:train], y[:train]), (x_test[:test], y_test[:test])
    monkeypatch.setattr(pg.data, "mnist", lambda: few)


def number(out: str, pattern: str) -> float:
    """Return the number that the only group of ``pattern`` matches in ``out``."""
    match = re.search(pattern, out, re.MULTILINE)
    assert match, out
    return float(match[1])
