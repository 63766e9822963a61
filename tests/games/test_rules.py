"""The rules of the games: numbers that others have counted, known positions, errors."""

from collections import Counter

import numpy as np
import pytest

from playgrad.errors import GameError
from playgrad.games import ConnectFour, Game, Go, Othello, TicTacToe

GAMES: list[Game] = [TicTacToe(), ConnectFour(), Othello(6), Go(5)]


def named(game: Game) -> str:
    return f"{game.name} {game.rows}"


def actions(game: Game, *names: str) -> list[int]:
    """Return the actions with these names."""
    table = {game.action_name(action): action for action in range(game.actions)}
    return [table[name] for name in names]


def levels(game: Game, depth: int) -> list[Counter]:
    """Return the positions after 0, 1, ... moves, and how many ways lead to each."""
    found = [Counter({game.initial(): 1})]
    for _ in range(depth):
        after: Counter = Counter()
        for state, ways in found[-1].items():
            for action in np.flatnonzero(game.legal(state)):
                after[game.play(state, action)] += ways
        found.append(after)
    return found


def test_tic_tac_toe_has_5478_positions_and_255168_games():
    game = TicTacToe()
    found = levels(game, 9)
    assert sum(map(len, found)) == 5478
    ended = [
        (s, ways) for level in found for s, ways in level.items() if game.result(s) is not None
    ]
    results = Counter()
    for state, ways in ended:
        results[game.result(state)] += ways
    assert results == {1.0: 131184, -1.0: 77904, 0.0: 46080}
    assert sum(results.values()) == 255168


def test_connect_four_has_as_many_positions_as_tromp_counted():
    found = levels(ConnectFour(), 6)
    assert [len(level) for level in found] == [1, 7, 49, 238, 1120, 4263, 16422]
    assert sum(found[6].values()) == 7**6  # no column is full before, and nobody has won


@pytest.mark.parametrize(
    "columns, winner",
    [([0, 1, 0, 1, 0, 1, 0], 1), ([0, 6, 1, 6, 2, 6, 4, 6], -1), ([0, 0, 1, 1, 2, 2, 3], 1)],
    ids=["column", "column of the second", "row"],
)
def test_four_in_a_row_win_connect_four(columns, winner):
    game = ConnectFour()
    state = game.replay(columns)
    assert game.result(state) == winner
    assert not game.legal(state).any()


@pytest.mark.parametrize("mirrored", [False, True])
def test_diagonals_win_connect_four(mirrored):
    columns = [0, 1, 1, 2, 2, 3, 2, 3, 3, 6, 3]
    game = ConnectFour()
    state = game.replay([6 - c if mirrored else c for c in columns])
    assert game.result(state) == 1


def test_rows_of_connect_four_do_not_continue_on_the_other_side():
    game = ConnectFour()
    state = game.replay([4, 4, 5, 5, 6, 6, 0, 1, 0])  # 4 5 6 of the bottom, and 0 one row higher
    assert game.result(state) is None


def test_othello_has_as_many_games_as_others_counted():
    # The numbers on 8 rows are well known; those on 6 rows follow from a second implementation.
    assert [sum(level.values()) for level in levels(Othello(8), 5)] == [1, 4, 12, 56, 244, 1396]
    assert [sum(level.values()) for level in levels(Othello(6), 4)] == [1, 4, 12, 56, 244]


def plain_flips(board, own, row, column):
    """Return the stones that a stone of ``own`` turns, found point by point."""
    turned = []
    for down in (-1, 0, 1):
        for right in (-1, 0, 1):
            run, r, c = [], row + down, column + right
            while 0 <= r < len(board) and 0 <= c < len(board) and board[r, c] == 3 - own:
                run.append((r, c))
                r, c = r + down, c + right
            if run and 0 <= r < len(board) and 0 <= c < len(board) and board[r, c] == own:
                turned += run
    return turned


def test_othello_turns_what_a_search_point_by_point_turns():
    game, random = Othello(6), np.random.default_rng(3)
    for _ in range(5):
        state = game.initial()
        while game.result(state) is None:
            board, own = game.board(state), state.player + 1
            flips = {
                6 * r + c: plain_flips(board, own, r, c)
                for r in range(6)
                for c in range(6)
                if not board[r, c]
            }
            open_points = [point for point, turned in flips.items() if turned]
            assert list(np.flatnonzero(game.legal(state))) == (open_points or [game.pass_action])
            action = int(random.choice(open_points or [game.pass_action]))
            for point in [divmod(action, 6), *flips[action]] if open_points else []:
                board[point] = own
            state = game.play(state, action)
            np.testing.assert_array_equal(game.board(state), board)
        lead = (board == 1).sum() - (board == 2).sum()
        assert game.result(state) == np.sign(lead)


