"""The views of single samples, as the page asks for them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.graph.graph import reset_default_graph
from playgrad.page.questions.sample_views import MOST_PROJECTED, projection_view, samples_view
from tests.page.answers import check_answer
from tests.page.python_side import python_side

Array = np.ndarray[Any, Any]
LOGITS = nn.SparseCategoricalCrossentropy(from_logits=True)
X = np.random.default_rng(0).normal(size=(1500, 15)).astype(np.float32)
Y = (X[:, 0] > 0).astype(np.int32)


@pytest.fixture(autouse=True)
def new_graph() -> Iterator[None]:
    yield
    reset_default_graph()


def ask(model: Any, kind: str, known: int = 0, **fields: Any) -> dict[str, Any]:
    """Return the view of a model, which has the fields that the page knows."""
    view = {"samples": samples_view, "projection": projection_view}[kind]
    result = check_answer(kind, view(model, {"known": known, "dimensions": 2, **fields}))
    return result


def trained(layers: list[nn.Layer], loss: Any = LOGITS, x: Array = X, y: Array = Y) -> Any:
    model = pg.Sequential(layers)
    model.compile(pg.optim.Adam(0.01), loss, device="cpu")
    model.fit(x, y, batch_size=50, epochs=1, verbose=0)
    return model


def floats(content: bytes) -> Array:
    return np.frombuffer(content, "<f4")


def test_rows_of_a_table_are_sent_once_with_predictions_and_losses() -> None:
    model = trained([nn.Dense(2)])
    view = ask(model, "samples")
    data, rows = view["data"], np.arange(1000) * 1500 // 1000
    assert (data["total"], data["tested"], data["classes"]) == (1500, False, 2)
    assert data["rows"]["columns"] == 12 and data["rows"]["all"] == 15
    assert np.array_equal(floats(data["rows"]["values"]).reshape(-1, 12), X[rows, :12])
    assert np.array_equal(floats(data["truth"]), Y[rows])
    scores = model.predict(X[rows])
    assert np.array_equal(floats(view["predicted"]), scores.argmax(axis=1))
    chances = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    assert np.allclose(floats(view["chances"]), chances.max(axis=1), atol=1e-5)
    assert np.allclose(floats(view["losses"]), -np.log(chances[range(1000), Y[rows]]), atol=1e-5)
    assert "data" not in ask(model, "samples", view["version"])
    assert "data" not in ask(model, "projection", view["version"], layer="")


def test_images_and_texts_are_shown_as_such() -> None:
    images = np.random.default_rng(0).integers(0, 256, (40, 9, 9), dtype=np.uint8)
    model = trained([nn.Flatten(), nn.Dense(2)], x=images, y=Y[:40])
    pictures = ask(model, "samples")["data"]["pictures"]
    assert (pictures["height"], pictures["channels"]) == (9, 1)
    assert pictures["pixels"] == images.tobytes()
    vocabulary = pg.data.Vocabulary("abcdefgh")
    tokens = np.random.default_rng(0).integers(0, 8, (20, 6)).astype(np.int32)
    reader = trained([nn.Embedding(8, 2), nn.Flatten(), nn.Dense(2)], x=tokens, y=Y[:20])
    texts = ask(reader, "samples")["data"]["texts"]
    assert texts[3] == vocabulary.decode(tokens[3]) and len(texts) == 20


def test_a_projection_shows_some_samples_of_the_named_layer() -> None:
    model = trained([nn.Dense(7, activation="relu"), nn.Dense(2)])
    view = ask(model, "projection", layer="")
    assert view["layer"] == "dense_1" and view["projected"] == MOST_PROJECTED
    assert [each["name"] for each in view["layers"]] == ["input", "dense_1", "dense_2"]
    rows = floats(view["rows"]).astype(int)
    weights = model.named_weights()
    x = X[np.arange(1000) * 1500 // 1000][rows]
    hidden = np.maximum(x @ weights["dense_1/kernel"] + weights["dense_1/bias"], 0)
    centred = hidden - hidden.mean(axis=0)
    directions, lengths, _ = np.linalg.svd(centred, full_matrices=False)
    points = np.abs(floats(view["points"]).reshape(-1, 2))
    assert np.allclose(points, np.abs(directions[:, :2] * lengths[:2]), atol=1e-3)
    assert np.allclose(view["explained"], (lengths**2 / (lengths**2).sum())[:2], atol=1e-5)
    assert len(floats(view["losses"])) == 1000
    assert ask(model, "projection", layer="input")["layer"] == "input"
    assert ask(model, "projection", layer="of another run")["layer"] == "dense_1"


def test_a_projection_to_more_components_keeps_all_distances() -> None:
    model = trained([nn.Dense(7), nn.Dense(2)])
    view = ask(model, "projection", layer="dense_1", dimensions=50)
    assert view["dimensions"] == 7 and len(view["explained"]) == 7
    assert sum(view["explained"]) == pytest.approx(1)
    points = floats(view["points"]).reshape(-1, 7)
    weights = model.named_weights()
    x = X[np.arange(1000) * 1500 // 1000][floats(view["rows"]).astype(int)]
    hidden = x @ weights["dense_1/kernel"] + weights["dense_1/bias"]
    for one, other in ((0, 1), (7, 400), (33, 34)):
        distance = np.linalg.norm(hidden[one] - hidden[other])
        assert np.linalg.norm(points[one] - points[other]) == pytest.approx(distance, rel=1e-3)
    plane = floats(ask(model, "projection", layer="dense_1", dimensions=0)["points"])
    assert np.array_equal(plane.reshape(-1, 2), points[:, :2])
    narrow = trained([nn.Dense(1), nn.Dense(2)])
    assert ask(narrow, "projection", layer="dense_1", dimensions=50)["dimensions"] == 2


def test_nan_weights_leave_predictions_and_points_empty() -> None:
    model = trained([nn.Dense(3), nn.Dense(2)])
    model.set_weights({k: np.full_like(v, np.nan) for k, v in model.named_weights().items()})
    assert (floats(ask(model, "samples")["predicted"]) == -1).all()
    view = ask(model, "projection", layer="dense_1")
    assert (view["rows"], view["points"], view["projected"]) == (b"", b"", MOST_PROJECTED)


def test_single_samples_and_numeric_targets_are_shown() -> None:
    one = trained([nn.Dense(2)], x=X[:1], y=Y[:1])
    assert len(floats(ask(one, "samples")["predicted"])) == 1
    view = ask(one, "projection", layer="")  # which needs two; the page says how many are finite
    assert (view["projected"], floats(view["rows"]).tolist()) == (1, [0])
    assert floats(view["points"]).tolist() == [0, 0]
    numbers = trained([nn.Dense(1)], "mse", y=X[:, :1] * 2)
    view = ask(numbers, "samples")
    assert view["data"]["classes"] == 0 and view["chances"] is None
    errors = floats(view["predicted"]) - floats(view["data"]["truth"])
    assert np.allclose(floats(view["losses"]), errors**2, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("kind", ["samples", "projection"])
def test_an_empty_view_gives_its_reason(kind: str) -> None:
    fields = {"layer": ""} if kind == "projection" else {}
    labels = np.float32(np.stack([Y, 1 - Y], axis=1))
    several = trained([nn.Dense(2)], nn.BinaryCrossentropy(from_logits=True), y=labels)
    sequence = trained(
        [nn.Reshape((5, 3)), nn.Dense(2)], y=np.int32(X.reshape(-1, 5, 3)[..., 0] > 0)
    )
    for model in (several, sequence):
        view = ask(model, kind, **fields)
        assert (view["shows"], view["reason"]) == ("none", "outputs")
    first, second = pg.Input((15,)), pg.Input((15,))
    two = pg.Model([first, second], nn.Dense(2)(first + second))
    two.compile("sgd", LOGITS, device="cpu")
    two.fit([X, X], Y, verbose=0)
    assert ask(two, kind, **fields)["reason"] == "data"


def test_the_view_answers_during_training_and_after_a_reload() -> None:
    program = """
