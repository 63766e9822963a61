"""Networks learn games from nothing: by night, with as many generations as they need."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import playgrad as pg
from playgrad.games import (
    ConnectFour,
    Game,
    Go,
    OnePlyPlayer,
    Player,
    RandomPlayer,
    RolloutPlayer,
    TicTacToe,
    match,
    network,
)

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def new_graph() -> Iterator[None]:
    pg.reset_default_graph()
    yield
    pg.reset_default_graph()


def lost_lines(game: Game, player: Player, begins: bool) -> int:
    """Return how many ends of games the player loses, with all replies of the other one."""
    states, lost = [game.initial()], 0
    while states:
        if (states[0].player == 0) == begins:
            moves = [[action] for action in player.choose(game, states)]
        else:
            moves = [list(np.flatnonzero(game.legal(state))) for state in states]
        after = {
            game.play(state, action)
            for state, actions in zip(states, moves, strict=True)
            for action in actions
        }
        lost += sum(game.result(state) == (-1 if begins else 1) for state in after)
        states = [state for state in after if game.result(state) is None]
    return lost


def test_lost_lines_are_counted() -> None:
    assert lost_lines(TicTacToe(), RandomPlayer(0), begins=False) > 10


def test_tic_tac_toe_cannot_be_won_against_a_trained_network() -> None:
    game = TicTacToe()
    model = network(game, filters=32, blocks=1, optimizer=pg.optim.AdamW(0.005))
    play = pg.SelfPlay(game, model, explored_moves=9, noise_share=0.5, gate_every=0)
    play.fit(generations=12, verbose=0)
    player = play.player(simulations=200)
    assert lost_lines(game, player, begins=True) + lost_lines(game, player, begins=False) == 0
    assert match(game, player, OnePlyPlayer(), 200).losses == 0
    play.close()


def test_go_is_won_against_random_moves() -> None:
    game = Go(5)
    model = network(game, filters=32, blocks=1, optimizer=pg.optim.AdamW(0.003))
    play = pg.SelfPlay(game, model, games=32, gate_every=4, gate_games=16)
    play.fit(generations=12, verbose=0)
    assert match(game, play.player(), RandomPlayer(), 200).score >= 0.99
    assert play.ratings[-1].elo > 0
    play.close()


def test_connect_four_is_learnt() -> None:
    """What fifteen minutes of one processor core are enough for takes five."""
    game = ConnectFour()
    optimizer = pg.optim.AdamW(pg.optim.ExponentialDecay(0.003, 5000, 0.5))
    model = network(game, filters=32, blocks=1, optimizer=optimizer)
    play = pg.SelfPlay(game, model, steps=100, explored_moves=8, searched_share=0.25, gate_every=10)
    play.fit(generations=60, verbose=0)
    learned = play.player(100)
    assert match(game, learned, OnePlyPlayer(), 200).wins >= 190
    assert match(game, learned, RolloutPlayer(100), 100).wins >= 70
    elos = [rating.elo for rating in play.ratings]
    assert elos[-1] > elos[0]
    play.close()
