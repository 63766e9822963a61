"""Examples with images learn, and in full they reach the results that they state."""

from __future__ import annotations

import pytest

from tests.example_runs import few_digits, number, output


def test_lenet_learns_digits(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    few_digits(monkeypatch, 3000, 300)
    out = output(capsys, "lenet", "--device", "cpu", "--steps", "60")
    assert number(out, r"test accuracy ([\d.]+)%") > 75


def test_small_resnet_learns_digits(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    few_digits(monkeypatch, 3000, 300)
    out = output(capsys, "small-resnet", "--device", "cpu", "--steps", "50")
    assert number(out, r"test accuracy ([\d.]+)%") > 60


def test_variational_autoencoder_restores_digits(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    few_digits(monkeypatch, 3000, 300)
    out = output(capsys, "variational-autoencoder", "--device", "cpu", "--steps", "100")
    assert number(out, r"^(\d+) nats per image$") < 190
    assert number(out, r"^(\d+)% of the variance restored$") > 20


def test_letters_beside_digits_are_both_recognized(capsys: pytest.CaptureFixture[str]) -> None:
    out = output(capsys, "letters-beside-digits", "--device", "cpu", "--steps", "200")
    assert number(out, r"^([\d.]+)% of the digits are right$") > 60
    assert number(out, r"^([\d.]+)% of the letters are right$") > 80


def test_coloured_shapes_are_classified(capsys: pytest.CaptureFixture[str]) -> None:
    out = output(capsys, "coloured-shapes", "--device", "cpu", "--steps", "150")
    assert out.startswith("disc, ring, square, triangle, cross, star\n")
    assert number(out, r"test accuracy ([\d.]+)%") > 35


@pytest.mark.slow
@pytest.mark.parametrize(
    ("example", "pattern", "least"),
    [
        ("lenet", r"test accuracy ([\d.]+)%", 96.5),
        ("small-resnet", r"test accuracy ([\d.]+)%", 98),
        ("variational-autoencoder", r"^(\d+)% of the variance restored$", 58),
        ("letters-beside-digits", r"^([\d.]+)% of the digits are right$", 91),
        ("letters-beside-digits", r"^([\d.]+)% of the letters are right$", 97.5),
    ],
)
def test_the_stated_result_is_reached(
    capsys: pytest.CaptureFixture[str], example: str, pattern: str, least: float
) -> None:
    assert number(output(capsys, example, "--device", "cpu"), pattern) > least
