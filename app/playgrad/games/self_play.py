"""A player that learns a game from its own games, as AlphaZero does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from playgrad.data.dataset import Dataset
from playgrad.errors import GameError
from playgrad.games.arguments import MOST_SEED, number, whole_number
from playgrad.games.evaluator import NetworkEvaluator, check_network
from playgrad.games.generations import Generations
from playgrad.games.matches import match
from playgrad.games.network import network
from playgrad.games.players import NetworkPlayer
from playgrad.games.protocol import Game, State
from playgrad.games.ratings import Rating
from playgrad.games.records import ReplayBuffer
from playgrad.games.saved_play import load_play, play_state, save_play, take_play_state
from playgrad.games.search import (
    EXPLORATION,
    MOST_EXPLORATION,
    MOST_SIMULATIONS,
    SearchResult,
    search,
)
from playgrad.games.self_games import play_games
from playgrad.models.model import Model
from playgrad.runtime.hooks import get_hooks
from playgrad.training.callbacks import Callback, History
from playgrad.training.chunk_loop import Watch

Array = np.ndarray[Any, Any]
_ENDLESS = 1_000_000
_GAMES, _SAMPLES, _MATCHES = range(3)
"""What random numbers are for; each purpose has its own."""


class SelfPlay:
    """A network that learns a game by playing against itself with a search.

    In each generation, the network plays ``games`` games against itself, both sides by Monte-Carlo
    tree search. Positions, shares of visits and results go into a buffer of the latest ones, from
    which it learns ``steps`` batches, in all symmetries of the game. Every ``gate_every``
    generations it plays a match against the best network so far; if it scores at least
    ``gate_score``, it becomes the best one. (Silver et al., 2017 and 2018.)

    All games of a generation are played at once, and the network evaluates their positions
    together. With the same seed, device and arguments, everything repeats to the bit.

    Args:
        game: the game.
        model: a compiled model as `pg.games.network` makes it; None for its default.
        simulations: the walks of each search.
        games: the games of a generation, which are played at once; also the most positions that
            the network evaluates in a run.
        steps: the training steps of a generation.
        batch_size: the positions of a step.
        capacity: the positions in the buffer.
        searched_share: the share of the search's own value in the target of the value; the rest is
            the result of the game, which is the truth, but noisy: it depends on all later moves.
        explored_moves: the moves at the start of each game that are drawn by their shares of
            visits; None for a sixth of the longest game, at least 2 and at most 30.
        exploration: the weight of the policy against results in searches.
        noise_share: the share of noise in the policy at the root, in games against itself.
        noise_concentration: the sum of the parameters of this Dirichlet noise.
        gate_every: the generations from match to match; 0 for no matches.
        gate_games: the games of such a match.
        gate_score: the share of points that makes the model the best network.
        gated: whether the best network plays the games, as in AlphaGo Zero, rather than the newest
            one, as in AlphaZero. The beginning takes longer then.
        seed: the seed of all chance but the model's initial weights.

    Attributes:
        model: the network that learns.
        best: the best network so far; the model itself without matches.
        buffer: the `ReplayBuffer`.
        generation: the number of finished generations.
        ratings: the strength of the model at each match.
        games_played, positions_evaluated: counts since the beginning, or since `load`.

    Raises:
        GameError: the model does not fit the game, or an argument is not valid.
    """

    def __init__(
        self,
        game: Game[Any],
        model: Model | None = None,
        *,
        simulations: int = 32,
        games: int = 64,
        steps: int = 40,
        batch_size: int = 128,
        capacity: int = 20_000,
        searched_share: float = 0.5,
        explored_moves: int | None = None,
        exploration: float = EXPLORATION,
        noise_share: float = 0.25,
        noise_concentration: float = 10.0,
        gate_every: int = 5,
        gate_games: int = 40,
        gate_score: float = 0.55,
        gated: bool = False,
        seed: int = 0,
    ) -> None:
        if not isinstance(game, Game):
            raise GameError(
                f"SelfPlay needs a game, got {type(game).__name__}.",
                hint="Pass one such as pg.games.ConnectFour().",
            )
        self.game = game
        self.simulations = whole_number("simulations", simulations, 1, MOST_SIMULATIONS)
        self.games = whole_number("games", games, 1, 4096)
        self.steps = whole_number("steps", steps, 1, 100_000)
        self.batch_size = whole_number("batch_size", batch_size, 1, 65_536)
        if explored_moves is None:
            explored_moves = min(max(game.longest // 6, 2), 30)
        self.explored_moves = whole_number("explored_moves", explored_moves, 0, 100_000)
        self.exploration = number("exploration", exploration, 0, MOST_EXPLORATION)
        self.noise_share = number("noise_share", noise_share, 0, 1)
        self.noise_concentration = number("noise_concentration", noise_concentration, 0.01, 1000)
        self.gate_every = whole_number("gate_every", gate_every, 0, _ENDLESS)
        self.gate_games = whole_number("gate_games", gate_games, 2, 10_000)
        self.gate_score = number("gate_score", gate_score, 0, 1)
        self.seed = whole_number("seed", seed, 0, MOST_SEED)
        self.model = network(game) if model is None else model
        check_network(game, self.model)
        self.best = self.model.clone() if self.gate_every else self.model
        self.buffer = ReplayBuffer(
            game,
            whole_number("capacity", capacity, 1, 10_000_000),
            number("searched_share", searched_share, 0, 1),
        )
        self.generation = 0
        self.ratings: list[Rating] = []
        self.games_played = 0
        self.watch: Watch | None = None  # of the training that is under way
        self._has_played = False  # the games of this generation
        self._awaits_match = False
        self._searching = NetworkEvaluator(game, self.model, self.games)
        self._playing = NetworkEvaluator(game, self.best if gated else self.model, self.games)
        get_hooks().playing(self)

    # Learning

    def step(self) -> History:
        """Learn for one generation; see `fit`."""
        return self.fit(generations=1, verbose=0)

    def fit(
        self,
        generations: int | None = None,
        *,
        seconds: float | None = None,
        verbose: int = 1,
        callbacks: Callback | Sequence[Callback] = (),
    ) -> History:
        """Learn for a number of generations, or for a time.

        An epoch of the training is a generation. Between runs on the device, it can be paused and
        stopped, and searches can be asked for.

        Args:
            generations: the number of generations.
            seconds: no generation begins after this time.
            verbose: 1 to print a line after each generation.
            callbacks: as for `Model.fit`.

        Returns:
            The `History` of the losses; after matches also ``elo``.

        Raises:
            GameError: neither generations nor seconds are given.
            KeyboardInterrupt: learning was stopped; the unfinished generation is learned again by
                the next call, from the games that were played.
        """
        if generations is None and seconds is None:
            raise GameError("fit needs generations or seconds.", hint="Pass fit(generations=20).")
        count = _ENDLESS if generations is None else generations
        count = whole_number("generations", count, 1, _ENDLESS)
        if seconds is not None:
            seconds = number("seconds", seconds, 0, 1e9)
        more = [callbacks] if isinstance(callbacks, Callback) else list(callbacks)
        return self.model.fit(
            Dataset.from_generator(self._batches, self.steps),
            epochs=self.generation + count,
            initial_epoch=self.generation,
            verbose=verbose,
            callbacks=[Generations(self, seconds), *more],
        )

    def _batches(self) -> Iterator[tuple[Array, tuple[Array, Array]]]:
        """Yield the batches of the generation that is under way."""
        self.play_generation()
        random = self._random(_SAMPLES)
        for _ in range(self.steps):
            yield self.buffer.sample(self.batch_size, random)

    def play_generation(self) -> None:
        """Play the games of this generation, unless they have been played."""
        if self._has_played:
            return
        records = play_games(
            self.game,
            self._playing,
            [self._random(_GAMES, number) for number in range(self.games)],
            simulations=self.simulations,
            exploration=self.exploration,
            explored_moves=self.explored_moves,
            noise_share=self.noise_share,
            noise_concentration=self.noise_concentration,
            attend=self._attend,
        )
        for record in records:
            self.buffer.add(record)
        self.games_played += len(records)
        self._has_played = True

    def end_generation(self) -> None:
        """Count the generation that has been learned."""
        self.generation += 1
        self._has_played = False
        self._awaits_match = bool(self.gate_every) and self.generation % self.gate_every == 0

    def play_match(self) -> Rating | None:
        """Let the model play against the best network, if it is time; it may take its place."""
        if not self._awaits_match:
            return None
        result = match(
            self.game,
            self._player(self.model),
            self._player(self.best),
            self.gate_games,
            opening=min(self.explored_moves, self.game.longest // 4),
            seed=int(self._random(_MATCHES).integers(2**63)),
        )
        before = next((each.elo for each in reversed(self.ratings) if each.is_best), 0.0)
        is_best = result.score >= self.gate_score
        step = self.generation * self.steps
        rating = Rating(self.generation, step, self.games_played, before + result.elo, is_best)
        if is_best:
            self.best.set_weights(self.model.named_weights())
        self.ratings.append(rating)
        self._awaits_match = False
        return rating

    def _random(self, purpose: int, number: int = 0) -> np.random.Generator:
        return np.random.default_rng((self.seed, purpose, self.generation, number))

    def _attend(self) -> None:
        """Answer requests to the training; wait while it is paused.

        Raises:
            KeyboardInterrupt: a stop was requested.
        """
        watch = self.watch or Watch(self.model.session, None)
        watch.attend()

    # Playing

    def search(self, state: State, simulations: int | None = None) -> SearchResult:
        """Search from a position with the newest weights, without noise.

        Args:
            simulations: the walks; None for those of the games.

        Raises:
            GameError: the game has ended.
        """
        count = self.simulations if simulations is None else simulations
        return search(self.game, [state], self._searching, count, self.exploration)[0]

    def player(self, simulations: int | None = None) -> NetworkPlayer:
        """Return a player with the newest weights, also those that it learns later.

        Args:
            simulations: the walks for each move; None for those of the games.
        """
        count = self.simulations if simulations is None else simulations
        return NetworkPlayer(self.model, count, batch=self.games, exploration=self.exploration)

    def _player(self, model: Model) -> NetworkPlayer:
        return NetworkPlayer(
            model,
            self.simulations,
            batch=self.games,
            exploration=self.exploration,
            attend=self._attend,
        )

    @property
    def positions_evaluated(self) -> int:
        """The positions that were evaluated for its own games."""
        return self._playing.positions

    # State

    def close(self) -> None:
        """Free the buffers of both networks; their weights are lost."""
        self.model.close()
        self.best.close()

    def state(self) -> dict[str, Any]:
        """Return what a resumed training needs beside the model: numbers and arrays."""
        return play_state(self)

    def take_state(self, state: Mapping[str, Any]) -> None:
        """Take over a state; on an error, nothing changes.

        Raises:
            CheckpointError: it is damaged, or of another game or network.
        """
        take_play_state(self, state)

    def counters(self) -> dict[str, int]:
        """Return the part of the state that is whole numbers."""
        return {
            "generation": self.generation,
            "games_played": self.games_played,
            "has_played": int(self._has_played),
            "awaits_match": int(self._awaits_match),
        }

    def set_progress(
        self, counters: Mapping[str, int], buffer: ReplayBuffer, ratings: list[Rating]
    ) -> None:
        """Take over counters, games and ratings of another player that have been checked."""
        self.generation, self.games_played = counters["generation"], counters["games_played"]
        self._has_played = bool(counters["has_played"])
        self._awaits_match = bool(counters["awaits_match"])
        self.buffer, self.ratings = buffer, ratings

    def save(self, file: str | Path) -> None:
        """Write weights, optimizer, games and ratings, to be continued to the bit.

        Args:
            file: a path, usually ending in ``.safetensors``.

        Raises:
            CheckpointError: the file cannot be written.
        """
        save_play(self, file)

    def load(self, file: str | Path) -> None:
        """Continue what `save` wrote, of the same game with the same network; all or nothing.

        Raises:
            CheckpointError: the file is damaged, or of another game or network.
        """
        load_play(self, file)
