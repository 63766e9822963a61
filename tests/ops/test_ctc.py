"""CTC compared with PyTorch, decoding, and a layer stack that is trained with it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import playgrad as pg
from playgrad import nn
from playgrad.contract.interpreter import evaluate
from playgrad.graph.autodiff import gradients

Array = np.ndarray[Any, Any]


def sample_batch(seed: int, batch: int = 6, times: int = 12, classes: int = 5) -> list[Array]:
    """Return logits, targets and lengths: equal labels side by side, empty targets, gaps."""
    random = np.random.default_rng(seed)
    logits = random.normal(0, 2, (batch, times, classes))
    lengths = random.integers(0, 5, batch)
    lengths[:2] = (0, 4)
    target = random.integers(1, classes, (batch, 4))
    target[1] = 2
    return [logits, target, lengths, random.integers(9, times + 1, batch)]


def ours(arrays: list[Array], device: str | None = None, **options: Any) -> list[Array]:
    """Return the losses, and the gradient of their weighted sum by the logits."""
    logits, target, *lengths = arrays
    with (graph := pg.Graph()).as_default():
        x = pg.placeholder("float32" if device else "float64", logits.shape)
        integers = [pg.constant(array.astype(np.int32)) for array in (target, *lengths)]
        loss = pg.ctc_loss(integers[0], x, *integers[1:], **options)
        weights = pg.constant(np.arange(1.0, len(logits) + 1), x.dtype)
        grads = gradients(pg.reduce_sum(loss * weights), [x])
    if device is None:
        return evaluate([loss, *(g for g in grads if g is not None)], {x: logits})
    with pg.Session(graph, device=device) as session:
        results: list[Array] = session.run([loss, *grads], {x: logits.astype(np.float32)})
        return results


def torchs(arrays: list[Array], zero_infinity: bool = False, blank: int = 0) -> list[Array]:
    logits = torch.tensor(arrays[0], requires_grad=True)
    loss = torch.nn.functional.ctc_loss(
        logits.log_softmax(2).transpose(0, 1),
        *(torch.tensor(array) for array in (arrays[1], arrays[3], arrays[2])),
        blank=blank,
        reduction="none",
        zero_infinity=zero_infinity,
    )
    (loss * torch.arange(1.0, len(loss) + 1, dtype=torch.float64)).sum().backward()
    assert logits.grad is not None
    return [loss.detach().numpy(), logits.grad.numpy()]


@pytest.mark.parametrize("seed", range(4))
def test_values_and_gradients_match_pytorch(seed: int) -> None:
    arrays = sample_batch(seed)
    for a, b in zip(ours(arrays), torchs(arrays), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


def test_the_blank_can_be_another_class() -> None:
    logits, target, *lengths = sample_batch(7)
    arrays = [logits, target - 1, *lengths]
    for a, b in zip(ours(arrays, mask_index=4), torchs(arrays, blank=4), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("zero_infinity", [False, True])
def test_targets_without_an_alignment_have_infinite_loss(zero_infinity: bool) -> None:
    arrays = [*sample_batch(3)[:2], np.array([4, 4, 3, 0, 1, 2]), np.array([12, 6, 2, 3, 1, 4])]
    actual = ours(arrays, zero_infinity=zero_infinity)
    assert np.isinf(actual[0][[1, 2]]).all() != zero_infinity
    assert np.isfinite(actual[0][[0, 3, 4]]).all()
    expected = torchs(arrays, zero_infinity)
    np.testing.assert_allclose(actual[0], expected[0], rtol=1e-9)
    finite = np.isfinite(expected[0])
    np.testing.assert_allclose(actual[1][finite], expected[1][finite], rtol=1e-9, atol=1e-9)
    assert np.isnan(actual[1][1:3]).any() != zero_infinity


@pytest.mark.gpu
@pytest.mark.parametrize("zero_infinity", [False, True])
def test_gpu_agrees_with_torch(zero_infinity: bool) -> None:
    arrays = sample_batch(11, batch=9, times=40, classes=7)
    arrays[3] = np.array([40, 40, 30, 3, 2, 1, 17, 25, 40])
    actual = ours(arrays, "gpu:0", zero_infinity=zero_infinity)
    expected = torchs(arrays, zero_infinity)
    np.testing.assert_allclose(actual[0], expected[0], rtol=1e-4)
    finite = np.isfinite(expected[0])
    np.testing.assert_allclose(actual[1][finite], expected[1][finite], rtol=1e-3, atol=1e-3)


@pytest.mark.gpu
def test_labels_out_of_range_are_refused() -> None:
    arrays = sample_batch(5)
    arrays[1][2, 0], arrays[2][2] = 5, 1
    for device in ("cpu:0", "gpu:0"):
        with pytest.raises(pg.errors.DataError, match=r"sample 2 has 5 at position 0"):
            ours(arrays, device)
    arrays[1][2, 0], arrays[3][4] = 1, 13
    with pytest.raises(pg.errors.DataError, match=r"in \[0, 12\], but is 13 for sample 4"):
        ours(arrays)


def test_missing_lengths_are_counted_from_labels_and_times() -> None:
    logits, target, lengths, _ = sample_batch(2)
    target = np.where(np.arange(4) < lengths[:, None], target, 0)
    arrays = [logits, target, lengths, np.full(6, 12)]
    with pg.Graph().as_default():
        counted = pg.ctc_loss(target.astype(np.int32), pg.constant(logits, "float64"))
    np.testing.assert_allclose(evaluate([counted], {})[0], torchs(arrays)[0], rtol=1e-9)


def decoded(classes: list[int], length: int, merge: bool, blank: int) -> list[int]:
    """Return the labels of one sample, read as a person would."""
    labels, before = [], -1
    for best in classes[:length]:
        if best != blank and not (merge and best == before):
            labels.append(best)
        before = best
    return labels


@pytest.mark.parametrize("device", ["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])
@pytest.mark.parametrize(("merge", "blank"), [(True, 0), (False, 0), (True, 2)])
def test_greedy_decoding_merges_repeats_and_drops_blanks(
    device: str, merge: bool, blank: int
) -> None:
    random = np.random.default_rng(1)
    best = random.integers(0, 3, (5, 9))
    lengths = np.array([9, 0, 4, 7, 9], np.int32)
    with (graph := pg.Graph()).as_default():
        x = pg.placeholder("float32", (None, 9, 3))
        labels = pg.ctc_greedy_decode(x, lengths, merge, blank)
        everything = pg.ctc_greedy_decode(x, None, merge, blank)
    scores = np.eye(3, dtype=np.float32)[best] + random.uniform(0, 0.5, (5, 9, 3))
    with pg.Session(graph, device=device) as session:
        results = session.run([labels, everything], {x: scores.astype(np.float32)})
    for result, counts in zip(results, (lengths, [9] * 5), strict=True):
        for row, classes, count in zip(result, best, counts, strict=True):
            expected = decoded(list(classes), count, merge, blank)
            assert list(row) == expected + [-1] * (9 - len(expected))
    with pytest.raises(pg.ShapeError, match=r"\(batch, times, classes\), not \(5, 9\)"):
        pg.ctc_greedy_decode(scores[:, :, 0])


def test_a_network_learns_to_read() -> None:
    """Each sample shows its labels for two times, with noise between them."""
    random = np.random.default_rng(4)
    y = random.integers(1, 5, (96, 4))
    x = np.repeat(np.eye(5)[y], 3, axis=1) + random.normal(0, 0.1, (96, 12, 5))
    x[:, 2::3] = random.normal(0, 0.1, (96, 4, 5))
    short = np.arange(96) % 3 == 0
    y[short, 3], x[short, 9:] = 0, 0
    with pg.Graph(seed=1).as_default():
        model = pg.Sequential([nn.Conv1D(24, 3, padding="same", activation="tanh"), nn.Dense(5)])
        model.compile(pg.optim.Adam(0.02), nn.CTC(), device="cpu")
    history = model.fit(x.astype(np.float32), y, 24, 25, 0)
    assert history.history["loss"][-1] < 0.3 < 3 < history.history["loss"][0]
    with (graph := pg.Graph()).as_default():
        read = pg.ctc_greedy_decode(model.predict(x.astype(np.float32)))
    with pg.Session(graph) as session:
        labels = np.maximum(session.run(read), 0)[:, :4]
    assert (labels == y).all(axis=1).mean() > 0.95
    model.close()


def test_unsuitable_targets_are_refused() -> None:
    output = (None, 12, 5)
    good = np.array([[1, 2, 0], [3, 0, 0]])
    assert nn.CTC().check_targets(good, output, "y", "dense").dtype == np.int32
    for y, shape, words in (
        (good, (None, 5), r"needs an output of shape \(batch, times, classes\), not \(\?, 5\)"),
        (good[0], output, r"must have the shape \(samples, labels\) for ctc, not \(3,\)"),
        (good + 2, output, r"label 5 \(sample 1\), but labels must be 1 to 4"),
        (good[:, ::-1], output, r"contains 0, the blank, before a label \(sample 0\)"),
        (good + 0.5, output, "whole class numbers"),
    ):
        with pytest.raises((pg.ShapeError, pg.errors.DataError), match=words):
            nn.CTC().check_targets(y, shape, "y", "dense")
