"""A checkpoint of ``playgrad train`` continues learning from own games to the bit."""

from pathlib import Path

import pytest

import playgrad as pg
from playgrad.cli import main

PROGRAM = """
import playgrad as pg
from playgrad import games
game = games.TicTacToe()
model = games.network(game, filters=4, blocks=0)
play = pg.SelfPlay(game, model, simulations=8, games=6, steps=3, batch_size=16,
                   gate_every=2, gate_games=4)
play.fit(generations=4)
print(play.generation, play.games_played, [rating.elo for rating in play.ratings])
print([float(abs(weight).sum()) for weight in model.get_weights()])
"""


def test_a_checkpoint_continues_to_the_bit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "player.py"
    program.write_text(PROGRAM)

    def printed(folder: str, *options: str) -> list[str]:
        pg.reset_default_graph()
        arguments = ["--device", "cpu", "--checkpoint", str(tmp_path / folder), *options]
        assert main(["train", str(program), *arguments]) == 0
        return capsys.readouterr().out.splitlines()[:2]

    whole = printed("whole", "--epochs", "4")
    half = printed("parts", "--epochs", "2")
    assert half[0].startswith("2 12 ") and half[1] != whole[1]
    assert printed("parts", "--epochs", "4", "--resume") == whole
    assert whole[0].startswith("4 24 ")