import playgrad as pg
from playgrad import nn
x, y = pg.data.xor(64)
model = pg.Sequential([nn.Dense(4, activation="tanh"), nn.Dropout(0.2), nn.Dense(2)])
model.compile("adam", nn.SparseCategoricalCrossentropy(from_logits=True), device="cpu")
model.fit(x, y, batch_size=16, epochs=3, verbose=0)
"""
    asked = [
        {"kind": "samples", "known": 0, "id": 98},
        {"kind": "projection", "known": 0, "layer": "", "dimensions": 2, "id": 99},
    ]
    with python_side() as side:
        assert side.run(program) == "done"
        losses = [point for event in side.of("progress") for point in event["points"]]
        weights = side.ask("export", format="npz")["answer"]["sha256"]
        side.events.clear()
        assert side.run(program, *asked) == "done"
        replies = [event for event in side.of("reply") if event["id"] in (98, 99)]
        assert [reply["ok"] for reply in replies] == [True, True]
        again = [point for event in side.of("progress") for point in event["points"]]
        assert again == losses
        assert side.ask("export", format="npz")["answer"]["sha256"] == weights
        content = side.checkpoint
        side.requests += [{"kind": "reset"}]
        side.serve()
        side.ask("restore", payload=content)
        assert side.ask("samples", known=0)["answer"]["reason"] == "restored"
