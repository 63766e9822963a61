"""Single samples in the panel Inspect: the numbers are NumPy's on the exported weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect

import playgrad as pg
from tests.browser.playground import PATIENCE_MS, Playground

pytestmark = [pytest.mark.browser, pytest.mark.gpu]

Array = np.ndarray[Any, Any]
EXAMPLES = Path(__file__).parents[2] / "static" / "examples"
DIGITS = (EXAMPLES / "mnist-mlp.py").read_text(encoding="utf-8")
DIGITS = DIGITS.replace("x_train,\n    y_train,", "x_train[:1280],\n    y_train[:1280],")


@pytest.fixture(scope="module")
def trained(playground: Playground) -> tuple[Playground, Array, Array, Array]:
    """The page after a run, and the hidden values, scores and labels of its test samples."""
    playground.choose_device("cpu")
    playground.finish(DIGITS)
    weights = playground.weights()
    _, (x, labels) = pg.data.mnist()
    x, labels = x[::10], labels[::10]
    inputs = x.reshape(len(x), 784).astype(np.float32) / np.float32(255)
    hidden = np.maximum(inputs @ weights["dense_1/kernel"] + weights["dense_1/bias"], 0)
    scores = hidden @ weights["dense_2/kernel"] + weights["dense_2/bias"]
    return playground, hidden, scores, labels


def test_a_cell_of_the_confusion_matrix_opens_its_samples(
    trained: tuple[Playground, Array, Array, Array],
) -> None:
    page, _, scores, labels = trained
    page.at("tab-inspect").click()
    page.at("inspect-samples").click()
    counts = np.zeros((10, 10), int)
    np.add.at(counts, (labels, scores.argmax(axis=1)), 1)
    cells = page.at("confusion-cell")
    expect(cells).to_have_count(100, timeout=PATIENCE_MS)
    page.wait(lambda: [int(c) for c in cells.all_inner_texts()] == counts.reshape(-1).tolist())
    losses = np.log(np.exp(scores).sum(axis=1)) - scores[np.arange(len(labels)), labels]
    first = page.at("hardest").locator("li").first
    assert losses[int(first.get_attribute("data-sample") or -1)] == pytest.approx(losses.max())
    assert f"loss {losses.max():.4f}"[:-1] in first.inner_text()

    wrong = counts * (1 - np.eye(10, dtype=int))
    label, said = np.unravel_index(wrong.argmax(), wrong.shape)
    cells.first.focus()
    for key, times in (("ArrowDown", label), ("ArrowRight", said)):
        for _ in range(int(times)):
            page.page.keyboard.press(key)
    page.page.keyboard.press("Enter")
    samples = page.at("cell-samples").locator("li")
    expect(samples).to_have_count(min(24, int(wrong.max())))
    for sample in samples.all():
        at = int(sample.get_attribute("data-sample") or -1)
        assert (labels[at], scores[at].argmax()) == (label, said)
        expect(sample.locator("canvas")).to_be_visible()
    page.page.keyboard.press("Enter")
    expect(samples).to_have_count(0)


def test_the_projection_of_a_layer_is_its_principal_components(
    trained: tuple[Playground, Array, Array, Array],
) -> None:
    page, hidden, scores, labels = trained
    page.at("tab-inspect").click()
    page.at("inspect-projection").click()
    page.at("projection-layer").select_option("dense_1")
    page.page.locator(".projection-table summary").click(timeout=PATIENCE_MS)
    rows = page.at("projection-table").locator("tbody tr")
    expect(rows).to_have_count(500)
    cells = [text.split("\t") for text in rows.all_inner_texts()]
    shown = np.array([[float(each) for each in row[:3]] for row in cells])
    chosen = shown[:, 0].astype(int) - 1
    assert chosen.tolist() == list(range(0, 1000, 2))
    centred = hidden[chosen] - hidden[chosen].mean(axis=0)
    directions, lengths, _ = np.linalg.svd(centred.astype(np.float64), full_matrices=False)
    expected = directions[:, :2] * lengths[:2]
    for axis in (0, 1):
        values = shown[:, 1 + axis]
        sign = np.sign(values @ expected[:, axis])
        assert np.allclose(values, sign * expected[:, axis], rtol=0.01, atol=0.02)
    page.at("projection").focus()
    for _ in range(3):
        page.page.keyboard.press("ArrowRight")
    # The first key goes to the middle, each other one to the next; the table rounds.
    words = page.text("projection-sample")
    neighbours = [chosen[each] for each in np.argsort(shown[:, 1])[249:256]]
    assert any(f"true {labels[at]}, predicted {scores[at].argmax()}" in words for at in neighbours)
