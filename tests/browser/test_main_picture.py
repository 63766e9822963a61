"""What a visitor came for stands first in Watch, whole, and stays where it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.playground import Playground

if TYPE_CHECKING:
    from playwright.sync_api import Browser

LAPTOP = {"width": 1366, "height": 768}
PHONE = {"width": 390, "height": 844}

# Digits, and points of a plane: 400 steps, the first of which can be seen.
PROGRAM = """
import numpy as np
import playgrad as pg
from playgrad import nn

rng = np.random.default_rng(0)
{data}
model = pg.Sequential([nn.Flatten(), nn.Dense(8, activation="relu"), nn.Dense({classes})])
model.compile(
    optimizer=pg.optim.SGD(learning_rate=0.1),
    loss=nn.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(x, y, batch_size=16, epochs=100, verbose=0, validation_data=(x, y))
"""
DIGITS = PROGRAM.format(
    data="""x = rng.uniform(size=(64, 28, 28)).astype(np.float32)  # like mnist
y = rng.integers(0, 10, size=64).astype(np.int32)""",
    classes=10,
)
PLANE = PROGRAM.format(
    data="""x = rng.normal(size=(64, 2)).astype(np.float32)
y = (x[:, 0] > 0).astype(np.int32)""",
    classes=2,
)
BOARD = """
import numpy as np
import playgrad as pg
from playgrad import nn

LINES = [[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6]]
rng = np.random.default_rng(0)
x = rng.integers(0, 2, size=(64, 18)).astype(np.float32)
model = pg.Sequential([nn.Dense(8, "tanh"), nn.Dense(1)])
model.compile(optimizer=pg.optim.SGD(0.1), loss=nn.MeanSquaredError(), metrics=["mae"])
y = x[:, 3:4] - x[:, 12:13]  # the first cell of the second row is worth having
model.fit(x, y, batch_size=16, epochs=100, verbose=0, validation_data=(x, y))
"""
GAME = """
import playgrad as pg

game = pg.games.Go(size=5)
model = pg.games.network(game, filters=2, blocks=0)
player = pg.SelfPlay(game, model, simulations=1, games=1, steps=100, batch_size=4, gate_every=0)
player.fit(generations=4)
"""
PLAYING = ("first", "second", "watch", "undo", "pass", "simulations", "heat")
PICTURE = {DIGITS: "digit-canvas", PLANE: "boundary", BOARD: "board", GAME: "play-board"}

# The places of what can be seen and touched, beside the program; by name.
_PLACES = """() => {
  const touched = "canvas, button, input, select, textarea, .stage, .curves";
  const all = [".header", ".transport", ".watch", ".phone-bar"].flatMap((part) => [
    ...document.querySelectorAll(`${part} :is(${touched})`)
  ]);
  const name = (each) =>
    each.closest(".main-command") ? "main" : each.dataset.testid || each.id || each.className;
  const place = ({ x, y, width, height }) => [x, y, width, height].map(Math.round);
  return Object.fromEntries(all.filter((each) => each.checkVisibility())
    .map((each) => [name(each), place(each.getBoundingClientRect())]));
}"""


@pytest.fixture(scope="module")
def desk(chromium: Browser, desk_server: str) -> Iterator[Playground]:
    playground = Playground(chromium, desk_server)
    playground.expect_status("ready")
    playground.choose_device("cpu")
    yield playground
    playground.close()


PROGRAMS = pytest.mark.parametrize("program", PICTURE, ids=["digits", "plane", "board", "game"])


@pytest.fixture(scope="module")
def laptop(chromium: Browser, desk_server: str) -> Iterator[Playground]:
    visitor = Playground(chromium, desk_server, viewport=LAPTOP)
    visitor.choose_device("cpu")
    yield visitor
    visitor.close()


@PROGRAMS
def test_nothing_moves_during_a_run(laptop: Playground, program: str) -> None:
    """The picture is whole on the screen before, while and after the network trains."""
    if laptop.text("status") == "done":
        laptop.at("reset").click()
    laptop.write(program)
    expect_nothing_moves(laptop, PICTURE[program])


@PROGRAMS
def test_nothing_moves_on_a_phone(chromium: Browser, desk_server: str, program: str) -> None:
    """In a page of its own: the first run makes room for the curves."""
    phone = Playground(chromium, desk_server, viewport=PHONE)
    phone.choose_device("cpu")
    phone.at("tab-build").click()
    phone.write(program)
    phone.at("tab-training").click()
    expect_nothing_moves(phone, PICTURE[program])
    phone.close()


def expect_nothing_moves(visitor: Playground, picture: str) -> None:
    visitor.expect_status("ready")
    visitor.wait_until_at_rest()
    places = [visitor.page.evaluate(_PLACES)]
    visitor.start()
    visitor.wait(lambda: visitor.steps > 20)
    places.append(visitor.page.evaluate(_PLACES))
    visitor.expect_status("done")
    expect(visitor.at(picture)).to_be_in_viewport(ratio=1)
    visitor.wait_until_at_rest()
    places.append(visitor.page.evaluate(_PLACES))
    first, *later = places
    assert {"main", "stage", "panel curves"} <= first.keys()
    for each in later:
        both = first.keys() & each.keys()  # a notice comes and goes
        assert {name: each[name] for name in both} == {name: first[name] for name in both}


# The buttons of the program and of its output; by name.
_WRITE = """() => Object.fromEntries([...document.querySelectorAll(".write button[data-testid]")]
  .filter((each) => each.checkVisibility())
  .map((each) => [each.dataset.testid, each.getBoundingClientRect()])
  .map(([name, { x, y }]) => [name, [x, y].map(Math.round)]))"""


def test_a_visitor_plays_against_the_network(desk: Playground) -> None:
    """By keyboard, against chance before there is a network, and then against what it learns."""
    desk.write(BOARD)
    board, state = desk.at("board"), desk.at("board-state")
    stones = board.locator("[data-stone]")
    expect(state).to_have_text("Your turn: you are X.")
    desk.at("cell-4").focus()
    desk.page.keyboard.press("Enter")
    expect(stones).to_have_count(2)
    expect(state).to_contain_text("at random")
    desk.page.keyboard.press("ArrowUp")
    expect(desk.at("cell-1")).to_be_focused()
    desk.at("board-it-begins").click()
    expect(stones).to_have_count(1)

    desk.finish()
    expect(state).to_contain_text("you are O")  # the game continues
    rated = re.compile(r"row 2, column 1: free, rated [+−]\d\.\d\d for you")
    desk.at("board-you-begin").click()
    expect(desk.at("cell-3")).to_have_attribute("aria-label", rated)
    ratings = [float(each.replace("−", "-")) for each in board.locator(".rating").all_inner_texts()]
    assert ratings.index(max(ratings)) == 3
    desk.at("board-it-begins").click()
    expect(desk.at("cell-3")).to_have_attribute("data-stone", "X")  # its own best move
    expect(state).to_have_text("The network moved to row 2, column 1. Your turn: you are O.")
    for _ in range(4):  # to the end
        if "Your turn" in state.inner_text():
            before = stones.count()
            board.locator(".cell:not([aria-disabled])").first.click()
            desk.wait(lambda before=before: stones.count() > before)  # type: ignore[misc]
            expect(state).not_to_contain_text("choosing")
    expect(state).to_have_text(re.compile(r"^(You have|The network has) won\.$|^A draw\.$"))
    expect(desk.at("picture-choice").locator("option")).to_have_text(
        ["Play the network", "Predicted against true", "Hardest samples", "Graph"]
    )


def test_what_is_printed_moves_no_button(desk: Playground) -> None:
    """One line stands beside the title; more unfold away from the buttons."""
    visitor = desk
    visitor.finish("x = 1")
    visitor.wait_until_at_rest()
    before = visitor.page.evaluate(_WRITE)
    assert {"output-toggle", "output-clear"} <= before.keys()
    for printed, unfolds in (("print(1)", False), ("print(1); print(2)", True)):
        visitor.finish(printed)
        expect(visitor.at("console")).to_be_visible(visible=unfolds)
        visitor.wait_until_at_rest()
        after = visitor.page.evaluate(_WRITE)
        assert after == after | before


# The titles of the panels in Watch: in the order of the document, and from top to bottom.
_TITLES = """() => {
  const all = [...document.querySelectorAll(".view .panel h2")];
  const titles = all.filter((each) => each.checkVisibility());
  const texts = (list) => list.map(({ textContent }) => textContent);
  const top = (each) => each.getBoundingClientRect().top;
  return [texts(titles), texts([...titles].sort((a, b) => top(a) - top(b)))];
}"""


def test_the_result_comes_first_at_each_width(desk: Playground) -> None:
    """Before a run, too: below it are the curves, then the weights."""
    page, before = desk.page, desk.page.viewport_size
    assert before
    desk.at("example-select").select_option("spiral")
    try:
        for width in (360, 390, 768, 1024, 1440, 1920):
            page.set_viewport_size({"width": width, "height": 800})
            desk.at("tab-training").click()
            in_document, in_sight = page.evaluate(_TITLES)
            assert in_document == in_sight == ["What the network does", "Curves", "Weights"], width
    finally:
        page.set_viewport_size(before)


def test_a_click_on_a_curve_looks_back(desk: Playground) -> None:
    desk.finish(PLANE)
    slider = desk.at("checkpoint-slider")
    last = int(slider.input_value())
    chart = desk.page.locator(".curves .chart .u-over").first
    box = chart.bounding_box()
    assert box
    chart.click(position={"x": box["width"] / 2, "y": box["height"] / 2})
    expect(slider).not_to_have_value(str(last))
    expect(desk.at("branch")).to_be_enabled()
    slider.press("End")
    expect(desk.at("branch")).to_be_disabled()


# The places of what stands around the main picture.
_AROUND = """() => [".stage", ".picture-choice", ".curves", ".curves canvas", ".main-command"]
  .map((each) => document.querySelector(each).getBoundingClientRect())
  .map(({ x, y, height }) => [x, y, height].map(Math.round))"""


@pytest.mark.parametrize("size", [LAPTOP, PHONE], ids=["laptop", "phone"])
def test_a_visitor_chooses_the_main_picture(
    chromium: Browser, desk_server: str, size: dict[str, int]
) -> None:
    """By keyboard, too. It stays through a run, a reload and a link; nothing around it moves."""
    visitor = Playground(chromium, desk_server, viewport=size)
    visitor.choose_device("cpu")
    if size is PHONE:
        visitor.at("tab-build").click()
    visitor.write(PLANE)
    visitor.at("tab-training").click()
    visitor.finish()
    choice, stage = visitor.at("picture-choice"), visitor.at("stage")
    options = choice.locator("option")
    expect(options).to_have_text(
        ["Decision boundary", "Confusion matrix", "Hardest samples", "Graph"]
    )
    visitor.wait_until_at_rest()
    before = visitor.page.evaluate(_AROUND)
    for name, shown in (
        ("graph", "graph-view"),
        ("hardest", "hardest"),
        ("confusion", "confusion-matrix"),
    ):
        choice.select_option(name)
        expect(visitor.at(shown)).to_be_visible()
        expect(choice).to_be_focused()
        visitor.wait_until_at_rest()
        assert visitor.page.evaluate(_AROUND) == before, name

    visitor.start()
    visitor.wait(lambda: visitor.steps > 20)
    expect(visitor.at("confusion-matrix")).to_be_visible()
    assert visitor.page.evaluate(_AROUND) == before
    visitor.expect_status("done")
    visitor.at("share").click()
    expect(visitor.at("share-link")).to_have_value(re.compile("#program="))
    link = visitor.at("share-link").input_value()
    visitor.page.keyboard.press("Escape")
    visitor.wait(lambda: bool(visitor.page.evaluate(_IS_SAVED)))
    visitor.page.reload()
    if size is PHONE:
        visitor.at("tab-training").click()
    expect(stage).to_have_attribute("data-picture", "confusion")
    choice.select_option("task")  # the data of the program is gone
    expect(stage).to_have_attribute("data-picture", "task")
    visitor.close()

    pupil = Playground(chromium, desk_server, path=link.removeprefix(desk_server), viewport=size)
    expect(pupil.at("stage")).to_have_attribute("data-picture", "confusion")
    if size is PHONE:
        pupil.at("tab-training").click()
    expect(pupil.at("task").locator(".task-hint")).to_contain_text("Press Run")
    pupil.finish()
    expect(pupil.at("confusion-matrix")).to_be_visible()
    pupil.close()


_IS_SAVED = """async () => (await import("/static/js/session/session.js")).isSaved()"""


def test_the_bar_names_the_number_to_tell_a_friend(desk: Playground) -> None:
    """Test accuracy, else test loss, else the last batch's; pointer and focus show the others."""
    headline, others = desk.at("headline"), desk.page.locator(".transport .headline-others")
    name = desk.page.locator(".transport .headline > dt")
    before = headline.bounding_box()
    metrics, validation = '    metrics=["accuracy"],\n', ", validation_data=(x, y)"
    for left_out, shown in (
        ([], "Test accuracy"),
        ([metrics], "Test loss"),
        ([validation], "Batch accuracy"),
        ([metrics, validation], "Batch loss"),
    ):
        program = PLANE.replace("epochs=100", "epochs=3")
        for part in left_out:
            program = program.replace(part, "")
        desk.finish(program)
        expect(name).to_have_text(shown)
        now = headline.bounding_box()
        assert before and now and (now["x"], now["y"]) == (before["x"], before["y"]), shown
    expect(desk.at("loss")).not_to_be_in_viewport(ratio=0.9)
    headline.focus()
    for each in ("test-accuracy", "test-loss", "batch-accuracy", "loss"):
        expect(others.get_by_test_id(each)).to_be_in_viewport(ratio=1)
    headline.press("Escape")
    expect(others).to_have_css("clip-path", "inset(50%)")
    headline.hover()
    expect(others).to_have_css("clip-path", "none")
    desk.page.mouse.move(0, 0)


# The address of a frame with a program.
_EMBED = """async ([code, view]) => {
  const { encode } = await import("/static/js/sharing/link.js");
  const shared = { version: 1, exampleId: "spiral", title: "A lesson", code, device: "cpu", view,
    lab: null, expected: null };
  return `/embed${await encode(shared)}`;
}"""


@PROGRAMS
def test_a_frame_shows_the_picture_run_and_one_curve(
    desk: Playground, chromium: Browser, desk_server: str, program: str
) -> None:
    """In a low frame, and in a higher one."""
    address = desk.page.evaluate(_EMBED, [program, "training"])
    size = {"width": 640, "height": 480}
    frame = Playground(chromium, desk_server, path=address, viewport=size)
    page = frame.page
    frame.expect_status("ready")
    visible = [each for each in page.locator("button, select, a").all() if each.is_visible()]
    names = {each.get_attribute("data-testid") for each in visible}
    acts = {
        DIGITS: {"digit-clear"},
        BOARD: {*(f"cell-{at}" for at in range(9)), "board-you-begin", "board-it-begins"},
        GAME: {f"play-{each}" for each in PLAYING},
    }
    assert names == {"run", "embed-program", "embed-open"} | acts.get(program, set())
    frame.at("run").click()
    frame.expect_status("done")
    for height in (480, 640):
        page.set_viewport_size({"width": 640, "height": height})
        frame.wait_until_at_rest()
        for shown in (PICTURE[program], "headline", "run"):
            expect(frame.at(shown)).to_be_in_viewport(ratio=1)
        expect(page.locator(".chart")).to_have_count(1)
        expect(page.locator(".chart")).to_be_in_viewport(ratio=1)
        assert page.evaluate("document.documentElement.scrollHeight") <= height

    frame.at("embed-program").click()
    expect(page.locator("[data-testid=editor] .cm-content")).to_contain_text("model = pg.")
    frame.at("embed-program").click()
    expect(page.locator("[data-testid=editor] .cm-content")).to_have_count(0)
    frame.close()
