"""The search: what it finds without knowledge, its counts, and many positions at once."""

import numpy as np
import pytest

from playgrad.errors import GameError
from playgrad.games import ConnectFour, Go, TicTacToe, network, search
from playgrad.games.evaluator import NetworkEvaluator
from playgrad.games.search import RootNoise
from tests.games.test_rules import GAMES, actions, named


def nothing_known(game):
    """Return an evaluation that finds all actions and positions alike."""
    return lambda planes: (np.zeros((len(planes), game.actions)), np.zeros(len(planes)))


def by_stones(game):
    """Return an evaluation that depends on every point of the planes."""
    random = np.random.default_rng(5)
    shape = (game.planes * game.rows * game.columns, game.actions + 1)
    weights = random.normal(size=shape)

    def evaluate(planes):
        numbers = planes.reshape(len(planes), -1) @ weights
        return numbers[:, :-1], np.tanh(numbers[:, -1])

    return evaluate


@pytest.mark.parametrize(
    "game, moves, best",
    [
        (TicTacToe(), "a1 b1 b2 c1", "c3"),  # wins
        (TicTacToe(), "b2 a1 b1", "b3"),  # blocks
        (ConnectFour(), "3 0 3 0 3 0", "3"),  # wins
        (ConnectFour(), "3 0 3 0 3", "3"),  # blocks
        (ConnectFour(), "2 2 3 3", "4"),  # two open ends: wins the move after
    ],
    ids=["line", "block", "four", "block four", "open three"],
)
def test_wins_and_blocks_are_found_without_knowledge(game, moves, best):
    names = [move if game.actions > 7 else f"column {int(move) + 1}" for move in moves.split()]
    state = game.replay(actions(game, *names))
    best = best if game.actions > 7 else f"column {int(best) + 1}"
    result = search(game, [state], nothing_known(game), 600)[0]
    good = {"column 5", "column 2"} if best == "column 5" else {best}
    assert game.action_name(result.best) in good
    assert result.line[0] == result.best


def test_a_won_position_is_worth_one_and_a_lost_one_minus_one():
    game = TicTacToe()
    won = game.replay(actions(game, "a1", "a2", "b1", "b2"))
    lost = game.replay(actions(game, "a1", "b1", "c3", "c1", "a3"))  # a2 and b2 both threaten
    results = search(game, [won, lost], nothing_known(game), 800)
    assert results[0].value > 0.8
    assert results[0].q[game.action_at(0, 2)] == 1
    assert results[1].value < -0.8


@pytest.mark.parametrize("game", GAMES, ids=named)
@pytest.mark.parametrize("simulations", [1, 7, 50])
def test_visits_sum_to_the_simulations_and_stay_on_legal_actions(game, simulations):
    random, state = np.random.default_rng(0), game.initial()
    for _ in range(6):
        state = game.play(state, int(random.choice(np.flatnonzero(game.legal(state)))))
    result = search(game, [state], by_stones(game), simulations)[0]
    legal = game.legal(state)
    assert result.visits.sum() == simulations
    assert not result.visits[~legal].any() and not result.prior[~legal].any()
    np.testing.assert_allclose(result.prior.sum(), 1, rtol=1e-5)
    assert (np.isnan(result.q) == (result.visits == 0)).all()
    assert -1 <= result.value <= 1
    after = state
    for action in result.line:
        after = game.play(after, action)


@pytest.mark.parametrize("game", GAMES, ids=named)
def test_many_positions_at_once_give_what_each_gives_alone(game):
    random = np.random.default_rng(1)
    states, state = [], game.initial()
    while game.result(state) is None and len(states) < 20:
        states.append(state)
        state = game.play(state, int(random.choice(np.flatnonzero(game.legal(state)))))
    noise = [np.random.default_rng(i) for i in range(len(states))]
    together = search(game, states, by_stones(game), 40, noise=RootNoise(0.25, 10, noise))
    for i, state in enumerate(states):
        alone = RootNoise(0.25, 10, [np.random.default_rng(i)])
        result = search(game, [state], by_stones(game), 40, noise=alone)[0]
        np.testing.assert_array_equal(result.visits, together[i].visits)
        np.testing.assert_allclose(result.q, together[i].q, atol=1e-5)
        assert result.line == together[i].line


def plain_search(game, root, evaluate, simulations, exploration):
    """PUCT with nodes as objects, one position at a time."""

    class Node:
        def __init__(self, state):
            self.state, self.result = state, game.result(state)
            self.children = {}
            self.visits, self.totals = np.zeros(game.actions), np.zeros(game.actions)
            if self.result is None:
                scores, values = evaluate(game.encode(state)[None])
                shares = np.exp(scores[0] - scores[0].max()) * game.legal(state)
                self.priors, self.value = shares / shares.sum(), values[0]

        def follow(self):
            """Return the result of a walk from here, for the player to move."""
            count = self.visits.sum()
            mean = self.totals.sum() / max(count, 1)
            q = [t / n if n else mean for t, n in zip(self.totals, self.visits, strict=True)]
            u = exploration * self.priors * np.sqrt(count + 1) / (1 + self.visits)
            action = int(np.where(game.legal(self.state), q + u, -np.inf).argmax())
            child = self.children.get(action)
            if child is None:
                child = self.children[action] = Node(game.play(self.state, action))
                if child.result is None:
                    result = -child.value
                else:
                    result = child.result * (1 - 2 * self.state.player)
            elif child.result is not None:
                result = child.result * (1 - 2 * self.state.player)
            else:
                result = -child.follow()
            self.visits[action] += 1
            self.totals[action] += result
            return result

    node = Node(root)
    for _ in range(simulations):
        node.follow()
    return node


