"""Examples with images learn, and in full they reach the results that they state."""

from __future__ import annotations

import pytest

from tests.example_runs import few_digits, number, output


def test_lenet(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    few_digits(monkeypatch, 3000, 300)
    out = output(capsys, "lenet", "--device", "cpu", "--steps", "60")
    assert number(out, r"test accuracy ([\d.]+)%") > 75


def test_small_resnet(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    few_digits(monkeypatch, 3000, 300)
    out = output(capsys, "small-resnet", "--device", "cpu", "--steps", "50")
    assert number(out, r"test accuracy ([\d.]+)%") > 60


@pytest.mark.slow
@pytest.mark.parametrize(("example", "percent"), [("lenet", 96.5), ("small-resnet", 98)])
def test_whole_epoch(capsys: pytest.CaptureFixture[str], example: str, percent: float) -> None:
    out = output(capsys, example, "--device", "cpu")
    assert number(out, r"test accuracy ([\d.]+)%") > percent
