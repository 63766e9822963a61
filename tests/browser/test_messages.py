"""Each message that a visitor can meet is readable in light and dark, on a laptop and a phone.

The pictures are in ``var/messages``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.message_scenes import PICTURES, SCENES, visit

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator

    from tests.browser.sessions import Visit

pytestmark = [pytest.mark.browser, pytest.mark.pyodide, pytest.mark.gpu, pytest.mark.slow]

CLIPPED = """({ scrollHeight, scrollWidth, clientHeight, clientWidth }) =>
  scrollHeight > clientHeight + 2 || scrollWidth > clientWidth + 2"""
SIZES = {"laptop": {"width": 1366, "height": 768}, "phone": {"width": 390, "height": 844}}


def reach(visitor: Visit, message: Locator) -> None:
    """Open what holds a message: a phone's menu, or the rest of a long sentence."""
    visitor.page.wait_for_timeout(100)
    if not message.count():
        visitor.at("more").click()
    more = visitor.at("status-more")
    if more.count() and more.get_attribute("aria-expanded") == "false":
        more.click()


@pytest.mark.parametrize("name", SCENES)
def test_each_message_is_readable(chromium: Browser, server: str, name: str) -> None:
    scene, words = SCENES[name]
    with visit(chromium, server, name) as visitor:
        message = scene(visitor)
        expect(message).to_contain_text(words)
        page = visitor.page
        for device, size in SIZES.items():
            page.set_viewport_size(size)  # type: ignore[arg-type]
            reach(visitor, message)
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
                message.scroll_into_view_if_needed()
                expect(message).to_be_in_viewport()
                box = message.bounding_box()
                assert box and box["x"] >= 0 and box["x"] + box["width"] <= size["width"], device
                clipped = message.evaluate(CLIPPED)
                assert not clipped, f"the message is cut on a {device}"
                wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
                assert wide <= 0, f"the page is {wide} pixels too wide on a {device}"
                PICTURES.mkdir(parents=True, exist_ok=True)
                stem = re.sub(r"\W+", "-", name.lower())
                page.screenshot(path=PICTURES / f"{stem}-{device}-{scheme}.png")
