"""A game against a network that learns it, before, while and after it trains."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.playground import Playground
from tests.browser.test_accessibility import AXE, violations_in_both_themes

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.browser, pytest.mark.gpu]

PROGRAM = """
import playgrad as pg

game = pg.games.{game}
model = pg.games.network(game, filters=4, blocks=0)
player = pg.SelfPlay(game, model, simulations=4, games=8, steps=4, batch_size=16, gate_every=0)
player.fit(generations={generations}, verbose=0)
"""
ENDS = re.compile(r"(You have won|The network has won|A draw)\.$")


@pytest.fixture(scope="module")
def desk(chromium: Browser, desk_server: str) -> Iterator[Playground]:
    playground = Playground(chromium, desk_server)
    playground.expect_status("ready")
    playground.choose_device("cpu")
    yield playground
    playground.close()


def stones(page: Playground) -> int:
    return page.at("play-board").locator("[data-stone]:not([data-pending])").count()


def your_turn(page: Playground) -> None:
    """Wait for the other side's move."""
    expect(page.at("play-state")).to_have_text(re.compile(r"Your turn|must|won\.$|draw\.$"))


def test_a_visitor_plays_by_keyboard_before_and_after_a_training(desk: Playground) -> None:
    keyboard = desk.page.keyboard
    desk.write(PROGRAM.format(game="TicTacToe()", generations=2))
    board, state = desk.at("play-board"), desk.at("play-state")
    expect(board.get_by_role("gridcell")).to_have_count(9)
    desk.at("play-cell-4").focus()
    keyboard.press("ArrowUp")
    expect(desk.at("play-cell-1")).to_be_focused()
    keyboard.press("Enter")
    expect(state).to_have_text(re.compile(r"^The other side played \w\d\. Your turn: you are X\.$"))
    assert stones(desk) == 2
    keyboard.press(" ")
    expect(state).to_have_text("You cannot play b1: the point is taken.")
    assert desk.at("play-tree").count() == 0

    desk.finish()
    expect(desk.at("play-tree")).to_be_visible()  # the game continues
    assert stones(desk) == 2
    free = board.locator("[data-open]").first
    expect(free).to_have_attribute("aria-label", re.compile(r"^\w\d: free, policy \d+ %$"))
    while not ENDS.search(state.inner_text()):
        before = stones(desk)
        board.locator("[data-open]").first.click()
        desk.wait(lambda before=before: stones(desk) > before)  # type: ignore[misc]
        your_turn(desk)
    board.get_by_role("gridcell").first.click(force=True)  # it is disabled
    expect(state).to_have_text("The game has ended: begin a new one, or undo.")


def test_the_search_is_shown_and_the_network_answers_with_its_best_move(desk: Playground) -> None:
    desk.finish(PROGRAM.format(game="TicTacToe()", generations=1))
    desk.at("play-first").click()
    desk.at("play-simulations").select_option("16")
    rows = desk.at("play-tree-row")
    for heat, mark in (
        ("visits", r"\d+ visits"),
        ("q", r"Q [+−]\.\d\d"),
        ("policy", r"policy \d+ %"),
    ):
        desk.at("play-heat").select_option(heat)
        expect(desk.at("play-board").locator("[data-sign]").first).to_have_attribute(
            "aria-label", re.compile(rf"^\w\d: free, {mark}$")
        )
    visits = [int(row) for row in rows.locator("td:nth-child(3)").all_inner_texts()]
    levels = [int(row.get_attribute("data-level") or 0) for row in rows.all()]
    first = [n for n, level in zip(visits, levels, strict=True) if level == 1]
    assert first == sorted(first, reverse=True) and sum(first) <= 16 and {1, 2} <= set(levels)
    desk.at("play-heat").select_option("none")
    expect(desk.at("play-board").locator("[data-sign]")).to_have_count(0)
    desk.at("play-unfold").first.click()
    expect(desk.page.locator("tr[data-level='2']")).to_have_count(0)

    desk.at("play-second").click()
    expect(desk.at("play-state")).to_have_text(
        re.compile(r"^The network played \w\d\. Your turn: you are O\.$")
    )
    expect(desk.at("play-undo")).to_be_disabled()  # the only move is the network's
    desk.at("play-board").locator("[data-open]").first.click()
    desk.wait(lambda: stones(desk) == 3)
    your_turn(desk)
    desk.at("play-undo").click()
    desk.wait(lambda: stones(desk) == 1)
    expect(desk.at("play-state")).to_contain_text("Your turn: you are O.")


def test_a_game_that_the_network_plays_against_itself_is_watched(desk: Playground) -> None:
    desk.finish(PROGRAM.format(game="ConnectFour()", generations=1))
    desk.at("play-simulations").select_option("0")
    desk.at("play-watch").click()
    state = desk.at("play-state")
    expect(state).to_have_text(re.compile(r"^Yellow played column \d\.$"))
    desk.at("play-hold").click()
    desk.page.wait_for_timeout(200)  # for a move that is on its way
    before = stones(desk)
    desk.page.wait_for_timeout(1200)
    assert stones(desk) == before
    desk.at("play-cell-0").click(force=True)
    expect(state).to_contain_text("The network plays both sides.")
    desk.at("play-hold").click()
    desk.wait(lambda: stones(desk) > before)
    desk.at("play-first").click()
    desk.wait(lambda: stones(desk) == 0)


