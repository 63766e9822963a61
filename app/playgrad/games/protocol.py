"""What a game is: states, moves, results, and the planes that a network sees."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from playgrad.errors import GameError
from playgrad.games.symmetry import Symmetry, identity

Array = np.ndarray[Any, Any]


class State(Protocol):
    """A position, with everything that the rules need to go on from it. It never changes.

    Attributes:
        player: whose move it is, 0 for the player that began, or 1.
        moves: the number of moves made, passes included.
    """

    @property
    def player(self) -> int: ...

    @property
    def moves(self) -> int: ...


S = TypeVar("S", bound=State)


class Game(ABC, Generic[S]):
    """The rules of a game for two players who move in turn and see everything.

    Actions are numbers, so that a network can have an output for each. A game of your own is a
    subclass with the abstract methods; ``symmetries`` and the methods for many states at once have
    defaults.

    Attributes:
        name: the name of the game, as in "Connect Four".
        rows, columns: the size of the board.
        actions: the number of actions, legal or not.
        pass_action: the action that passes; None where nobody may pass.
        planes: the number of planes in `encode`.
        longest: an upper bound on the moves of a game.
    """

    name: str
    rows: int
    columns: int
    actions: int
    pass_action: int | None = None
    planes: int
    longest: int

    @abstractmethod
    def initial(self) -> S:
        """Return the state before the first move."""

    @abstractmethod
    def legal(self, state: S) -> Array:
        """Return which actions are legal, bool (actions,); none once the game has ended."""

    @abstractmethod
    def play(self, state: S, action: int) -> S:
        """Return the state after ``action``; ``state`` stays as it is.

        Raises:
            GameError: the action is not legal.
        """

    @abstractmethod
    def result(self, state: S) -> float | None:
        """Return 1 if the player that began has won, -1 if the other one has, 0 for a draw; None
        while the game goes on."""

    @abstractmethod
    def encode(self, state: S) -> Array:
        """Return what a network sees, float32 (planes, rows, columns), of the player to move."""

    @abstractmethod
    def board(self, state: S) -> Array:
        """Return the board, int8 (rows, columns): 0 empty, 1 first player's, 2 the other's."""

    @abstractmethod
    def action_at(self, row: int, column: int) -> int | None:
        """Return the action of a click at that point, whether or not it is legal now.

        Args:
            row, column: from 0, in the order of `board`.
        """

    @abstractmethod
    def action_name(self, action: int) -> str:
        """Return how players call an action: "b3", "column 4", "pass"."""

    @property
    def symmetries(self) -> Sequence[Symmetry]:
        """The symmetries of the rules, the identity first."""
        return (identity(self.rows, self.columns, self.actions),)

    def legal_all(self, states: Sequence[S]) -> Array:
        """Return `legal` of many states, bool (states, actions)."""
        return np.stack([self.legal(state) for state in states])

    def encode_all(self, states: Sequence[S]) -> Array:
        """Return `encode` of many states, float32 (states, planes, rows, columns)."""
        return np.stack([self.encode(state) for state in states])

    def replay(self, actions: Iterable[int]) -> S:
        """Return the state after ``actions`` from the initial one.

        Raises:
            GameError: one of them is not legal; its place is in the message.
        """
        state = self.initial()
        for number, action in enumerate(actions, start=1):
            try:
                state = self.play(state, action)
            except GameError as error:
                raise GameError(f"move {number}: {error.message}", hint=error.hint) from None
        return state

    def playout(self, state: S, random: np.random.Generator) -> float:
        """Return the result of a game that goes on from ``state`` by random moves."""
        result, left = self.result(state), self.longest
        while result is None:
            self.expect_end(left)
            left -= 1
            state = self.play(state, int(random.choice(self.choices(state))))
            result = self.result(state)
        return result

    def choices(self, state: S) -> Array:
        """Return the legal actions of a game that goes on, int (choices,).

        Raises:
            GameError: there are none.
        """
        choices = np.flatnonzero(self.legal(state))
        if len(choices):
            return choices
        if self.result(state) is not None:
            raise GameError(f"a game of {self.name} has ended: there is no move to choose.")
        raise GameError(
            f"a game of {self.name} goes on, but no action is legal.",
            hint="If nobody can move, result() must return 1, 0 or -1.",
        )

    def expect_end(self, left: int) -> None:
        """Check that a game has moves left.

        Args:
            left: `longest` less the moves that were made.

        Raises:
            GameError: it has none, so that it may never end.
        """
        if left <= 0:
            raise GameError(
                f"a game of {self.name} goes on after {self.longest} moves, its longest.",
                hint="result() must end it by then, or longest must be larger.",
            )

    def checked(self, action: int) -> int:
        """Return ``action`` as an int.

        Raises:
            GameError: it is not the number of an action.
        """
        try:
            number = int(action)
        except (TypeError, ValueError):
            number = -1
        if isinstance(action, bool) or number != action or not 0 <= number < self.actions:
            raise GameError(
                f"{self.name} has actions 0 to {self.actions - 1}, got {action!r}.",
                hint="game.action_name(action) says which one is which.",
            )
        return number

    def illegal(self, action: int, why: str) -> GameError:
        """Return the error of an action that breaks the rules.

        Args:
            why: the reason, as the end of a sentence.
        """
        return GameError(
            f"{self.name}: {self.action_name(action)} is not legal, {why}.",
            hint="game.legal(state) says which actions are.",
        )
