"""Matches of two players, and the difference of strength that a score stands for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from playgrad.errors import GameError
from playgrad.games.arguments import MOST_SEED, whole_number
from playgrad.games.players import Player
from playgrad.games.protocol import Game, State

MOST_GAMES = 100_000
_MOST_TRIES = 1000


@dataclass(frozen=True)
class MatchResult:
    """The result of a match, as the first of the two players sees it."""

    wins: int
    draws: int
    losses: int

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float:
        """The share of points, from 0 to 1: a draw is half a win."""
        return (self.wins + self.draws / 2) / self.games

    @property
    def elo(self) -> float:
        """The Elo difference that the score stands for; see `elo_difference`."""
        return elo_difference(self.wins + self.draws / 2, self.games)

    def __str__(self) -> str:
        return f"{self.wins} won, {self.draws} drawn, {self.losses} lost"


def elo_difference(points: float, games: int) -> float:
    """Return the Elo difference of two players of whom one got ``points`` in ``games`` games.

    Half a point for and against is added, so that a match without losses does not stand for an
    infinite difference: the result is at most that which the number of games can show.
    """
    share = (points + 0.5) / (games + 1)
    return 400 * math.log10(share / (1 - share))


def match(
    game: Game[Any],
    first: Player,
    second: Player,
    games: int = 100,
    *,
    opening: int = 0,
    seed: int = 0,
) -> MatchResult:
    """Play games of two players, who begin in turn.

    All games are played at once, so that players with networks evaluate many positions in a run.

    Args:
        games: the number of games.
        opening: random moves at the start of each game, so that games of players without chance
            differ. A game and the one after it, in which the other player begins, have the same
            ones; openings that end a game are left out.
        seed: the seed of the openings.

    Returns:
        the result for ``first``.

    Raises:
        GameError: the number of games or moves is not valid, a player's action is not legal, or
            a game does not end.
    """
    games = whole_number("games", games, 1, MOST_GAMES)
    opening = whole_number("opening", opening, 0, game.longest // 2)
    seed = whole_number("seed", seed, 0, MOST_SEED)
    pairs = (games + 1) // 2
    starts = [opened(game, opening, np.random.default_rng((seed, i))) for i in range(pairs)]
    states: list[State] = [starts[i // 2] for i in range(games)]
    going, left = list(range(games)), game.longest - opening
    while going:
        game.expect_end(left)
        left -= 1
        # The player with number 0 begins in even games.
        turns = [(states[i].player + i) % 2 for i in going]
        for number, player in enumerate((first, second)):
            own = [i for i, turn in zip(going, turns, strict=True) if turn == number]
            if own:
                _move(game, player, states, own)
        going = [i for i in going if game.result(states[i]) is None]
    results = [game.result(state) or 0.0 for state in states]
    points = [result * (1 - 2 * (i % 2)) for i, result in enumerate(results)]
    wins, losses = sum(p > 0 for p in points), sum(p < 0 for p in points)
    return MatchResult(wins, games - wins - losses, losses)


def _move(game: Game[Any], player: Player, states: list[State], numbers: Sequence[int]) -> None:
    actions = player.choose(game, [states[i] for i in numbers])
    for i, action in zip(numbers, actions, strict=True):
        states[i] = game.play(states[i], action)


def opened(game: Game[Any], moves: int, random: np.random.Generator) -> State:
    """Return the state after random moves, from which the game goes on.

    Raises:
        GameError: hardly any game lasts longer than so many random moves.
    """
    for _ in range(_MOST_TRIES):
        state = game.initial()
        for _ in range(moves):
            if game.result(state) is not None:
                break
            state = game.play(state, int(random.choice(game.choices(state))))
        if game.result(state) is None:
            return state
    raise GameError(
        f"{_MOST_TRIES} games of {game.name} ended within {moves} random moves.",
        hint="Pass a smaller opening.",
    )