@pytest.mark.parametrize("game", GAMES, ids=named)
def test_a_search_with_nodes_as_objects_visits_the_same(game):
    random, state = np.random.default_rng(2), game.initial()
    for _ in range(5):
        plain = plain_search(game, state, by_stones(game), 60, 1.5)
        result = search(game, [state], by_stones(game), 60)[0]
        np.testing.assert_array_equal(result.visits, plain.visits)
        np.testing.assert_allclose(np.nan_to_num(result.q) * result.visits, plain.totals, atol=1e-4)
        state = game.play(state, int(random.choice(np.flatnonzero(game.legal(state)))))


def test_a_network_evaluates_alike_in_batches_of_any_size():
    game = Go(5)
    model = network(game, filters=8, blocks=1)
    random, states, state = np.random.default_rng(0), [], game.initial()
    for _ in range(13):
        states.append(state)
        state = game.play(state, int(random.choice(np.flatnonzero(game.legal(state)))))
    planes = game.encode_all(states)
    scores, values = NetworkEvaluator(game, model, 32)(planes)
    predicted = model.predict(planes)
    np.testing.assert_allclose(scores, predicted[0], atol=1e-5)
    np.testing.assert_allclose(values, predicted[1][:, 0], atol=1e-5)
    small = NetworkEvaluator(game, model, 4)
    np.testing.assert_allclose(small(planes)[0], scores, atol=1e-5)
    assert (small.positions, small.runs) == (13, 4)
    model.close()


def test_a_search_ends_early_with_the_walks_so_far():
    game, left = TicTacToe(), iter([False] * 6 + [True])
    position = [game.initial()]
    result = search(game, position, by_stones(game), 400, enough=lambda: next(left))[0]
    assert result.visits.sum() == 7
    expected = search(game, position, by_stones(game), 7)[0]
    assert result.visits.tolist() == expected.visits.tolist() and result.value == expected.value


def test_without_exploration_only_legal_actions_are_taken():
    game = ConnectFour()
    state = game.replay([0, 0, 0, 0, 0, 0])  # a column that is full
    result = search(game, [state], nothing_known(game), 40, exploration=0)[0]
    assert result.visits.sum() == 40 and result.visits[0] == 0


def test_the_line_begins_with_the_best_action():
    """Of actions with as many visits, both take that with the best result."""
    game = TicTacToe()
    for moves in ([], [4], [0, 4]):
        for simulations in (1, 2, 3, 9, 20):
            result = search(game, [game.replay(moves)], by_stones(game), simulations)[0]
            assert result.line[0] == result.best


def test_values_beyond_a_win_count_as_a_win():
    """As those of a network whose value is not between -1 and 1."""

    def evaluate(planes):
        return np.zeros((len(planes), 9)), np.full(len(planes), 5.0)

    game = TicTacToe()
    result = search(game, [game.replay([0, 3, 1, 4])], evaluate, 60)[0]
    assert np.nanmax(np.abs(result.q)) <= 1 and abs(result.value) <= 1
    assert result.best == 2  # wins at once


@pytest.mark.parametrize("shapes", [((9,), (1,)), ((1, 9), (1, 1)), ((1, 8), (1,)), ((2, 9), (1,))])
def test_evaluations_of_another_shape_are_refused(shapes):
    game = TicTacToe()
    with pytest.raises(
        GameError, match=r"1 positions of tic-tac-toe must have the shapes \(1, 9\)"
    ):
        search(game, [game.initial()], lambda planes: tuple(map(np.zeros, shapes)), 8)


@pytest.mark.parametrize("exploration", [float("nan"), -1, "1"])
def test_exploration_is_checked(exploration):
    game = TicTacToe()
    with pytest.raises(GameError, match="exploration must be a number from 0 to 100"):
        search(game, [game.initial()], nothing_known(game), 8, exploration)


def test_a_stop_ends_the_search_before_the_next_evaluation():
    game, evaluations = TicTacToe(), []

    def evaluate(planes):
        evaluations.append(len(planes))
        return nothing_known(game)(planes)

    def attend():
        if len(evaluations) == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        search(game, [game.initial()], evaluate, 50, attend=attend)
    assert len(evaluations) == 5


def test_what_cannot_be_searched_is_refused():
    game = TicTacToe()
    for simulations in (0, -3, 1.5, "8", True, 100_000):
        with pytest.raises(GameError, match="simulations must be a whole number from 1 to 10,000"):
            search(game, [game.initial()], nothing_known(game), simulations)
    ended = game.replay(actions(game, "a1", "a2", "b1", "b2", "c1"))
    with pytest.raises(GameError, match="a game of tic-tac-toe has ended"):
        search(game, [ended], nothing_known(game), 8)
    with pytest.raises(GameError, match="take more than 1024 MiB"):
        search(Go(19), [Go(19).initial()] * 64, nothing_known(Go(19)), 10_000)


def test_a_network_that_diverged_is_not_searched_with():
    def broken(planes):
        return np.full((len(planes), 9), np.nan), np.zeros(len(planes))

    game = TicTacToe()
    with pytest.raises(GameError, match="outputs for a position of tic-tac-toe are not finite"):
        search(game, [game.initial()], broken, 8)


def test_a_network_for_another_game_is_refused():
    model = network(TicTacToe(), filters=4, blocks=0)
    with pytest.raises(GameError, match=r"plays Connect Four takes planes .* 'player' has"):
        NetworkEvaluator(ConnectFour(), model, 8)
    for arguments in ({"filters": 0}, {"filters": 1000}, {"blocks": -1}, {"blocks": True}):
        with pytest.raises(GameError, match="must be a whole number from"):
            network(TicTacToe(), **arguments)