def test_stones_are_captured_turned_and_passed(desk: Playground) -> None:
    """Without a network, whose moves nobody knows: the visitor's own moves on the rules' board."""
    state = desk.at("play-state")
    desk.at("reset").click()
    desk.write(PROGRAM.format(game="Othello()", generations=1))
    expect(desk.at("play-board").locator("[data-stone]")).to_have_count(4)
    desk.at("play-cell-0").click(force=True)
    expect(state).to_have_text("You cannot play a1: it encloses no stone of the other player.")
    assert stones(desk) == 4
    desk.at("play-cell-13").click()
    expect(state).to_have_text(
        re.compile(
            r"^The other side played \w\d and turned \d discs?\. Your turn: you are black\.$"
        )
    )
    assert desk.at("play-board").locator("[data-changed]").count() >= 1
    desk.write(PROGRAM.format(game="Go(size=5)", generations=1))
    desk.at("play-pass").click()
    expect(state).to_have_text(re.compile(r"^The other side (played \w\d|passed)\."))
    desk.at("play-first").click()  # a new game is asked for, too
    expect(state).to_have_text("Your turn: you are black.")
    assert stones(desk) == 0


def test_axe_finds_nothing_on_a_board(desk: Playground) -> None:
    desk.finish(PROGRAM.format(game="Go(size=5)", generations=1))
    desk.at("play-simulations").select_option("16")
    desk.at("play-first").click()
    desk.at("play-cell-12").click()
    your_turn(desk)
    expect(desk.at("play-tree")).to_be_visible()
    desk.page.evaluate(f"() => {{ {AXE.read_text(encoding='utf-8')} }}")
    assert violations_in_both_themes(desk.page) == []


@pytest.mark.slow
@pytest.mark.pyodide
def test_a_person_plays_while_the_network_trains_in_the_page(
    chromium: Browser, server: str
) -> None:
    visitor = Playground(chromium, server)
    visitor.expect_status("ready")
    visitor.choose_device("cpu")
    visitor.start(PROGRAM.format(game="TicTacToe()", generations=400))
    visitor.wait(lambda: visitor.steps > 0)
    visitor.at("play-simulations").select_option("16")
    visitor.at("play-cell-4").click()
    state = visitor.at("play-state")
    expect(state).to_have_text(re.compile(r"^The network played \w\d\. Your turn: you are X\.$"))
    expect(visitor.at("play-tree")).to_be_visible()
    assert visitor.text("status") == "running"
    policies = visitor.at("play-board").get_by_role("gridcell")
    before, steps = policies.evaluate_all(_LABELS), visitor.steps
    visitor.wait(lambda: visitor.steps > steps + 8)
    visitor.wait(lambda: policies.evaluate_all(_LABELS) != before)  # newer weights
    assert stones(visitor) == 2
    visitor.at("pause").click()  # the board answers all the same
    visitor.expect_status("paused")
    visitor.at("play-board").locator("[data-open]").first.click()
    visitor.wait(lambda: stones(visitor) >= 3)
    your_turn(visitor)
    visitor.at("stop").click()
    visitor.expect_status("stopped")
    visitor.at("play-second").click()
    expect(state).to_have_text(re.compile(r"^The network played \w\d\. Your turn: you are O\.$"))
    visitor.close()


_LABELS = "(cells) => cells.map((cell) => cell.ariaLabel)"


RATED = """
import playgrad as pg

game = pg.games.TicTacToe()
model = pg.games.network(game, filters=4, blocks=0)
player = pg.SelfPlay(
    game, model, simulations=4, games=8, steps=4, batch_size=16, gate_every=1, gate_games=4
)
player.fit(generations=4, verbose=0)
print(",".join(str(round(rating.elo)) for rating in player.ratings))
"""


def test_ratings_are_a_curve_and_runs_compare_them(desk: Playground) -> None:
    desk.finish(RATED)
    elos = desk.at("console").inner_text().strip().splitlines()[-1].split(",")
    figure = desk.page.locator(".curves figure").filter(has_text="Elo rating")
    expect(figure.locator("figcaption b")).to_have_text(elos[-1].replace("-", "−"))
    desk.at("curves-larger").click()
    desk.at("curves-as-table").check()
    cells = desk.at("elo-table").locator("tbody td")
    expect(cells).to_have_text([elo.replace("-", "−") for elo in elos])
    desk.at("curves-as-table").uncheck()
    desk.at("curves-larger").click()

    desk.at("tab-runs").click()
    shown = desk.at("run-row").first.locator("[data-label='Elo']")
    expect(shown).to_have_text(elos[-1].replace("-", "−"))
    expect(desk.page.locator(".loss-figure")).to_have_count(2)
    desk.page.reload()
    desk.expect_status("ready", "done")
    desk.at("tab-runs").click()
    expect(desk.at("run-row").first.locator("[data-label='Elo']")).to_have_text(
        elos[-1].replace("-", "−")
    )