@pytest.mark.parametrize("game", GAMES, ids=named)
def test_random_games_end_within_the_bound_and_without_legal_moves(game):
    random = np.random.default_rng(0)
    results = Counter()
    for _ in range(20):
        state = game.initial()
        while game.result(state) is None:
            before = state, game.encode(state).copy()
            legal = game.legal(state)
            assert legal.any()
            state = game.play(state, int(random.choice(np.flatnonzero(legal))))
            np.testing.assert_array_equal(game.encode(before[0]), before[1])
            assert state.moves == before[0].moves + 1 <= game.longest
        assert not game.legal(state).any()
        results[game.result(state)] += 1
    assert set(results) <= {-1.0, 0.0, 1.0}
    assert len(results) > 1


@pytest.mark.parametrize("game", GAMES, ids=named)
def test_every_action_that_is_not_legal_is_refused(game):
    random = np.random.default_rng(1)
    for _ in range(3):
        state = game.initial()
        while game.result(state) is None:
            legal = game.legal(state)
            for action in np.flatnonzero(~legal):
                with pytest.raises(GameError, match=f"{game.action_name(action)} is not legal, "):
                    game.play(state, action)
            state = game.play(state, int(random.choice(np.flatnonzero(legal))))
        with pytest.raises(GameError, match="the game has ended"):
            game.play(state, 0)


@pytest.mark.parametrize("game", GAMES, ids=named)
@pytest.mark.parametrize("action", [-1, 1000, 1.5, "a1", None, True])
def test_what_is_not_an_action_is_refused(game, action):
    with pytest.raises(GameError, match=f"actions 0 to {game.actions - 1}, got {action!r}"):
        game.play(game.initial(), action)


@pytest.mark.parametrize("game", GAMES, ids=named)
def test_symmetries_commute_with_moves(game):
    random = np.random.default_rng(2)
    for symmetry in game.symmetries:
        state = moved = game.initial()
        while game.result(state) is None:
            np.testing.assert_array_equal(symmetry.planes(game.encode(state)), game.encode(moved))
            np.testing.assert_array_equal(symmetry.policy(game.legal(state)), game.legal(moved))
            action = int(random.choice(np.flatnonzero(game.legal(state))))
            state, moved = game.play(state, action), game.play(moved, symmetry.action(action))
        assert game.result(moved) == game.result(state)


def test_numbers_of_symmetries():
    assert [len(game.symmetries) for game in GAMES] == [8, 2, 4, 8]
    for game in GAMES:
        assert len({tuple(symmetry.points) for symmetry in game.symmetries}) == len(game.symmetries)


@pytest.mark.parametrize("game", GAMES, ids=named)
def test_the_first_planes_are_the_stones_of_the_player_to_move(game):
    random = np.random.default_rng(4)
    state = game.initial()
    states = []
    while game.result(state) is None:
        states.append(state)
        own = game.board(state) == state.player + 1
        other = game.board(state) == 2 - state.player
        planes = game.encode(state)
        assert planes.dtype == np.float32
        assert planes.shape == (game.planes, game.rows, game.columns)
        np.testing.assert_array_equal(planes[:2], [own, other])
        state = game.play(state, int(random.choice(np.flatnonzero(game.legal(state)))))
    np.testing.assert_array_equal(game.encode_all(states), [game.encode(s) for s in states])
    np.testing.assert_array_equal(game.legal_all(states), [game.legal(s) for s in states])


def test_names_and_points():
    assert TicTacToe().action_name(7) == "b3"
    assert ConnectFour().action_name(3) == "column 4"
    assert ConnectFour().action_at(5, 3) == 3
    assert Othello().action_name(36) == "pass"
    assert Go(9).action_name(8) == "j9"  # no i, and rows from the bottom
    for game in (TicTacToe(), Othello(), Go(5)):
        size = game.rows
        assert [game.action_at(a // size, a % size) for a in range(size**2)] == list(range(size**2))
        assert len({game.action_name(action) for action in range(game.actions)}) == game.actions
    for game in GAMES:
        assert game.action_at(-1, 0) is game.action_at(0, game.columns) is None


def test_replay_says_which_move_is_illegal():
    with pytest.raises(
        GameError, match=r"move 3: tic-tac-toe: a1 is not legal, the point is taken"
    ):
        TicTacToe().replay([0, 1, 0])


@pytest.mark.parametrize("size", [5, 0, "6", None])
def test_othello_has_some_sizes(size):
    with pytest.raises(GameError, match="4, 6 or 8 rows, got"):
        Othello(size)
