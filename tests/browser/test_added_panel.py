"""A panel is a folder: a new one appears in the page, and nothing else has changed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.playground import Playground
from tests.browser.versions import VersionedServer

pytestmark = pytest.mark.browser

SCRIPT = """
import { html } from "../../../vendor/preact.js";
import { language } from "../../words/locale.js";
import { register } from "../panels.js";

const TITLES = { en: "Clock", "zh-Hans": "时钟" };

register({
  name: "clock", order: 25, outline: "M2 2h12v12H2z",
  title: () => TITLES[language.value], Panel: () => html`<p class="clock">12:00</p>`,
});
"""
STYLE = ".clock { color: rgb(1, 2, 3); }"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server with one more folder."""
    server = VersionedServer(tmp_path_factory.mktemp("added"))
    folder = server.static / "js" / "panels" / "clock"
    folder.mkdir()
    (folder / "panel.js").write_text(SCRIPT, encoding="utf-8")
    (folder / "clock.css").write_text(STYLE, encoding="utf-8")
    yield server.address
    server.stop()


def test_an_added_panel_has_a_tab_a_style_and_a_place_in_links(
    chromium: Browser, address: str
) -> None:
    opened = Playground(chromium, address)
    tabs = opened.page.get_by_role("tablist", name="Views").get_by_role("tab")
    expect(tabs).to_have_text(["Watch", "Inspect", "Clock", "Graph", "Runs", "Shrink", "Lab"])
    opened.at("tab-clock").click()
    shown = opened.page.get_by_role("tabpanel", name="Clock").get_by_text("12:00")
    expect(shown).to_have_css("color", "rgb(1, 2, 3)")

    opened.at("language-select").select_option("zh-Hans")
    expect(opened.at("tab-clock")).to_have_text("时钟")
    opened.at("language-select").select_option("en")

    opened.at("share").click()
    opened.at("share-hide-graph").check()
    for hidden, left in (
        ("inspect", ["Watch", "Clock", "Runs", "Shrink", "Lab"]),
        ("clock", ["Watch", "Runs", "Shrink", "Lab"]),
    ):
        opened.at(f"share-hide-{hidden}").check()
        pupil = Playground(chromium, _link_without(opened, hidden), path="")
        expect(pupil.page.get_by_role("tablist", name="Views").get_by_role("tab")).to_have_text(
            left
        )
        expect(pupil.page.get_by_text("12:00")).to_be_visible(visible=hidden != "clock")
        pupil.close()
    opened.close()


def _link_without(playground: Playground, part: str) -> str:
    """Return the link of the open menu as soon as it hides a part."""
    hides = """async ([link, part]) => {
      if (!link) return false;
      const { decode } = await import("/static/js/sharing/link.js");
      return (await decode(new URL(link).hash)).hidden.includes(part);
    }"""
    field = playground.at("share-link")
    playground.wait(lambda: playground.page.evaluate(hides, [field.input_value(), part]))
    return field.input_value()


def test_an_added_panel_is_behind_more_on_a_phone(chromium: Browser, address: str) -> None:
    opened = Playground(chromium, address, viewport={"width": 390, "height": 844}, has_touch=True)
    opened.at("tab-more").click()
    opened.at("tab-clock").click()
    expect(opened.page.get_by_text("12:00")).to_be_visible()
    expect(opened.at("tab-more")).to_have_text("Clock")
    opened.close()
