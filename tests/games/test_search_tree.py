"""What a search has learned below the position that it began with."""

from __future__ import annotations

from typing import Any

import numpy as np

import playgrad as pg
from playgrad.games.search import search

Array = np.ndarray[Any, Any]


def even(planes: Array) -> tuple[Array, Array]:
    """Rate all moves alike, and all positions as drawn."""
    return np.zeros((len(planes), 9), np.float32), np.zeros(len(planes), np.float32)


def test_the_replies_to_a_move_are_those_of_its_node() -> None:
    game = pg.games.TicTacToe()
    states = [game.replay([4, 0]), game.replay([0, 1, 4, 2])]  # the second is won by 8
    for state, result in zip(states, search(game, states, even, 60), strict=True):
        root = result.after([])
        assert root is not None
        assert np.array_equal(root.visits, result.visits)
        assert np.array_equal(root.prior, result.prior)
        assert np.array_equal(root.q, result.q, equal_nan=True)
        for action in np.flatnonzero(result.visits > 1):
            after = game.play(state, int(action))
            replies = result.after([int(action)])
            if game.result(after) is not None:
                assert replies is None, "the game has ended"
                continue
            assert replies is not None
            assert replies.visits.sum() == result.visits[action] - 1
            assert np.array_equal(replies.prior > 0, game.legal(after))
            assert np.isnan(replies.q[replies.visits == 0]).all()
        assert result.after([int(np.flatnonzero(~game.legal(state))[0])]) is None
    (won,) = search(game, states[1:], even, 60)
    assert won.after([8]) is None and won.q[8] == 1
