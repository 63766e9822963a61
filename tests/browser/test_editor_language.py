"""The editor's help with names, all of it before Python is up."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, expect
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from tests.browser.playground import Playground

pytestmark = pytest.mark.browser

START = "import playgrad as pg\nfrom playgrad import nn\n\nmodel = pg.Sequential([nn.Dense(2)])\n"


@pytest.fixture(scope="module")
def opened(chromium: Browser, server: str) -> Iterator[Playground]:
    """The page, in which Python never arrives."""
    playground = Playground(chromium, server, "/healthz")
    for part in ("**/pyodide/**", "**/image/**"):
        playground.page.route(part, lambda route: None)
    playground.page.goto(f"{server}/")
    playground.wait(lambda: playground.page.evaluate(LOADED))
    playground.forgive("404")  # the first page has no icon
    yield playground
    playground.close()


@pytest.fixture
def editor(opened: Playground) -> Iterator[Playground]:
    opened.write(START)
    opened.page.keyboard.press("Control+End")
    opened.page.keyboard.press("Enter")
    yield opened
    status = opened.at("status").get_attribute("data-status")
    assert status == "loading", "Python must not be needed"


LOADED = "async () => (await import('/static/js/language/library.js')).library.value !== null"
SOURCE = "async () => (await import('/static/js/state/store.js')).source.value"


def code(playground: Playground) -> str:
    text: str = playground.page.evaluate(SOURCE)
    return text


def added(playground: Playground) -> str:
    """The text that the test has written below the start."""
    text = code(playground)
    assert text.startswith(START)
    return text.removeprefix(START)


def popup(playground: Playground) -> Locator:
    return playground.page.locator(".cm-tooltip-autocomplete")


def appears_at(target: Locator, tooltip: Locator) -> bool:
    """Point at ``target``: true if ``tooltip`` appears within two seconds.

    The editor shows it a while after the pointer has come to rest, unless the text has changed.
    """
    target.page.mouse.move(5, 5)
    target.hover()
    try:
        tooltip.wait_for(timeout=2_000)
    except PlaywrightTimeout:
        return False
    return True


def selected(playground: Playground) -> Locator:
    return popup(playground).locator("li").first


def test_names_are_completed_after_a_dot(editor: Playground) -> None:
    keyboard = editor.page.keyboard
    keyboard.type("model.add(nn.Den")
    expect(selected(editor)).to_contain_text("Dense")
    editor.page.wait_for_timeout(200)  # the list takes no keys in its first moment
    keyboard.press("Tab")
    assert added(editor) == "model.add(nn.Dense"
    keyboard.type("(8, act")
    expect(selected(editor)).to_contain_text("activation=")
    editor.page.wait_for_timeout(200)
    keyboard.press("Tab")
    keyboard.type('"relu"')
    assert added(editor).startswith('model.add(nn.Dense(8, activation="relu"')


def test_enter_and_tab_stay_ordinary_keys(editor: Playground) -> None:
    keyboard = editor.page.keyboard
    keyboard.type("x = model.history")
    expect(popup(editor)).to_be_visible()
    editor.page.wait_for_timeout(200)
    keyboard.press("Enter")
    keyboard.type("if x:")
    keyboard.press("Enter")
    keyboard.press("Tab")
    keyboard.type("pass")
    assert added(editor).split("\n") == ["x = model.history", "if x:", "        pass"]
    keyboard.press("Enter")
    keyboard.type("model.")
    expect(popup(editor)).to_be_visible()
    keyboard.press("Escape")
    expect(popup(editor)).to_have_count(0)
    keyboard.press("Enter")
    keyboard.type("model.com")
    expect(selected(editor)).to_contain_text("compile")
    editor.page.wait_for_timeout(200)
    keyboard.press("Enter")
    assert added(editor).endswith("model.compile"), "Enter finishes a name that is not whole"


def test_a_fix_is_made_by_keyboard_and_undone(editor: Playground) -> None:
    keyboard = editor.page.keyboard
    keyboard.type("model.add(pg.layers.Dense(3))")
    keyboard.press("Escape")
    mark = editor.page.locator(".cm-lintRange")
    expect(mark).to_have_text("pg.layers.Dense")
    keyboard.press("Home")
    keyboard.press("Alt+Enter")  # to the mark
    expect(editor.page.locator(".cm-tooltip-lint, .cm-diagnostic").first).to_contain_text(
        "pg.layers.Dense is nn.Dense in playgrad."
    )
    keyboard.press("Alt+Enter")
    assert added(editor) == "model.add(nn.Dense(3))"
    expect(mark).to_have_count(0)
    keyboard.press("Control+z")
    assert added(editor) == "model.add(pg.layers.Dense(3))"


def test_a_whole_program_is_translated_as_one_change(editor: Playground) -> None:
    before = (
        "from tensorflow import keras\n"
        "model = keras.Sequential([keras.layers.Flatten(input_shape=(28, 28))])\n"
        "model.save('m.keras')"
    )
    editor.write(before)
    mark = editor.page.locator(".cm-lintRange", has_text="keras.Sequential")
    mark.first.hover()
    editor.page.get_by_role("button", name="Fix all").first.click()
    editor.wait(lambda: "keras." not in code(editor))
    assert code(editor) == (
        "import playgrad as pg\n"
        "from playgrad import nn\n"
        "model = pg.Sequential([pg.Input((28, 28)), nn.Flatten()])\n"
        "model.save('m.keras')"
    )
    editor.page.keyboard.press("Control+z")
    assert code(editor) == before


def test_signature_help_marks_the_current_argument(editor: Playground) -> None:
    keyboard, help_ = editor.page.keyboard, editor.at("signature-help")
    keyboard.type("model.fit(")
    expect(help_.locator(".code-current")).to_have_text("x=None")
    keyboard.type("x, y, ")
    expect(help_.locator(".code-current")).to_have_text("batch_size=None")
    expect(help_).to_contain_text("samples per step")
    line, box = editor.page.locator(".cm-activeLine").bounding_box(), help_.bounding_box()
    assert line and box
    assert box["y"] + box["height"] <= line["y"] + 1, "it covers the line"
    # An open list of names is closed first.
    editor.wait(lambda: keyboard.press("Escape") or help_.count() == 0)
    keyboard.type("epochs=2")
    expect(help_).to_have_count(0)
    keyboard.press("Control+i")
    expect(help_.locator(".code-current")).to_have_text("epochs=1")
    keyboard.type(")")
    expect(help_).to_have_count(0)


def test_names_are_explained_at_the_pointer_and_at_the_cursor(editor: Playground) -> None:
    shown = editor.at("explanation")
    name = editor.page.get_by_text("Sequential", exact=True).first
    editor.wait(lambda: appears_at(name, shown))
    expect(shown).to_contain_text("playgrad.Sequential(layers=(), name=None)")
    expect(shown).to_contain_text("A chain of layers")
    editor.page.mouse.move(5, 5)
    expect(shown).to_have_count(0)
    editor.page.keyboard.type("nn.Dense")
    expect(popup(editor)).to_be_visible()
    editor.page.keyboard.press("Escape")
    expect(popup(editor)).to_have_count(0)
    editor.page.keyboard.press("Control+i")
    expect(shown).to_contain_text("Fully connected layer")
    editor.page.keyboard.press("Escape")
    expect(shown).to_have_count(0)


def test_the_editor_speaks_the_language_of_the_page(editor: Playground) -> None:
    page, keyboard = editor.page, editor.page.keyboard
    keyboard.type("model.add(pg.layers.Dense(3))")
    keyboard.press("Escape")
    editor.at("language-select").select_option("zh-Hans")
    content = page.locator(".cm-content").first
    expect(content).to_have_attribute("aria-label", re.compile("^Python 代码"))
    message = page.locator(".cm-tooltip-lint")

    def told(words: str) -> bool:
        return appears_at(page.locator(".cm-lintRange"), message) and words in message.inner_text()

    editor.wait(lambda: told("pg.layers.Dense 在 playgrad 中写作 nn.Dense。"))
    expect(message.get_by_role("button")).to_have_text("改为 nn.Dense")
    content.focus()
    keyboard.press("Control+f")
    expect(page.locator(".cm-search [name=search]")).to_have_attribute("placeholder", "查找")
    keyboard.press("Escape")
    editor.at("language-select").select_option("en")
    expect(content).to_have_attribute("aria-label", re.compile("^Python code"))
    editor.wait(lambda: told("pg.layers.Dense is nn.Dense in playgrad."))
