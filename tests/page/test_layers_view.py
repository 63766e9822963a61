"""The view of layers: edited samples beside the originals, as the page gets them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.page.questions.layers_view import layers_view
from tests.page.answers import check_answer

pytestmark = pytest.mark.usefixtures("new_graph")
Array = np.ndarray[Any, Any]
RNG = np.random.default_rng(4)
ROWS = RNG.normal(size=(120, 5)).astype(np.float32)
IMAGES = RNG.integers(0, 256, (60, 8, 8, 1)).astype(np.uint8)
LOGITS = nn.SparseCategoricalCrossentropy(from_logits=True)


def trained(layers: list[nn.Layer], x: Array) -> Any:
    model = pg.Sequential(layers)
    model.compile(pg.optim.Adam(0.01), LOGITS, device="cpu")
    labels = (x.reshape(len(x), -1)[:, 0] > x.mean()).astype(np.int32)
    model.fit(x, labels, batch_size=20, epochs=1, verbose=0)
    return model


def dense(x: Array = ROWS) -> Any:
    return trained([nn.Dense(6, activation="tanh"), nn.Dense(2)], x)


def ask(model: Any, **fields: Any) -> dict[str, Any]:
    question = {"layer": None, "sample": 2, "pixels": None, "edits": [], "scaled": []}
    view = check_answer("inspect_layers", layers_view(model, question | fields))
    return view


def floats(content: bytes) -> Array:
    return np.frombuffer(content, "<f4")


def chances(scores: Array) -> Array:
    powers = np.exp(scores - scores.max())
    result: Array = powers / powers.sum()
    return result


def test_an_edited_row_is_shown_beside_the_original() -> None:
    model = dense()
    changed = ROWS[2:3].copy()
    changed[0, 3] = 2.5
    view = ask(model, layer="dense_1", edits=[{"at": 3, "value": 2.5}])
    look = pg.inspect(model)
    before, after = look.activations(ROWS[2:3]), look.activations(changed)
    assert np.array_equal(floats(view["sample"]["values"]), ROWS[2])
    assert view["sample"]["picture"] is None and not view["sample"]["whole"]
    np.testing.assert_allclose(floats(view["result"]["values"]), after["dense_1"][0], rtol=1e-6)
    change = after["dense_1"] - before["dense_1"]
    np.testing.assert_allclose(floats(view["result"]["change"]), change[0], rtol=1e-5, atol=1e-7)
    for key, values in (("outputs", after), ("outputs_before", before)):
        np.testing.assert_allclose(view["sample"][key], chances(values["dense_2"][0]), rtol=1e-5)
    ratio = np.linalg.norm(changed - ROWS[2:3]) / np.linalg.norm(ROWS[2:3])
    expected = {None: ratio, **look.compare(ROWS[2:3], changed)}
    assert {each["name"]: each["ratio"] for each in view["travel"]} == pytest.approx(expected)
    assert view["effect"] is None


def test_silencing_changes_only_later_layers() -> None:
    model = dense()
    assert ask(model)["travel"] is None
    view = ask(model, scaled=[{"layer": "dense_2", "unit": 0, "factor": 0}])
    ratios = [each["ratio"] for each in view["travel"]]
    assert ratios[:2] == [0, 0] and ratios[2] > 0


def test_scaled_units_are_judged_by_the_data() -> None:
    model = dense()
    edits = [
        {"layer": "dense_1", "unit": 4, "factor": -1.5},
        {"layer": "dense_1", "unit": 0, "factor": 0},
        {"layer": "gone_1", "unit": 0, "factor": 0},
    ]
    view = ask(model, layer="dense_1", scaled=edits)
    look = pg.inspect(model).scaled({"dense_1": {4: -1.5, 0: 0}})
    labels = (ROWS[:, 0] > ROWS.mean()).astype(np.int32)
    assert view["scaled"] == edits[:2]
    assert view["effect"]["samples"] == len(ROWS)
    assert view["effect"]["after"] == pytest.approx(look.evaluate(ROWS, labels))
    assert view["effect"]["before"] == pytest.approx(pg.inspect(model).evaluate(ROWS, labels))
    factors = np.array([0, 1, 1, 1, -1.5, 1])
    whole = pg.inspect(model).activations(ROWS[2:3])["dense_1"][0]
    np.testing.assert_allclose(floats(view["result"]["values"]), whole * factors, rtol=1e-5)
    np.testing.assert_allclose(
        floats(view["result"]["change"]), whole * (factors - 1), rtol=1e-5, atol=1e-7
    )


def test_a_change_from_zero_has_no_ratio() -> None:
    rows = np.concatenate([np.zeros((3, 5), np.float32), ROWS])
    view = ask(dense(rows), edits=[{"at": 0, "value": 1}])
    assert view["travel"][0] == {"name": None, "ratio": None}
    assert view["travel"][1]["ratio"] > 0


def test_pixels_are_integers_where_the_images_are() -> None:
    model = trained([nn.Rescaling(1 / 255), nn.Flatten(), nn.Dense(2)], IMAGES)
    view = ask(model, edits=[{"at": 9, "value": 255}, {"at": 10, "value": 0}])
    sample = view["sample"]
    assert (sample["low"], sample["high"], sample["whole"]) == (0, 255, True)
    assert sample["picture"]["pixels"] == IMAGES[2].tobytes()
    changed = IMAGES[2:3].copy()
    changed[0, 1, 1:3, 0] = 255, 0
    np.testing.assert_allclose(
        sample["outputs"], chances(np.asarray(model.predict(changed))[0]), rtol=1e-5
    )


def test_a_text_is_shown_in_the_words_of_its_vocabulary() -> None:
    text = "to be or not to be that is the question"
    vocabulary = pg.data.Vocabulary(text)
    x, y = vocabulary.windows(text, 6)
    count = len(vocabulary)
    model = pg.Sequential([nn.Embedding(count, 4), nn.Flatten(), nn.Dense(count)])
    model.compile(pg.optim.Adam(0.01), LOGITS, device="cpu")
    model.fit(x, y[:, -1], batch_size=20, epochs=1, verbose=0)
    sample = ask(model)["sample"]
    assert "".join(sample["tokens"]) == text[2:8]
    assert ask(dense())["sample"]["tokens"] is None


def test_tokens_and_large_samples_are_not_edited() -> None:
    tokens = RNG.integers(0, 9, (40, 6)).astype(np.int32)
    model = trained([nn.Embedding(9, 4), nn.Flatten(), nn.Dense(2)], tokens)
    assert ask(model)["sample"]["values"] is None
    large = np.zeros((20, 129, 128), np.float32)
    assert ask(trained([nn.Flatten(), nn.Dense(2)], large))["sample"]["values"] is None


@pytest.mark.parametrize(
    ("images", "edit", "message"),
    [
        (False, {"at": 5, "value": 0}, "no value 5: it has 5"),
        (False, {"at": -1, "value": 0}, "no value -1"),
        (False, {"at": 0, "value": float("nan")}, "value 0 of the sample cannot be nan as float32"),
        (False, {"at": 0, "value": 1e39}, r"cannot be 1e\+39 as float32"),
        (True, {"at": 0, "value": 256}, "cannot be 256 as uint8"),
        (True, {"at": 0, "value": 0.5}, "cannot be 0.5 as uint8"),
    ],
)
def test_an_edit_that_the_sample_cannot_hold_is_refused(
    images: bool, edit: dict[str, Any], message: str
) -> None:
    layers: list[nn.Layer] = [nn.Rescaling(1 / 255), nn.Flatten(), nn.Dense(2)]
    with pytest.raises(pg.GraphError, match=message):
        ask(trained(layers, IMAGES) if images else dense(), edits=[edit])


def test_a_sample_of_tokens_has_its_first_characters() -> None:
    text = "the cat sat on the mat. the dog sat on the log. "
    vocabulary = pg.data.Vocabulary(text)
    x, y = vocabulary.windows(text, 8)
    layers = [nn.Embedding(len(vocabulary), 4), nn.GRU(6, return_sequences=True)]
    model = pg.Sequential([*layers, nn.Dense(len(vocabulary))])
    model.compile(pg.optim.Adam(0.01), LOGITS, device="cpu")
    model.fit(x, y, batch_size=8, epochs=1, verbose=0)
    assert ask(model, sample=5)["sample"]["tokens"] == list(text[5:13])
    assert ask(dense())["sample"]["tokens"] is None
