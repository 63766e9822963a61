"""Queries find the nodes that NumPy finds among the values of a training step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.inspection.find import find
from playgrad.inspection.node_values import NodeValues
from playgrad.inspection.problem import Unavailable
from playgrad.inspection.query import Query, parse


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("grad(dense_*) |max| > 10", Query("gradient", "dense_*", "|max|", ">", 10)),
        ("value(*relu*) zeros > 0.5", Query("value", "*relu*", "zeros", ">", 0.5)),
        (" Value( a/b ) NaN!=0 ", Query("value", "a/b", "nan", "!=", 0)),
        ("gradient(x) mean<=-1e-3", Query("gradient", "x", "mean", "<=", -1e-3)),
        ("value(x) zeros >= 50%", Query("value", "x", "zeros", ">=", 0.5)),
        ("value(x) max == inf", Query("value", "x", "max", "==", np.inf)),
    ],
)
def test_queries_are_parsed(text: str, query: Query) -> None:
    assert parse(text) == query


@pytest.mark.parametrize(
    ("text", "code", "word"),
    [
        ("dense", "query_form", None),
        ("value(x max > 1", "query_form", None),
        ("weight(x) max > 1", "query_part", "weight"),
        ("value() max > 1", "query_pattern", None),
        ("value(x) median > 1", "query_statistic", "median"),
        ("value(x) max 1", "query_comparison", ""),
        ("value(x) max <> 1", "query_comparison", "<>"),
        ("value(x) max > many", "query_number", "many"),
        ("value(x) max >", "query_number", ""),
    ],
)
def test_the_wrong_part_of_a_query_is_named(text: str, code: str, word: str | None) -> None:
    with pytest.raises(Unavailable) as problem:
        parse(text)
    assert problem.value.code == code
    assert problem.value.values.get("word") == word


@pytest.fixture(scope="module")
def looked() -> Iterator[NodeValues]:
    """A network in training, one of whose layers has a NaN and an infinity in its weights."""
    graph = pg.Graph()
    with graph.as_default():
        x = np.random.default_rng(1).normal(size=(32, 6)).astype(np.float32)
        layers = [nn.Dense(7, activation="relu"), nn.Dense(5, activation="relu"), nn.Dense(2)]
        model = pg.Sequential(layers)
        loss = nn.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(optimizer=pg.optim.SGD(0.1), loss=loss)
        model.fit(x, (x[:, 0] > 0).astype(np.int32), batch_size=8, epochs=1, verbose=0)
        bias = layers[1].variables["bias"]
        model.session.assign({bias: np.array([np.nan, np.inf, 0, 3, 0], np.float32)})
        values = NodeValues(model.session, model.training_targets)
        yield values
        values.close()


STATISTICS: dict[str, Any] = {
    "|max|": lambda a: np.nanmax(np.abs(a)),
    "max": np.nanmax,
    "min": np.nanmin,
    "mean": lambda a: a[np.isfinite(a)].mean(),
    "std": lambda a: a[np.isfinite(a)].std(),
    "zeros": lambda a: (a == 0).mean(),
    "nan": lambda a: np.isnan(a).sum(),
    "inf": lambda a: np.isinf(a).sum(),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("part", ["value", "grad"])
@pytest.mark.parametrize("statistic", STATISTICS)
def test_query_results_match_numpy(looked: NodeValues, part: str, statistic: str) -> None:
    expected: dict[str, float] = {}
    for node in looked.nodes:
        if "dense" not in node.name:
            continue
        for tensor in node.outputs:
            try:
                compute = looked.values if part == "value" else looked.gradients
                array = compute([tensor])[0].astype(np.float64)
            except Unavailable:
                continue
            if array.size:
                number = float(STATISTICS[statistic](array))
                expected.setdefault(node.name, number)
    numbers = sorted(number for number in expected.values() if not np.isnan(number))
    limit = numbers[len(numbers) // 2]
    result = find(looked, parse(f"{part}(*dense*) {statistic} >= {limit!r}"))
    matching = {name for name, number in expected.items() if number >= limit - 1e-9 * abs(limit)}
    assert {name for name, _ in result.matches} == matching
    assert matching


def test_a_query_for_nan_names_the_layer(looked: NodeValues) -> None:
    result = find(looked, parse("value(dense_2/*) nan > 0"))
    assert ("dense_2/bias", 1.0) in result.matches
    assert all(name.startswith("dense_2/") for name, _ in result.matches)


def test_queries_without_nodes_or_loss_are_refused(looked: NodeValues) -> None:
    with pytest.raises(Unavailable, match="query_nothing"):
        find(looked, parse("value(nowhere*) max > 0"))
    graph = pg.Graph()
    with graph.as_default(), pg.Session(graph, "cpu") as session:
        weight = pg.Variable([1.0, 2.0], "weight")
        fed = pg.placeholder("float32", (2,), "fed")
        session.run(product := weight * fed, {fed: [1, 1]})
        values = NodeValues(session, [product.node])
        with pytest.raises(Unavailable, match="no_loss"):
            find(values, parse("grad(*) max > 0"))
        result = find(values, parse("value(*) max > 0"))
        assert "weight" in dict(result.matches)
        assert result.skipped == 2  # the placeholder and the product
        values.close()
