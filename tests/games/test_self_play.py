"""Learning from own games: the buffer, repetition to the bit, stops, files."""

import json
from dataclasses import replace

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.errors import CheckpointError, GameError
from playgrad.games import ConnectFour, TicTacToe, network
from playgrad.games.records import GameRecord, ReplayBuffer
from playgrad.runtime.hooks import Hooks, set_hooks
from tests.games.test_rules import GAMES, named

SMALL = {"simulations": 8, "games": 6, "steps": 3, "batch_size": 16, "gate_every": 2}


def learner(game=None, **arguments) -> pg.SelfPlay:
    game = game or TicTacToe()
    arguments = {**SMALL, "gate_games": 4, **arguments}
    pg.reset_default_graph()  # the initial weights depend on the graph
    return pg.SelfPlay(game, network(game, filters=4, blocks=0), **arguments)


@pytest.fixture
def new_learner():
    """Return a function like `learner` whose models are closed at the end."""
    made = []

    def new(game=None, **arguments):
        made.append(learner(game, **arguments))
        return made[-1]

    yield new
    for each in made:
        each.close()


def everything(play):
    """Return weights, optimizer, games and counters, to be compared to the bit."""
    model = play.model
    variables = [*model.recipe.optimizer.variables]
    games = [(r.actions.tobytes(), r.policies.tobytes(), r.result) for r in play.buffer.records]
    arrays = [*model.named_weights().values(), *model.session.values(variables)]
    best = [array.tobytes() for array in play.best.named_weights().values()]
    return [a.tobytes() for a in arrays], games, best, play.counters(), play.ratings


def random_record(game, seed=0):
    random, state, moves = np.random.default_rng(seed), game.initial(), []
    while game.result(state) is None:
        moves.append(int(random.choice(np.flatnonzero(game.legal(state)))))
        state = game.play(state, moves[-1])
    policies = np.eye(game.actions, dtype=np.float32)[moves]
    values = random.uniform(-1, 1, len(moves)).astype(np.float32)
    return GameRecord(np.array(moves, np.int32), policies, values, game.result(state))


@pytest.mark.parametrize("game", GAMES, ids=named)
def test_samples_are_positions_with_their_moves_and_results(game):
    buffer = ReplayBuffer(game, 1000)
    record = random_record(game)
    buffer.add(record)
    planes, (policies, values) = buffer.sample(300, np.random.default_rng(0))
    state, expected = game.initial(), {}
    for move in record.actions:
        for symmetry in game.symmetries:
            key = symmetry.planes(game.encode(state)).tobytes()
            expected.setdefault(key, set()).add(
                (symmetry.action(move), record.result * (1 - 2 * state.player))
            )
        state = game.play(state, int(move))
    seen = set()
    for plane, policy, value in zip(planes, policies, values, strict=True):
        assert (int(policy.argmax()), float(value[0])) in expected[plane.tobytes()]
        seen.add(plane.tobytes())
    assert len(seen) > len(expected) / 2


def test_values_are_between_those_of_games_and_searches():
    game, record = ConnectFour(), random_record(ConnectFour())
    targets = {}
    for share in (0, 0.25, 1):
        buffer = ReplayBuffer(game, 1000, share)
        buffer.add(record)
        targets[share] = buffer.sample(50, np.random.default_rng(0))[1][1]
    np.testing.assert_allclose(targets[0.25], 0.75 * targets[0] + 0.25 * targets[1], atol=1e-6)
    assert set(np.abs(targets[0]).ravel()) == {1}
    assert set(targets[1].ravel()) <= set(record.values)


def test_the_oldest_games_are_forgotten():
    game = ConnectFour()
    buffer = ReplayBuffer(game, 60)
    records = [random_record(game, seed) for seed in range(8)]
    for record in records:
        buffer.add(record)
        assert buffer.positions <= 60
    assert list(buffer.records) == records[-len(buffer.records) :]
    with pytest.raises(GameError, match="a recorded game of Connect Four ends with"):
        buffer.add(replace(records[0], result=-records[0].result))


