"""Losses, metrics, pooling and merging of sequences with masks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from tests.nn.small_models import GPU_BY_NIGHT

Array = np.ndarray[Any, Any]
WORDS = np.array([[1, 2, 3, 0], [2, 0, 0, 0], [3, 1, 0, 0], [1, 1, 2, 3], [3, 0, 0, 0]], np.int32)
MASK = WORDS != 0
RANDOM = np.random.default_rng(5)
LABELS = RANDOM.integers(0, 3, WORDS.shape).astype(np.int32)
VALUES = RANDOM.normal(size=(5, 4, 2)).astype(np.float32)


def tagger(units: int = 3, activation: Any = "softmax") -> pg.Sequential:
    return pg.Sequential(
        [
            pg.Input((4,), dtype="int32"),
            nn.Embedding(4, 5, mask_zero=True),
            nn.Dense(units, activation),
        ]
    )


def squares(y: Any, p: Any) -> Any:
    return pg.square(y - p)


@pytest.mark.parametrize("device", GPU_BY_NIGHT)
def test_loss_and_metrics_count_only_the_kept_steps(device: str) -> None:
    model = tagger()
    model.compile(
        pg.optim.SGD(0.1),
        "sparse_categorical_crossentropy",
        metrics=["accuracy", "sparse_categorical_crossentropy"],
        device=device,
    )
    p = model.predict(WORDS)
    each = -np.log(np.take_along_axis(p, LABELS[..., None], -1)[..., 0])
    accuracy = (p.argmax(-1) == LABELS)[MASK].mean()
    loss = model.evaluate(WORDS, LABELS)
    np.testing.assert_allclose(loss, [each[MASK].mean(), accuracy, each[MASK].mean()], rtol=1e-5)
    # In batches, the loss is the mean of the batches' losses, weighted by their samples.
    in_batches = model.evaluate(WORDS, LABELS, batch_size=2)
    parts = [slice(0, 2), slice(2, 4), slice(4, 5)]
    mean = sum(each[i][MASK[i]].mean() * len(each[i]) for i in parts) / 5
    np.testing.assert_allclose(in_batches, [mean, accuracy, each[MASK].mean()], rtol=1e-5)
    logs = model.train_on_batch(WORDS, LABELS)
    np.testing.assert_allclose(logs[0], each[MASK].mean(), rtol=1e-5)
    history = model.fit(WORDS, LABELS, epochs=9, batch_size=5, verbose=0)
    assert history.history["loss"][-1] < history.history["loss"][0]
    assert history.history["accuracy"][-1] >= accuracy


def test_masked_steps_have_no_gradient_and_weights_count() -> None:
    x = np.where(MASK[..., None], VALUES, 0).astype(np.float32)
    y = RANDOM.normal(size=(5, 4, 1)).astype(np.float32)
    other = np.where(MASK[..., None], y, 1e6).astype(np.float32)
    weights = np.array([1, 2, 0, 3, 1], np.float32)
    ends = []
    for targets in (y, other):
        model = pg.Sequential([pg.Input((4, 2)), nn.Masking(), nn.Dense(1)])
        model.compile(pg.optim.SGD(0.1), squares, metrics=["mae", "root_mean_squared_error"])
        before = model.named_weights()
        logs = model.train_on_batch(x, targets, sample_weight=weights)
        ends.append((logs, model.named_weights()))
    assert ends[0][0] == ends[1][0]
    p = x @ before["dense_1/kernel"]
    error = (p - y)[..., 0]
    logs, after = ends[0]
    np.testing.assert_allclose(
        logs,
        [
            (error**2 * weights[:, None])[MASK].sum() / MASK.sum(),
            np.abs(error[MASK]).mean(),
            np.sqrt((error[MASK] ** 2).mean()),
        ],
        rtol=1e-5,
    )
    gradient = np.einsum("bt,btd->d", 2 * error * weights[:, None] * MASK, x) / MASK.sum()
    moved = before["dense_1/kernel"][:, 0] - 0.1 * gradient
    np.testing.assert_allclose(after["dense_1/kernel"][:, 0], moved, rtol=1e-4, atol=1e-6)


def test_replicas_weigh_kept_steps_alike() -> None:
    ends = []
    for strategy in (None, pg.parallel.DataParallel(2)):
        model = tagger()
        model.compile(pg.optim.SGD(0.5), "sparse_categorical_crossentropy", device="cpu",
                      strategy=strategy)  # fmt: skip
        model.fit(WORDS[:4], LABELS[:4], epochs=3, batch_size=4, shuffle=False, verbose=0)
        ends.append(model.named_weights())
    for name, value in ends[0].items():
        np.testing.assert_allclose(ends[1][name], value, rtol=1e-4, atol=1e-6)


def test_a_function_must_not_take_the_mean_over_steps() -> None:
    model = tagger(2, None)
    model.compile("sgd", lambda y, p: pg.mean(pg.square(y - p), axis=(1, 2)))
    with pytest.raises(pg.ShapeError, match="expected a number for each step"):
        model.evaluate(WORDS, VALUES)


def test_ctc_ends_with_the_last_kept_step() -> None:
    labels = np.array([[1, 2], [1, 0], [2, 0], [2, 1], [1, 0]], np.int32)
    model = tagger(3, None)
    model.compile("sgd", nn.CTC(), metrics=[nn.CTC()])
    logits = model.predict(WORDS)
    alone = []
    for sample, count, label in zip(logits, MASK.sum(1), labels, strict=True):
        short = pg.Sequential([pg.Input((int(count), 3)), nn.Rescaling(1.0)])
        short.compile("sgd", nn.CTC())
        alone.append(short.evaluate(sample[None, :count], label[None]))
    np.testing.assert_allclose(model.evaluate(WORDS, labels), [np.mean(alone)] * 2, rtol=1e-5)


def results(build: Callable[[pg.Tensor, pg.Tensor], Any], x: Array, y: Array) -> Any:
    with pg.Graph().as_default():
        a, b = pg.Input(x.shape[1:]), pg.Input(y.shape[1:])
        fetches = build(a, b)
        with pg.Session() as session:
            return session.run(fetches, {a: x, b: y})


def test_average_pooling_counts_only_the_kept_steps() -> None:
    x = np.where(MASK[..., None], VALUES + 9, 0).astype(np.float32)
    x[1] = 0  # nothing is kept

    def build(a: pg.Tensor, _: pg.Tensor) -> Any:
        masked = nn.Masking()(a)
        return nn.GlobalAveragePooling1D()(masked), nn.GlobalAveragePooling1D(keepdims=True)(masked)

    flat, kept = results(build, x, x)
    counts = np.maximum((x != 0).any(-1).sum(1), 1)
    np.testing.assert_allclose(flat, x.sum(1) / counts[:, None], rtol=1e-5)
    np.testing.assert_array_equal(kept[:, 0], flat)


X = np.array([[[0, 0], [1, -2], [0, 0], [3, 4]]], np.float32)
Y = np.array([[[0, 0], [0, 0], [-1, 2], [5, 1]]], np.float32)


@pytest.mark.parametrize(
    ("layer", "expected"),
    [
        (nn.Add, X + Y),
        (nn.Subtract, X - Y),
        (nn.Average, (X + Y) / 2),
        (nn.Multiply, np.array([[[0, 0], [1, -2], [-1, 2], [15, 4]]])),
        (nn.Maximum, np.array([[[0, 0], [1, -2], [-1, 2], [5, 4]]])),
        (nn.Minimum, np.array([[[0, 0], [1, -2], [-1, 2], [3, 1]]])),
    ],
)
def test_merged_masks_keep_a_step_that_any_input_keeps(layer: Any, expected: Array) -> None:
    from playgrad.nn.masks import mask_of

    def build(a: pg.Tensor, b: pg.Tensor) -> Any:
        x, y = nn.Masking()(a), nn.Masking()(b)
        assert mask_of(layer()([x, b])) is None
        merged = layer()([x, y])
        return merged, mask_of(merged)

    merged, mask = results(build, X, Y)
    np.testing.assert_allclose(merged, expected)
    np.testing.assert_array_equal(mask, [[False, True, True, True]])


def test_concatenated_sequences_combine_their_masks() -> None:
    from playgrad.nn.masks import mask_of

    def build(a: pg.Tensor, b: pg.Tensor) -> Any:
        x, y = nn.Masking()(a), nn.Masking()(b)
        along = [nn.Concatenate(1)([x, y]), nn.Concatenate(1)([x, b]), nn.Concatenate()([x, y])]
        assert mask_of(nn.Concatenate()([x, b])) is None
        return [mask_of(tensor) for tensor in along]

    one, two, three = results(build, X, Y)
    np.testing.assert_array_equal(one, [[0, 1, 0, 1, 0, 0, 1, 1]])
    np.testing.assert_array_equal(two, [[0, 1, 0, 1, 1, 1, 1, 1]])
    np.testing.assert_array_equal(three, [[0, 1, 1, 1]])


def test_a_layer_resets_its_states() -> None:
    model = pg.Sequential([pg.Input((2, 2), 1), nn.GRU(3, stateful=True)])
    with pytest.raises(pg.GraphError, match="before its first call"):
        nn.GRU(3, stateful=True).reset_states()
    first = model.predict(X[:, :2])
    assert not np.allclose(model.predict(X[:, :2]), first)
    model.layers[0].reset_states()  # type: ignore[attr-defined]
    np.testing.assert_array_equal(model.predict(X[:, :2]), first)


def test_inputs_take_the_batch_size_second() -> None:
    assert pg.Input((3,), 2).shape == (2, 3)
    with pytest.raises(pg.GraphError, match=r"batch_size .* got 'int32'"):
        pg.Input((3,), "int32")  # type: ignore[arg-type]
