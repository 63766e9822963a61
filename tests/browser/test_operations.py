"""A step of one operation: the ready queue, the lights in the graph, and unchanged weights."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.playground import GOOD, Playground

pytestmark = [pytest.mark.browser, pytest.mark.gpu]


def test_a_step_is_gone_through_operation_by_operation(playground: Playground) -> None:
    page, at = playground.page, playground.at
    playground.finish(GOOD)
    before = playground.weights()
    at("step-unit").select_option("operation")
    at("step").click()
    view = at("execution-view")
    expect(view).to_be_visible()
    count = at("operation-count")
    total = int(count.inner_text().split()[-1])
    expect(count).to_have_text(f"0 of {total}")
    following = at("queue").locator("li[data-next] code")
    first = following.inner_text()
    expect(page.locator(".graph-item[data-light=ready]").first).to_be_attached()

    page.keyboard.press("F10")
    expect(count).to_have_text(f"1 of {total}")
    expect(at("operation-last").locator("h4")).to_have_text(first)
    expect(page.locator(".graph-item[data-light=current]")).to_have_count(1)
    at("operation-forward").click()
    page.keyboard.press("ArrowLeft")
    expect(count).to_have_text(f"1 of {total}")
    expect(at("operation-last").locator("h4")).to_have_text(first)
    page.keyboard.press("End")
    expect(count).to_have_text(f"{total} of {total}")
    expect(at("queue").locator("li")).to_have_count(0)
    expect(at("waiting").locator("li:not([data-fallen])")).to_have_count(0)

    at("compiler-passes").locator("summary").click()
    rows = at("compiler-passes").locator("[data-pass]")
    expect(rows.first).to_be_visible()
    said = rows.evaluate_all(
        "rows => Object.fromEntries(rows.map((row) => [row.dataset.pass, row.cells[1].innerText]))"
    )
    assert {"prune", "place", "fuse", "order"} <= said.keys()
    assert all(said.values()), said
    expect(at("fused-groups").locator("tbody tr").first).to_be_visible()
    after = playground.weights()
    assert all((after[name] == weight).all() for name, weight in before.items())
    at("operation-close").click()
    expect(view).to_have_count(0)
    expect(page.locator(".graph-item[data-light]")).to_have_count(0)
