"""Blocks: the program as cards that rewrite it, most of it before Python has started."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.browser.playground import Playground

pytestmark = [pytest.mark.browser, pytest.mark.gpu]

POINTS = """
import playgrad as pg
from playgrad import nn

x, y = pg.data.spiral(200, noise=0.05)
model = pg.Sequential(
    [
        nn.Dense(16, activation="tanh"),  # hidden
        nn.Dense(2),
    ]
)
model.compile(
    optimizer=pg.optim.Adam(learning_rate=0.01),
    loss=nn.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(x, y, batch_size=50, epochs=2, verbose=0)
print("trained")
"""


@pytest.fixture(scope="module")
def opened(chromium: Browser, desk_server: str) -> Iterator[Playground]:
    """The page as soon as it shows an example; Python may still be starting."""
    page = Playground(chromium, desk_server)
    expect(page.at("example-select").locator("option").nth(1)).to_be_attached()
    yield page
    page.close()


@pytest.fixture
def blocks(opened: Playground) -> Playground:
    """Blocks of the first example, unchanged."""
    if opened.at("reset-code").is_visible():
        opened.at("reset-code").click()
        opened.at("reset-code-confirm").click()
    opened.at("example-select").select_option("mnist-mlp")
    opened.at("blocks-tab").click()
    expect(opened.at("block")).to_have_count(4)
    return opened


def code(playground: Playground) -> str:
    """The content of the editor, which may be hidden."""
    source: str = playground.page.evaluate(
        "async () => (await import('/static/js/state/store.js')).source.value"
    )
    return source


def card(playground: Playground, number: int) -> Locator:
    return playground.at("block").nth(number)


def headings(playground: Playground) -> list[str]:
    return playground.page.locator("[data-testid=block] h4").all_inner_texts()


def test_cards_show_the_program(blocks: Playground) -> None:
    assert headings(blocks) == ["Rescaling", "Flatten", "Dense", "Dense"]
    expect(card(blocks, 1)).to_contain_text("784")
    expect(card(blocks, 2)).to_contain_text("100,480 parameters")
    expect(card(blocks, 2).get_by_label("Units", exact=True)).to_have_value("128")
    expect(card(blocks, 2).get_by_label("Activation", exact=True)).to_have_value('"relu"')
    expect(blocks.at("dataset-select")).to_have_value("mnist")
    expect(blocks.at("learning-rate")).to_have_attribute("aria-valuetext", "0.003")
    expect(blocks.at("training-card").get_by_label("Batch size", exact=True)).to_have_value("64")


def test_each_card_explains_itself(blocks: Playground) -> None:
    cards = [card(blocks, number) for number in range(4)]
    for each in [*cards, blocks.at("data-card"), blocks.at("training-card")]:
        question = each.get_by_role("button", name=re.compile("^What is"))
        question.click()
        about = re.compile(r"^[A-Z].{20,}\.( Glossary)?$")
        expect(each.locator(".block-about")).to_have_text(about)
        question.click()
        expect(each.locator(".block-about")).to_have_count(0)
    card(blocks, 1).get_by_role("button", name="What is Flatten?").click()
    expect(card(blocks, 1).locator(".block-about")).to_contain_text("one")


def test_a_field_rewrites_its_literal_and_undo_restores_it(blocks: Playground) -> None:
    before = code(blocks)
    card(blocks, 2).get_by_label("Units: more").click()
    expect(card(blocks, 2).get_by_label("Units", exact=True)).to_have_value("144")
    assert code(blocks) == before.replace("nn.Dense(128,", "nn.Dense(144,")
    expect(card(blocks, 2)).to_contain_text("113,040 parameters")
    card(blocks, 3).get_by_label("Activation", exact=True).select_option('"softmax"')
    assert 'nn.Dense(10, activation="softmax"),  # a score' in code(blocks)
    for _ in range(2):
        blocks.page.keyboard.press("Control+z")
    assert code(blocks) == before
    expect(blocks.at("blocks-announcement")).to_have_text("Undone.")
    expect(card(blocks, 2).get_by_label("Units", exact=True)).to_have_value("128")


def test_a_field_explains_why_a_value_is_refused(blocks: Playground) -> None:
    before = code(blocks)
    units = card(blocks, 2).get_by_label("Units", exact=True)
    for wrong in ("abc", "0", "-5", "3.5", "1)]); x = (("):
        units.fill(wrong)
        units.press("Enter")
        why = "was not taken" if wrong[-1].isdigit() else "is not a number"
        expect(card(blocks, 2).get_by_role("alert")).to_have_text(
            f"“{wrong}” {why}: units must be a whole number of at least 1."
        )
        expect(units).to_have_value("128")
        expect(units).to_have_attribute("aria-invalid", "true")
        expect(units).to_have_accessible_description(re.compile("must be a whole number"))
    rate = blocks.at("training-card").get_by_role("textbox", name="Learning rate")
    rate.fill("0")
    rate.press("Enter")
    expect(blocks.at("training-card").get_by_role("alert")).to_have_text(
        "“0” was not taken: the learning rate must be greater than 0."
    )
    expect(rate).to_have_attribute("aria-invalid", "true")
    assert code(blocks) == before
    card(blocks, 2).get_by_label("Units: more").click()
    expect(card(blocks, 2).get_by_role("alert")).to_have_count(0)
    expect(blocks.at("training-card").get_by_role("alert")).to_have_count(0)
    expect(units).to_have_attribute("aria-invalid", "false")
    units.fill("２５６")  # as a keyboard for Chinese writes digits
    units.press("Enter")
    assert code(blocks) == before.replace("nn.Dense(128,", "nn.Dense(256,")
    rate.fill("0．01")
    rate.press("Enter")
    assert "Adam(learning_rate=0.01)" in code(blocks)


NOTE_KEYS = """() => {
  globalThis.keys = [];
  addEventListener("keydown", ({ key, defaultPrevented }) => {
    if (key.startsWith("Arrow")) keys.push(`${key}: ${defaultPrevented ? "no " : ""}scrolling`);
  });
}"""


def test_layers_are_added_moved_and_removed_by_keyboard(blocks: Playground) -> None:
    before = code(blocks)
    keyboard = blocks.page.keyboard
    blocks.at("add-block").nth(3).focus()
    keyboard.press("Enter")
    keyboard.press("ArrowDown")
    expect(blocks.page.get_by_role("menuitem", name="Activation", exact=True)).to_be_focused()
    keyboard.press("d")
    keyboard.press("Enter")
    assert headings(blocks) == ["Rescaling", "Flatten", "Dense", "Dropout", "Dense"]
    assert "\n        nn.Dropout(0.2),\n        nn.Dense(10),  # a score" in code(blocks)
    expect(blocks.at("blocks-announcement")).to_have_text("Dropout added, 4 of 5.")
    expect(card(blocks, 3).locator(".block-grip")).to_be_focused()
    blocks.page.evaluate(NOTE_KEYS)
    keyboard.press("Alt+ArrowUp")
    assert blocks.page.evaluate("keys") == ["ArrowUp: no scrolling"]
    expect(blocks.at("blocks-announcement")).to_have_text("Dropout moved, 3 of 5.")
    assert headings(blocks) == ["Rescaling", "Flatten", "Dropout", "Dense", "Dense"]
    expect(card(blocks, 2).locator(".block-grip")).to_be_focused()
    card(blocks, 2).get_by_label("Remove Dropout").press("Enter")
    assert headings(blocks) == ["Rescaling", "Flatten", "Dense", "Dense"]
    assert code(blocks) == before


def test_cards_are_dragged(blocks: Playground) -> None:
    before = code(blocks)
    grip, target = card(blocks, 2).locator(".block-grip"), card(blocks, 3)
    target.scroll_into_view_if_needed()
    start, end = grip.bounding_box(), target.bounding_box()
    assert start
    assert end
    mouse = blocks.page.mouse
    mouse.move(start["x"] + 8, start["y"] + 12)
    mouse.down()
    mouse.move(end["x"] + 20, end["y"] + end["height"] - 4, steps=5)
    expect(target).to_have_attribute("data-drop", "after")
    mouse.up()
    expect(card(blocks, 2).get_by_label("Units", exact=True)).to_have_value("10")
    changed = code(blocks)
    assert changed.index("nn.Dense(10),  # a score") < changed.index("nn.Dense(128")
    blocks.page.keyboard.press("Control+z")
    assert code(blocks) == before


def test_typing_changes_the_cards(blocks: Playground) -> None:
    blocks.at("code-tab").click()
    blocks.write(POINTS)
    blocks.at("blocks-tab").click()
    assert headings(blocks) == ["Dense", "Dense"]
    expect(blocks.at("dataset-select")).to_have_value("spiral")
    blocks.at("dataset-select").select_option("circle")
    blocks.at("data-card").get_by_label("Noise: more").click()
    assert "x, y = pg.data.circle(200, noise=0.06)" in code(blocks)
    blocks.at("code-tab").click()
    blocks.write("import playgrad as pg\nm = pg.Sequential([one, *two]")
    blocks.at("blocks-tab").click()
    expect(blocks.at("blocks-broken")).to_be_visible()
    expect(blocks.page.locator("[data-testid=block][data-type=code]")).to_have_count(2)
    blocks.at("code-tab").click()
    blocks.page.locator("[data-testid=editor] .cm-content").press("Control+z")
    assert "pg.data.circle(200, noise=0.06)" in code(blocks), "undo outlives a change of tabs"


def test_changing_the_data_adapts_the_layers_in_one_undo_step(blocks: Playground) -> None:
    blocks.at("example-select").select_option("spiral")
    expect(blocks.at("ratio-select")).to_have_value("0.8")
    before = code(blocks)
    blocks.at("ratio-select").select_option("0.5")
    assert code(blocks) == before.replace("ratio=0.8", "ratio=0.5")
    blocks.at("dataset-select").select_option("mnist")
    assert headings(blocks) == ["Rescaling", "Flatten", "Dense", "Dense", "Dense"]
    expect(blocks.page.locator(".block-problem")).to_have_count(0)
    expect(card(blocks, 4).get_by_label("Units", exact=True)).to_have_value("10")
    blocks.at("metrics").get_by_label("among the best five").check()
    assert 'metrics=["accuracy", "top_k_accuracy"]' in code(blocks)
    blocks.at("dataset-select").focus()
    for _ in range(3):
        blocks.page.keyboard.press("Control+z")
    assert code(blocks) == before
    blocks.at("example-select").select_option("mnist-cnn")
    expect(blocks.at("dataset-reason")).to_contain_text("Conv2D does not fit points")


def test_a_list_of_data_sets_is_whole_when_it_is_opened(blocks: Playground) -> None:
    """Also if the page has had no time for it before."""
    blocks.page.evaluate("() => { [idle, requestIdleCallback] = [requestIdleCallback, () => 0] }")
    try:
        blocks.at("code-tab").click()
        blocks.at("blocks-tab").click()
        offered = blocks.at("dataset-select").locator("option")
        expect(offered).to_have_count(1)
        blocks.at("dataset-select").focus()
        expect(offered).to_have_count(8)
    finally:
        blocks.page.evaluate("() => { requestIdleCallback = idle }")


def test_a_layer_that_does_not_fit_is_marked(blocks: Playground) -> None:
    card(blocks, 1).get_by_label("Remove Flatten").click()
    blocks.at("add-block").nth(1).click()
    blocks.page.get_by_role("menuitem", name="Conv2D", exact=True).click()
    expect(card(blocks, 1)).to_have_attribute("data-problem", "")
    expect(card(blocks, 1).get_by_role("alert")).to_contain_text("Its input is 28 × 28.")
    expect(card(blocks, 2)).to_contain_text("after the first run")


def test_outputs_that_differ_from_the_classes_are_mended_by_a_click(blocks: Playground) -> None:
    before = code(blocks)
    last = card(blocks, 3)
    last.get_by_label("Units: less").click()
    expect(last).to_have_attribute("data-problem", "")
    expect(last.get_by_role("alert")).to_contain_text(
        "The last layer has 9 outputs, the data has 10 classes."
    )
    last.get_by_role("button", name="Make it 10").click()
    expect(blocks.at("card-problem")).to_have_count(0)
    expect(blocks.at("blocks-announcement")).to_have_text("Make it 10: done.")
    assert code(blocks) == before
    blocks.page.keyboard.press("Control+z")
    expect(last).to_have_attribute("data-problem", "")


def test_words_explain_themselves(blocks: Playground) -> None:
    term, batch = blocks.at("term"), blocks.page.locator("#training-0-batch_size")
    expect(term).to_be_hidden()
    blocks.page.locator("#training-0-loss").focus()
    blocks.page.keyboard.press("Tab")  # to the metrics
    expect(term).to_contain_text("Metrics")
    expect(term).to_contain_text("Training does not follow it.")
    blocks.page.keyboard.press("Escape")
    expect(term).to_be_hidden()
    card(blocks, 2).locator("label", has_text="Activation").hover()
    expect(term).to_contain_text("relu: Lets positive numbers pass")
    blocks.page.keyboard.press("Escape")
    expect(term).to_be_hidden()
    batch.click()  # with a pointer it is for writing
    blocks.page.wait_for_timeout(600)
    expect(term).to_be_hidden()
    expect(batch).to_have_accessible_description(re.compile("before the weights change once"))
    activation = card(blocks, 2).get_by_label("Activation", exact=True)
    activation.select_option('"tanh"')
    expect(activation).to_have_accessible_description(re.compile("tanh: Squeezes numbers"))
    for field in blocks.page.locator("[data-testid=blocks] :is(input, select)").all():
        if not field.evaluate("field => field.closest('.block-metric')"):
            expect(field).to_have_accessible_description(re.compile(r"^.{20,}\.$", re.DOTALL))


def test_other_data_asks_for_the_settings_that_suit_it(blocks: Playground) -> None:
    blocks.at("example-select").select_option("spiral")
    blocks.at("dataset-select").select_option("mnist")
    offer = blocks.at("data-offer")
    expect(offer).to_contain_text("learning rate 0.003, batch size 64, epochs 1.")
    changed = code(blocks)
    blocks.at("data-offer-keep").click()
    expect(offer).to_have_count(0)
    expect(blocks.at("dataset-select")).to_be_focused()
    assert code(blocks) == changed
    blocks.at("dataset-select").select_option("moons")
    blocks.at("dataset-select").select_option("mnist")
    changed = code(blocks)
    blocks.at("data-offer-take").click()
    expect(offer).to_have_count(0)
    taken = code(blocks)
    assert "Adam(learning_rate=0.003)" in taken
    assert "batch_size=64," in taken
    assert "epochs=1," in taken
    blocks.at("dataset-select").select_option("fashion_mnist")
    expect(offer).to_have_count(0)
    for _ in range(2):
        blocks.page.keyboard.press("Control+z")
    assert code(blocks) == changed


def test_the_choice_of_blocks_is_remembered(blocks: Playground, desk_server: str) -> None:
    blocks.page.reload()
    expect(blocks.at("blocks-tab")).to_have_attribute("aria-selected", "true")
    expect(blocks.at("block")).to_have_count(4)
    blocks.at("blocks-tab").press("ArrowRight")
    expect(blocks.page.locator("[data-testid=editor] .cm-content")).to_be_visible()
    blocks.page.reload()
    expect(blocks.at("code-tab")).to_have_attribute("aria-selected", "true")


def test_a_run_shows_the_shapes_that_the_program_computes(blocks: Playground) -> None:
    blocks.at("code-tab").click()
    blocks.write(POINTS.replace("model.fit(x,", "model.fit(list(x) and x * (x == x),"))
    blocks.at("blocks-tab").click()
    expect(card(blocks, 0)).to_contain_text("shape after the first run")
    blocks.finish()
    expect(card(blocks, 0)).to_contain_text("48 parameters")
    expect(card(blocks, 1)).to_contain_text("34 parameters")
    card(blocks, 0).get_by_label("Units: more").click()
    expect(card(blocks, 0)).to_contain_text("shape after the first run")


def test_an_error_of_a_run_marks_its_card_and_is_mended(blocks: Playground) -> None:
    blocks.at("code-tab").click()
    blocks.write(POINTS.replace("model.fit(x, y,", "model.fit(x, list(y * 3),"))
    blocks.at("blocks-tab").click()
    blocks.at("dataset-select").focus()
    blocks.finish(state="error")
    expect(card(blocks, 1)).to_have_attribute("data-problem", "")
    expect(card(blocks, 1)).to_be_in_viewport(ratio=0.9)
    expect(card(blocks, 1).get_by_role("alert")).to_contain_text(
        "The last layer has 2 outputs, the data has 4 classes."
    )
    blocks.at("card-mend").click()
    expect(blocks.at("card-problem")).to_have_count(0)
    expect(blocks.at("error")).to_have_count(0)
    assert "nn.Dense(4),\n" in code(blocks)
    assert "trained" in blocks.finish()


def test_a_changed_network_trains_at_the_rate_of_the_slider(blocks: Playground) -> None:
    blocks.at("code-tab").click()
    blocks.write(POINTS.replace("epochs=2", "epochs=100000"))
    blocks.at("blocks-tab").click()
    card(blocks, 0).get_by_label("Units: less").click()
    blocks.start()
    blocks.expect_status("running")
    blocks.wait(lambda: blocks.steps > 20)
    sent: list[str] = []
    blocks.page.expose_function("noted", lambda message: sent.append(message))
    blocks.page.evaluate("""async () => {
        const { EngineClient } = await import("/static/js/engine/engine-client.js");
        const post = EngineClient.prototype.post;
        EngineClient.prototype.post = function (message, ...rest) {
            noted(JSON.stringify(message));
            return post.call(this, message, ...rest);
        };
    }""")
    blocks.at("learning-rate").press("Home")
    blocks.wait(lambda: any('"set_learning_rate"' in message for message in sent))
    assert sent == ['{"kind":"set_learning_rate","value":0.00001}']
    assert "pg.optim.Adam(learning_rate=0.00001)" in code(blocks)
    before = blocks.steps
    blocks.wait(lambda: blocks.steps > before)
    blocks.at("training-card").get_by_label("Epochs", exact=True).fill("3")
    blocks.at("training-card").get_by_label("Epochs", exact=True).press("Tab")
    blocks.timed("stop", "stopped")
    assert re.search(r"nn\.Dense\(15, activation", code(blocks))
    assert "trained" in blocks.finish()


def test_the_precision_is_an_argument_of_compile(blocks: Playground) -> None:
    blocks.write(POINTS)
    blocks.at("blocks-tab").click()
    precision = blocks.at("training-card").get_by_label("Precision", exact=True)
    expect(precision).to_have_value('"float32"')
    precision.select_option('"mixed"')
    assert 'precision="mixed"' in code(blocks)
    assert "trained" in blocks.finish()
    assert "mixed precision (f16)" in blocks.text("backend-badge")


def test_cards_reasons_and_titles_follow_the_language(blocks: Playground) -> None:
    problem = blocks.page.locator(".block-problem")
    example = blocks.at("example-select").locator("option:checked")
    blocks.at("add-block").last.click()
    blocks.page.get_by_role("menuitem", name="LSTM", exact=True).click()
    expect(problem).to_contain_text("LSTM takes sequences: steps and features. Its input is 10.")
    expect(example).to_have_text("Handwritten digits, a small network")
    blocks.at("language-select").select_option("zh-Hans")
    expect(problem).to_contain_text("LSTM 接收序列（步、特征），而它的输入是 10。")
    expect(example).to_have_text("手写数字，小网络")
    expect(card(blocks, 2)).to_contain_text("100,480 个参数")
    card(blocks, 2).get_by_label("单元数：增大").click()
    expect(card(blocks, 2).get_by_label("单元数", exact=True)).to_have_value("144")
    expect(blocks.at("blocks-announcement")).to_have_text("单元数：144。")
    blocks.at("language-select").select_option("en")
    expect(problem).to_contain_text("LSTM takes sequences: steps and features. Its input is 10.")
    expect(card(blocks, 2).get_by_label("Units", exact=True)).to_have_value("144")
