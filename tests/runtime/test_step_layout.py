"""Values of compiled steps that lie within others, and products that are added to what is there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from unittest import mock

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.ops.products import emit_matmul
from playgrad.ops.recurrent.cells import lstm_cell
from playgrad.ops.state import trainable_variables
from playgrad.runtime import desktop_host, host_program
from playgrad.runtime.session import Session
from playgrad.runtime.step_host import using_step_host
from playgrad.runtime.step_layout import StepLayout

Array = np.ndarray[Any, Any]
ROWS, WIDTH = 6, 8


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have every program compiled at its first run, and all products computed by BLAS."""
    monkeypatch.delenv(desktop_host.VARIABLE)
    monkeypatch.setattr(emit_matmul, "BLAS_FROM", 1)
    with mock.patch.object(host_program, "SECONDS_OF_NODE", 0.0):
        yield


def floats(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def layout_of(fetches: list[pg.Tensor], feeds: Any = None) -> StepLayout:
    """Return the layout of the step that computes ``fetches``, whose values are NumPy's."""
    graph = fetches[0].graph
    with Session(graph, "cpu") as session:
        results = session.run(fetches, feeds)
        runnable = session.compiled(fetches, feeds)
        assert runnable is not None and runnable.host_program is not None
        assert runnable.host_program.compiled is not None
        layout = runnable.host_program.compiled.step.order.layout
    with using_step_host(None), Session(graph, "cpu") as session:
        expected = session.run(fetches, feeds)
    for result, value in zip(results, expected, strict=True):
        np.testing.assert_allclose(result, value, 1e-4, 1e-5)
    return layout


def named(layout: StepLayout) -> list[str]:
    """Return the names of the operations without code."""
    return sorted(node.op.name for node in layout.free)


def test_parts_of_a_value_stay_where_they_are(graph: pg.Graph) -> None:
    whole = pg.exp(pg.Variable(floats(4, ROWS, WIDTH)))
    parts = pg.unstack(whole)
    layout = layout_of([pg.sin(part) for part in parts])
    assert named(layout) == ["slice"] * 4
    places = sorted(before for _, before in layout.within.values())
    assert places == [4 * ROWS * WIDTH * number for number in range(4)]


@pytest.mark.parametrize(
    "case", ["overlapping", "columns", "a small part", "needed whole", "fetched", "a variable"]
)
def test_parts_that_are_copied(graph: pg.Graph, case: str) -> None:
    variable = pg.Variable(floats(4, ROWS, WIDTH))
    whole = variable if case == "a variable" else pg.exp(variable)
    fetches: list[pg.Tensor] = []
    if case == "overlapping":
        parts = [whole[:3], whole[1:]]
    elif case == "columns":
        parts = [whole[:, :3], whole[:, 3:]]
    elif case == "a small part":
        parts = [whole[1]]
    else:
        parts = pg.unstack(whole)
    if case == "needed whole":
        fetches.append(pg.cos(whole))
    if case == "fetched":
        fetches.append(whole)
    assert not named(layout_of([pg.sin(part) for part in parts] + fetches))


def test_joined_values_are_computed_in_place(graph: pg.Graph) -> None:
    x = pg.Variable(floats(ROWS, WIDTH))
    parts = [pg.exp(x * (0.1 * number)) for number in range(1, 5)]
    late = pg.concat(parts[1:3], 0)  # a part of the longer one, which comes later
    layout = layout_of([pg.sin(pg.stack(parts)), pg.cos(late), pg.tanh(parts[0])])
    assert named(layout) == ["concat", "concat"]
    homes = {home for tensor in layout.within for home, _ in [layout.home(tensor)]}
    assert len(homes) == 1


@pytest.mark.parametrize("case", ["twice", "columns", "a variable", "another order"])
def test_values_that_are_copied_together(graph: pg.Graph, case: str) -> None:
    x = pg.Variable(floats(ROWS, WIDTH))
    a, b, c = (pg.exp(x * (0.1 * number)) for number in range(1, 4))
    joins = {
        "twice": [pg.concat([a, a], 0)],
        "columns": [pg.concat([a, b], 1)],
        "a variable": [pg.concat([a, x], 0)],
        "another order": [pg.concat([a, b, c], 0), pg.concat([c, a], 0)],
    }[case]
    layout = layout_of([pg.sin(join) for join in joins])
    assert named(layout) == ["concat"] * (case == "another order")


@pytest.mark.parametrize("order", ["first", "last"])
def test_a_product_is_added_to_the_other_term(graph: pg.Graph, order: str) -> None:
    a, w = pg.Variable(floats(ROWS, 5)), pg.Variable(floats(5, WIDTH, seed=1))
    other = pg.transpose(pg.Variable(floats(WIDTH, ROWS, seed=2)))
    terms = [pg.matmul(a, w), other]
    total = pg.add(*terms[:: 1 if order == "first" else -1])
    assert named(layout_of([total])) == ["matmul"]


def test_a_product_is_added_to_rows(graph: pg.Graph) -> None:
    a, w = pg.Variable(floats(3, ROWS, 5)), pg.Variable(floats(5, WIDTH, seed=1))
    layout = layout_of([pg.matmul(a, w) + pg.Variable(floats(WIDTH, seed=2))])
    assert named(layout) == ["matmul"]


@pytest.mark.parametrize("case", ["product needed", "term needed", "same", "variable", "joined"])
def test_products_that_are_added_by_themselves(graph: pg.Graph, case: str) -> None:
    a, w = pg.Variable(floats(ROWS, 5)), pg.Variable(floats(5, WIDTH, seed=1))
    variable = pg.Variable(floats(ROWS, WIDTH, seed=2))
    product, other = pg.matmul(a, w), pg.transpose(pg.transpose(variable) * 2.0)
    if case == "same":
        fetches = [product + product]
    elif case == "variable":
        fetches = [product + variable]
    else:
        needed = {"product needed": product, "term needed": other, "joined": other}[case]
        if case == "joined":
            needed = pg.concat([needed, pg.cos(variable)], 0)
        fetches = [product + other, pg.sqrt(pg.absolute(needed))]
    assert "matmul" not in named(layout_of(fetches))


def test_a_factor_of_many_products_is_transposed_once(graph: pg.Graph) -> None:
    w = pg.Variable(floats(WIDTH, WIDTH))
    x = pg.Variable(floats(ROWS, WIDTH, seed=1))
    step = x
    for _ in range(5):
        step = pg.tanh(pg.matmul(step, w, transpose_b=True))
    layout = layout_of([step])
    assert len(layout.turned) == 5
    assert len(set(layout.turned.values())) == 1


def test_hidden_states_that_gradients_read_are_not_overwritten(graph: pg.Graph) -> None:
    """The gradient of a cell divides its hidden state, of which the program reads parts alone."""
    gates, a, w = (pg.Variable(floats(*size)) for size in [(4, 12), (2, 5), (5, 3)])
    hidden, _ = lstm_cell(gates * 1.0, pg.Variable(floats(4, 3)))
    y = pg.sin(pg.matmul(a, w) + hidden[:2]) + pg.cos(hidden[2:])
    layout = layout_of([y, *pg.gradients(y, [gates, w])])
    assert len(layout.squashing) == 2
    assert "slice" in named(layout)


@pytest.mark.parametrize("read_later", [False, True])
def test_joined_values_overwrite_the_parts_they_come_from(
    graph: pg.Graph, read_later: bool
) -> None:
    parts = pg.unstack(pg.transpose(pg.Variable(floats(4, WIDTH, ROWS)), [0, 2, 1]))
    joined = pg.stack([pg.sin(part) for part in parts])
    fetches = [pg.reduce_sum(joined, 0)]
    if read_later:
        fetches.append(pg.reduce_max(parts[1] * pg.reduce_sum(joined)))
    layout = layout_of(fetches)
    (home,) = {layout.home(tensor)[0].node.op.name for tensor in layout.joined}
    assert home == ("concat" if read_later else "transpose")


def _random_program(random: np.random.Generator) -> list[pg.Tensor]:
    """Return results of a program that cuts, joins, adds and multiplies stacks of rows."""
    w = [pg.Variable(floats(WIDTH, WIDTH, seed=n) * np.float32(0.3)) for n in range(2)]
    values = [pg.Variable(floats(ROWS, WIDTH, seed=9 + n)) * 1.0 for n in range(2)]
    for _ in range(14):
        kind = random.integers(6)
        x = values[random.integers(len(values))]
        rows = x.shape[0]
        alike = [value for value in values if value.shape == x.shape]
        y = alike[random.integers(len(alike))]
        if kind == 0 and rows > 1:
            cut = int(random.integers(1, rows))
            values += [x[:cut], x[cut:]]
        elif kind == 1 and rows <= 24:
            values.append(pg.concat([x, values[random.integers(len(values))]], 0))
        elif kind == 2:
            values.append(pg.tanh(x))
        elif kind == 3:
            values.append(pg.add(pg.matmul(x, w[0], transpose_b=bool(random.integers(2))), y))
        elif kind == 4:
            values.append(pg.add(y, pg.matmul(pg.sin(x), w[1])))
        else:
            values.append(pg.add(x, pg.Variable(floats(WIDTH))))
    chosen = random.choice(len(values), 3, replace=False)
    return [values[number] * 1.0 if random.integers(2) else values[number] for number in chosen]


@pytest.mark.parametrize("seed", range(30))
def test_random_programs_have_the_values_of_numpy(seed: int) -> None:
    with pg.Graph().as_default():
        layout_of(_random_program(np.random.default_rng(seed)))


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.SimpleRNN])
def test_recurrent_layers_copy_no_sequence(kind: Any, backwards: bool) -> None:
    """A step of two layers has the gradients of NumPy's, and copies no part of a sequence."""
    with pg.Graph(seed=3).as_default():
        x = pg.placeholder("float32", [4, 5, 3])
        first = kind(6, return_sequences=True, go_backwards=backwards)
        y = pg.reduce_sum(pg.sin(kind(7)(first(x))))
        fetches = [y, *pg.gradients(y, trainable_variables(y.graph))]
        layout = layout_of(fetches, {x: floats(4, 5, 3)})
        names = named(layout)
        assert names.count("concat") >= 3
        assert names.count("slice") >= 10
        if kind is nn.LSTM:
            assert names.count("matmul") >= 8
