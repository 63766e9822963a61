"""The gallery of all examples: found, searched, opened, run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, expect

from playgrad import paths
from tests.browser.playground import Playground
from tests.browser.test_accessibility import AXE, violations_in_both_themes

pytestmark = [pytest.mark.browser, pytest.mark.gpu]

EXAMPLES = sorted(path.stem for path in (paths.static() / "examples").glob("*.py"))
_IS_SEEN = "(image) => image.complete && image.naturalWidth > 0"


@pytest.fixture(scope="module")
def visitor(chromium: Browser, desk_server: str) -> Iterator[Playground]:
    playground = Playground(chromium, desk_server)
    yield playground
    playground.close()


def card(playground: Playground, name: str) -> Locator:
    return playground.page.locator(f"[data-testid=example-card][data-example={name}]")


def opened(playground: Playground, button: str = "all-examples") -> Locator:
    """Open the gallery; return its cards."""
    playground.at(button).click()
    cards = playground.at("example-card")
    expect(cards.first).to_be_visible()
    return cards


def test_the_first_load_requests_no_file_of_the_gallery(
    chromium: Browser, desk_server: str
) -> None:
    visitor = Playground(chromium, desk_server, "/healthz")
    asked: list[str] = []
    visitor.page.on("request", lambda request: asked.append(request.url))
    visitor.page.goto(f"{desk_server}/")
    visitor.expect_status("ready")
    visitor.forgive("404")  # the first page has no icon
    assert any("/examples.json" in url for url in asked)
    assert not [url for url in asked if "examples-dialog.js" in url or "/static/gallery/" in url]
    opened(visitor)
    assert any(url.endswith("/static/gallery/examples.json") for url in asked)
    visitor.wait(lambda: any(url.endswith(".webp") for url in asked))
    visitor.close()


def test_the_gallery_has_a_complete_card_for_each_example(visitor: Playground) -> None:
    cards = opened(visitor)
    names = cards.evaluate_all("cards => cards.map((card) => card.dataset.example)")
    assert sorted(names) == EXAMPLES
    for name in names:
        each = card(visitor, name)
        each.scroll_into_view_if_needed()
        image = each.locator("img").element_handle()
        visitor.page.wait_for_function(_IS_SEEN, arg=image)
        title, sentence, time = each.locator("> *:not(img)").all_inner_texts()
        assert title and len(sentence) > 10 and time.startswith("about "), name
    visitor.page.keyboard.press("Escape")
    expect(visitor.at("examples-dialog")).to_have_count(0)
    expect(visitor.at("all-examples")).to_be_focused()


def test_kinds_and_search_words_filter_the_examples(visitor: Playground) -> None:
    page, cards = visitor.page, opened(visitor)
    expect(visitor.at("examples-search")).to_be_focused()
    games = page.locator("[data-testid=examples-kind][data-kind=games]")
    games.click()
    expect(games).to_have_attribute("aria-pressed", "true")
    expect(cards).to_have_count(6)
    search = visitor.at("examples-search")
    search.fill("convolutions ONLY")
    expect(cards).to_have_count(1)
    expect(card(visitor, "board-moves")).to_be_visible()
    expect(visitor.at("examples-count")).to_have_text("1 example")
    search.fill("GRU")
    expect(visitor.at("examples-none")).to_contain_text("“GRU”")
    visitor.at("examples-none").get_by_role("button").click()
    expect(cards).to_have_count(len(EXAMPLES))
    search.fill("GRU")
    expect(card(visitor, "character-gru")).to_be_visible()
    expect(card(visitor, "spiral")).to_have_count(0)
    visitor.at("examples-close").click()
    expect(visitor.at("examples-dialog")).to_have_count(0)


def test_axe_finds_nothing_in_the_gallery(visitor: Playground) -> None:
    visitor.page.evaluate(f"() => {{ {AXE.read_text(encoding='utf-8')} }}")
    opened(visitor)
    assert violations_in_both_themes(visitor.page) == []
    visitor.at("examples-close").click()


def test_a_card_opens_its_example_and_keeps_edits_of_the_previous_one(
    visitor: Playground,
) -> None:
    visitor.expect_status("ready")
    opened(visitor, "gallery-all")
    card(visitor, "first-program").click()
    visitor.write("print('mine')")
    opened(visitor)
    two = card(visitor, "two-graphs")
    two.focus()
    two.press("Enter")
    expect(visitor.at("examples-dialog")).to_have_count(0)
    expect(visitor.at("example-select")).to_have_value("two-graphs")
    assert "step 24: slopes 3.000" in visitor.finish()
    opened(visitor)
    expect(two).to_have_attribute("aria-current", "true")
    card(visitor, "first-program").click()
    assert visitor.finish() == "mine"


def test_the_gallery_speaks_chinese_and_fits_a_phone(chromium: Browser, desk_server: str) -> None:
    phone = Playground(
        chromium,
        desk_server,
        viewport={"width": 390, "height": 844},
        locale="zh-CN",
        has_touch=True,
    )
    phone.at("more").click()
    cards = opened(phone)
    expect(card(phone, "spiral")).to_contain_text("两层网络")
    expect(cards.first).to_contain_text("约")
    body = "document.querySelector('.examples-body')"
    assert phone.page.evaluate(f"{body}.scrollWidth === {body}.clientWidth")
    assert phone.page.evaluate("document.documentElement.scrollWidth") == 390
    assert phone.page.evaluate("document.activeElement.id") == "examples-title"  # no keyboard
    phone.at("examples-close").click()
    expect(phone.at("more")).to_be_focused()
    phone.close()
