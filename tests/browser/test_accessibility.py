"""Rules of accessibility, checked by axe-core in each part of the page; the keyboard's way in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.playground import Playground

pytestmark = [pytest.mark.browser, pytest.mark.gpu]

AXE = Path(__file__).parents[2] / "node_modules" / "axe-core" / "axe.min.js"
# Checks the page when fades have ended; `rules` are all if none are named.
_CHECK = """async (rules) => {
  const frame = () => new Promise(requestAnimationFrame);
  for (let still = 0; still < 3; still += 1) {
    await frame();
    const moving = document.getAnimations().filter(({ effect, playState }) =>
      playState === "running" && Number.isFinite(effect.getComputedTiming().endTime));
    if (moving.length > 0) still = 0;
    await Promise.allSettled(moving.map(({ finished }) => finished));
  }
  const only = rules.length > 0 ? { runOnly: rules } : {};
  const { violations } = await axe.run(document, { resultTypes: ["violations"], ...only });
  const parts = (nodes) => nodes.map(({ html }) => html.slice(0, 200));
  return violations.map(({ id, help, nodes }) => [id, help, ...parts(nodes)]);
}"""
PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def trained(chromium: Browser, desk_server: str) -> Iterator[Playground]:
    """The page after the spiral was trained."""
    playground = Playground(chromium, desk_server)
    playground.choose_device("cpu")
    playground.at("example-select").select_option("spiral")
    playground.at("run").click()
    playground.expect_status("done")
    playground.page.evaluate(f"() => {{ {AXE.read_text(encoding='utf-8')} }}")
    yield playground
    playground.close()


def violations(page: Page, *rules: str) -> list[Any]:
    """Return what axe-core finds in the page as it is, once nothing moves any more."""
    result: list[Any] = page.evaluate(_CHECK, rules)
    return result


def violations_in_both_themes(page: Page) -> list[Any]:
    """Return what axe-core finds; only colours depend on the theme."""
    found = violations(page)
    page.emulate_media(color_scheme="dark")
    found += violations(page, "color-contrast")
    page.emulate_media(color_scheme="light")
    return found


def test_axe_finds_nothing(trained: Playground) -> None:
    page = trained.page
    trained.at("blocks-tab").click()
    expect(trained.at("block").first).to_be_visible()
    for tab, content in (
        ("training", ".uplot"),
        ("graph", ".graph-item"),
        ("runs", "[data-testid=run-row]"),
        ("lab", "[data-testid=lab-run]"),
    ):
        trained.at(f"tab-{tab}").click()
        expect(page.locator(content).first).to_be_visible()
        assert violations_in_both_themes(page) == [], tab
    trained.at("code-tab").click()
    for menu in ("project-menu", "share", "export"):
        trained.at(menu).click()
        assert violations_in_both_themes(page) == [], menu
        page.keyboard.press("Escape")
    trained.at("data-open").click()
    assert violations_in_both_themes(page) == [], "data"
    trained.page.get_by_role("button", name="Draw points").click()
    assert violations_in_both_themes(page) == [], "points"
    page.keyboard.press("Escape")
    expect(trained.at("data-drawer")).to_have_count(0)


def test_axe_finds_nothing_in_the_other_main_pictures(trained: Playground) -> None:
    """And in the numbers behind the one of the bar, and in a frame."""
    page = trained.page
    trained.at("tab-training").click()
    choice = trained.at("picture-choice")
    for name, content in (
        ("graph", ".stage .graph-item"),
        ("hardest", "[data-testid=hardest] td"),
        ("confusion", "[data-testid=confusion-matrix]"),
    ):
        choice.select_option(name)
        expect(page.locator(content).first).to_be_visible()
        trained.at("headline").focus()
        assert violations_in_both_themes(page) == [], name
    choice.select_option("plane")
    trained.at("share").click()
    expect(trained.at("share-link")).to_have_value(re.compile("#program="))
    program = trained.at("share-link").input_value().partition("#")[2]
    page.keyboard.press("Escape")
    frame = page.context.new_page()
    frame.goto(f"{page.url.partition('#')[0]}embed#{program}")
    expect(frame.get_by_test_id("status")).to_have_text("ready")
    frame.get_by_test_id("run").click()
    expect(frame.get_by_test_id("boundary")).to_be_visible()
    frame.evaluate(f"() => {{ {AXE.read_text(encoding='utf-8')} }}")
    assert violations_in_both_themes(frame) == []
    frame.close()


def test_axe_finds_nothing_on_a_phone(trained: Playground) -> None:
    page = trained.page
    before = page.viewport_size
    assert before
    trained.at("tab-runs").click()
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    try:
        expect(page.get_by_role("row")).not_to_have_count(0)
        assert violations(page) == [], "runs"
        trained.at("more").click()
        trained.at("more-export").click()
        assert violations(page) == [], "more"
        page.keyboard.press("Escape")
        for tab in ("build", "training"):
            trained.at(f"tab-{tab}").click()
            assert violations(page) == [], tab
    finally:
        page.set_viewport_size(before)


def test_the_keyboard_skips_header_and_commands(trained: Playground) -> None:
    page = trained.page
    page.evaluate("() => document.activeElement?.blur()")
    page.keyboard.press("Tab")
    skip = trained.at("skip-to-build")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.locator(".column.write")).to_be_focused()
    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.closest('.column.write') !== null")


def test_a_hint_explains_how_the_keyboard_leaves_the_editor(trained: Playground) -> None:
    page, hint = trained.page, trained.at("editor-leaving")
    trained.at("code-tab").click()
    code = page.locator("[data-testid=editor] .cm-content")
    before = code.inner_text()
    code.focus()
    page.keyboard.press("Tab")
    expect(hint).to_contain_text("Escape")
    assert violations(page) == []
    page.keyboard.press("ControlOrMeta+Z")
    expect(hint).to_have_count(0)
    assert code.inner_text() == before
    page.keyboard.press("Tab")
    page.keyboard.press("ControlOrMeta+Z")
    expect(hint).to_have_count(0)  # it is said once
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    expect(code).not_to_be_focused()
    assert code.inner_text() == before
