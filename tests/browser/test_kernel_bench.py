"""The kernel bench: other WGSL for a kernel of the training step, checked and timed."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.playground import GOOD, PASTE, Playground
from tests.sweeps import slow

pytestmark = [pytest.mark.browser, pytest.mark.gpu]

LOSSES = 'print("losses", [float(x).hex() for x in model.history.losses])'


@pytest.fixture(scope="module")
def bench(chromium: Browser, desk_server: str) -> Iterator[Playground]:
    """The bench of the product of the first layer, in a page that has trained on the GPU."""
    playground = Playground(chromium, desk_server)
    playground.choose_device("gpu")
    playground.finish(f"{GOOD}\n{LOSSES}")
    playground.at("tab-graph").click()
    open_bench(playground)
    yield playground
    playground.close()


def open_kernel(page: Playground) -> None:
    search = page.at("graph-search")
    search.fill("dense_1/matmul_1")
    search.press("Enter")
    page.at("node-kernel").click()


def open_bench(page: Playground) -> None:
    open_kernel(page)
    page.at("open-kernel-bench").click()
    editor = page.at("kernel-bench").get_by_test_id("kernel-editor")
    expect(editor).to_be_visible()


def edit(page: Playground, before: str, after: str) -> None:
    """Type the compiler's kernel into the editor, with ``before`` replaced by ``after``."""
    text: str = page.page.evaluate(
        """async () => {
          const { kernelBench } = await import("/static/js/engine/questions.js");
          return (await kernelBench("dense_1/matmul_1", "open")).opened.kernels[0];
        }"""
    )
    assert text.count(before) >= 1
    content = page.at("kernel-editor").locator(".cm-content")
    content.click()
    page.page.keyboard.press("ControlOrMeta+A")
    content.evaluate(PASTE, text.replace(before, after, 1))


def test_the_compilers_kernel_passes(bench: Playground) -> None:
    bench.at("kernel-check").click()
    report = bench.at("kernel-report")
    expect(report).to_contain_text("Its results equal NumPy's")
    expect(report).to_have_attribute("data-passed", "")
    expect(bench.at("kernel-back")).to_be_disabled()


def test_an_error_of_the_compiler_marks_its_line(bench: Playground) -> None:
    edit(bench, "const ROWS", "const const ROWS")
    bench.at("kernel-check").click()
    problem = bench.at("kernel-problem")
    expect(problem).to_be_visible()
    number = re.search(r"line (\d+)", problem.inner_text())
    assert number, problem.inner_text()
    marked = bench.at("kernel-editor").locator(".cm-lintRange-error")
    expect(marked.first).to_contain_text("const const ROWS")
    bench.at("kernel-back").click()
    expect(problem).to_have_count(0)
    expect(marked).to_have_count(0)


def test_a_wrong_kernel_is_detected_and_one_click_restores_it(bench: Playground) -> None:
    edit(bench, "const DEPTH = 4u", "const DEPTH = 3u")
    bench.at("kernel-check").click()
    report = bench.at("kernel-report")
    expect(report).to_contain_text("It computes something else")
    expect(report).to_contain_text("Inputs of the first batch: the result:")
    bench.at("kernel-back").click()
    bench.at("kernel-check").click()
    expect(report).to_contain_text("Its results equal NumPy's")


def test_a_loop_without_an_exit_does_not_compile(bench: Playground) -> None:
    """The bounds on the loops of a kernel for the check must not make it valid."""
    edit(bench, "let row ", "loop { } let row ")
    bench.at("kernel-check").click()
    expect(bench.at("kernel-problem")).to_contain_text("loop")
    bench.at("kernel-back").click()


def test_an_endless_loop_does_not_stop_the_page(bench: Playground) -> None:
    edit(bench, "let row ", "while (true) { } let row ")
    bench.at("kernel-check").click()
    report = bench.at("kernel-report")
    expect(report).to_contain_text("It computes something else")
    bench.at("kernel-time").click()
    problem = bench.at("kernel-problem")
    expect(problem).to_contain_text("the kernel was not timed")
    bench.finish()
    open_bench(bench)
    expect(bench.at("kernel-back")).to_be_enabled()  # what was edited is there
    bench.at("kernel-back").click()
    bench.at("kernel-check").click()
    expect(report).to_contain_text("Its results equal NumPy's")


