"""Lines that a teacher has locked stay as they are, until the learner unlocks a copy."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.browser.playground import GOOD, PASTE, Playground

pytestmark = pytest.mark.browser

LOCKED = "Locked by the author of this link."


def content_of(page: Playground) -> Locator:
    return page.page.locator("[data-testid=editor] .cm-content")


def code_of(page: Playground) -> str:
    """The whole program, not only the lines that are drawn."""
    code: str = page.page.evaluate(
        'import("/static/js/state/store.js").then(({ source }) => source.value)'
    )
    return code


def go_to_line(page: Playground, number: int) -> None:
    content_of(page).press("Control+Home")
    for _ in range(number - 1):
        page.page.keyboard.press("ArrowDown")
    page.page.keyboard.press("Home")


def test_locked_lines_stay_until_a_copy_is_unlocked(
    playground: Playground, chromium: Browser
) -> None:
    # The teacher locks the line of the network, with keys, in the Share dialog.
    playground.write(GOOD)
    lines = GOOD.strip("\n").split("\n")
    number = next(at for at, line in enumerate(lines, 1) if "Sequential" in line)
    go_to_line(playground, number)
    playground.page.keyboard.press("Shift+ArrowDown")
    playground.at("share").press("Enter")
    expect(playground.at("share-lock")).to_have_text(f"Lock line {number}")
    playground.at("share-lock").press("Enter")
    expect(playground.page.locator(".cm-locked-line")).to_have_count(1)
    field = playground.at("share-link")
    locked_in_link = """async (link) => {
      const { decode } = await import("/static/js/sharing/link.js");
      return (await decode(new URL(link || location).hash)).locked;
    }"""
    playground.wait(
        lambda: (
            bool(field.input_value())
            and playground.page.evaluate(locked_in_link, field.input_value()) == [[number, number]]
        )
    )
    link = field.input_value()
    playground.page.keyboard.press("Escape")
    go_to_line(playground, number)
    playground.page.keyboard.type("# ")
    assert "# " in code_of(playground), "the teacher can change it"

    learner = Playground(chromium, link, path="")
    expect(learner.at("shared-locked")).to_have_text(f"Line {number} is locked by its author.")
    code = code_of(learner)
    assert code == GOOD.strip("\n")
    lock = learner.page.locator(".cm-lock-gutter [role=img]")
    expect(lock).to_have_attribute(
        "aria-label", f"Line {number}: locked by the author of this link"
    )

    # Typing, pasting over everything, deleting across it, and undo.
    go_to_line(learner, number)
    learner.page.keyboard.type("x")
    expect(learner.at("lock-reason")).to_contain_text(LOCKED)
    expect(learner.at("status-sentence")).to_contain_text(LOCKED)
    assert code_of(learner) == code
    learner.page.keyboard.press("Control+a")
    content_of(learner).evaluate(PASTE, "nothing")
    learner.page.keyboard.press("Delete")
    assert code_of(learner) == code
    content_of(learner).press("Control+Home")
    learner.page.keyboard.type("# mine\n")
    assert code_of(learner) == f"# mine\n{code}"
    for _ in range(9):
        learner.page.keyboard.press("Control+z")
    assert code_of(learner) == code
    learner.page.keyboard.type("# mine\n")

    # Blocks shows the card, and has no way to change it.
    learner.at("blocks-tab").click()
    card = learner.page.locator("[data-testid=block][data-locked]").first
    expect(card.get_by_test_id("lock-mark")).to_have_accessible_name(LOCKED)
    expect(card.get_by_label("Units", exact=True)).to_be_disabled()
    expect(card.get_by_label("Remove Dense")).to_have_count(0)
    learner.at("add-block").first.click()
    learner.page.get_by_role("menuitem", name="Dropout", exact=True).click()
    expect(learner.at("status-sentence")).to_contain_text(LOCKED)
    assert code_of(learner) == f"# mine\n{code}"

    # After a reload it is locked still, where it has moved to.
    learner.page.reload()
    learner.at("code-tab").click()
    expect(lock).to_have_attribute(
        "aria-label", f"Line {number + 1}: locked by the author of this link"
    )
    go_to_line(learner, number + 1)
    learner.page.keyboard.press("Shift+ArrowDown")
    learner.page.keyboard.press("Delete")
    assert code_of(learner) == f"# mine\n{code}"

    learner.at("unlock-copy").click()
    expect(lock).to_have_count(0)
    content_of(learner).press("Delete")
    assert "Sequential" not in code_of(learner)
    learner.close()
