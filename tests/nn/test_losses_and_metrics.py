"""Losses and metrics compared with PyTorch or NumPy, and the checks of labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as f

import playgrad as pg
from playgrad import nn
from playgrad.nn import losses, metrics

Array = np.ndarray[Any, Any]
random = np.random.default_rng(5)
LOGITS = (4 * random.normal(size=(6, 5))).astype(np.float32)
PROBABILITIES = torch.softmax(torch.tensor(LOGITS), 1).numpy()
LABELS = np.array([0, 4, 2, 2, 1, 3], np.int32)
ONE_HOT = np.eye(5, dtype=np.float32)[LABELS]
BITS = (random.random((6, 5)) > 0.5).astype(np.float32)
SHARES = (1 / (1 + np.exp(-LOGITS))).astype(np.float32)
SIGNS = 2 * BITS - 1
COUNTS = random.integers(0, 5, size=(6, 5)).astype(np.float32)


def evaluate(function: Any, y: Array, prediction: Array) -> Array:
    with pg.Graph().as_default() as graph:
        y_in = pg.placeholder(y.dtype.name, (None, *y.shape[1:]))
        p_in = pg.placeholder("float32", (None, *prediction.shape[1:]))
        of_samples = function.per_sample if isinstance(function, nn.Loss) else function
        result = of_samples(y_in, p_in)
    with pg.Session(graph, "cpu") as session:
        value: Array = session.run(result, {y_in: y, p_in: prediction})
    return value


def t(array: Array) -> torch.Tensor:
    return torch.tensor(array)


CROSS_ENTROPY = f.cross_entropy(t(LOGITS), t(LABELS).long(), reduction="none").numpy()
TABLE: dict[str, tuple[nn.Loss, Array, Array, Array]] = {
    "sparse logits": (
        nn.SparseCategoricalCrossentropy(from_logits=True),
        LABELS,
        LOGITS,
        CROSS_ENTROPY,
    ),
    "sparse": (nn.SparseCategoricalCrossentropy(), LABELS, PROBABILITIES, CROSS_ENTROPY),
    "one-hot logits": (nn.CategoricalCrossentropy(True), ONE_HOT, LOGITS, CROSS_ENTROPY),
    "sparse logits of positions": (
        nn.SparseCategoricalCrossentropy(from_logits=True),
        LABELS.reshape(2, 3),
        LOGITS.reshape(2, 3, 5),
        CROSS_ENTROPY.reshape(2, 3).mean(1),
    ),
    "sparse positions": (
        nn.SparseCategoricalCrossentropy(),
        LABELS.reshape(2, 3),
        PROBABILITIES.reshape(2, 3, 5),
        CROSS_ENTROPY.reshape(2, 3).mean(1),
    ),
    "one-hot logits of positions": (
        nn.CategoricalCrossentropy(True),
        ONE_HOT.reshape(2, 3, 5),
        LOGITS.reshape(2, 3, 5),
        CROSS_ENTROPY.reshape(2, 3).mean(1),
    ),
    "one-hot": (nn.CategoricalCrossentropy(), ONE_HOT, PROBABILITIES, CROSS_ENTROPY),
    "binary logits": (
        nn.BinaryCrossentropy(from_logits=True),
        BITS,
        LOGITS,
        f.binary_cross_entropy_with_logits(t(LOGITS), t(BITS), reduction="none").mean(1).numpy(),
    ),
    "binary": (
        nn.BinaryCrossentropy(),
        BITS,
        SHARES,
        f.binary_cross_entropy(t(SHARES), t(BITS), reduction="none").mean(1).numpy(),
    ),
    "squares": (nn.MeanSquaredError(), BITS, LOGITS, ((BITS - LOGITS) ** 2).mean(1)),
    "absolute": (nn.MeanAbsoluteError(), BITS, LOGITS, np.abs(BITS - LOGITS).mean(1)),
    "smooth one-hot logits": (
        nn.CategoricalCrossentropy(True, label_smoothing=0.2),
        ONE_HOT,
        LOGITS,
        f.cross_entropy(t(LOGITS), t(LABELS).long(), reduction="none", label_smoothing=0.2).numpy(),
    ),
    "smooth binary logits": (
        nn.BinaryCrossentropy(True, label_smoothing=0.2),
        BITS,
        LOGITS,
        f.binary_cross_entropy_with_logits(t(LOGITS), t(BITS * 0.8 + 0.1), reduction="none")
        .mean(1)
        .numpy(),
    ),
    "huber": (
        nn.Huber(1.5),
        BITS,
        LOGITS,
        f.huber_loss(t(LOGITS), t(BITS), reduction="none", delta=1.5).mean(1).numpy(),
    ),
    "log cosh": (nn.LogCosh(), BITS, LOGITS, np.log(np.cosh(LOGITS - BITS)).mean(1)),
    "percentage": (
        nn.MeanAbsolutePercentageError(),
        SHARES,
        LOGITS,
        100 * (abs(SHARES - LOGITS) / SHARES).mean(1),
    ),
    "logarithmic": (
        nn.MeanSquaredLogarithmicError(),
        BITS,
        3 * SHARES,
        ((np.log1p(3 * SHARES) - np.log1p(BITS)) ** 2).mean(1),
    ),
    "cosine": (
        nn.CosineSimilarity(),
        SHARES,
        LOGITS,
        -f.cosine_similarity(t(SHARES), t(LOGITS)).numpy(),
    ),
    "divergence": (
        nn.KLDivergence(),
        PROBABILITIES[::-1].copy(),
        PROBABILITIES,
        f.kl_div(t(PROBABILITIES).log(), t(PROBABILITIES[::-1].copy()), reduction="none")
        .sum(1)
        .numpy(),
    ),
    "poisson": (
        nn.Poisson(),
        COUNTS,
        SHARES,
        f.poisson_nll_loss(t(SHARES), t(COUNTS), log_input=False, eps=1e-7, reduction="none")
        .mean(1)
        .numpy(),
    ),
    "hinge": (nn.Hinge(), SIGNS, LOGITS, np.maximum(1 - SIGNS * LOGITS, 0).mean(1)),
    "squared hinge": (
        nn.SquaredHinge(),
        SIGNS,
        LOGITS,
        (np.maximum(1 - SIGNS * LOGITS, 0) ** 2).mean(1),
    ),
    "categorical hinge": (
        nn.CategoricalHinge(),
        ONE_HOT,
        LOGITS,
        np.maximum(((1 - ONE_HOT) * LOGITS).max(1) - (ONE_HOT * LOGITS).sum(1) + 1, 0),
    ),
}


@pytest.mark.parametrize("case", TABLE)
def test_losses_match_their_formulas(case: str) -> None:
    loss, y, prediction, expected = TABLE[case]
    values = evaluate(loss, y, prediction)
    assert values.shape == expected.shape
    np.testing.assert_allclose(values, expected, rtol=2e-5, atol=1e-6)


def test_losses_far_from_the_target_are_finite() -> None:
    far = np.array([[1e4, -1e4]], np.float32)
    zeros = np.zeros((1, 2), np.float32)
    np.testing.assert_allclose(evaluate(nn.LogCosh(), zeros, far), [1e4], rtol=1e-4)
    np.testing.assert_allclose(evaluate(nn.CosineSimilarity(), zeros, far), [0])
    for loss in (nn.KLDivergence(), nn.Poisson(), nn.MeanAbsolutePercentageError()):
        assert np.isfinite(evaluate(loss, zeros, zeros)).all()


def test_wrong_arguments_of_losses_are_refused() -> None:
    with pytest.raises(ValueError, match="delta of Huber must be a positive number, got 0"):
        nn.Huber(0)
    with pytest.raises(ValueError, match="label_smoothing must be between 0 and 1, got 2"):
        nn.BinaryCrossentropy(label_smoothing=2)


def test_probabilities_of_zero_and_one_stay_finite() -> None:
    sure = np.array([[0, 1], [1, 0]], np.float32)
    for loss, y in (
        (nn.SparseCategoricalCrossentropy(), np.array([0, 0], np.int32)),
        (nn.CategoricalCrossentropy(), sure[::-1].copy()),
        (nn.BinaryCrossentropy(), sure),
    ):
        assert np.isfinite(evaluate(loss, y, sure)).all()
    logits = np.array([[500, -500]], np.float32)
    values = evaluate(nn.BinaryCrossentropy(True), np.array([[0, 1]], np.float32), logits)
    np.testing.assert_allclose(values, [500])


def test_a_final_softmax_is_computed_from_its_logits() -> None:
    """If probabilities round to 0, the loss still has its exact value and a gradient."""
    with pg.Graph().as_default() as graph:
        x = pg.placeholder("float32", (None, 2))
        y = pg.constant(np.array([1], np.int32))
        loss = nn.SparseCategoricalCrossentropy().per_sample(y, nn.Activation("softmax")(x))
        gradient = pg.gradients(loss, [x])[0]
    with pg.Session(graph, "cpu") as session:
        values = session.run([loss, gradient], {x: np.array([[200, 0]], np.float32)})
    np.testing.assert_allclose(values[0], [200])
    np.testing.assert_allclose(values[1], [[1, -1]])


def test_scores_where_probabilities_are_expected_give_a_warning() -> None:
    with pg.Graph().as_default():
        scores = nn.Dense(3)(pg.Input((2,)))
        labels = pg.placeholder("int32", (None,))
        with pytest.warns(UserWarning, match="without a softmax.*from_logits=True"):
            nn.SparseCategoricalCrossentropy()(labels, scores)


METRICS: dict[str, tuple[Any, Array, Array, Array]] = {
    "accuracy": ("accuracy", LABELS, LOGITS, (LOGITS.argmax(1) == LABELS)),
    "accuracy one-hot": ("accuracy", ONE_HOT, LOGITS, (LOGITS.argmax(1) == LABELS)),
    "accuracy of positions": (
        "accuracy",
        LABELS.reshape(2, 3),
        LOGITS.reshape(2, 3, 5),
        (LOGITS.argmax(1) == LABELS).reshape(2, 3).mean(1),
    ),
    "accuracy binary": (
        "accuracy",
        BITS[:, :1],
        SHARES[:, :1],
        (SHARES[:, 0] > 0.5) == (BITS[:, 0] > 0.5),
    ),
    "top 2": (
        nn.TopKAccuracy(2),
        LABELS,
        LOGITS,
        np.array([LABELS[i] in np.argsort(-LOGITS[i])[:2] for i in range(6)]),
    ),
    "top 3 one-hot": (
        nn.TopKAccuracy(3),
        ONE_HOT,
        LOGITS,
        np.array([LABELS[i] in np.argsort(-LOGITS[i])[:3] for i in range(6)]),
    ),
    "mse": ("mse", BITS, LOGITS, ((BITS - LOGITS) ** 2).mean(1)),
    "mae": ("mae", BITS, LOGITS, np.abs(BITS - LOGITS).mean(1)),
    "function": (lambda y, p: (p - y)[:, 0] * 2.0, BITS, LOGITS, 2 * (LOGITS - BITS)[:, 0]),
}


@pytest.mark.parametrize("case", METRICS)
def test_metrics_match_their_formulas(case: str) -> None:
    metric, y, prediction, expected = METRICS[case]
    values = evaluate(metrics.get(metric), y, prediction)
    np.testing.assert_allclose(values, expected.astype(np.float32), rtol=1e-5, atol=1e-6)


def test_losses_and_metrics_are_found_by_name() -> None:
    assert metrics.get("acc").name == "accuracy"
    assert metrics.get("mae").name == "mae"
    assert metrics.get(nn.TopKAccuracy).name == "top_5_accuracy"
    assert metrics.get("huber").name == "huber"
    assert metrics.get("mape").name == "mape"
    assert metrics.get(nn.Huber(2.0)).name == "huber"
    assert isinstance(losses.get("kld"), nn.KLDivergence)
    assert isinstance(losses.get("mse"), nn.MeanSquaredError)
    assert isinstance(losses.get(nn.MeanSquaredError), nn.MeanSquaredError)
    with pytest.raises(pg.GraphError, match=r"no loss 'crossentropy'.*categorical_crossentropy"):
        losses.get("crossentropy")
    with pytest.raises(pg.GraphError, match=r"no metric 'f1'.*accuracy"):
        metrics.get("f1")


SPARSE, HOT = nn.SparseCategoricalCrossentropy(), nn.CategoricalCrossentropy()


@pytest.mark.parametrize(
    ("loss", "y", "output", "error", "words"),
    [
        (SPARSE, np.array([0, 3]), (None, 3), pg.DataError, "label 3 (sample 1).*0 to 2"),
        (SPARSE, np.array([-1, 0]), (None, 3), pg.DataError, "label -1 .sample 0."),
        (SPARSE, np.array([0, 3]), (None, 3), pg.DataError, "Give 'dense_2' 4 outputs, or"),
        (SPARSE, np.array([1, 2, 3]), (None, 3), pg.DataError, "subtract 1 from the labels in y"),
        (
            SPARSE,
            np.array([0, 1]),
            (None, 1),
            pg.DataError,
            "has 1 class: .* Give 'dense_2' 2 outputs",
        ),
        (SPARSE, np.array([-1, 3]), (None, 3), pg.DataError, "Labels count from 0: renumber"),
        (SPARSE, np.array([0.5, 0]), (None, 3), pg.DataError, "whole class numbers"),
        (SPARSE, np.zeros((2, 3)), (None, 3), pg.ShapeError, "use categorical_crossentropy"),
        (
            SPARSE,
            np.zeros(2),
            (None, 2, 2),
            pg.ShapeError,
            r"output \(\?, 2, 2\).* before 'dense_2'",
        ),
        (SPARSE, np.array([[0, 1], [1, 2]]), (None, 2, 2), pg.DataError, "label 2 (sample 1)"),
        (HOT, np.array([0, 1]), (None, 3), pg.ShapeError, "use sparse_categorical_crossentropy"),
        (nn.MeanSquaredError(), np.zeros((2, 4)), (None, 3), pg.ShapeError, r"\(4,\).*\(3,\)"),
        (
            nn.MeanSquaredError(),
            np.zeros((2, 4)),
            (None, 3),
            pg.ShapeError,
            "'dense_2' 4 outputs, or",
        ),
        (nn.MeanSquaredError(), np.zeros(2), (None, 3), pg.ShapeError, "or .*; for labels"),
        (nn.MeanSquaredError(), np.zeros((2, 4, 4)), (None, 3), pg.ShapeError, "layer 'dense_2'"),
        (HOT, np.zeros((2, 4)), (None, 3), pg.ShapeError, "Give 'dense_2' 4 outputs"),
        (nn.BinaryCrossentropy(), np.array([2.0]), (None, 1), pg.DataError, "between 0 and 1"),
        (nn.BinaryCrossentropy(), np.array([2.0]), (None, 1), pg.DataError, "for each"),
        (nn.MeanSquaredError(), np.array([np.nan]), (None, 1), pg.DataError, "NaN or infinity"),
    ],
)
def test_unsuitable_targets_are_refused(
    loss: nn.Loss, y: Array, output: Any, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words.replace("(sample 1)", r"\(sample 1\)")):
        loss.check_targets(y, output, "y", "dense_2")


def test_missing_target_arrays_are_reported_by_layer() -> None:
    x = pg.Input((3,))
    model = pg.Model(x, [nn.Dense(2)(x), nn.Dense(1)(x)])
    model.compile("sgd", "mse")
    words = r"y holds 1 array, but the model takes 2.*one for each of: dense_1, dense_2\."
    with pytest.raises(pg.DataError, match=words):
        model.fit(np.zeros((4, 3)), np.zeros((4, 2)), verbose=0)
    model.close()


def test_suitable_targets_are_converted() -> None:
    column = SPARSE.check_targets(np.array([[1], [2]]), (None, 3), "y", "dense_2")
    assert (column.tolist(), column.dtype) == ([1, 2], np.int32)
    positions = SPARSE.check_targets(np.array([[1, 0], [2, 2]]), (None, 2, 3), "y", "dense_2")
    assert (positions.tolist(), positions.dtype) == ([[1, 0], [2, 2]], np.int32)
    assert SPARSE.check_targets(np.array([1.0, 2.0]), (None, 3), "y", "dense_2").dtype == np.int32
    flat = nn.MeanSquaredError().check_targets(np.array([1, 2]), (None, 1), "y", "dense_2")
    assert (flat.shape, flat.dtype) == ((2, 1), np.float32)


def test_a_loss_function_must_give_one_number_a_sample() -> None:
    with pytest.raises(pg.ShapeError, match=r"'total' must return one number per sample"):

        def total(y: pg.Tensor, p: pg.Tensor) -> pg.Tensor:
            return pg.reduce_sum(y - p)

        evaluate(losses.get(total), BITS, LOGITS)


def test_losses_are_known_by_the_identifiers_of_keras() -> None:
    for name, kind in {
        "bce": nn.BinaryCrossentropy,
        "BCE": nn.BinaryCrossentropy,
        "MSE": nn.MeanSquaredError,
        "mape": nn.MeanAbsolutePercentageError,
        "KLD": nn.KLDivergence,
        "BinaryCrossentropy": nn.BinaryCrossentropy,
        "CosineSimilarity": nn.CosineSimilarity,
        "LogCosh": nn.LogCosh,
    }.items():
        assert isinstance(losses.get(name), kind)
    for name in ("CustomLoss", "custom", "Loss"):
        with pytest.raises(pg.GraphError, match="no loss"):
            losses.get(name)
