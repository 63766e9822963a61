"""The programs in the guide to games."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

import playgrad as pg
from playgrad.games import Game
from tests.test_docs import blocks


def test_code_in_the_guide_to_games_runs(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {"pg": pg, "np": np, "NamedTuple": NamedTuple}
    outputs = []
    for block in blocks("docs/games.md"):
        pg.reset_default_graph()
        exec(block, names)
        outputs.append(capsys.readouterr().out)
        if isinstance(names.get("player"), pg.SelfPlay):
            names.pop("player").close()
    learning, state, searching, own = outputs
    assert " won, " in learning and " lost" in learning
    assert "23 None" in state and "['a5', 'e1', 'pass'] 0 4" in state
    assert searching.startswith("column 4 ")  # it wins at once
    # Six matches are left: two must be taken, so that the other player gets four.
    assert own == "take 2\n"
    nim: Game[Any] = names["nim"]
    with pytest.raises(pg.GameError, match=r"nim: take 3 is not legal, there are 2 matches\."):
        nim.play(nim.replay([2, 2, 2, 0]), 2)
