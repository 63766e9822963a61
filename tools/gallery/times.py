"""Measure the times of the gallery: ``python -m tools.gallery.times``, or with names of examples.

Runs each example in the page, on the processor, and writes the seconds from Run to the end to
``static/gallery/examples.json``. On a machine that is busy with other work the processor time
counts, if it is less. All examples take a quarter of an hour on two idle cores.
"""

from __future__ import annotations

import json
import sys
import time

from playwright.sync_api import Browser

from bench.browser import chromium
from bench.examples import examples
from bench.processor_time import processor_seconds
from bench.server import playgrad_app, serving
from playgrad import paths
from playgrad.server.bundle import BundleCache
from playgrad.server.image import ImageCache

FACTS = paths.static() / "gallery" / "examples.json"
DELAYED = ("pipeline-schedules", "sync-against-async")
"""Examples whose devices have a delay: only the clock counts."""
PATIENCE_MS = 1_800_000
_REST_MS = 3000
_STATUS = """status => {
  const now = document.querySelector("[data-testid=status]").textContent;
  if (now === "error") throw new Error(document.querySelector("[data-testid=error]").innerText);
  return now === status;
}"""


def main(names: list[str]) -> None:
    """Measure the examples ``names``, or all."""
    ImageCache(BundleCache()).make()
    with serving(playgrad_app()) as server, chromium() as browser:
        for name in names or examples():
            clock, processor = measure(browser, server, name)
            seconds = clock if name in DELAYED else min(clock, processor)
            print(f"{name}: {seconds:.1f} s; {clock:.1f} s on the clock", flush=True)
            save(name, seconds)


def measure(browser: Browser, server: str, name: str) -> tuple[float, float]:
    """Return the seconds of a run, on the clock and of the processor."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, service_workers="block")
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.goto(server)
    page.wait_for_function(_STATUS, arg="ready")
    page.get_by_test_id("example-select").select_option(name)
    page.get_by_test_id("device-select").select_option("cpu")
    page.wait_for_timeout(_REST_MS)
    before, began = processor_seconds(), time.monotonic()
    page.get_by_test_id("run").click()
    page.wait_for_function(_STATUS, arg="done")
    after, ended = processor_seconds(), time.monotonic()
    context.close()
    if before is None or after is None:
        raise SystemExit("tools.gallery.times: this needs Linux's /proc")
    return ended - began, after - before


def save(name: str, seconds: float) -> None:
    """Write the time of an example to the gallery's file."""
    facts = json.loads(FACTS.read_text(encoding="utf-8"))
    facts[name]["seconds"] = max(1, round(seconds))
    FACTS.write_text(json.dumps(facts, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
