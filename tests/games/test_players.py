"""Players and matches."""

import numpy as np
import pytest

from playgrad.errors import GameError
from playgrad.games import (
    ConnectFour,
    Go,
    MatchResult,
    NetworkPlayer,
    OnePlyPlayer,
    Player,
    RandomPlayer,
    RolloutPlayer,
    TicTacToe,
    elo_difference,
    match,
    network,
)
from tests.games.test_rules import GAMES, actions, named


@pytest.mark.parametrize("game", GAMES, ids=named)
@pytest.mark.parametrize("kind", [RandomPlayer, OnePlyPlayer, lambda seed: RolloutPlayer(8, seed)])
def test_players_play_every_game_and_repeat_with_their_seed(game, kind):
    class Recorder(Player):
        name = "recorder"

        def __init__(self, player):
            self.player, self.chosen = player, []

        def choose(self, game, states):
            self.chosen += self.player.choose(game, states)
            return self.chosen[-len(states) :]

    def played(seed):
        recorder = Recorder(kind(seed))
        return match(game, recorder, RandomPlayer(1), 4), recorder.chosen

    assert played(3) == played(3)
    assert played(3)[1] != played(4)[1]


def test_one_ply_wins_and_blocks():
    game = TicTacToe()
    win = game.replay(actions(game, "a1", "a2", "b1", "b2"))
    block = game.replay(actions(game, "b2", "a1", "b1"))
    four = ConnectFour().replay([3, 0, 3, 0, 3])
    for seed in range(5):
        assert OnePlyPlayer(seed).choose(game, [win, block]) == actions(game, "c1", "b3")
        assert OnePlyPlayer(seed).choose(ConnectFour(), [four]) == [3]


def test_rollouts_find_moves_that_one_ply_does_not():
    game = ConnectFour()
    state = game.replay([2, 2, 3, 3])  # three in a row with two open ends come next
    assert RolloutPlayer(2000, 0).choose(game, [state])[0] in (1, 4)


def test_players_are_as_strong_as_they_should_be():
    game = TicTacToe()
    by_chance = match(game, RandomPlayer(0), RandomPlayer(1), 600)
    assert abs(by_chance.score - 0.5) < 0.08
    assert match(game, OnePlyPlayer(0), RandomPlayer(1), 100).score > 0.85
    assert match(game, RolloutPlayer(100, 0), OnePlyPlayer(1), 30).score > 0.55
    assert match(Go(5), RolloutPlayer(20, 0), RandomPlayer(1), 8).score > 0.6


def test_the_player_that_begins_alternates():
    game = TicTacToe()

    class First(Player):
        name = "first legal"

        def choose(self, game, states):
            firsts.append([state.moves for state in states])
            return [int(np.flatnonzero(game.legal(state))[0]) for state in states]

    firsts = []
    result = match(game, First(), RandomPlayer(0), 6)
    assert sorted(firsts[0]) == [0, 0, 0]
    assert result.games == 6


def test_pairs_of_games_have_the_same_opening():
    game, seen = ConnectFour(), []

    class Looker(Player):
        name = "looker"

        def choose(self, game, states):
            seen.append(list(states))
            return [int(np.flatnonzero(game.legal(state))[0]) for state in states]

    match(game, Looker(), Looker(), 6, opening=4, seed=7)
    assert seen[0] == seen[1] and len(set(seen[0])) == 3
    assert all(state.moves == 4 for state in seen[0])
    first = seen[0]
    seen.clear()
    match(game, Looker(), Looker(), 6, opening=4, seed=8)
    assert seen[0] != first


def test_scores_and_elo():
    result = MatchResult(wins=30, draws=20, losses=50)
    assert (result.games, result.score) == (100, 0.4)
    assert str(result) == "30 won, 20 drawn, 50 lost"
    assert elo_difference(50, 100) == 0
    assert elo_difference(76, 100) == pytest.approx(200, abs=5)  # 76 % are 200 points
    assert elo_difference(100, 100) == pytest.approx(-elo_difference(0, 100))
    assert elo_difference(100, 100) < 1000


def test_a_network_plays_without_a_search_too():
    game = TicTacToe()
    model = network(game, filters=4, blocks=0)
    states = [game.initial(), game.replay([0, 4]), game.replay([4])]
    scores = model.predict(game.encode_all(states))[0]
    best = np.where(game.legal_all(states), scores, -np.inf).argmax(axis=1)
    assert NetworkPlayer(model, 0).choose(game, states) == list(best)
    # More positions than fit in a run are searched in parts
    parts = NetworkPlayer(model, 9, batch=2).choose(game, states)
    assert parts == NetworkPlayer(model, 9, batch=64).choose(game, states)
    model.close()


def test_what_is_not_a_match_is_refused():
    game = TicTacToe()
    with pytest.raises(GameError, match="games must be a whole number from 1 to 100,000, got 0"):
        match(game, RandomPlayer(), RandomPlayer(), 0)
    with pytest.raises(GameError, match="opening must be a whole number from 0 to 4, got 5"):
        match(game, RandomPlayer(), RandomPlayer(), 2, opening=5)
    with pytest.raises(GameError, match="rollouts must be a whole number"):
        RolloutPlayer(0)

    class Cheat(Player):
        name = "cheat"

        def choose(self, game, states):
            return [0 for _ in states]

    with pytest.raises(GameError, match="a1 is not legal, the point is taken"):
        match(game, Cheat(), Cheat(), 2)