def test_learning_repeats_with_its_seed_and_differs_with_another(new_learner):
    first, second = new_learner(), new_learner()
    other = new_learner(seed=1)
    for each in (first, second, other):
        each.fit(generations=4, verbose=0)
    assert everything(first) == everything(second)
    assert everything(first)[1] != everything(other)[1]
    assert first.generation == 4 and first.games_played == 24
    assert [rating.generation for rating in first.ratings] == [2, 4]
    assert len(first.model.history.history["loss"]) == 4
    assert first.model.history.history["elo"] == [rating.elo for rating in first.ratings]


def test_ratings_are_events_and_columns_of_a_table(new_learner, tmp_path):
    class Heard(Hooks):
        def __init__(self):
            self.events = []

        def emit(self, event):
            self.events.append(event)

    heard = Heard()
    before = set_hooks(heard)
    try:
        play = new_learner()
        file = tmp_path / "log.csv"
        play.fit(generations=5, verbose=0, callbacks=nn.CSVLogger(file))
    finally:
        set_hooks(before)
    events = [event for event in heard.events if event["kind"] == "rating"]
    assert [event["step"] for event in events] == [6, 12]
    assert [event["elo"] for event in events] == [rating.elo for rating in play.ratings]
    titles, *rows = [line.split(",") for line in file.read_text().splitlines()]
    assert titles[0] == "epoch" and titles[-1] == "elo"
    elo = [row[-1] for row in rows]
    assert elo == ["NA", str(events[0]["elo"]), "NA", str(events[1]["elo"]), "NA"]
    assert {len(row) for row in rows} == {len(titles)}


@pytest.mark.parametrize("gated", [False, True])
def test_a_saved_player_continues_to_the_bit(new_learner, tmp_path, gated):
    whole, half, rest = (new_learner(gated=gated) for _ in range(3))
    whole.fit(generations=5, verbose=0)
    half.fit(generations=3, verbose=0)
    half.save(tmp_path / "half.safetensors")
    if gated:
        rest.fit(generations=1, verbose=0)  # something to be replaced
    rest.load(tmp_path / "half.safetensors")
    assert everything(rest) == everything(half)
    rest.step()
    rest.step()
    assert everything(rest) == everything(whole)


def test_damaged_and_foreign_files_change_nothing(new_learner, tmp_path):
    play = new_learner()
    play.fit(generations=2, verbose=0)
    file = tmp_path / "player.safetensors"
    play.save(file)
    before = everything(play)
    tensors, metadata = pg.io.load(file), pg.io.load_metadata(file)
    described = json.loads(metadata["playgrad.self_play"])

    def refused(match, tensors=tensors, described=described):
        texts = {"playgrad.self_play": json.dumps(described)}
        pg.io.save(tensors, tmp_path / "x.safetensors", "safetensors", texts)
        with pytest.raises(CheckpointError, match=match):
            play.load(tmp_path / "x.safetensors")
        assert everything(play) == before

    slot = next(name for name in tensors if name.startswith("optimizer/") and "kernel" in name)
    refused("no state called", {**tensors, "optimizer/dense_9/kernel/m": tensors[slot]})
    refused("no state called", {**tensors, f"{slot}/__x": tensors[slot]})
    actions = tensors["games/actions"].copy()
    actions[1] = actions[0]
    refused("not games by the rules", {**tensors, "games/actions": actions})
    refused("not games of tic-tac-toe", {**tensors, "games/lengths": tensors["games/lengths"] + 1})
    results = tensors["games/results"] + 0.5
    refused("not games by the rules", {**tensors, "games/results": results})
    policies = np.full_like(tensors["games/policies"], np.nan)
    refused("not games of tic-tac-toe", {**tensors, "games/policies": policies})
    refused("damaged", {n: a for n, a in tensors.items() if n != "games/ratings"})
    refused("do not belong", {n: a for n, a in tensors.items() if n != slot})
    refused("do not belong", {n: a for n, a in tensors.items() if not n.startswith("model/")})
    refused("do not belong", {n: a for n, a in tensors.items() if not n.startswith("best/")})
    refused("game 'Go', not 'tic-tac-toe'", described={**described, "game": "Go"})
    refused("counters are", described={**described, "counters": {"generation": -1}})
    refused("is damaged", described={**described, "counters": None})
    pg.io.save(tensors, tmp_path / "weights.safetensors")
    with pytest.raises(CheckpointError, match="has no games in it"):
        play.load(tmp_path / "weights.safetensors")
    file.write_bytes(file.read_bytes()[:-10])
    with pytest.raises(CheckpointError):
        play.load(file)
    assert everything(play) == before


