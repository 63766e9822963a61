"""Pictures of players of board games: a position, and what their search found there."""

from __future__ import annotations

import numpy as np

from tools.gallery.drawing import BLUE, ORANGE, TEAL, TEXT, Picture, blend
from tools.gallery.trained import Trained, paints

_PLAYED = {
    "tic-tac-toe": "b2 a1 b1",
    "Connect Four": "d d d c e e c",
    "Go": "c3 c4 d4 b3 d3 b4 c2 b2 c5",
}
"""Moves of a game that lead to the position."""


@paints("connect-four", "go-5x5", "tic-tac-toe-search")
def searched(picture: Picture, trained: Trained) -> None:
    """A position, and the shares of visits of the moves that a search takes from there."""
    game, player = trained["game"], trained["player"]
    moves = _PLAYED[game.name].split()
    if game.name == "Connect Four":
        state = game.replay("abcdefg".index(move) for move in moves)
    else:
        names = [game.action_name(action) for action in range(game.actions)]
        state = game.replay(names.index(move) for move in moves)
    result = player.search(state, 200)
    shares = result.visits / result.visits.max()
    step = min(186 / game.rows, 300 / game.columns)
    left, top = 160 - step * game.columns / 2, 100 - step * game.rows / 2
    for row in range(game.rows):
        for column in range(game.columns):
            _cell(picture, trained, state, shares, (row, column), (left, top, step))


def _cell(
    picture: Picture,
    trained: Trained,
    state: object,
    shares: np.ndarray,
    point: tuple[int, int],
    place: tuple[float, float, float],
) -> None:
    """A point of the board: a stone, or the share of its move."""
    game = trained["game"]
    (row, column), (left, top, step) = point, place
    x, y = left + step * column, top + step * row
    board, action = game.board(state), game.action_at(row, column)
    is_open = board[row, column] == 0 and game.legal(state)[action]
    if game.rows > game.columns or game.actions == game.columns:  # stones fall
        is_open = is_open and (row == game.rows - 1 or board[row + 1, column] != 0)
    share = float(shares[action]) if is_open else 0.0
    colour = blend(np.array(share * 0.9), "#20323a", TEAL)
    fill = "#" + "".join(f"{round(255 * part):02x}" for part in colour)
    picture.rect(x + 2, y + 2, step - 4, step - 4, fill, radius=5)
    middle = x + step / 2, y + step / 2
    stone = int(board[row, column])
    if stone:
        picture.circle(*middle, step * 0.34, BLUE if stone == 1 else ORANGE)
    elif share > 0.15:
        picture.text(*middle, f"{100 * share:.0f}", TEXT, size=step * 0.3)
