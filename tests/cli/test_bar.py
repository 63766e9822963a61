"""The progress bar and the line for each epoch."""

from __future__ import annotations

from playgrad.cli.bar import ProgressBar, clock, epoch_line, progress_line, rating_line


class Terminal:
    """A stream that claims to be a terminal."""

    def __init__(self) -> None:
        self.text = ""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.text += text
        return len(text)

    def flush(self) -> None:
        pass


EVENT = {
    "kind": "progress", "epoch": 1, "step": 469, "total_steps": 938,
    "points": [[468, 0.5, 0.8], [469, 0.25, 0.875]],
    "steps_per_second": 123.4, "seconds": 3.8, "eta_seconds": 65.2,
}  # fmt: skip


def test_the_progress_bar_is_redrawn_in_place() -> None:
    line = progress_line(EVENT, 2, 120)
    assert line == (
        "epoch 1/2 [###############...............] "
        "469/938  loss 0.2500  accuracy 0.875  123.4 steps/s  1:05 left"
    )
    for columns in range(10, 130):
        assert len(progress_line(EVENT, 2, columns)) < columns
    terminal = Terminal()
    bar = ProgressBar(terminal)  # type: ignore[arg-type]
    bar.show({"kind": "fit_begin", "epochs": 2})
    bar.show(EVENT)
    bar.show({**EVENT, "points": [[470, 1.0, None]], "step": 938})
    bar.close()
    assert terminal.text.count("\r\x1b[K") == 3
    assert terminal.text.endswith("\r\x1b[K")


def test_epoch_lines_and_clock_times_are_formatted() -> None:
    event = {
        "epoch": 1, "loss": 0.5, "accuracy": None, "test_loss": 0.25, "test_accuracy": None,
        "seconds": 2.0,
    }  # fmt: skip
    assert epoch_line(event, 3) == "epoch 1/3: loss 0.5000, test loss 0.2500 (2.0 s)"
    assert [clock(s) for s in (0, 9.6, 61, 3600, 7325)] == [
        "0:00", "0:10", "1:01", "1:00:00", "2:02:05",
    ]  # fmt: skip


def test_a_match_of_a_player_is_a_line() -> None:
    event = {
        "kind": "rating", "step": 200, "generation": 5, "games": 1320,
        "elo": -0.3, "is_best": False,
    }  # fmt: skip
    assert rating_line(event) == "Elo 0 after generation 5, 1,320 games"
    better = event | {"elo": 87.6, "is_best": True}
    assert rating_line(better) == "Elo 88 after generation 5, 1,320 games, the best so far"
