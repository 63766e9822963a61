"""The examples of Boltzmann machines, graphs, trees and games learn what they say."""

from __future__ import annotations

import pytest

from tests.test_examples import few_digits, number, output, reset_devices

__all__ = ["reset_devices"]  # a fixture that pytest applies to every test here


def test_board_moves_are_found(capsys: pytest.CaptureFixture[str]) -> None:
    out = output(capsys, "board-moves", "--device", "cpu", "--epochs", "2")
    assert number(out, r"^moves found ([\d.]+)%") > 90


def test_citation_attention_gains_from_attention(capsys: pytest.CaptureFixture[str]) -> None:
    out = output(capsys, "citation-attention", "--device", "cpu")
    without = number(out, r"^accuracy without attention ([\d.]+)%")
    assert number(out, r"^accuracy with attention ([\d.]+)%") > max(88, without + 3), out


def test_deep_belief_net_gains_from_pre_training(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    few_digits(monkeypatch, 1000, 300)
    out = output(capsys, "deep-belief-net", "--device", "cpu")
    for units in range(3):
        error, variance = number_pairs(out)[units]
        assert error < variance / 2, out
    without = number(out, r"^accuracy without ([\d.]+)%")
    assert number(out, r"^accuracy with pre-training ([\d.]+)%") > max(60, without + 3), out


@pytest.mark.slow
def test_whole_trainings_reach_their_stated_results(capsys: pytest.CaptureFixture[str]) -> None:
    assert number(output(capsys, "board-moves", "--device", "cpu"), r"found ([\d.]+)%") > 99
    out = output(capsys, "deep-belief-net", "--device", "cpu")
    assert number(out, r"^accuracy with pre-training ([\d.]+)%") > 66
    assert number(out, r"^accuracy without ([\d.]+)%") < 63


def number_pairs(out: str) -> list[tuple[float, float]]:
    """Return error and variance of each machine."""
    lines = [line for line in out.splitlines() if " units: " in line]
    return [
        (number(line, r"error ([\d.]+),"), number(line, r"variance ([\d.]+)$")) for line in lines
    ]


def test_film_ratings_are_predicted(capsys: pytest.CaptureFixture[str]) -> None:
    out = output(capsys, "film-ratings", "--device", "cpu")
    assert number(out, r"^error ([\d.]+) stars") < 0.65
    assert number(out, r"; ([\d.]+) with the mean of each film$") > 1


def test_grid_world_is_solved_by_shortest_ways(capsys: pytest.CaptureFixture[str]) -> None:
    out = output(capsys, "grid-world", "--device", "cpu")
    assert number(out, r"^goal reached from (\d+) of 25 fields") >= 24
    assert number(out, r", (\d+) shortest ways$") >= 22


def test_logic_trees_are_classified(capsys: pytest.CaptureFixture[str]) -> None:
    out = output(capsys, "logic-trees", "--device", "cpu")
    assert number(out, r"^accuracy ([\d.]+)%") > 97
    assert number(out, r": (\d+)x$") > 0


def test_sampled_neighbours_improve_accuracy(capsys: pytest.CaptureFixture[str]) -> None:
    out = output(capsys, "sampled-neighbours", "--device", "cpu")
    without = number(out, r"^accuracy without neighbours ([\d.]+)%")
    assert number(out, r"^accuracy with neighbours ([\d.]+)%") > max(94, without + 4), out


def test_tic_tac_toe_is_rarely_lost_after_training(capsys: pytest.CaptureFixture[str]) -> None:
    out = output(capsys, "tic-tac-toe", "--device", "cpu")
    assert number(out, r"^lost before training ([\d.]+)%") > 30
    assert number(out, r"^lost after training ([\d.]+)%") < 5


def test_games_are_learnt_with_searches(capsys: pytest.CaptureFixture[str]) -> None:
    """A generation each; `tests/games/test_learning.py` says what more of them learn."""
    out = output(capsys, "tic-tac-toe-search", "--device", "cpu", "--epochs", "1")
    before = number(out, r"^ways to lose before training: (\d+)")
    assert number(out, r"^ways to lose after training: (\d+)") <= before
    assert number(out, r"^against random moves: (\d+) won") > 70
