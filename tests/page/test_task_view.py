"""The views of a model's task: they show what `predict` returns, and change nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.graph.graph import reset_default_graph
from playgrad.inspection.outputs import classes_in, decisions
from playgrad.page.inspected_sample import decision_of
from playgrad.page.questions.task_view import SIDE, grid, task_view
from playgrad.runtime.hooks import Hooks, Request, set_hooks
from tests.page.answers import check_answer
from tests.page.python_side import PythonSide, python_side

pytestmark = pytest.mark.usefixtures("new_graph")
Array = np.ndarray[Any, Any]
LOGITS = nn.SparseCategoricalCrossentropy(from_logits=True)


def view_of(model: Any, known: int = 0) -> dict[str, Any]:
    """Return the view of a model's task, which has the fields that the page knows."""
    view = check_answer("task_view", task_view(model, {"known": known}))
    return view


def floats(content: bytes) -> Array:
    return np.frombuffer(content, "<f4")


def trained(layers: list[nn.Layer], loss: Any, x: Array, y: Array, **options: Any) -> pg.Sequential:
    model = pg.Sequential(layers)
    model.compile(pg.optim.Adam(0.01), loss, device="cpu")
    model.fit(x, y, batch_size=32, epochs=2, verbose=0, **options)
    return model


POINTS, LABELS = pg.data.spiral(200)
THREE = (np.arange(200) % 3).astype(np.int32)
PLANES: dict[str, tuple[int, Any, Array, str, int]] = {
    "logits": (2, LOGITS, LABELS, "softmax", 2),
    "three classes": (3, LOGITS, THREE, "softmax", 3),
    "one-hot": (
        3,
        nn.CategoricalCrossentropy(from_logits=True),
        np.eye(3, dtype=np.float32)[THREE],
        "softmax",
        3,
    ),
    "binary": (1, nn.BinaryCrossentropy(from_logits=True), LABELS, "sigmoid", 2),
    "hinge": (1, "hinge", LABELS * 2 - 1, "margin", 2),
    "regression": (1, "mse", POINTS[:, 0] * POINTS[:, 1], "linear", 0),
}


@pytest.mark.parametrize("name", PLANES)
def test_the_plane_matches_predict(name: str) -> None:
    outputs, loss, y, scale, classes = PLANES[name]
    model = trained([nn.Dense(9, activation="tanh"), nn.Dense(outputs)], loss, POINTS, y)
    view = view_of(model)
    data = view["data"]
    assert (view["shows"], data["scale"], data["classes"]) == ("plane", scale, classes)
    cells = grid(data["across"], data["up"])
    expected = model.predict(cells, batch_size=SIDE**2)
    assert np.array_equal(floats(view["outputs"]).reshape(-1, outputs), expected)
    x = floats(data["train"]["points"]).reshape(-1, 2)
    assert np.array_equal(x, POINTS)
    assert (np.abs(x) <= [max(data["across"]), max(data["up"])]).all()
    targets = y.argmax(1) if y.ndim == 2 else (y > 0 if name == "hinge" else y)
    assert np.array_equal(floats(data["train"]["targets"]), np.float32(targets))


def test_the_rows_of_the_grid_go_from_the_top_to_the_bottom() -> None:
    cells = grid([0, SIDE], [-SIDE, 0]).reshape(SIDE, SIDE, 2)
    assert cells[0, 0].tolist() == [0.5, -0.5]
    assert cells[0, -1].tolist() == [SIDE - 0.5, -0.5]
    assert cells[-1, 0].tolist() == [0.5, 0.5 - SIDE]


def test_pictures_of_hidden_units_are_their_values() -> None:
    layers = [nn.Dense(3, activation="tanh"), nn.Dense(20), nn.ReLU(), nn.Dense(2)]
    model = trained(layers, LOGITS, POINTS, LABELS)
    view = view_of(model)
    first, second = view["layers"]
    assert (first["name"], first["units"]) == ("dense_1", 3)
    assert (second["name"], second["units"]) == ("dense_2", 20)
    weights = model.named_weights()
    cells = grid(view["data"]["across"], view["data"]["up"]).reshape(SIDE, SIDE, 2)[::2, ::2]
    tanh = np.tanh(cells @ weights["dense_1/kernel"] + weights["dense_1/bias"])
    relu = np.maximum(tanh @ weights["dense_2/kernel"] + weights["dense_2/bias"], 0)
    for layer, values in ((first, tanh), (second, relu[..., :8])):
        maps = np.frombuffer(layer["maps"], np.uint8).reshape(-1, layer["side"], layer["side"])
        assert len(maps) == values.shape[-1]
        largest = np.maximum(np.abs(values).max(axis=(0, 1)), 1e-9)
        expected = 128 + 127 * np.moveaxis(values / largest, -1, 0)
        assert np.abs(maps - expected).max() <= 0.51


def test_the_validation_data_is_beside_the_training_data() -> None:
    split = trained([nn.Dense(2)], LOGITS, POINTS, LABELS, validation_split=0.25)
    data = view_of(split)["data"]
    assert (data["train"]["total"], data["test"]["total"]) == (150, 50)
    assert np.array_equal(floats(data["test"]["points"]).reshape(-1, 2), POINTS[150:])


