"""Runs the command line in this process and returns exit code, stdout and stderr."""

from __future__ import annotations

import json
from typing import Any

import pytest

from playgrad.cli import main

Run = tuple[int, str, str]


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> Run:
    try:
        code = main([str(argument) for argument in arguments])
    except SystemExit as stop:
        assert isinstance(stop.code, int)
        code = stop.code
    out, err = capsys.readouterr()
    return code, out, err


def result_of(run: Run) -> Any:
    code, out, err = run
    assert code == 0, err
    return json.loads(out.splitlines()[-1])
