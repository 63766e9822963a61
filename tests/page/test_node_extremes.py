"""Nodes of any size, type and value: what the page is sent of them is small and right."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad.compiler.program import Program
from playgrad.page.node_view import NodeViews

SIDE = 5000
"""A square of so many float32 takes 100 MB."""


@cache
def _values() -> dict[str, np.ndarray]:
    column, row = np.arange(SIDE, dtype=np.float32)[:, None], np.arange(SIDE, dtype=np.float32)
    return {
        "large": column + row,
        "nowhere": np.full((4, 3), np.nan, np.float32),
        "endless": np.array([np.inf, -np.inf, np.nan, 2.0], np.float32),
        "empty": np.zeros((0, 3), np.float32),
        "nothing": np.zeros((3, 0, 2), np.int32),
        "scalar": np.array(-2.5, np.float32),
        "truth": np.array([[True, False], [True, True]]),
        "whole": np.array([-(2**31), 0, 2**31 - 1], np.int32),
        "byte": np.array([[0, 255]], np.uint8),
        "half": np.array([60000, -0.5], np.float16),
    }


NAMES = (
    *("large", "nowhere", "endless", "empty", "nothing"),
    *("scalar", "truth", "whole", "byte", "half"),
)
"""What `_values` has: to make it takes too long while tests are collected."""


@pytest.fixture(scope="module")
def asked() -> Iterator[Any]:
    """A function that returns the view of a node of a program with one of each kind."""
    graph, views = pg.Graph(), NodeViews()
    with graph.as_default(), pg.Session(graph, "cpu") as session:
        fetches = []
        for name, value in _values().items():
            if name == "large":
                column = pg.constant(value[:, :1])
                fetches.append(pg.add(column, value[0], name=name))
            else:
                kept = pg.cast(pg.constant(value), str(value.dtype))  # constants are float32
                fetches.append(pg.identity(kept, name=name))
        assert tuple(_values()) == NAMES
        session.run(pg.reduce_sum(fetches[0]))
        programs = [Program(graph, fetches)]

        def view(name: str, part: str = "value") -> Any:
            question = {"name": name, "output": 0, "part": part, "sample": None}
            return views.view(None, programs, question)

        view.find = lambda query: views.find(None, programs, query)  # type: ignore[attr-defined]
        yield view
        views.clear()
    _values.cache_clear()


@pytest.mark.parametrize("name", NAMES)
def test_the_summary_matches_numpy(asked: Any, name: str) -> None:
    value = _values()[name]
    view = asked(name)
    assert view["problem"] is None
    summary = view["summary"]
    assert (summary["shape"], summary["count"]) == (list(value.shape), value.size)
    assert summary["dtype"] == str(value.dtype)
    exact = value.astype(np.float64)
    known, finite = exact[~np.isnan(exact)], exact[np.isfinite(exact)]
    expected = {
        "min": known.min() if known.size else None,
        "max": known.max() if known.size else None,
        "|max|": np.abs(known).max() if known.size else None,
        "mean": pytest.approx(finite.mean(), rel=1e-9) if finite.size else None,
        "std": pytest.approx(finite.std(), rel=1e-6) if finite.size else None,
        "zeros": (exact == 0).mean() if exact.size else None,
        "nan": np.isnan(exact).sum(),
        "inf": np.isinf(exact).sum(),
    }
    assert summary["statistics"] == expected
    counted = sum(summary["histogram"]["counts"]) if summary["histogram"] else 0
    sampled = summary["histogram"] is not None and summary["histogram"]["sampled"]
    assert counted == finite.size or (sampled and 0 < counted < finite.size)


def test_a_sample_of_a_hundred_megabytes_is_sent_and_marked(asked: Any) -> None:
    value = _values()["large"]
    assert value.nbytes == 100_000_000
    summary = asked("large")["summary"]
    assert summary["histogram"]["sampled"] is True
    grid = summary["grid"]
    assert (grid["total_rows"], grid["total_columns"]) == (SIDE, SIDE)
    assert len(grid["values"]) < 100_000 and len(summary["histogram"]["counts"]) < 100
    shown = np.frombuffer(grid["values"], "<f4").reshape(len(grid["rows"]), len(grid["columns"]))
    np.testing.assert_array_equal(shown, value[np.ix_(grid["rows"], grid["columns"])])


def test_nodes_without_finite_values_have_no_histogram(asked: Any) -> None:
    for name in ("empty", "nothing", "nowhere"):
        assert asked(name)["summary"]["histogram"] is None


def test_missing_gradients_give_their_reason(asked: Any) -> None:
    for name, code in (("truth", "not_floating"), ("whole", "not_floating"), ("half", "no_loss")):
        view = asked(name, "gradient")
        assert (view["problem"]["code"], view["summary"]) == (code, None)


def test_queries_meet_every_kind(asked: Any) -> None:
    found = asked.find("value(*) nan > 0")
    assert {"nowhere", "endless"} <= {name for name, _ in found["matches"]}
    assert not {"empty", "truth", "large"} & {name for name, _ in found["matches"]}
    # Tensors that are too large are skipped, and the answer counts them.
    assert found["skipped"] == 1
    assert found["checked"] >= len(_values()) - 1
    assert ("endless", np.inf) in map(tuple, asked.find("value(*) max = inf")["matches"])
    assert asked.find("value(empty) max > 0")["total"] == 0
    assert ("truth", 0.25) in asked.find("value(truth) zeros = 25%")["matches"]
