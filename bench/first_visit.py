"""Counts the bytes of a first visit on a slow line: until Python is ready, and for an example.

python -m bench.first_visit                 4 Mbit/s
python -m bench.first_visit --megabits 16 --all

The server has the smallest copies of all files, as one that others can call has them a few minutes
after its start; those that are missing are made first, which takes minutes.
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from playwright.sync_api import Page, expect

from bench.browser import chromium
from bench.server import serving
from playgrad.assets import MNIST, PYODIDE
from playgrad.server.app import create_app
from playgrad.server.bundle import BundleCache
from playgrad.server.image import ImageCache
from playgrad.server.packing import pack
from playgrad.server.pixels import pack_images

_HEADERS = 150
"""About so many bytes of an answer's head, beside the names and values that are counted."""
_PORTIONS_PER_SECOND = 50
_EXAMPLES = ("spiral", "mnist-mlp")
_PATIENCE_MS = 600_000
_QUIET_MS = 15_000
"""Within this time after a run, the service worker begins to keep the page."""
_FIRST_STEP = """() => {
  const text = document.querySelector("[data-testid=step-count]")?.textContent ?? "";
  return /[1-9]/.test(text);
}"""

_Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


class SlowLine:
    """Sends an application's answers one portion at a time, and counts what it sends.

    Attributes:
        sent: bytes by path, with the coding in parentheses.
    """

    def __init__(self, application: _Application, megabits: float) -> None:
        self.sent: Counter[str] = Counter()
        self._application = application
        self._speed = megabits * 125_000
        self._lock = threading.Lock()
        self._free_at = 0.0

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterator[bytes]:
        environ.pop("wsgi.file_wrapper", None)  # the server would send the file by itself
        head: dict[str, str] = {}

        def begin(status: str, headers: list[tuple[str, str]], *rest: Any) -> Any:
            head.update((name.lower(), value) for name, value in headers)
            return start(status, headers, *rest)

        answer = self._application(environ, begin)
        coding = head.get("content-encoding", "plain")
        name = f"{environ['PATH_INFO']} ({coding})"
        self._send(name, _HEADERS + sum(len(key) + len(text) for key, text in head.items()))
        portion = max(1, int(self._speed / _PORTIONS_PER_SECOND))
        try:
            for chunk in answer:
                for at in range(0, len(chunk), portion):
                    part = chunk[at : at + portion]
                    self._send(name, len(part))
                    yield part
        finally:
            if hasattr(answer, "close"):
                answer.close()

    def _send(self, name: str, size: int) -> None:
        with self._lock:
            self._free_at = max(time.monotonic(), self._free_at) + size / self._speed
            end = self._free_at
        time.sleep(max(0.0, end - time.monotonic()))
        with self._lock:
            self.sent[name] += size


_DONE = """() => {
  document.querySelector("[data-testid=stop]:enabled")?.click();
  const state = document.querySelector("[data-testid=status]")?.textContent;
  return state === "done" || state === "stopped";
}"""


def _visit(page: Page, address: str, line: SlowLine, example: str) -> Iterator[tuple[str, float]]:
    """Open the page and train an example; yield the name of each step at its end, and seconds."""
    line.sent.clear()
    began = time.monotonic()
    status = page.get_by_test_id("status")
    page.goto(address)
    expect(status).to_have_text("ready", timeout=_PATIENCE_MS)
    yield "until ready", time.monotonic() - began
    began = time.monotonic()
    page.locator(f"[data-testid=gallery-card][data-example={example}]").click()
    page.get_by_test_id("run").click()
    expect(status).not_to_have_text("ready")
    page.wait_for_function(_FIRST_STEP, timeout=_PATIENCE_MS)
    yield f"{example}, first step", time.monotonic() - began
    page.wait_for_function(_DONE, timeout=_PATIENCE_MS)
    page.wait_for_timeout(_QUIET_MS)
    yield f"{example}, and all that is fetched until {_QUIET_MS // 1000} s after its end", 0


def _print(step: str, seconds: float, sent: Counter[str], least: int) -> None:
    print(f"\n## {step}: {sent.total() / 1e6:.2f} MB, {seconds:.1f} s\n")
    small = Counter({name: size for name, size in sent.items() if size < least})
    for name, size in (sent - small).most_common():
        print(f"{size:>10,}  {name}")
    print(f"{small.total():>10,}  {len(small)} smaller files", flush=True)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--megabits", type=float, default=4.0, help="of the line, per second")
    parser.add_argument("--all", action="store_true", help="list small files too")
    parser.add_argument("--examples", nargs="*", default=_EXAMPLES, help="of the gallery")
    options = parser.parse_args(arguments)
    assets = [PYODIDE, *([MNIST] if any("mnist" in each for each in options.examples) else [])]
    pack_images(assets)
    pack(assets, ".max.br")
    images = ImageCache(BundleCache())
    images.make()
    images.bundles.get().pack_best()
    line = SlowLine(create_app(images), options.megabits)
    with serving(line) as address, chromium() as browser:  # type: ignore[arg-type]
        for example in options.examples:
            context = browser.new_context()
            for step, seconds in _visit(context.new_page(), address, line, example):
                _print(step, seconds, Counter(line.sent), 1 if options.all else 20_000)
            context.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
