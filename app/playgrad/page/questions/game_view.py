"""The game that a program's player learns: the board after the visitor's moves, and a search."""

from __future__ import annotations

import time
from typing import Literal, NotRequired, TypedDict

from playgrad.errors import GameError, GraphError
from playgrad.page.game_board import MOST_ACTIONS, GameForm, PositionForm
from playgrad.page.game_search import MOST_SIMULATIONS, SearchForm, searched
from playgrad.page.question import question
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


class RefusedAction(TypedDict):
    """`why`: the rule that it breaks, in a sentence."""

    action: int
    why: str


class GameView(TypedDict):
    """`refused`: the first action that breaks the rules: the position is that before it; `search`:
    null once the game has ended, without a network, or after an action that was refused."""

    game: GameForm
    position: PositionForm
    refused: RefusedAction | None
    search: SearchForm | None
    seconds: float


@question("game_view", "workspace", at_checkpoint=True)
def game_view(
    workspace: Workspace, request: GameQuestion, checkpoint: bytes | None = None
) -> GameView:
    """Return the board after some actions, and what the network thinks of it.

    A search changes nothing: not the weights, nor the random numbers of the training.

    Raises:
        GameError: the network does not fit the game, or there are too many actions.
        GraphError: the program has no game, or too many simulations were asked for.
    """
    began = time.perf_counter()
    actions, simulations = request["actions"], request["simulations"]
    if len(actions) > MOST_ACTIONS:
        raise GameError(f"a game of {len(actions)} moves is too long: at most {MOST_ACTIONS}.")
    if simulations > MOST_SIMULATIONS:
        raise GraphError(
            f"{simulations} simulations are too many: training would wait for them.",
            hint=f"Ask for at most {MOST_SIMULATIONS}.",
        )
    rules = request.get("rules")
    played = workspace.game
    board = played.board(None if rules is None else (rules["name"], rules["size"]))
    refused: RefusedAction | None = None
    try:
        board.play(actions)
    except GameError as error:  # the board has what was legal
        refused = {"action": actions[len(board.actions)], "why": error.message}
    search = None
    if refused is None and board.game.result(board.state) is None:
        trained = workspace.model or workspace.restored
        with played.network_at(trained, checkpoint) as network:
            if network is not None:
                search = searched(board.game, network, board.state, simulations)
    return {
        "game": board.form(),
        "position": board.position(),
        "refused": refused,
        "search": search,
        "seconds": time.perf_counter() - began,
    }
