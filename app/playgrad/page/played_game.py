"""The game of the user's program, and the player that has learned it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from playgrad.errors import GraphError
from playgrad.page.game_board import GameBoard, GameForm
from playgrad.page.restored_model import RestoredModel
from playgrad.page.shown_model import LiveModel
from playgrad.page.weights_at import weights_at
from playgrad.training.checkpoints.record import Checkpoint

if TYPE_CHECKING:
    from playgrad.games.protocol import Game
    from playgrad.networks.network import Network

Rules = tuple[str, int]
"""The name of a class in ``playgrad.games``, and the columns of its board."""


class LearnedPlayer(Protocol):
    """The part of `playgrad.games.SelfPlay` that the page needs."""

    @property
    def game(self) -> Game[Any]: ...
    @property
    def model(self) -> Any: ...


class PlayedGame:
    """The player that the program has made last, and the board of its game.

    Without one there is a board for rules that the page has read in the program.

    Attributes:
        player: None before the program has made one.
    """

    def __init__(self) -> None:
        self.player: LearnedPlayer | None = None
        self._board: GameBoard | None = None
        self._rules: Rules | None = None

    def begin(self, player: LearnedPlayer) -> GameForm:
        """Take the program's player; return its game."""
        self.player, self._rules = player, None
        self._board = GameBoard(player.game)
        return self._board.form()

    def forget(self) -> None:
        """Forget the player and its board."""
        self.player = self._board = self._rules = None

    def board(self, rules: Rules | None) -> GameBoard:
        """Return the board of the player's game, or of ``rules`` if there is no player.

        Raises:
            GraphError: there is neither.
            GameError: the game has no board of that size.
        """
        if self.player is None and self._rules != rules:
            self._rules = None
            self._board = None if rules is None else GameBoard(_game(*rules))
            self._rules = rules
        if self._board is None:
            raise GraphError(
                "the program has made no player that learns a game.",
                hint="pg.SelfPlay(game, model) makes one. Press Run first.",
            )
        return self._board

    @contextmanager
    def network_at(
        self, trained: LiveModel | RestoredModel | None, content: bytes | None
    ) -> Iterator[Network | None]:
        """Give the player's network, within the block with the weights of a checkpoint.

        Args:
            trained: the model that the program has trained, or one that was restored and stands in
                for it until the program runs.
            content: the checkpoint; empty or None for the weights as they are.

        Yields:
            None if there is no network.
        """
        if self.player is None:
            yield _rebuilt(trained, content) if isinstance(trained, RestoredModel) else None
            return
        learned: Any = self.player.model
        is_trained = trained is self.player.model
        if not content or not is_trained:
            yield learned
            return
        with weights_at(learned, Checkpoint.decode(content)) as earlier:
            yield _rebuilt(earlier, None) if isinstance(earlier, RestoredModel) else learned


def _rebuilt(restored: RestoredModel, content: bytes | None) -> Network:
    """Return a network with the layers and weights of a restored model, or of a checkpoint.

    Raises:
        CheckpointError: the checkpoint does not describe its layers.
    """
    model = restored if not content else RestoredModel(Checkpoint.decode(content))
    network = model.rebuilt()
    network.set_weights(model.named_weights())
    return network


def _game(name: str, size: int) -> Game[Any]:
    from playgrad import games  # imported for the few programs that play

    made: Game[Any] = getattr(games, name)(*([size] if name in ("Othello", "Go") else []))
    return made
