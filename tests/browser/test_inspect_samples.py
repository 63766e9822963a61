"""Single samples in the panel Inspect: the numbers are NumPy's on the exported weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect

import playgrad as pg
from tests.browser.playground import Playground

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
    expect(cells).to_have_count(100)
    page.wait(lambda: [int(c) for c in cells.all_inner_texts()] == counts.reshape(-1).tolist())
    table = page.at("confusion-matrix").locator("tbody tr").all_inner_texts()
    assert [[int(cell) for cell in row.split()] for row in table] == [
        [label, *counts[label]] for label in range(10)
    ]
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
    page.page.locator(".projection-table summary").click()
    rows = page.at("projection-table").locator("tbody tr")
    expect(rows).to_have_count(500)
    cells = [text.split("\t") for text in rows.all_inner_texts()]
    shown = np.array([[float(each) for each in row[:3]] for row in cells])
    chosen = shown[:, 0].astype(int)
    assert chosen.tolist() == list(range(0, 10_000, 20))
    chosen //= 10
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


def test_any_test_sample_can_be_chosen_by_its_number(
    trained: tuple[Playground, Array, Array, Array],
) -> None:
    page, *_ = trained
    weights = page.weights()
    _, (x, labels) = pg.data.mnist()

    def scores(number: int) -> Array:
        pixels = x[number].reshape(784).astype(np.float32) / np.float32(255)
        hidden = np.maximum(pixels @ weights["dense_1/kernel"] + weights["dense_1/bias"], 0)
        result: Array = hidden @ weights["dense_2/kernel"] + weights["dense_2/bias"]
        return result

    def choose(number: int) -> None:
        page.at("sample-number").fill(str(number))
        page.at("sample-number").press("Enter")
        expect(page.at("one-sample-number")).to_contain_text(f"sample {number:,} of 10,000")

    page.at("tab-inspect").click()
    page.at("inspect-samples").click()
    card = page.at("one-sample").locator(".sample-card")
    for number in (9_999, 0, 4_321):
        choose(number)
        expect(card).to_contain_text(f"true {labels[number]}, predicted {scores(number).argmax()}")
    page.at("sample-random").click()
    expect(page.at("one-sample-number")).not_to_contain_text("sample 4,321 ")
    choose(4_321)
    card.get_by_test_id("sample-link").click()
    expect(page.at("inspect-sample").locator("h3")).to_have_text("Test sample 4,321 of 10,000")
    expect(page.at("sample-number")).to_have_value("4321")

    page.at("tab-graph").click()
    search = page.at("graph-search")
    search.fill("dense_2/add_1")
    search.press("Enter")
    page.at("node-value").click()
    page.at("node-batch").select_option("test")
    page.at("node-sample").fill("10000")
    page.at("node-sample").press("Enter")
    expect(page.at("node-sample-refused")).to_contain_text("There is no sample 10000")
    page.at("node-sample").fill("9999")
    page.at("node-sample").press("Enter")
    largest = page.at("node-details").locator("[data-statistic=max]")
    expect(largest).to_have_text(format(scores(9_999).max(), ".3g"))


def trustworthiness(values: Array, points: Array, count: int = 10) -> float:
    """The measure of Venna and Kaski: 1 if neighbours of points are neighbours of values."""
    samples = len(values)
    in_space, in_plane = (
        np.linalg.norm(each[:, None] - each[None], axis=2).argsort(axis=1, kind="stable")
        for each in (values.astype(np.float64), points)
    )
    ranks = np.empty_like(in_space)
    np.put_along_axis(ranks, in_space, np.arange(samples)[None], axis=1)
    shown = np.take_along_axis(ranks, in_plane[:, 1 : count + 1], axis=1)
    penalty = np.maximum(shown - count, 0).sum()
    return float(1 - 2 * penalty / (samples * count * (2 * samples - 3 * count - 1)))


def places(page: Playground) -> Array:
    """The coordinates in the table, once UMAP has computed them."""
    summary = page.page.locator(".projection-table summary")
    expect(summary).to_be_visible()
    if page.at("projection-table").count() == 0:
        summary.click()
    rows = page.at("projection-table").locator("tbody tr")
    expect(rows).to_have_count(500)
    cells = [text.split("\t") for text in rows.all_inner_texts()]
    return np.array([[float(each) for each in row[1:3]] for row in cells])


def test_umap_keeps_neighbours_of_a_layer_and_can_be_cancelled(
    trained: tuple[Playground, Array, Array, Array],
) -> None:
    page, hidden, _, _ = trained
    hidden = hidden[::2]
    page.at("tab-inspect").click()
    page.at("inspect-projection").click()
    page.at("projection-layer").select_option("dense_1")
    plane = trustworthiness(hidden, places(page))
    workers = page.workers()
    method = page.at("projection-method")
    method.select_option("umap")
    expect(page.at("umap-progress")).to_be_visible()
    page.wait(lambda: "umap-worker.js" in page.workers())
    page.at("umap-cancel").click()
    expect(page.at("umap-stopped")).to_contain_text("Cancelled")
    page.expect_workers(*workers)
    page.at("umap-again").focus()
    page.page.keyboard.press("Enter")
    points = places(page)
    page.expect_workers(*workers)
    kept = trustworthiness(hidden, points)
    by_chance = trustworthiness(hidden, np.random.default_rng(0).random((500, 2)))
    assert kept > 0.93 and kept > plane + 0.05 and by_chance < 0.6, (kept, plane, by_chance)

    method.select_option("pca")
    page.wait(lambda: not np.array_equal(places(page), points))
    method.select_option("umap")
    expect(page.at("umap-another")).to_be_visible()
    assert np.array_equal(places(page), points)
    page.at("umap-neighbours").select_option("5")
    expect(page.at("umap-progress")).to_be_visible()
    others = places(page)
    assert not np.array_equal(others, points) and trustworthiness(hidden, others) > 0.93

    page.at("projection").focus()
    page.page.keyboard.press("ArrowRight")
    expect(page.at("projection-sample")).to_contain_text("true ")
    page.at("language-select").select_option("zh-Hans")
    expect(page.at("umap-another")).to_have_text("换一种布局")
    page.at("language-select").select_option("en")
    expect(page.at("umap-another")).to_have_text("Another layout")
    page.at("umap-another").click()
    expect(page.at("umap-progress")).to_be_visible()
    page.at("umap-cancel").click()
    expect(page.at("umap-stopped")).to_contain_text("Cancelled")
    method.select_option("pca")


def test_umap_shows_the_step_at_which_it_began(playground: Playground) -> None:
    playground.choose_device("cpu")
    playground.write(DIGITS)
    playground.at("step").click()
    playground.expect_status("paused")
    playground.at("tab-inspect").click()
    playground.at("inspect-projection").click()
    playground.at("projection-method").select_option("umap")
    first = places(playground)
    update = playground.at("umap-update")
    expect(update).to_have_count(0)
    playground.at("step").click()
    expect(update).to_be_visible()
    assert np.array_equal(places(playground), first)
    playground.at("stop").click()
    playground.expect_status("stopped")
    update.click()
    expect(playground.at("umap-progress")).to_be_visible()
    assert not np.array_equal(places(playground), first)
    expect(update).to_have_count(0)