def test_data_is_sent_once() -> None:
    model = trained([nn.Dense(2)], LOGITS, POINTS, LABELS)
    first = view_of(model)
    assert "data" not in view_of(model, first["version"])
    model.fit(POINTS[:50], LABELS[:50], verbose=0)
    again = view_of(model, first["version"])
    assert again["version"] != first["version"]
    assert again["data"]["train"]["total"] == 50


@pytest.mark.parametrize(
    ("shape", "size"), [((28, 28), (28, 28, 1)), ((9, 12, 3), (9, 12, 3)), ((784,), (28, 28, 1))]
)
@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_images_are_shown_with_their_predicted_classes(
    shape: tuple[int, ...], size: tuple[int, int, int], dtype: str
) -> None:
    rng = np.random.default_rng(0)
    whole = rng.integers(0, 256, size=(80, *shape), dtype=np.uint8)
    x = whole if dtype == "uint8" else whole.astype(np.float32) / 255
    y = rng.integers(0, 10, size=80)
    layers = [nn.Flatten(), nn.Dense(10)]
    model = trained(layers, LOGITS, x[:50], y[:50], validation_data=(x[50:], y[50:]))
    view = view_of(model)
    data = view["data"]
    assert view["shows"] == "images" and data["tested"] and data["total"] == 30
    assert (data["height"], data["width"], data["channels"]) == size
    assert data["labels"] == y[50:74].tolist()
    assert data["pixels"] == whole[50:74].tobytes()
    scores = model.predict(x[50:74]).astype(np.float64)
    assert view["predicted"] == scores.argmax(axis=1).tolist()
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    chances = (powers / powers.sum(axis=1, keepdims=True)).max(axis=1)
    assert np.allclose(view["chances"], chances, atol=1e-5)


def test_rows_are_shown_with_their_predicted_numbers() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 4)).astype(np.float32)
    y = x @ np.float32([1, 2, 3, 4]) + 5
    model = trained([nn.Dense(8, activation="relu"), nn.Dense(1)], "mse", x, y)
    view = view_of(model)
    assert view["shows"] == "rows" and not view["data"]["tested"]
    predicted = model.predict(x)[:, 0]
    assert np.allclose(floats(view["predicted"]), predicted, rtol=1e-5, atol=1e-6)
    assert np.array_equal(floats(view["data"]["truth"]), y.astype(np.float32))
    assert view["error"] == pytest.approx(np.abs(predicted - y).mean(), rel=1e-4)
    assert view["explained"] == pytest.approx(1 - np.mean((predicted - y) ** 2) / y.var(), rel=1e-3)


@pytest.mark.parametrize("name", ["logits", "three classes", "one-hot", "binary", "hinge"])
def test_tables_are_shown_with_their_predicted_classes(name: str) -> None:
    units, loss, y, scale, classes = PLANES[name]
    x = np.random.default_rng(0).normal(size=(200, 5)).astype(np.float32)
    model = trained([nn.Dense(units)], loss, x[50:], y[50:], validation_data=(x[:50], y[:50]))
    view = view_of(model)
    data = view["data"]
    assert (view["shows"], data["classes"], data["total"]) == ("classes", classes, 50)
    assert data["tested"]
    assert data["labels"] == classes_in(np.asarray(y[:50]), scale).tolist()  # type: ignore[arg-type]
    assert view["predicted"] == decisions(model.predict(x[:50]), scale)[0].tolist()  # type: ignore[arg-type]


@pytest.mark.parametrize("units", [1, 3])
def test_outputs_that_are_nan_are_of_no_class(units: int) -> None:
    loss: Any = nn.BinaryCrossentropy(from_logits=True) if units == 1 else LOGITS
    for shape, shows in (((5,), "classes"), ((9, 9), "images")):
        x = np.random.default_rng(0).normal(size=(40, *shape)).astype(np.float32)
        model = trained([nn.Flatten(), nn.Dense(units)], loss, x, np.zeros(40, np.int32))
        nan = {name: np.full_like(v, np.nan) for name, v in model.named_weights().items()}
        model.set_weights(nan)
        view = view_of(model)
        assert view["shows"] == shows and set(view["predicted"]) == {-1}
        assert decision_of(model, model.predict(x[:1])) is None


NOTHING: dict[str, Callable[[], pg.Sequential]] = {
    "an output for each pixel": lambda: trained(
        [nn.Dense(9)], "mse", np.zeros((40, 9), np.float32), np.zeros((40, 9), np.float32)
    ),
    "sequences": lambda: trained(
        [nn.Flatten(), nn.Dense(3)], LOGITS, np.zeros((200, 4, 5), np.float32), THREE
    ),
    "more classes than a table shows": lambda: trained([nn.Dense(13)], LOGITS, POINTS, THREE),
}


@pytest.mark.parametrize("name", NOTHING)
def test_other_tasks_have_no_view(name: str) -> None:
    assert view_of(NOTHING[name]())["shows"] == "none"


