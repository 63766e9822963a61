"""The examples of quantized and distilled networks learn what they say."""

from __future__ import annotations

import pytest

from tests.example_runs import few_digits, number, output


def test_digits_are_read_as_well_with_integers(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    few_digits(monkeypatch, 4000, 500)
    out = output(capsys, "digits-in-12-kb", "--device", "cpu")
    exact = number(out, r"^accuracy on 500 samples of test data: ([\d.]+) to")
    assert exact > 0.75
    assert number(out, r"^accuracy .* to ([\d.]+)$") > exact - 0.02
    assert number(out, r"^weights: .* bytes, ([\d.]+) times smaller") > 3.5
    assert number(out, r"^milliseconds for one sample on cpu:0: [\d.]+ to ([\d.]+)$") > 0


def test_a_student_learns_from_a_residual_network(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    few_digits(monkeypatch, 1500, 300)
    out = output(capsys, "distilled-digits", "--device", "cpu", "--epochs", "3")
    assert number(out, r"^teacher ([\d.]+)%") > 80
    assert number(out, r"^student alone ([\d.]+)%") > 65
    assert number(out, r"^student with the teacher ([\d.]+)%") > 70


def test_sounds_are_told_apart_with_four_bits(capsys: pytest.CaptureFixture[str]) -> None:
    out = output(capsys, "sounds-in-four-bits", "--device", "cpu", "--epochs", "4")
    assert number(out, r"^float32: ([\d.]+)%") > 70
    assert number(out, r"^trained with 4 bits: ([\d.]+)%") > 70


@pytest.mark.slow
def test_whole_trainings_of_small_models_reach_their_stated_results(
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = output(capsys, "digits-in-12-kb", "--device", "cpu")
    assert number(out, r"^accuracy on 10,000 samples of test data: ([\d.]+) to") > 0.977
    assert number(out, r"^accuracy .* to ([\d.]+)$") > 0.977
    out = output(capsys, "distilled-digits", "--device", "cpu")
    alone = number(out, r"^student alone ([\d.]+)%")
    assert number(out, r"^student with the teacher ([\d.]+)%") > alone + 1
    out = output(capsys, "sounds-in-four-bits", "--device", "cpu")
    exact = number(out, r"^float32: ([\d.]+)%")
    assert exact > 97
    rounded = number(out, r"^rounded to 4 bits: ([\d.]+)%")
    assert rounded < number(out, r"^trained with 4 bits: ([\d.]+)%")
    assert number(out, r"^trained with 4 bits: ([\d.]+)%") > exact - 1