def test_both_kernels_are_timed_beside_the_limit(bench: Playground) -> None:
    edit(bench, "const ROWS", "// the same\nconst ROWS")
    bench.at("kernel-time").click()
    times = bench.at("kernel-times")
    expect(times).to_be_visible()
    rows = [row.split() for row in times.locator("tr").all_inner_texts()]
    assert [row[0] for row in rows] == ["compiler's", "edited", "limit"]
    before, after, limit = (float(row[1]) for row in rows)
    assert before > 0 and after > 0 and limit > 0
    expect(times).to_contain_text("times as long")
    bench.at("kernel-back").click()


def test_the_training_is_untouched(bench: Playground) -> None:
    """The same program trains with the same losses, to the bit, after all of that."""
    edit(bench, "const DEPTH = 4u", "const DEPTH = 3u")
    bench.at("kernel-check").click()
    expect(bench.at("kernel-report")).to_contain_text("something else")
    first = re.search(r"losses .*", bench.text("console"))
    bench.finish()
    second = re.search(r"losses .*", bench.text("console"))
    assert first and second and first[0] == second[0]


def test_the_tab_shows_the_kernels_share_of_the_limit(bench: Playground) -> None:
    """Time, limit and share agree; and measuring leaves no bench open."""
    open_kernel(bench)
    bench.at("measure-limit").click()
    times = bench.at("kernel-limit").get_by_test_id("kernel-times")
    expect(times).to_be_visible()
    rows = [row.split() for row in times.locator("tr").all_inner_texts()]
    assert [row[0] for row in rows] == ["compiler's", "limit"]
    seconds, limit = (float(row[1]) * {"µs": 1, "ms": 1e3}[row[2]] for row in rows)
    assert times.locator(".kernel-share").first.inner_text().endswith("% of the limit")
    share = float(times.locator(".kernel-share").first.inner_text().split("%")[0])
    assert share == pytest.approx(100 * limit / seconds, abs=1)


SESSION = """
import numpy as np
import playgrad as pg

x = pg.placeholder("float32", (None, 3), name="x")
w = pg.Variable([[1.0], [2.0], [-3.0]], name="w")
score = pg.matmul(x, w, name="score")
loss = pg.reduce_mean(pg.square(score), name="loss")
(slope,) = pg.gradients(loss, [w])
update = w.assign_sub(0.1 * slope)
points = np.arange(12, dtype=np.float32).reshape(4, 3) / 7
"""
RUNS = """
for step in range(3):
    session.run([loss, update], {x: points})
print("scores", session.run(score, {x: points}).tobytes().hex())
"""


@pytest.mark.parametrize("closes", [True, *slow(False)])
def test_a_kernel_of_a_programs_own_run_is_edited_checked_and_timed(
    bench: Playground, closes: bool
) -> None:
    opened = (
        "with pg.Session(device='gpu') as session:\n    "
        if closes
        else ("session = pg.Session(device='gpu')\n")
    )
    runs = RUNS.strip("\n").replace("\n", "\n    ") if closes else RUNS
    program = SESSION + opened + runs
    first = bench.finish(program)
    bench.at("tab-graph").click()
    search = bench.at("graph-search")
    search.fill("score")
    search.press("Enter")
    bench.at("node-kernel").click()
    bench.at("open-kernel-bench").click()
    place = bench.at("kernel-bench")
    expect(place).to_contain_text("the inputs of the last run that needs it")
    bench.at("kernel-check").click()
    report = bench.at("kernel-report")
    expect(report).to_contain_text("Its results equal NumPy's")

    content = bench.at("kernel-editor").locator(".cm-content")
    text: str = bench.page.evaluate(
        """async () => {
          const { kernelBench } = await import("/static/js/engine/questions.js");
          return (await kernelBench("score", "open")).opened.kernels[0];
        }"""
    )
    assert "const DEPTH = 3u" in text
    for before, after in (("const DEPTH = 3u", "const DEPTH = 2u"), ("const ROWS", "\nconst ROWS")):
        content.click()
        bench.page.keyboard.press("ControlOrMeta+A")
        content.evaluate(PASTE, text.replace(before, after, 1))
        bench.at("kernel-check").click()
        if "2u" in after:
            expect(report).to_contain_text("It computes something else")
            expect(report).to_contain_text("Inputs of the last run: the result:")
            bench.at("kernel-back").click()
            expect(bench.at("kernel-back")).to_be_disabled()
    bench.at("kernel-time").click()
    times = bench.at("kernel-times")
    expect(times).to_be_visible()
    rows = [row.split()[0] for row in times.locator("tr").all_inner_texts()]
    assert rows == ["compiler's", "edited", "limit"]
    bench.at("kernel-back").click()
    assert bench.finish(program) == first
