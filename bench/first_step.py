"""Measures the real page: from navigation to the first training step, and the second visit.

python -m bench.first_step                                    this checkout alone
python -m bench.first_step --against http://127.0.0.1:8101/   in pairs with another server
python -m bench.first_step --second                           the second visit, until it is ready

MNIST's run is begun as soon as its card is there. Each visit has empty caches, but for
the second ones, before which a first visit has done without the server's image of Python's memory,
as on a slow line.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median
from typing import Any

from playwright.sync_api import Browser, Page

from bench.browser import chromium
from bench.server import serving
from bench.startup import READY
from playgrad.server.app import create_app
from playgrad.server.bundle import BundleCache
from playgrad.server.image import ImageCache

_PATIENCE_MS = 120_000
_IMAGE = "/image/python.bin"
_FIRST_STEP = """(device) => new Promise((resolve) => {
  const at = (id) => document.querySelector(`[data-testid=${id}]`);
  let isBegun = false;
  const look = () => {
    const card = document.querySelector("[data-testid=gallery-card][data-example=mnist-mlp]");
    if (!isBegun && card && at("run")) {
      isBegun = true;
      card.click();
      at("device-select").value = device;
      at("device-select").dispatchEvent(new Event("change", { bubbles: true }));
      at("run").click();
    }
    if (/[1-9]/.test(at("step-count")?.textContent ?? "")) resolve(performance.now());
    else setTimeout(look, 4);
  };
  look();
})"""
_IS_KEPT = """async () => Boolean(await caches.match("/kept/current"))"""
_HAS_MADE = """async () => {
  const keys = await (await caches.open("playgrad-1")).keys();
  return keys.some(({ url }) => new URL(url).pathname === "/image/made.bin");
}"""

Measure = Callable[[Browser, str], float]


@contextmanager
def _visitor(browser: Browser, service_workers: bool) -> Iterator[Page]:
    """A page of a browser that has seen nothing yet."""
    context = browser.new_context(service_workers="allow" if service_workers else "block")
    page = context.new_page()
    page.set_default_timeout(_PATIENCE_MS)
    try:
        yield page
    finally:
        context.close()


def first_step(device: str) -> Measure:
    """Return what measures the milliseconds from navigation to the first step on a device."""

    def measure(browser: Browser, address: str) -> float:
        with _visitor(browser, service_workers=False) as page:
            page.goto(address, wait_until="commit")
            return float(page.evaluate(_FIRST_STEP, device))

    return measure


def second_visit(makes_image: bool) -> Measure:
    """Return what measures the milliseconds until a second visit is ready.

    Args:
        makes_image: whether it comes after the first visit has made an image of Python's memory.
    """

    def measure(browser: Browser, address: str) -> float:
        with _visitor(browser, service_workers=True) as page:
            page.goto(address)
            page.evaluate(READY, _PATIENCE_MS)
            while not page.evaluate(_HAS_MADE if makes_image else _IS_KEPT):
                page.wait_for_timeout(200)
            page.reload(wait_until="commit")
            return float(page.evaluate(READY, _PATIENCE_MS))

    return measure


def _without_image(application: Any) -> Any:
    """Return an application whose server has no image of Python's memory."""

    def serve(environ: dict[str, Any], start: Any) -> Any:
        if environ["PATH_INFO"] == _IMAGE:
            environ["PATH_INFO"] = "/image/none"
        return application(environ, start)

    return serve


def _compare(measure: Measure, browser: Browser, addresses: list[str], repeats: int) -> str:
    """Measure in turns; return the median and the least of each, and the ratio in pairs."""
    rows: list[list[float]] = [[] for _ in addresses]
    for number in range(repeats):
        order = list(zip(rows, addresses, strict=True))
        for row, address in order if number % 2 else reversed(order):
            row.append(measure(browser, address))
    texts = [f"{median(row):.0f} ({min(row):.0f})" for row in rows]
    if len(rows) > 1:
        ratio = median(own / other for own, other in zip(*rows, strict=True))
        texts.append(f"{ratio:.2f}")
    return " | ".join(texts)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--against", help="the address of another server, of an older version")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--second", action="store_true", help="measure the second visit")
    options = parser.parse_args(arguments)
    images = ImageCache(BundleCache())
    images.make()
    measures = {f"first step, {device}": first_step(device) for device in ("cpu", "gpu")}
    if options.second:
        measures = {
            "second visit, without an image": second_visit(makes_image=False),
            "second visit, with its own": second_visit(makes_image=True),
        }
    application = create_app(images)
    with (
        serving(_without_image(application) if options.second else application) as own,
        chromium() as browser,
    ):
        addresses = [f"{own}/", *([options.against] if options.against else [])]
        print("| milliseconds, median (least) | this | other | ratio |\n|---|---|---|---|")
        for name, measure in measures.items():
            print(
                f"| {name} | {_compare(measure, browser, addresses, options.repeats)} |", flush=True
            )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
