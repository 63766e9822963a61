"""Games of a network against itself, many at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from playgrad.games.evaluator import Evaluate
from playgrad.games.protocol import Game, State
from playgrad.games.records import GameRecord
from playgrad.games.search import RootNoise, SearchResult, search

Array = np.ndarray[Any, Any]


def play_games(
    game: Game[Any],
    evaluate: Evaluate,
    randoms: Sequence[np.random.Generator],
    *,
    simulations: int,
    exploration: float,
    explored_moves: int,
    noise_share: float,
    noise_concentration: float,
    attend: Callable[[], None],
) -> list[GameRecord]:
    """Play a game for each of ``randoms``, both sides by searches with the same network.

    Args:
        randoms: draw the noise and the moves of each game, so that it does not depend on others.
        explored_moves: the moves at the start of a game that are drawn by their shares of visits;
            after them, the best one is played.
        noise_share, noise_concentration: see `RootNoise`.
        attend: is called before each run on the device.
    """
    states: list[State] = [game.initial() for _ in randoms]
    actions: list[list[int]] = [[] for _ in randoms]
    policies: list[list[Array]] = [[] for _ in randoms]
    values: list[list[float]] = [[] for _ in randoms]
    going = list(range(len(randoms)))
    left = game.longest
    while going:
        game.expect_end(left)
        left -= 1
        noise = RootNoise(noise_share, noise_concentration, [randoms[i] for i in going])
        roots = [states[i] for i in going]
        results = search(game, roots, evaluate, simulations, exploration, noise, attend)
        for i, result in zip(going, results, strict=True):
            explores = len(actions[i]) < explored_moves
            action = _drawn(result, randoms[i]) if explores else result.best
            actions[i].append(action)
            policies[i].append((result.visits / result.visits.sum()).astype(np.float32))
            values[i].append(result.value)
            states[i] = game.play(states[i], action)
        going = [i for i in going if game.result(states[i]) is None]
    return [
        GameRecord(
            np.array(actions[i], np.int32),
            np.stack(policies[i]),
            np.array(values[i], np.float32),
            _result(game, states[i]),
        )
        for i in range(len(randoms))
    ]


def _drawn(result: SearchResult, random: np.random.Generator) -> int:
    """Return an action, drawn with the shares of visits as probabilities (temperature 1)."""
    return int(random.choice(len(result.visits), p=result.visits / result.visits.sum()))


def _result(game: Game[Any], state: State) -> float:
    result = game.result(state)
    assert result is not None
    return result