class Stopping(Hooks):
    """Stops at the n-th time that it is asked for requests."""

    def __init__(self, polls):
        self.left = polls

    def poll(self):
        self.left -= 1
        return []

    def stopped(self):
        return self.left < 0


@pytest.fixture(scope="module")
def undisturbed():
    """The games of three generations."""
    play = learner()
    play.fit(generations=3, verbose=0)
    games = everything(play)[1]
    play.close()
    return games


@pytest.mark.parametrize("polls", [1, 70, 110, 200])
def test_a_stop_at_any_time_loses_no_finished_generation(new_learner, undisturbed, polls):
    play = new_learner()
    before = set_hooks(Stopping(polls))
    try:
        with pytest.raises(KeyboardInterrupt):
            play.fit(generations=3, verbose=0)
    finally:
        set_hooks(before)
    done = play.generation
    assert done < 3 and play.games_played in (6 * done, 6 * done + 6)
    games = everything(play)[1]
    assert games == undisturbed[: len(games)]
    play.fit(generations=3 - done, verbose=0)
    assert play.generation == 3 and play.games_played == 18
    assert [rating.generation for rating in play.ratings] == [2]


def test_searches_and_players_use_the_newest_weights(new_learner):
    play = new_learner()
    state = play.game.initial()
    player = play.player(8)
    before = play.search(state)
    play.step()
    after = play.search(state)
    assert before.visits.sum() == after.visits.sum() == 8
    assert play.search(state, 20).visits.sum() == 20
    assert not np.array_equal(before.prior, after.prior)
    assert player.choose(play.game, [state]) == [play.search(state).best]
    assert play.positions_evaluated > 0


def test_fit_ends_after_its_seconds(new_learner):
    play = new_learner()
    play.fit(seconds=0, verbose=0)
    assert play.generation == 1


@pytest.mark.parametrize(
    "arguments, text",
    [
        ({"simulations": 0}, "simulations must be a whole number from 1 to 10,000, got 0"),
        ({"games": 5000}, "games must be a whole number from 1 to 4,096, got 5000"),
        ({"steps": 1.5}, "steps must be a whole number"),
        ({"noise_share": 2}, "noise_share must be a number from 0 to 1, got 2"),
        ({"noise_concentration": float("nan")}, "noise_concentration must be a number"),
        ({"gate_games": "4"}, "gate_games must be a whole number"),
        ({"seed": -1}, "seed must be a whole number"),
        ({"capacity": True}, "capacity must be a whole number"),
    ],
)
def test_arguments_are_checked(arguments, text):
    with pytest.raises(GameError, match=text):
        learner(**arguments)


def test_games_and_lengths_are_checked(new_learner):
    with pytest.raises(GameError, match=r"SelfPlay needs a game, got str.*ConnectFour"):
        pg.SelfPlay("chess")
    play = new_learner()
    with pytest.raises(GameError, match="fit needs generations or seconds"):
        play.fit()
    for wrong in (-1, 1.5, "3"):
        with pytest.raises(GameError, match="generations must be a whole number"):
            play.fit(generations=wrong)
