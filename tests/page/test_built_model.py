"""A model that a program has built or loaded, and not trained, can be looked inside."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from tests.page.answers import check_answer
from tests.page.python_side import PythonSide, python_side

FIELDS: dict[str, dict[str, Any]] = {
    "samples": {"known": 0},
    "one_sample": {"number": 1},
    "projection": {"known": 0, "layer": "", "dimensions": 2},
}
LAYERS = {"layer": None, "sample": 3, "pixels": None, "edits": [], "scaled": []}
X = np.random.default_rng(3).normal(size=(1200, 5)).astype(np.float32)


@pytest.fixture
def page() -> Iterator[PythonSide]:
    with python_side() as side:
        yield side


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    with pg.Graph().as_default():
        model = pg.Sequential([pg.Input((5,)), nn.Dense(4, activation="tanh"), nn.Dense(2)])
        model.save_weights(tmp_path / "net.safetensors")
        model.close()
    return tmp_path / "net.safetensors"


def layers(page: PythonSide, **fields: Any) -> dict[str, Any]:
    reply = page.ask("inspect_layers", **(LAYERS | fields))
    assert reply["ok"], reply
    return dict(check_answer("inspect_layers", reply["answer"]))


def floats(content: bytes) -> Any:
    return np.frombuffer(content, "<f4")


def test_a_loaded_model_shows_its_weights(page: PythonSide, saved: Path) -> None:
    assert page.run(f"import playgrad as pg\nmodel = pg.load_model({str(saved)!r})") == "done"
    assert page.of("status")[-1]["built"]
    view = layers(page)
    assert [line["name"] for line in view["lines"]] == ["dense_1", "dense_2"]
    kernel = pg.io.load(saved)["dense_1/kernel"]
    assert np.array_equal(np.sort(floats(view["weights"][0]["values"])), np.sort(kernel.ravel()))
    assert view["sample"] is view["result"] is None
    assert page.ask("samples", known=0)["answer"]["reason"] == "program"
    assert page.ask("attention", sample=0, layer="")["answer"]["reason"] == "attention"


def test_a_loaded_model_with_data_shows_activations(page: PythonSide, saved: Path) -> None:
    program = (
        f"import numpy as np, playgrad as pg\nmodel = pg.load_model({str(saved)!r})\n"
        "x = np.zeros((3, 5), np.float32)\n"
        "x_test = np.random.default_rng(3).normal(size=(1200, 5)).astype(np.float32)\n"
        "y_test = np.arange(1200) % 2\n"
    )
    assert page.run(program) == "done"
    view = layers(page, sample=1007)
    weights = pg.io.load(saved)
    hidden = np.tanh(X[1007] @ weights["dense_1/kernel"] + weights["dense_1/bias"])
    assert np.allclose(floats(view["result"]["values"]), hidden, rtol=1e-4, atol=1e-6)
    assert (view["sample"]["number"], view["sample"]["count"]) == (1007, 1200)
    assert view["sample"]["target"] == 1 and view["effect"] is None
    silenced = layers(page, scaled=[{"layer": "dense_1", "unit": 0, "factor": 0}])
    assert floats(silenced["result"]["values"])[0] == 0 and silenced["travel"][0]["ratio"] == 0


PARTS = {
    "compile": 'model.compile("sgd", nn.SparseCategoricalCrossentropy(from_logits=True))',
    "x": "x = np.random.default_rng(3).normal(size=(30, 5))",
    "y": "y = np.arange(30) % 2",
    "wrong": "y_names = np.array(['a'] * 30)\ny_many = np.full(30, 7)\nyears = np.zeros(5)",
    "prediction": "y_predicted = 1 - y",
}


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ("compile", "program"),
        ("compile y", "program"),
        ("x y", "loss"),
        ("compile x", "targets"),
        ("compile x wrong", "targets"),
        ("compile x y", None),
        ("compile x wrong y prediction", None),
    ],
)
@pytest.mark.parametrize("kind", FIELDS)
def test_missing_data_is_named(
    page: PythonSide, saved: Path, parts: str, reason: str | None, kind: str
) -> None:
    lines = [
        "import numpy as np, playgrad as pg\nfrom playgrad import nn",
        f"model = pg.load_model({str(saved)!r})",
        *(PARTS[part] for part in parts.split()),
    ]
    assert page.run("\n".join(lines)) == "done"
    view = page.ask(kind, **FIELDS[kind])["answer"]
    check_answer(kind, view)
    assert view.get("reason") == reason
    if reason is None:
        assert view["data"]["tested"] is None
        expected = [1] if kind == "one_sample" else np.arange(30) % 2
        assert np.array_equal(floats(view["data"]["truth"]), expected)


def test_samples_count_as_test_data_only_by_their_name(page: PythonSide, saved: Path) -> None:
    program = f"import numpy as np, playgrad as pg\nmodel = pg.load_model({str(saved)!r})\n"
    for name, tested in (("x", None), ("x_train", None), ("x_test", True)):
        assert page.run(f"{program}{name} = np.zeros((3, 5))") == "done"
        assert layers(page)["sample"]["tested"] is tested


def test_attention_without_data_names_what_is_missing(page: PythonSide) -> None:
    program = """
import playgrad as pg
from playgrad import nn
model = pg.Sequential([pg.Input((4, 6)), nn.MultiHeadAttention(2)])
"""
    assert page.run(program) == "done"
    assert page.ask("attention", sample=0, layer="")["answer"]["reason"] == "program"


def test_views_that_need_training_explain_it(page: PythonSide) -> None:
    program = """
import playgrad as pg
from playgrad import nn
vocabulary = pg.data.Vocabulary("abcd")
model = pg.Sequential([pg.Input((6,), dtype="int32"), nn.Embedding(4, 3), nn.LSTM(5), nn.Dense(4)])
"""
    asked = {"text": None, "sample": 0, "temperature": 1.0}
    for text, reason in ((program, "untrained"), (program.replace("abcd", "abc"), "text")):
        assert page.run(text) == "done"
        view = page.ask("next_tokens", **asked)["answer"]
        check_answer("next_tokens", view)
        assert view["reason"] == reason
        assert page.ask("histograms")["answer"]["reason"] == "untrained"


def test_a_model_with_two_inputs_shows_its_weights(page: PythonSide) -> None:
    program = """
import numpy as np, playgrad as pg
from playgrad import nn
a, b = pg.Input((3,)), pg.Input((2,))
model = pg.Model([a, b], nn.Dense(2)(nn.Concatenate()([a, b])))
model.compile("sgd", nn.SparseCategoricalCrossentropy(from_logits=True), device="cpu")
xs = [np.ones((8, 3), np.float32), np.ones((8, 2), np.float32)]
"""
    fit = "model.fit(xs, np.arange(8) % 2, epochs=1, verbose=0)\n"
    for text in (program, program + fit):
        assert page.run(text) == "done"
        assert page.of("status")[-1]["built"] == (text == program)
        view = layers(page)
        assert view["layer"] == "dense_1" and view["sample"] is None
        assert len(floats(view["weights"][0]["values"])) == 10


def test_a_run_without_a_model_shows_no_layers(page: PythonSide, saved: Path) -> None:
    page.run(f"import playgrad as pg\nmodel = pg.load_model({str(saved)!r})")
    assert page.run("print(1)") == "done"
    assert not page.of("status")[-1]["built"]
    assert not page.ask("inspect_layers", **LAYERS)["ok"]
