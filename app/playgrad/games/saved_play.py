"""The state of a `SelfPlay`, for checkpoints and files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from playgrad import io
from playgrad.errors import CheckpointError, GameError
from playgrad.games.protocol import Game
from playgrad.games.ratings import Rating
from playgrad.games.records import GameRecord, ReplayBuffer
from playgrad.io.weights import load_metadata
from playgrad.models.model import Model
from playgrad.ops.state import RANDOM_STEP, Variable

Array = np.ndarray[Any, Any]
_KIND = "playgrad.self_play"
_MOST = 2**53
_OPTIMIZER = "optimizer"
_SLOT = re.compile(r"[a-z][a-z_]{0,30}")


class Learned(Protocol):
    """The part of `SelfPlay` that is saved."""

    game: Game[Any]
    model: Model
    best: Model
    buffer: ReplayBuffer
    ratings: list[Rating]
    gate_every: int
    seed: int

    def counters(self) -> dict[str, int]: ...

    def set_progress(
        self, counters: Mapping[str, int], buffer: ReplayBuffer, ratings: list[Rating]
    ) -> None: ...


def play_state(play: Learned) -> dict[str, Any]:
    """Return games, ratings, counters and the weights of the best network."""
    records = play.buffer.records
    actions = play.game.actions
    return {
        "counters": play.counters(),
        "lengths": np.array([len(record.actions) for record in records], np.int32),
        "results": np.array([record.result for record in records], np.float32),
        "actions": np.concatenate([np.zeros(0, np.int32), *(r.actions for r in records)]),
        "policies": np.concatenate(
            [np.zeros((0, actions), np.float32), *(r.policies for r in records)]
        ),
        "values": np.concatenate([np.zeros(0, np.float32), *(r.values for r in records)]),
        "ratings": np.array(
            [[r.generation, r.step, r.games, r.elo, r.is_best] for r in play.ratings], np.float64
        ).reshape(-1, 5),
        "best": play.best.named_weights() if play.gate_every else {},
    }


def take_play_state(play: Learned, state: Mapping[str, Any]) -> None:
    """Take over a state; on an error, nothing changes.

    Raises:
        CheckpointError: it is damaged, or of another game or network.
    """
    try:
        counters = {name: int(value) for name, value in state["counters"].items()}
        buffer = _buffer(play, state)
        ratings = [
            Rating(int(row[0]), int(row[1]), int(row[2]), float(row[3]), bool(row[4]))
            for row in np.asarray(state["ratings"], np.float64).reshape(-1, 5)
        ]
        best = dict(state["best"])
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError) as error:
        raise CheckpointError(f"the state of the games is damaged: {error}") from None
    if set(counters) != set(play.counters()) or not all(0 <= n < _MOST for n in counters.values()):
        raise CheckpointError(f"the state of the games is damaged: its counters are {counters}.")
    if bool(best) != bool(play.gate_every):
        raise CheckpointError(
            "the file is of a player with other matches.", hint="Pass the same gate_every."
        )
    if best:
        play.best.set_weights(best)
    play.set_progress(counters, buffer, ratings)


def _buffer(play: Learned, state: Mapping[str, Any]) -> ReplayBuffer:
    """Return the games of a state, played again by the rules.

    Raises:
        CheckpointError: they are not games by the rules, or of another game.
    """
    game = play.game
    lengths = np.asarray(state["lengths"]).astype(np.int64)
    actions = np.asarray(state["actions"]).astype(np.int32)
    policies = np.asarray(state["policies"]).astype(np.float32)
    values = np.asarray(state["values"]).astype(np.float32)
    results = np.asarray(state["results"]).astype(np.float64)
    fits = (
        lengths.ndim == actions.ndim == results.ndim == 1
        and len(lengths) == len(results)
        and (lengths > 0).all()
        and lengths.sum() == len(actions)
        and policies.shape == (len(actions), game.actions)
        and values.shape == actions.shape
        and bool((np.abs(values) <= 1).all())
        and np.isfinite(policies).all()
        and (policies >= 0).all()
    )
    if not fits:
        raise CheckpointError(
            f"its games are not games of {game.name} with {game.actions} actions."
        )
    buffer = ReplayBuffer(game, play.buffer.capacity, play.buffer.searched_share)
    ends = np.cumsum(lengths)
    try:
        for length, end, result in zip(lengths, ends, results, strict=True):
            part = slice(end - length, end)
            buffer.add(GameRecord(actions[part], policies[part], values[part], float(result)))
    except GameError as error:
        raise CheckpointError(f"its games are not games by the rules: {error.message}") from None
    return buffer


def _variables(play: Learned) -> dict[str, Variable]:
    """Return the variables of the optimizer and of random numbers, by their names in files."""
    model, optimizer = play.model, play.model.recipe.optimizer
    optimizer.prepare(model.graph)
    weights = {variable.variable_name: name for name, variable in model.named_variables.items()}
    names = {
        name: f"{_OPTIMIZER}/{'/'.join([weights[of], *slot] if slot else [of])}"
        for name, (of, *slot) in optimizer.state_names().items()
    }
    named = {names[variable.variable_name]: variable for variable in optimizer.variables}
    if RANDOM_STEP in model.graph:
        step = model.graph.node(RANDOM_STEP).outputs[0]
        assert isinstance(step, Variable)
        named["random"] = step
    return named


def _add_slots(play: Learned, names: Iterable[str]) -> None:
    """Create the slots of the optimizer that a file has, as training does in its first step.

    Raises:
        CheckpointError: a name is not that of a slot.
    """
    model, optimizer = play.model, play.model.recipe.optimizer
    weights = {
        name: variable
        for name, variable in model.named_variables.items()
        if variable in set(model.trainable_variables)
    }
    optimizer.prepare(model.graph)
    for name in names:
        kind, _, rest = name.partition("/")
        weight, _, slot = rest.rpartition("/")
        if kind != _OPTIMIZER or not weight:
            continue
        if weight not in weights or not _SLOT.fullmatch(slot):
            raise CheckpointError(f"the optimizer has no state called {rest!r}.")
        optimizer.slot(weights[weight], slot)


def _described(play: Learned) -> dict[str, Any]:
    """Return the facts that a file and the player that loads it must have in common."""
    game = play.game
    return {
        "game": game.name,
        "board": [game.rows, game.columns],
        "actions": game.actions,
        "seed": play.seed,
    }


def save_play(play: Learned, file: str | Path) -> None:
    """Write a player to a safetensors file; see `SelfPlay.save`."""
    state = play_state(play)
    variables = _variables(play)
    values = play.model.session.values(list(variables.values()))
    tensors = dict(zip(variables, values, strict=True))
    tensors |= {f"model/{name}": array for name, array in play.model.named_weights().items()}
    tensors |= {f"best/{name}": array for name, array in state.pop("best").items()}
    counters = state.pop("counters")
    tensors |= {f"games/{name}": array for name, array in state.items()}
    described = {**_described(play), "counters": counters}
    io.save(tensors, file, "safetensors", {_KIND: json.dumps(described)})


def load_play(play: Learned, file: str | Path) -> None:
    """Take over a player from a file; see `SelfPlay.load`."""
    metadata = load_metadata(file)
    if _KIND not in metadata:
        raise CheckpointError(
            f"{file} has no games in it.", hint="SelfPlay.save writes a file that can be loaded."
        )
    try:
        described = dict(json.loads(metadata[_KIND]))
    except (TypeError, ValueError):
        raise CheckpointError(f"{file}: its description of the game is damaged.") from None
    for name, value in _described(play).items():
        if described.get(name) != value:
            raise CheckpointError(
                f"{file} is of a player with {name} {described.get(name)!r}, not {value!r}."
            )
    tensors = io.load(file)
    groups: dict[str, dict[str, Array]] = {"model": {}, "best": {}, "games": {}}
    others = {}
    for name, array in tensors.items():
        kind, _, rest = name.partition("/")
        if kind in groups:
            groups[kind][rest] = array
        else:
            others[name] = array
    io.check_match(groups["model"], play.model.weight_specs())
    _add_slots(play, others)
    variables = _variables(play)
    io.check_match(others, {name: variable.spec for name, variable in variables.items()})
    if play.gate_every:
        io.check_match(groups["best"], play.best.weight_specs())
    state = {**groups["games"], "best": groups["best"], "counters": described.get("counters")}
    take_play_state(play, state)
    play.model.set_weights(groups["model"])
    play.model.session.assign({variables[name]: array for name, array in others.items()})
