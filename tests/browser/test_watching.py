"""A real training is watched from another process, in the page, which cannot change it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.playground import Playground
from tests.browser.test_accessibility import AXE, violations_in_both_themes
from tests.cli.processes import running
from tests.cli.test_watch import gated, invitation

pytestmark = pytest.mark.browser


def address_of(process: subprocess.Popen[bytes]) -> str:
    """Return the address that `playgrad watch` prints, without its path."""
    assert process.stdout
    found = re.search(r"(http://\S+)/watch ", process.stdout.readline().decode())
    assert found, "the server did not print its address"
    return found[1]


def is_read_only(page: Page, program: Path) -> None:
    for command in ("run", "pause", "step", "stop", "reset"):
        button = page.get_by_test_id(command)
        if button.count():
            expect(button).to_be_disabled()
            expect(button).to_have_attribute("title", re.compile("^Read only: .* on "))
    editor = page.get_by_test_id("editor")
    expect(editor).to_contain_text("four inputs")
    editor.locator(".cm-content").click()
    page.keyboard.type("x")
    page.keyboard.press("Control+Enter")
    shown = page.evaluate("async () => (await import('/static/js/state/store.js')).source.value")
    assert shown == program.read_text()
    tabs = page.get_by_role("tab").all_text_contents()
    assert tabs == ["Watch", "Runs", "Lab"]


def test_a_training_is_watched_to_its_end_and_the_next_one_until_it_is_lost(
    chromium: Browser, tmp_path: Path
) -> None:
    program, gate = gated(tmp_path)
    token = tmp_path / "token"
    token.write_text("0123456789abcdef\n")
    command = ["train", str(program), "--device", "cpu", "--parallel", "sync", "--watch"]
    with running(*command, "0") as training:
        port, secret = invitation(training)
        place = f"127.0.0.1:{port}"
        with running("watch", f"{place}#{secret}", "--port", "0") as watching:
            playground = Playground(chromium, address_of(watching))
            page = playground.page
            expect(page.get_by_test_id("link")).to_have_text(
                re.compile(f"Live.*{place}.*read only")
            )
            expect(page.get_by_test_id("epoch")).to_have_text("2")
            expect(page.get_by_test_id("step-count")).to_have_text("32")
            expect(page.get_by_test_id("status")).to_have_text("running")
            expect(page.get_by_test_id("output-toggle")).to_be_visible()
            is_read_only(page, program)
            page.get_by_test_id("tab-lab").click()
            expect(page.get_by_test_id("lab-timeline-run")).to_have_text(
                "Data parallel, synchronous"
            )
            expect(page.get_by_test_id("lab-run-row")).to_have_count(1)
            assert page.get_by_test_id("lab-run").count() == 0
            page.evaluate(f"() => {{ {AXE.read_text(encoding='utf-8')} }}")
            assert violations_in_both_themes(page) == []
            gate.touch()
            expect(page.get_by_test_id("status")).to_have_text("done")
            expect(page.get_by_test_id("link")).to_have_attribute("data-state", "ended")
            expect(page.get_by_test_id("link-note")).to_contain_text("has ended")
            page.get_by_test_id("tab-runs").click()
            expect(page.get_by_role("row", name="net")).to_have_count(1)
            page.reload()
            expect(page.get_by_test_id("step-count")).to_have_text("48")
            page.get_by_test_id("tab-runs").click()
            expect(page.get_by_role("row", name="net")).to_have_count(1)
            training.wait(60)

            gate.unlink()
            token.write_text(secret)
            with running(*command, str(port), "--token-file", str(token)) as second:
                expect(page.get_by_test_id("link")).to_have_attribute("data-state", "live")
                expect(page.get_by_test_id("step-count")).to_have_text("32")
                second.kill()
                expect(page.get_by_test_id("link")).to_have_attribute("data-state", "lost")
                expect(page.get_by_test_id("link-note")).to_contain_text("no connection to")
                expect(page.get_by_test_id("status-sentence")).to_contain_text("As it was when")
                page.evaluate(f"() => {{ {AXE.read_text(encoding='utf-8')} }}")
                assert violations_in_both_themes(page) == []
            own = urlsplit(page.url).port
            watching.terminate()
            expect(page.get_by_test_id("link")).to_have_attribute("data-state", "away")
        with running("watch", f"{place}#{secret}", "--port", str(own)):
            expect(page.get_by_test_id("link")).to_have_attribute("data-state", "lost")
            expect(page.get_by_test_id("step-count")).to_have_text("32")
            playground.forgive("ERR_")
            playground.close()
