"""The server's own page, in Chromium."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import playgrad as pg
from playgrad import nn
from playgrad.serving.choice import ServingChoice, write_choice
from playgrad.serving.page_files import page_file
from playgrad.serving.store import ModelStore
from tests.serving.serving import RunningServer, content, model, put, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


def digits(seed: int) -> bytes:
    with pg.Graph(seed=seed).as_default():
        network = pg.Sequential([nn.Flatten(), nn.Dense(10, activation="softmax")])
        network.build((28, 28))
    return content(network)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    store = ModelStore(tmp_path_factory.mktemp("models"))
    put(store, "digits", digits(1))
    put(store, "digits", digits(2))
    put(store, "digits", content(model(3)))  # has another signature
    put(store, "flowers", content(model(1)))
    choice = ServingChoice("all", labels={"stable": 1, "canary": 2}, shares={"canary": 0.1})
    write_choice(store, "digits", choice)
    with serving(store.folder) as server:
        yield server


@pytest.fixture
def page(chromium: Browser, server: RunningServer) -> Iterator[Page]:
    """The page; a message on its console is an error, so that a violated policy is one, too."""
    context = chromium.new_context(viewport={"width": 1000, "height": 1100})
    page = context.new_page()
    problems: list[str] = []
    page.on("console", lambda message: problems.append(message.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(f"http://127.0.0.1:{server.port}/")
    yield page
    context.close()
    assert problems == []


def test_models_and_versions_are_listed(page: Page) -> None:
    section = page.get_by_test_id("model-digits")
    section.wait_for()
    rows = section.locator("tr").all_inner_texts()
    assert [row.split("\t")[:2] for row in rows[1:3]] == [
        [" 2", "served, canary 10 %"], [" 1", "default, stable"],
    ]  # fmt: skip
    assert "not taken up: its signature differs" in rows[3]
    page.get_by_test_id("model-flowers").wait_for()


def test_two_versions_are_compared_on_a_drawing(page: Page, server: RunningServer) -> None:
    canvas = page.locator("#canvas")
    canvas.wait_for()
    box = canvas.bounding_box()
    assert box
    page.mouse.move(box["x"] + 110, box["y"] + 40)
    page.mouse.down()
    page.mouse.move(box["x"] + 110, box["y"] + 190, steps=5)
    page.mouse.up()
    rows = page.evaluate("JSON.parse(document.getElementById('sample').value)")
    assert (len(rows), len(rows[0]), max(map(max, rows))) == (28, 28, 1)
    assert rows[0] == [0] * 28
    page.locator("#run").click()
    page.get_by_test_id("difference").wait_for()
    assert page.locator("#answers h3").all_inner_texts() == ["version 1", "version 2"]
    shown = page.locator("#answers svg").first.get_attribute("aria-label")
    assert shown
    answer = server.predict("digits/versions/1", instances=[rows]).json["predictions"][0]
    assert [float(text) for text in shown.split(", ")] == pytest.approx(answer, rel=0.01)
    page.locator("figure.latency path").first.wait_for(state="attached")


def test_wrong_samples_are_refused_in_words(page: Page) -> None:
    page.locator("#model").select_option("flowers")
    assert not page.locator("#drawing").is_visible()
    page.locator("#sample").fill("[1, 2")
    page.locator("#run").click()
    page.get_by_text("The sample is not JSON.").wait_for()
    page.locator("#sample").fill("[1, 2, 3, 4, 5, 6]")
    page.locator("#run").click()
    page.get_by_text("Both answers have the same bits.").wait_for()


def test_a_token_is_asked_for(chromium: Browser, server: RunningServer, tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    file.write_text("t" * 20)
    with serving(server.manager.store.folder, token_file=file) as guarded:
        page = chromium.new_page()
        page.goto(f"http://127.0.0.1:{guarded.port}/")
        page.locator("#token").fill("t" * 20)
        page.locator("#token-form button").click()
        page.get_by_test_id("model-digits").wait_for()
        page.close()


def test_the_page_speaks_chinese(chromium: Browser, server: RunningServer) -> None:
    context = chromium.new_context(locale="zh-CN", color_scheme="dark")
    page = context.new_page()
    page.goto(f"http://127.0.0.1:{server.port}/")
    page.get_by_test_id("model-digits").wait_for()
    assert page.locator("h1").inner_text() == "模型"
    assert page.locator("html").get_attribute("lang") == "zh-Hans"
    context.close()


def test_only_the_files_of_the_page_have_addresses(server: RunningServer) -> None:
    index = server.request("GET", "/")
    assert (index.status, index.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "script-src 'self';" in index.headers["content-security-policy"]
    assert page_file("/page/page.js") is not None
    for path in ("/page/", "/page/index.html", "/page/..", "/page/../index.html", "/page/none.js"):
        assert server.request("GET", path).status == 404
