"""Players: by chance, by looking one move ahead, by random games, by a network and a search."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from playgrad.games.arguments import number, seeded, whole_number
from playgrad.games.evaluator import NetworkEvaluator
from playgrad.games.protocol import Game, State
from playgrad.games.search import (
    EXPLORATION,
    MOST_EXPLORATION,
    MOST_SIMULATIONS,
    scored,
    search,
)
from playgrad.networks.network import Network

Array = np.ndarray[Any, Any]


class Player(ABC):
    """Somebody who plays any game.

    Attributes:
        name: how results call the player.
    """

    name: str

    @abstractmethod
    def choose(self, game: Game[Any], states: Sequence[State]) -> list[int]:
        """Return an action for each of ``states``, of games that go on."""


class RandomPlayer(Player):
    """Plays a legal action by chance, each as likely as the others."""

    name = "random"

    def __init__(self, seed: int = 0) -> None:
        self.random = seeded(seed)

    def choose(self, game: Game[Any], states: Sequence[State]) -> list[int]:
        return [int(self.random.choice(game.choices(state))) for state in states]


class OnePlyPlayer(Player):
    """Wins at once if it can; else prevents the other player from it; else plays by chance."""

    name = "one ply"

    def __init__(self, seed: int = 0) -> None:
        self.random = seeded(seed)

    def choose(self, game: Game[Any], states: Sequence[State]) -> list[int]:
        return [self._choice(game, state) for state in states]

    def _choice(self, game: Game[Any], state: State) -> int:
        after = {int(a): game.play(state, int(a)) for a in game.choices(state)}
        wins = [a for a, following in after.items() if _has_won(game, following, state.player)]
        if wins:
            return int(self.random.choice(wins))
        safe = [a for a, following in after.items() if not _can_win(game, following)]
        return int(self.random.choice(safe or list(after)))


def _has_won(game: Game[Any], state: State, player: int) -> bool:
    result = game.result(state)
    return result is not None and result * (1 - 2 * player) > 0


def _can_win(game: Game[Any], state: State) -> bool:
    """Return whether the player to move can win with a move; none can after the end."""
    actions = np.flatnonzero(game.legal(state))
    return any(_has_won(game, game.play(state, int(a)), state.player) for a in actions)


class _Node:
    """A position in the tree of `RolloutPlayer`."""

    __slots__ = ("children", "result", "state", "total", "untried", "visits")

    def __init__(self, game: Game[Any], state: State, random: np.random.Generator) -> None:
        self.state = state
        self.result = game.result(state)
        self.children: dict[int, _Node] = {}
        choices = game.choices(state) if self.result is None else np.zeros(0, np.int64)
        self.untried: list[int] = random.permutation(choices).tolist()
        self.visits = 0
        self.total = 0.0
        """The sum of results for the player that began."""

    def best(self, exploration: float) -> _Node:
        sign, log = 1 - 2 * self.state.player, math.log(self.visits)
        return max(
            self.children.values(),
            key=lambda c: sign * c.total / c.visits + exploration * math.sqrt(log / c.visits),
        )


class RolloutPlayer(Player):
    """Monte-Carlo tree search without a network: UCT (Kocsis and Szepesvári, 2006).

    A position at the end of a walk is worth what a game of random moves from there ends with. The
    most visited action is played.

    Args:
        rollouts: random games for each move, 1 to 100,000.
        exploration: the weight of rarely tried moves.
        seed: the seed of all chance.
    """

    def __init__(
        self, rollouts: int = 100, seed: int = 0, *, exploration: float = math.sqrt(2)
    ) -> None:
        self.rollouts = whole_number("rollouts", rollouts, 1, 100_000)
        self.exploration = number("exploration", exploration, 0, 100)
        self.random = seeded(seed)
        self.name = f"{rollouts} rollouts"

    def choose(self, game: Game[Any], states: Sequence[State]) -> list[int]:
        return [self._choice(game, state) for state in states]

    def _choice(self, game: Game[Any], state: State) -> int:
        game.choices(state)  # an ended game has none
        root = _Node(game, state, self.random)
        for _ in range(self.rollouts):
            self._simulate(game, root)
        return max(root.children, key=lambda action: root.children[action].visits)

    def _simulate(self, game: Game[Any], root: _Node) -> None:
        node, path = root, [root]
        while node.result is None and not node.untried:
            node = node.best(self.exploration)
            path.append(node)
        if node.result is None:
            action = node.untried.pop()
            child = _Node(game, game.play(node.state, action), self.random)
            node.children[action] = child
            node = child
            path.append(node)
        result = node.result
        if result is None:
            result = game.playout(node.state, self.random)
        for each in path:
            each.visits += 1
            each.total += result


class NetworkPlayer(Player):
    """Plays the most visited action of a search with a network, without any chance.

    Args:
        model: see `pg.games.network`.
        simulations: walks for each move; 0 plays the action with the highest score, without a
            search.
        batch: the most positions that the network evaluates at once.
        exploration: the weight of the policy against results.
        attend: is called between evaluations; what it raises ends the search.
    """

    def __init__(
        self,
        model: Network,
        simulations: int = 32,
        *,
        batch: int = 64,
        exploration: float = EXPLORATION,
        attend: Callable[[], None] = lambda: None,
    ) -> None:
        self.model = model
        self.simulations = whole_number("simulations", simulations, 0, MOST_SIMULATIONS)
        self.batch = whole_number("batch", batch, 1, 4096)
        self.exploration = number("exploration", exploration, 0, MOST_EXPLORATION)
        self.name = f"'{model.name}', {simulations} simulations"
        self._attend = attend
        self._evaluators: dict[Game[Any], NetworkEvaluator] = {}

    def choose(self, game: Game[Any], states: Sequence[State]) -> list[int]:
        if game not in self._evaluators:
            self._evaluators = {game: NetworkEvaluator(game, self.model, self.batch)}
        evaluate = self._evaluators[game]
        if not self.simulations:
            self._attend()
            scores, _ = scored(game, states, evaluate)
            choices = [game.choices(state) for state in states]
            return [int(of[row[of].argmax()]) for of, row in zip(choices, scores, strict=True)]
        results = []
        for first in range(0, len(states), self.batch):
            part = states[first : first + self.batch]
            results += search(
                game, part, evaluate, self.simulations, self.exploration, attend=self._attend
            )
        return [result.best for result in results]
