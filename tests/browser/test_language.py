"""The language of the page: chosen in the header, or that of the browser."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.browser.playground import GOOD, Playground
from tests.browser.test_accessibility import AXE, PHONE, violations

pytestmark = [pytest.mark.browser, pytest.mark.gpu]

ASKING = GOOD.replace("epochs=2", "epochs=100_000")
NAME_PX = 150
"""The least width of the example's menu on a phone: of that, 120 px show its name."""


@pytest.fixture(scope="module")
def chinese(chromium: Browser, desk_server: str) -> Iterator[Playground]:
    """The page in a browser whose first language is Chinese."""
    playground = Playground(chromium, desk_server, locale="zh-CN")
    yield playground
    playground.close()


def status(playground: Playground, state: str) -> Locator:
    """Wait until the status is ``state``, whatever the word for it is."""
    chip = playground.at("status")
    expect(chip).to_have_attribute("data-status", state)
    return chip


def test_another_language_applies_at_once_and_is_remembered(playground: Playground) -> None:
    page, at = playground.page, playground.at
    playground.choose_device("cpu")
    expect(at("gallery")).to_contain_text("Draw a digit")
    page.evaluate("() => { window.isSamePage = true; }")
    at("language-select").select_option("zh-Hans")
    expect(at("gallery")).to_contain_text("手写数字")
    assert page.evaluate("document.documentElement.lang") == "zh-Hans"
    at("language-select").select_option("en")
    expect(at("gallery")).to_contain_text("Draw a digit")

    playground.start(ASKING)
    status(playground, "running")
    playground.wait(lambda: playground.steps > 0)
    at("language-select").select_option("zh-Hans")
    expect(at("pause")).to_have_text("暂停")
    expect(status(playground, "running")).to_have_text("运行中")
    expect(at("status-sentence")).to_contain_text("正在 CPU 上训练")
    for test_id, text in {
        "tab-training": "观察",
        "share": "分享",
        "code-tab": "Python",
        "output-toggle": "输出",
    }.items():
        expect(at(test_id)).to_have_text(text)
    expect(page.locator(".curves h2")).to_have_text("曲线")
    steps = playground.steps
    playground.wait(lambda: playground.steps > steps)
    assert page.evaluate("window.isSamePage")
    at("stop").click()
    expect(status(playground, "stopped")).to_have_text("已停止")

    at("tab-runs").click()
    expect(at("run-row")).to_contain_text("已停止")
    page.reload()
    expect(at("run-row")).to_contain_text("已停止")
    expect(at("resume")).to_contain_text("步继续")
    assert page.evaluate("document.documentElement.lang") == "zh-Hans"


def test_a_chinese_browser_opens_in_chinese(chinese: Playground) -> None:
    page, at = chinese.page, chinese.at
    expect(status(chinese, "ready")).to_have_text("就绪")
    expect(page.get_by_role("button", name="运行", exact=True)).to_be_visible()
    expect(at("gallery")).to_contain_text("分开螺旋")
    expect(at("docs-link").first).to_have_attribute("href", re.compile("/docs/zh-hans/"))
    at("share").click()
    expect(at("share-link")).to_have_attribute("aria-label", "这个程序的链接")
    page.evaluate(f"() => {{ {AXE.read_text(encoding='utf-8')} }}")
    assert violations(page) == []
    page.keyboard.press("Escape")


def test_an_example_follows_the_language_until_it_is_changed(chinese: Playground) -> None:
    page, at = chinese.page, chinese.at
    editor, language = at("editor"), at("language-select")
    at("code-tab").click()
    at("example-select").select_option("spiral")
    expect(editor).to_contain_text("每个类别一个得分")
    expect(at("reset-code")).to_have_count(0)
    language.select_option("en")
    expect(editor).to_contain_text("a score for each class")
    expect(editor).not_to_contain_text("每个类别一个得分")
    expect(at("reset-code")).to_have_count(0)
    language.select_option("zh-Hans")
    page.evaluate(
        """async () => {
          const [{ edit }, { source }] = await Promise.all(
            ["gallery/examples", "state/store"].map((name) => import(`/static/js/${name}.js`)));
          edit(source.value.replace("0.03", "0.02"));
        }"""
    )
    language.select_option("en")
    expect(at("reset-code")).to_be_visible()
    expect(editor).to_contain_text("每个类别一个得分")
    expect(at("example-select").locator("option:checked")).to_have_text("Separate the spiral")
    at("reset-code").click()
    at("reset-code-confirm").click()
    expect(editor).to_contain_text("a score for each class")
    language.select_option("zh-Hans")
    expect(editor).to_contain_text("每个类别一个得分")
    assert (
        page.evaluate(
            "async () => Object.keys((await import('/static/js/state/store.js')).codes.value)"
        )
        == []
    )


def test_fit_prints_in_the_language_of_the_page(chinese: Playground) -> None:
    rate = "callbacks=[nn.LearningRateScheduler(lambda epoch: 0.5, verbose=1)]"
    chinese.start(GOOD.replace("verbose=0", rate) + "model.summary()\n")
    expect(status(chinese, "done")).to_have_text("已完成")
    for text in ("第 2/2 轮：loss ", "第 1 轮：学习率为 0.5", "共 23 个参数，其中 23 个可训练"):
        expect(chinese.at("console")).to_contain_text(text)


def test_errors_of_python_are_said_to_be_in_english(chinese: Playground) -> None:
    chinese.start("1 / 0")
    expect(status(chinese, "error")).to_have_text("出错")
    error = chinese.at("error")
    expect(error.locator("[lang=en]")).to_have_text("division by zero")
    expect(error).to_contain_text("错误信息是英文的")
    expect(error.locator(".error-type")).to_have_text("除以零 (ZeroDivisionError)")
    chinese.at("language-select").select_option("en")
    expect(error).to_contain_text("Traceback")
    expect(error).not_to_contain_text("in English")
    expect(error.locator(".error-type")).to_have_text("ZeroDivisionError")
    chinese.at("language-select").select_option("zh-Hans")


def test_a_phone_has_room_for_the_name_of_the_example(chinese: Playground) -> None:
    page, at = chinese.page, chinese.at
    before = page.viewport_size
    assert before
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    try:
        box = at("example-select").bounding_box()
        assert box
        assert box["width"] >= NAME_PX
        at("more").click()
        expect(at("theme-toggle")).to_be_visible()
        at("language-select").select_option("en")
        expect(at("tab-build")).to_have_text("Build")
        at("language-select").select_option("zh-Hans")
        expect(at("tab-build")).to_have_text("搭建")
        page.keyboard.press("Escape")
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    finally:
        page.set_viewport_size(before)


def test_messages_that_do_not_arrive_leave_the_page_in_english(
    chromium: Browser, desk_server: str
) -> None:
    playground = Playground(chromium, desk_server, path="/healthz", locale="zh-CN")
    page = playground.page
    page.route("**/zh-hans*.js", lambda route: route.abort())
    page.goto(desk_server)
    expect(playground.at("status-sentence")).to_contain_text("The language could not be loaded")
    assert page.evaluate("document.documentElement.lang") == "en"
    assert "still here" in playground.finish("print('still here')")
    page.unroute("**/zh-hans*.js")
    playground.at("language-select").select_option("zh-Hans")
    expect(playground.at("run")).to_have_text("运行")
    playground.forgive("Failed to load resource", "zh-hans")
    playground.close()
