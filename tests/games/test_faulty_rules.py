"""Games of one's own whose rules have a fault, very many actions, and players after the end."""

from typing import NamedTuple

import numpy as np
import pytest

import playgrad as pg
from playgrad.errors import GameError
from playgrad.games import (
    Game,
    NetworkPlayer,
    OnePlyPlayer,
    RandomPlayer,
    RolloutPlayer,
    TicTacToe,
    match,
    network,
)


class CountState(NamedTuple):
    played: tuple[int, ...]

    @property
    def moves(self):
        return len(self.played)

    @property
    def player(self):
        return len(self.played) % 2


class Counting(Game):
    """Three moves of any number; who began wins if their sum is even."""

    name, rows, columns, planes, longest = "counting", 1, 4, 1, 3

    def __init__(self, actions=3):
        self.actions = actions

    def initial(self):
        return CountState(())

    def legal(self, state):
        return np.full(self.actions, self.result(state) is None)

    def play(self, state, action):
        return CountState((*state.played, self.checked(action)))

    def result(self, state):
        return None if state.moves < 3 else float(1 - 2 * (sum(state.played) % 2))

    def encode(self, state):
        return np.full((1, 1, 4), state.moves, np.float32)

    def board(self, state):
        return np.zeros((1, 4), np.int8)

    def action_at(self, row, column):
        return None

    def action_name(self, action):
        return str(action)


class Stuck(Counting):
    """Nobody can move after the first move, but the game goes on."""

    def legal(self, state):
        return np.full(self.actions, state.moves == 0)


class Endless(Counting):
    def result(self, state):
        return None


def players(game):
    return [
        RandomPlayer(),
        OnePlyPlayer(),
        RolloutPlayer(20),
        *(NetworkPlayer(network(game, filters=2, blocks=0), count) for count in (0, 8)),
    ]


def small(game):
    model = network(game, filters=2, blocks=0)
    return pg.SelfPlay(game, model, simulations=4, games=3, steps=2, batch_size=4, gate_every=0)


def test_a_game_that_goes_on_without_legal_actions_is_an_error():
    game = Stuck()
    words = "a game of counting goes on, but no action is legal"
    for player in players(game):
        with pytest.raises(GameError, match=words):
            player.choose(game, [game.replay([1])])
    with pytest.raises(GameError, match=words):
        match(game, RandomPlayer(), RandomPlayer(), 2)
    with pytest.raises(GameError, match=words):
        small(game).search(game.initial(), 8)


def test_a_game_that_never_ends_is_an_error():
    game = Endless()
    words = "a game of counting goes on after 3 moves, its longest"
    with pytest.raises(GameError, match=words):
        match(game, RandomPlayer(), RandomPlayer(), 2)
    with pytest.raises(GameError, match=words):
        RolloutPlayer(5).choose(game, [game.initial()])
    with pytest.raises(GameError, match=words):
        small(game).fit(1, verbose=0)


def test_no_player_chooses_after_the_end():
    game = TicTacToe()
    ended = game.replay([0, 3, 1, 4, 2])
    for player in players(game):
        with pytest.raises(GameError, match="a game of tic-tac-toe has ended"):
            player.choose(game, [ended])


def test_a_player_without_a_search_refuses_a_network_that_diverged():
    game = TicTacToe()
    model = network(game, filters=2, blocks=0)
    model.set_weights({name: array * np.nan for name, array in model.named_weights().items()})
    with pytest.raises(GameError, match="are not finite"):
        NetworkPlayer(model, 0).choose(game, [game.initial()])


def test_games_with_very_many_actions_are_learned_and_saved(tmp_path):
    game = Counting(40_000)
    play = small(game)
    play.fit(1, verbose=0)
    played = [record.actions.tolist() for record in play.buffer.records]
    assert max(map(max, played)) > 2**15
    play.save(tmp_path / "player.safetensors")
    play.load(tmp_path / "player.safetensors")
    assert [record.actions.tolist() for record in play.buffer.records] == played


def test_a_network_whose_value_has_no_bounds_is_saved_and_loaded(tmp_path):
    game = TicTacToe()
    x = pg.Input((2, 3, 3))
    flat = pg.nn.Flatten()(x)
    model = pg.Model(x, [pg.nn.Dense(9)(flat), pg.nn.Dense(1, bias_initializer="ones")(flat)])
    losses = [pg.nn.CategoricalCrossentropy(from_logits=True), pg.nn.MeanSquaredError()]
    model.compile("adam", loss=losses)
    model.set_weights({n: 3 * array for n, array in model.named_weights().items()})
    play = pg.SelfPlay(game, model, simulations=4, games=3, steps=2, batch_size=4, gate_every=0)
    play.fit(1, verbose=0)
    play.save(tmp_path / "player.safetensors")
    play.load(tmp_path / "player.safetensors")
    assert all(np.abs(record.values).max() <= 1 for record in play.buffer.records)


@pytest.mark.parametrize("seed", [-1, "a", 1.5])
def test_seeds_are_checked(seed):
    with pytest.raises(GameError, match="seed must be a whole number from 0"):
        RandomPlayer(seed)
    with pytest.raises(GameError, match="seed must be a whole number from 0"):
        match(TicTacToe(), RandomPlayer(), RandomPlayer(), 2, seed=seed)


@pytest.mark.parametrize("size", [5.0, "5", [5], True, np.array([5, 6])])
def test_sizes_of_boards_are_whole_numbers(size):
    for game in (pg.games.Go, pg.games.Othello):
        with pytest.raises(GameError, match="is played on"):
            game(size)
