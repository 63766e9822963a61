"""Examples with sequences learn, and in full they reach the results that they state."""

from __future__ import annotations

import pytest

from tests.example_runs import few_digits, number, output

RIGHT = r"^([\d.]+)% of the (?:captchas|dates) are "


def test_captcha_is_read(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    few_digits(monkeypatch, 5000, 1000)
    options = ("--device", "cpu", "--steps", "100", "--batch-size", "16")
    assert number(output(capsys, "captcha", *options), RIGHT) > 5


def test_dates_with_attention_are_translated(capsys: pytest.CaptureFixture[str]) -> None:
    out = output(capsys, "dates-with-attention", "--device", "cpu", "--steps", "120")
    assert number(out, RIGHT) > 10


@pytest.mark.slow
@pytest.mark.parametrize(("example", "least"), [("captcha", 75), ("dates-with-attention", 95)])
def test_the_stated_result_is_reached(
    capsys: pytest.CaptureFixture[str], example: str, least: float
) -> None:
    assert number(output(capsys, example, "--device", "cpu"), RIGHT) > least
