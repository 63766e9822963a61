"""Go: captures, ko, suicide, score, and a second implementation point by point."""

import numpy as np
import pytest

from playgrad.errors import GameError
from playgrad.games import Go
from playgrad.games.go import GoState
from tests.games.test_rules import actions


def position(text: str, player: int = 0, komi: float = 0.5) -> tuple[Go, GoState]:
    """Return a game, and the state of a board drawn with X for black and O for white."""
    rows = text.split()
    game = Go(len(rows), komi)
    first, second = (
        sum(
            game.bits[r * game.size + c]
            for r, row in enumerate(rows)
            for c, point in enumerate(row)
            if point == stone
        )
        for stone in "XO"
    )
    return game, GoState(first, second, player, 0, frozenset([(first, second)]), None)


def drawn(game: Go, state: GoState) -> str:
    return " ".join("".join(".XO"[point] for point in row) for row in game.board(state))


def play(game: Go, state: GoState, *names: str) -> GoState:
    for action in actions(game, *names):
        state = game.play(state, action)
    return state


def test_a_stone_without_liberties_is_captured():
    game, state = position(".X... XO... .X... ..... .....")
    assert drawn(game, play(game, state, "c4")) == ".X... X.X.. .X... ..... ....."


def test_several_groups_are_captured_at_once():
    game, state = position("O.OX. XOX.. .X... ..... .....")
    assert drawn(game, play(game, state, "b5")) == ".X.X. X.X.. .X... ..... ....."


def test_a_move_that_captures_is_not_suicide():
    game, state = position(".OX.. OX... X.... ..... .....")
    assert drawn(game, play(game, state, "a5")) == "X.X.. .X... X.... ..... ....."


def test_suicide_is_refused_for_stones_and_groups():
    game, state = position(".O... O.... ..... .XO.. XOOO.", player=0)
    with pytest.raises(GameError, match=r"a5 is not legal, the stone would have no liberty"):
        play(game, state, "a5")
    game, state = position("X.O.. XOO.. OO... ..... .....")
    with pytest.raises(GameError, match="suicide"):
        play(game, state, "b5")
    assert not game.legal(state)[1]


def test_ko_cannot_be_taken_back_at_once():
    game, state = position(".XO.. X.XO. .XO.. ..... .....", player=1)
    taken = play(game, state, "b4")
    assert drawn(game, taken) == ".XO.. XO.O. .XO.. ..... ....."
    with pytest.raises(GameError, match="earlier position"):
        play(game, taken, "c4")
    assert not game.legal(taken)[actions(game, "c4")[0]]
    later = play(game, taken, "a1", "e1", "c4")
    assert drawn(game, later) == ".XO.. X.XO. .XO.. ..... X...O"


def test_superko_refuses_a_position_of_some_moves_ago():
    game, state = position(".O.X. OXXX. O.... ..... .....", player=1)
    sent = play(game, state, "c5")  # two stones are sent,
    assert drawn(game, sent) == ".OOX. OXXX. O.... ..... ....."
    taken = play(game, sent, "a5")  # and would bring one back
    assert drawn(game, taken) == "X..X. OXXX. O.... ..... ....."
    with pytest.raises(GameError, match="b5 is not legal, it would bring back an earlier position"):
        play(game, taken, "b5")


def test_two_passes_end_the_game_and_the_area_decides():
    game, state = position(".XO.. XXO.. .XO.. .XO.. .XO..")
    assert game.area(state) == (10, 15)
    ended = play(game, state, "pass", "pass")
    assert game.result(ended) == -1
    for komi, result in [(-5.5, 1), (-5, 0), (-4.5, -1)]:
        game, state = position(".XO.. XXO.. .XO.. .XO.. .XO..", komi=komi)
        assert game.result(play(game, state, "pass", "pass")) == result


def test_points_that_reach_both_colours_count_for_nobody():
    game, state = position("X...O ..... ..... ..... .....")
    assert game.area(state) == (1, 1)
    assert Go(5).area(Go(5).initial()) == (0, 0)


def test_a_pass_between_moves_does_not_end_the_game():
    game = Go(5)
    state = play(game, game.initial(), "pass", "a1", "pass", "a2")
    assert game.result(state) is None and state.passes == 0
    assert game.result(play(game, state, "pass", "pass")) == -1


def test_a_game_ends_after_its_longest():
    game = Go(2)
    state = GoState(game.bits[0], 0, game.longest - 1, 0, frozenset(), None)
    assert game.result(play(game, state, "b1")) is not None


def test_planes_show_atari_colour_and_passes():
    game, state = position(".X... XO... .X... ..... .....")
    own, other, own_atari, other_atari, black, passed = game.encode(state)
    assert own.sum() == 3 and other.sum() == 1
    assert own_atari.sum() == 0 and other_atari[1, 1] == 1 and other_atari.sum() == 1
    assert black.min() == 1 and passed.max() == 0
    planes = game.encode(play(game, state, "pass"))
    assert planes[2, 1, 1] == 1 and planes[4].max() == 0 and planes[5].min() == 1


@pytest.mark.parametrize("size", [1, 20, 5.5, "9", None, True])
def test_sizes_are_bounded(size):
    with pytest.raises(GameError, match="2 to 19 rows"):
        Go(size)


@pytest.mark.parametrize("komi", [float("nan"), float("inf"), 1001, True, "6.5", [1]])
def test_komi_is_a_number(komi):
    with pytest.raises(GameError, match="komi must be a number from -1000 to 1000"):
        Go(5, komi)


def plain_play(board, own, row, column):
    """Return the board after a stone, found by walking from point to point; None for suicide."""
    board = board.copy()
    board[row, column] = own

    def group(start):
        seen, queue, liberties = {start}, [start], set()
        while queue:
            r, c = queue.pop()
            for point in ((r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)):
                if not (0 <= point[0] < len(board) and 0 <= point[1] < len(board)):
                    continue
                if board[point] == 0:
                    liberties.add(point)
                elif board[point] == board[start] and point not in seen:
                    seen.add(point)
                    queue.append(point)
        return seen, liberties

    taken = set()
    for r, c in ((row + 1, column), (row - 1, column), (row, column + 1), (row, column - 1)):
        if 0 <= r < len(board) and 0 <= c < len(board) and board[r, c] == 3 - own:
            stones, liberties = group((r, c))
            if not liberties:
                taken |= stones
    for point in taken:
        board[point] = 0
    return board if group((row, column))[1] else None


@pytest.mark.parametrize("size, games", [(3, 4), (5, 4), (9, 1)])
def test_games_agree_with_a_search_point_by_point(size, games):
    game, random = Go(size), np.random.default_rng(size)
    for _ in range(games):
        state = game.initial()
        earlier = {game.board(state).tobytes()}
        while game.result(state) is None:
            board = game.board(state)
            after = {}
            for point in range(size * size):
                if board.flat[point]:
                    continue
                result = plain_play(board, state.player + 1, *divmod(point, size))
                if result is not None and result.tobytes() not in earlier:
                    after[point] = result
            assert list(np.flatnonzero(game.legal(state))) == [*after, game.pass_action]
            # Few passes: the long games are those with kos
            action = int(random.choice(list(after))) if after else game.pass_action
            state = game.play(state, action)
            if action != game.pass_action:
                np.testing.assert_array_equal(game.board(state), after[action])
                earlier.add(after[action].tobytes())
