"""Small networks that learn from the outputs of large ones."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn

random = np.random.default_rng(6)
X = random.normal(size=(64, 6)).astype(np.float32)
Y = (X @ random.normal(size=(6, 3))).argmax(1).astype(np.int32)
LOSS = nn.SparseCategoricalCrossentropy(from_logits=True)


def net(units: int, *ends: nn.Layer, seed: int = 0) -> pg.Model:
    with pg.Graph(seed).as_default():
        x = pg.Input((6,))
        y = nn.Dense(units, activation="relu")(x)
        y = nn.Dense(3)(nn.Dropout(0.5)(y))
        for layer in ends:
            y = layer(y)
        return pg.Model(x, y)


def softmax(scores: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    e = np.exp(scores.astype(np.float64) - scores.max(axis=-1, keepdims=True))
    return np.asarray(e / e.sum(axis=-1, keepdims=True))


def plain_student() -> pg.Model:
    """A student without dropout, so that its loss can be computed by hand."""
    with pg.Graph(3).as_default():
        x = pg.Input((6,))
        return pg.Model(x, nn.Dense(3)(nn.Dense(4, activation="tanh")(x)))


@pytest.mark.parametrize("temperature", [1.0, 4.0])
@pytest.mark.parametrize("alpha", [0.0, 0.3, 1.0])
def test_the_loss_is_that_of_the_paper(temperature: float, alpha: float) -> None:
    teacher, student = net(16), plain_student()
    distiller = pg.Distiller(teacher, student, temperature, alpha)
    distiller.compile(pg.optim.SGD(0.1), LOSS, ["accuracy"], device="cpu")
    theirs, ours = teacher.predict(X), student.predict(X)
    hard = -np.log(softmax(ours)[np.arange(64), Y]).mean()
    p, q = softmax(theirs / temperature), softmax(ours / temperature)
    soft = (p * np.log(p / q)).sum(1).mean()
    logs = distiller.train_on_batch(X, Y, return_dict=True)
    assert logs["distillation"] == pytest.approx(soft, rel=1e-4)
    expected = alpha * hard + (1 - alpha) * temperature**2 * soft
    assert logs["loss"] == pytest.approx(expected, rel=1e-4)


def test_a_student_is_trained_in_place_and_its_teacher_is_not(tmp_path: Path) -> None:
    teacher, student = net(32), net(4, seed=2)
    before = teacher.named_weights()
    distiller = pg.Distiller(teacher, student, alpha=0)
    distiller.compile(pg.optim.Adam(0.01), LOSS, ["accuracy"], device="cpu")
    first, *_, last = distiller.fit(X, Y, epochs=60, verbose=0).history["distillation"]
    assert last < first / 2
    for name, value in teacher.named_weights().items():
        np.testing.assert_array_equal(value, before[name])
    same = (student.predict(X).argmax(1) == teacher.predict(X).argmax(1)).mean()
    assert same > 0.75
    student.compile("adam", LOSS, ["accuracy"])
    assert distiller.evaluate(X, Y) == pytest.approx(student.evaluate(X, Y))
    np.testing.assert_array_equal(distiller.predict(X), student.predict(X))
    student.save_weights(tmp_path / "student.safetensors")
    loaded = pg.load_model(tmp_path / "student.safetensors")
    np.testing.assert_allclose(loaded.predict(X), student.predict(X), rtol=1e-6)
    assert loaded.count_params() == student.count_params()


def test_hints_draw_features_together() -> None:
    teacher, student = net(16), plain_student()
    distiller = pg.Distiller(
        teacher, student, hints=[("dense_1", "dense_1")], hint_weight=10.0, alpha=0.5
    )
    distiller.compile(pg.optim.Adam(0.01), LOSS, device="cpu")
    losses = distiller.fit(X, Y, epochs=30, verbose=0).history["loss"]
    assert losses[-1] < losses[0] / 2
    assert student.count_params() == plain_student().count_params()


def test_a_teacher_from_a_file(tmp_path: Path) -> None:
    teacher = net(16)
    teacher.export(tmp_path / "teacher.onnx")
    distiller = pg.Distiller(pg.load_model(tmp_path / "teacher.onnx"), net(4), alpha=0)
    distiller.compile(pg.optim.Adam(0.01), LOSS, device="cpu")
    history = distiller.fit(X, Y, epochs=20, verbose=0).history["distillation"]
    assert history[-1] < history[0]


def test_probabilities_and_scores_are_the_same() -> None:
    first = []
    for ends, from_logits in (((), True), ((nn.Softmax(),), False)):
        teacher, student = net(16, *ends), plain_student()
        if ends:
            with student.graph.as_default():
                student = pg.Model(student.inputs, nn.Softmax()(student.outputs[0]))
        distiller = pg.Distiller(teacher, student, alpha=0)
        loss = nn.SparseCategoricalCrossentropy(from_logits=from_logits)
        distiller.compile("sgd", loss, device="cpu")
        first.append(distiller.train_on_batch(X, Y, return_dict=True)["distillation"])
    assert first[0] == pytest.approx(first[1], rel=1e-3)


def test_a_pruned_student() -> None:
    student = pg.prune(net(16, seed=4), 0.5)
    distiller = pg.Distiller(net(16), student)
    distiller.compile(pg.optim.Adam(0.01), LOSS, device="cpu")
    distiller.fit(X, Y, epochs=3, verbose=0)
    assert np.mean(student.named_weights()["dense_1/kernel"] == 0) > 0.3


def test_a_student_whose_sparsity_grows() -> None:
    student = pg.prune(net(16, seed=4), 0.5, pg.PolynomialSparsity(4, every=2))
    distiller = pg.Distiller(net(16), student)
    distiller.compile(pg.optim.Adam(0.01), LOSS, device="cpu")
    distiller.fit(X, Y, epochs=3, verbose=0)
    kernels = [each for each in student.named_weights().values() if each.ndim > 1]
    zeros, count = sum((each == 0).sum() for each in kernels), sum(each.size for each in kernels)
    assert zeros == pytest.approx(count / 2, abs=1)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"temperature": 0}, "temperature must be from"),
        ({"temperature": math.nan}, "temperature must be from"),
        ({"alpha": 1.5}, "alpha must be from 0 to 1"),
        ({"alpha": True}, "alpha must be from 0 to 1"),
        ({"hint_weight": -1}, "hint_weight must be from"),
        ({"hints": [("dense_9", "dense_1")]}, "has no layer 'dense_9'"),
        ({"hints": "dense_1"}, "hints are pairs of names of layers"),
        ({"hints": [("dense_1",)]}, "hints are pairs of names"),
    ],
)
def test_arguments_out_of_bounds(options: dict[str, Any], words: str) -> None:
    with pytest.raises(pg.GraphError, match=words):
        pg.Distiller(net(8), net(4), **options)


def test_models_that_do_not_fit() -> None:
    with pytest.raises(pg.GraphError, match="is not built"):
        pg.Distiller(net(8), pg.Sequential([nn.Dense(3)]))
    with pg.Graph().as_default():
        x = pg.Input((6,))
        wide = pg.Model(x, nn.Dense(5)(x))
    with pytest.raises(pg.GraphError, match="outputs of the teacher"):
        pg.Distiller(wide, net(4))
    distiller = pg.Distiller(net(8), net(4))
    distiller.compile("adam", "mse", device="cpu")
    with pytest.raises(pg.GraphError, match="cross-entropy"):
        distiller.fit(X, np.zeros((64, 3), np.float32), verbose=0)
