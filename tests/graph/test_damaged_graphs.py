"""Damaged JSON of graphs ends as a playgrad error, quickly and in little memory."""

from __future__ import annotations

import contextlib
import copy
import json
import random
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

import playgrad as pg
from playgrad.errors import GraphError, PlaygradError
from playgrad.graph.serialize import graph_from_json, graph_from_text, graph_to_json
from tests.sweeps import SEED, budget, dice

_ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 1.5, 2**31, 2**70, 1e308, "", "x", "x:0", "float64", "gpu:0",
    "é" * 99, [], [0], [None, 5], [-1, 2], [2**40, 2**40], ["a"], {}, {"a": 1}, {"float": "nan"},
    {"array": "AAAA", "dtype": "float32", "shape": [1]},
    {"array": "AAAA", "dtype": "O", "shape": []},
    {"array": "!!", "dtype": "float32", "shape": [-1]}, [[[[[[1]]]]]],
)  # fmt: skip


def graphs() -> list[dict[str, Any]]:
    """Return the graphs of a training step of each of two networks, as JSON data."""
    found = []
    nn = pg.nn
    for layers, shape in (
        ([nn.Dense(4, activation="relu"), nn.Dropout(0.5), nn.Dense(2)], (3,)),
        ([nn.Conv2D(2, 3), nn.MaxPool2D(2), nn.BatchNormalization(), nn.Flatten(), nn.Dense(2)],
         (8, 8, 1)),
    ):  # fmt: skip
        model = pg.Sequential(layers)
        model.build(shape)
        with model.graph.as_default():
            labels = pg.placeholder("int32", (None,), "labels")
            output = model(model.inputs[0], training=True)
            loss = pg.reduce_mean(pg.sparse_softmax_cross_entropy(output, labels))
            pg.optim.Adam(0.1).minimize(loss)
        found.append(json.loads(json.dumps(graph_to_json(model.graph), allow_nan=False)))
    return found


def _places(data: Any) -> list[tuple[Any, Any]]:
    """Return every (container, key) in ``data``."""
    places = []
    stack = [data]
    while stack:
        item = stack.pop()
        keys = item.keys() if isinstance(item, dict) else range(len(item))
        for key in keys:
            places.append((item, key))
            if isinstance(item[key], (dict, list)):
                stack.append(item[key])
    return places


def _damage(draw: random.Random, data: dict[str, Any]) -> None:
    for _ in range(draw.choice((1, 1, 2, 5))):
        container, key = draw.choice(_places(data))
        action = draw.randrange(4)
        if action == 0:
            del container[key]
        elif action == 1:
            other, name = draw.choice(_places(data))
            container[key] = copy.deepcopy(other[name])
        else:
            container[key] = copy.deepcopy(draw.choice(_ODD))


def _attempts(count: int) -> int:
    """Read damaged graphs; return how many of them were read all the same."""
    draw, read = dice("graphs"), 0
    originals = [json.dumps(graph) for graph in graphs()]
    tracemalloc.start(1)
    try:
        for number in range(count):
            data = json.loads(draw.choice(originals))
            _damage(draw, data)
            tracemalloc.reset_peak()
            before = tracemalloc.get_traced_memory()[0]
            try:
                graph_from_json(data)
                read += 1
            except PlaygradError:
                pass
            except Exception as error:
                raise AssertionError(f"{SEED}/{number}: {type(error).__name__} {error}") from error
            assert tracemalloc.get_traced_memory()[1] - before < 64 << 20, f"{SEED}/{number}"
    finally:
        tracemalloc.stop()
    return read


@pytest.mark.survival("Damaged weights files")
def test_damaged_graphs_are_refused_or_harmless(
    record_property: Callable[[str, object], None],
) -> None:
    tried = budget(60, night=3_200)
    record_property("tried", tried)
    assert 0 < _attempts(tried) < tried


@pytest.mark.survival("Damaged weights files")
def test_damaged_texts_are_refused_or_harmless(
    record_property: Callable[[str, object], None],
) -> None:
    text = json.dumps(graphs()[0])
    texts: list[str | bytes] = [
        "[" * 500_000, '{"a":' * 100_000, "[" * 99 + "]" * 99, '"' + "[" * 500, "", "nul", b"\xff",
    ]  # fmt: skip
    draw = dice("texts")
    for _ in range(100):
        start = draw.randrange(len(text))
        new = draw.choice(("", "[" * 5000, "\\", '"', "NaN"))
        texts.append(text[:start] + new + text[start + 9 :])
    for damaged in texts:
        with contextlib.suppress(PlaygradError):
            graph_from_text(damaged)
    record_property("tried", len(texts))
    with pytest.raises(GraphError, match="more than 100 lists and objects are inside each other"):
        graph_from_text("[" * 500_000)
    assert len(graph_from_text(text).nodes) == len(json.loads(text)["nodes"])