@pytest.mark.parametrize(
    ("scale", "targets", "outputs", "labels", "chances"),
    [
        ("softmax", [2, 0], [[0, 0, 9], [0, 0, 0]], [2, 0], [0.99975, 1 / 3]),
        ("probabilities", [[0, 1]], [[0.25, 0.75]], [1], [0.75]),
        ("scores", [[0, 1]], [[-3, 4]], [1], None),
        ("sigmoid", [1, 0], [[2], [-100]], [1, 0], [0.8808, 1]),
        ("probability", [0.0, 1.0], [[0.2], [0.5]], [0, 0], [0.8, 0.5]),
        ("margin", [-1, 1], [[-0.5], [0.1]], [0, 1], None),
    ],
)
def test_decisions_follow_the_scale_of_the_outputs(
    scale: Any, targets: list[Any], outputs: Any, labels: list[int], chances: list[float] | None
) -> None:
    found, certain = decisions(np.float32(outputs), scale)
    assert found.tolist() == labels
    if chances is None:
        assert certain is None
    else:
        assert certain is not None and np.allclose(certain, chances, atol=1e-4)
    classes = classes_in(np.asarray(targets), scale).tolist()
    assert classes == [int(np.argmax(t)) if np.ndim(t) else int(t > 0) * max(t, 1) for t in targets]


class Looking(Hooks):
    """Asks for a view before each chunk of steps."""

    def __init__(self) -> None:
        self.model: Any = None
        self.views: list[dict[str, Any]] = []
        self.sizes: list[tuple[int, int]] = []

    def fitting(self, model: Any) -> None:
        self.model = model

    def poll(self) -> list[Request]:
        if self.model is not None:
            self.views.append(view_of(self.model))
            self.sizes.append((len(self.model.graph.nodes), len(self.model.session._programs)))
        return []


def dropping() -> pg.Sequential:
    """Return a model whose training draws random numbers in each step."""
    layers = [nn.Dense(8, activation="tanh"), nn.Dropout(0.3), nn.BatchNormalization(), nn.Dense(2)]
    model = pg.Sequential(layers)
    model.compile(
        pg.optim.Adam(0.01), nn.SparseCategoricalCrossentropy(from_logits=True), device="cpu"
    )
    return model


def test_watching_does_not_change_training() -> None:
    courses, weights = [], []
    hooks = Looking()
    for each in (Hooks(), hooks):
        reset_default_graph()
        before = set_hooks(each)
        try:
            model = dropping()
            history = model.fit(POINTS, LABELS, batch_size=8, epochs=6, verbose=0)
        finally:
            set_hooks(before)
        courses.append(np.asarray(history.steps))
        weights.append(model.named_weights())
    assert len(hooks.views) > 3
    assert hooks.views[0]["outputs"] != hooks.views[-1]["outputs"]
    assert np.array_equal(*courses)
    for name, array in weights[0].items():
        assert np.array_equal(array, weights[1][name]), name


def test_looking_again_builds_and_compiles_nothing() -> None:
    hooks = Looking()
    before = set_hooks(hooks)
    try:
        dropping().fit(POINTS, LABELS, batch_size=8, epochs=6, verbose=0)
    finally:
        set_hooks(before)
    graphs, programs = zip(*hooks.sizes, strict=True)
    assert len(set(graphs)) == 1
    assert len(set(programs[2:])) == 1  # the first look compiles, and the first step


def test_a_network_that_draws_random_numbers_is_not_examined() -> None:
    inputs = pg.Input((2,))
    hidden = nn.Dense(4)(inputs)
    noisy = hidden + pg.random_uniform_like(hidden)
    model = pg.Model(inputs, nn.Dense(2)(noisy))
    model.compile("adam", LOGITS, device="cpu")
    model.fit(POINTS, LABELS, verbose=0)
    with pytest.raises(pg.errors.GraphError, match="draws random numbers"):
        view_of(model)


PROGRAM = """
import playgrad as pg
from playgrad import nn
x, y = pg.data.xor(64)
model = pg.Sequential([nn.Dense(4, activation="tanh"), nn.Dense(2)])
model.compile("adam", nn.SparseCategoricalCrossentropy(from_logits=True), device="cpu")
model.fit(x, y, batch_size=16, epochs=3, verbose=0)
"""


@pytest.fixture
def side() -> Iterator[PythonSide]:
    with python_side() as side:
        yield side


def test_the_view_answers_during_and_after_training(side: PythonSide) -> None:
    asked = {"kind": "task_view", "known": 0, "id": 99}
    assert side.run(PROGRAM, asked) == "done"
    (during,) = [event for event in side.of("reply") if event["id"] == 99]
    after = side.ask("task_view", known=during["answer"]["version"])
    assert during["ok"] and after["ok"]
    assert "data" in during["answer"] and "data" not in after["answer"]
    assert during["answer"]["outputs"] != after["answer"]["outputs"]


def test_a_restored_model_has_no_data_to_show(side: PythonSide) -> None:
    side.run(PROGRAM)
    content = side.checkpoint
    side.requests += [{"kind": "reset"}]
    side.serve()
    side.ask("restore", payload=content)
    assert side.ask("task_view", known=0)["answer"]["shows"] == "unknown"
