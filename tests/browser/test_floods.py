"""Floods of output: the page keeps answering, and shows the first and the last part."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from tests.browser.playground import Playground
from tests.sweeps import sweep

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.browser, pytest.mark.pyodide]

STALL_MS = 5000
"""On an idle machine the page answers within 200 ms; a busy one takes far longer."""

# Records the longest time that the page's thread was not free.
_WATCH = """() => {
  window.longestStall = 0;
  let last = performance.now();
  setInterval(() => {
    const now = performance.now();
    window.longestStall = Math.max(window.longestStall, now - last - 10);
    last = now;
  }, 10);
}"""

FLOODS = {
    "one print of 100 MB": 'print("begin" + "x" * 100_000_000 + "the end")',
    "300,000 lines": 'print("begin")\nfor i in range(300_000): print(i)\nprint("the end")',
    "stderr for seconds": """
import sys, time
print("begin", file=sys.stderr)
end = time.perf_counter() + 3
while time.perf_counter() < end: sys.stderr.write("y" * 100_000)
print("\\nthe end", file=sys.stderr)
""",
    "flushed lines": """
print("begin")
for i in range(30_000): print(i, flush=True)
print("the end")
""",
    "past the streams": """
import os
print("begin")
for i in range(30_000): os.write(1, b"%d\\n" % i)
print("the end")
""",
}
OFTEN = ("flushed lines", "past the streams")


@pytest.fixture(scope="module")
def playground(chromium: Browser, server: str) -> Iterator[Playground]:
    playground = Playground(chromium, server)
    playground.expect_status("ready")
    playground.page.evaluate(_WATCH)
    yield playground
    playground.close()


@pytest.mark.survival("Floods of output")
@pytest.mark.parametrize("name", sweep(FLOODS, OFTEN))
def test_the_page_keeps_answering(name: str, playground: Playground) -> None:
    page = playground.page
    page.evaluate("window.longestStall = 0")
    output = playground.finish(FLOODS[name])
    playground.wait(lambda: "the end" in playground.text("console"))
    stall = page.evaluate("window.longestStall")
    print(f"{name}: longest stall {stall:.0f} ms")
    output = playground.text("console")
    assert "begin" in output
    missing = re.findall(r"… ([\d,]+) characters left out …", output)
    assert missing
    assert len(output) < 700_000
    assert page.locator("[data-testid=console] .console-line").count() <= 601
    assert stall < STALL_MS, f"the page did not answer for {stall:.0f} ms"


@pytest.mark.survival("Errors of errors")
def test_errors_of_errors_end_as_readable_errors(
    playground: Playground, record_property: Callable[[str, object], None]
) -> None:
    from tests.page.test_faults import PROGRAMS

    names = [
        "a chain of causes", "a cycle of causes", "__getattr__ that recurses",
        "__str__ that recurses", "lone surrogates", "a huge message", "deep recursion",
        "nested groups",
    ]  # fmt: skip
    for name in names:
        playground.finish(PROGRAMS[name], "error")
        text = playground.text("error")
        assert "Error" in text or "Exception" in text, name
        # A browser's stack is small: the program ends with its Python, and the page says why.
        assert "EngineError" not in text or "calls itself too deeply" in text, name
    playground.finish("print('still here')")
    playground.forgive("Maximum call stack size exceeded", "fatal error")
    record_property("tried", len(names))
