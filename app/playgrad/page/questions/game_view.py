"""The game that a program's player learns: the board after the visitor's moves, and a search."""

from __future__ import annotations

import time
from typing import Literal, NotRequired, TypedDict

from playgrad.errors import GraphError
from playgrad.page.game_board import (
    MOST_SIMULATIONS,
    GameBoard,
    GameForm,
    PositionForm,
    SearchForm,
    known_game,
)
from playgrad.page.question import question
from playgrad.page.restored_model import RestoredModel
from playgrad.page.shown_model import LiveModel
from playgrad.page.workspace import Workspace


class GameRules(TypedDict):
    """One of playgrad's games; `size`: its columns."""

    name: Literal["TicTacToe", "ConnectFour", "Othello", "Go"]
    size: int


class GameQuestion(TypedDict):
    """`actions`: from the beginning of the game; `simulations`: 0 for the network's answer alone;
    `rules`: for a program that has not made its player yet."""

    actions: list[int]
    simulations: int
    rules: NotRequired[GameRules | None]


class GameView(TypedDict):
    """`search`: null once the game has ended, or without a network."""

    game: GameForm
    position: PositionForm
    search: SearchForm | None
    seconds: float


@question("game_view", "workspace", at_checkpoint=True)
def game_view(
    workspace: Workspace, request: GameQuestion, checkpoint: bytes | None = None
) -> GameView:
    """Return the board after some actions, and what the network thinks of it.

    A search changes nothing: not the weights, nor the random numbers of the training.

    Raises:
        GameError: an action is not legal.
        GraphError: the program has no game, or too many simulations were asked for.
    """
    began = time.perf_counter()
    simulations = request["simulations"]
    if simulations > MOST_SIMULATIONS:
        raise GraphError(
            f"{simulations} simulations are too many: training would wait for them.",
            hint=f"Ask for at most {MOST_SIMULATIONS}.",
        )
    rules = request.get("rules")
    board = workspace.board_of(None if rules is None else (rules["name"], rules["size"]))
    state = board.play(request["actions"])
    search = None
    if board.game.result(state) is None:
        with workspace.player_at(board.game, checkpoint) as player:
            search = None if player is None else searched(player, state, simulations)
    return {
        "game": board.form(),
        "position": board.position(),
        "search": search,
        "seconds": time.perf_counter() - began,
    }
