"""Measures the spiral in the real page without a GPU: from Run until its network is right about 99%
of the points that it has never seen.

python -m bench.spiral
python -m bench.spiral --repeats 20

The page is ready when Run is clicked; the first run in a page compiles the step, and so does each
later one, in an interpreter of its own. What the page shows is looked at every few milliseconds.
"""

from __future__ import annotations

import argparse
from statistics import median

from bench.browser import chromium
from bench.server import serving
from bench.startup import READY
from playgrad.server.app import create_app
from playgrad.server.bundle import BundleCache
from playgrad.server.image import ImageCache

_PATIENCE_MS = 120_000
_GOAL = 99.0
_CHOOSE = """() => {
  document.querySelector("[data-testid=gallery-card][data-example=spiral]").click();
  const device = document.querySelector("[data-testid=device-select]");
  device.value = "cpu";
  device.dispatchEvent(new Event("change", { bubbles: true }));
}"""
_RUN = """async (goal) => {
  const text = (id) => document.querySelector(`[data-testid=${id}]`)?.textContent ?? "";
  const times = {};
  const begun = performance.now();
  const note = (name) => (times[name] ??= performance.now() - begun);
  const look = () => {
    if (/[1-9]/.test(text("step-count"))) note("first step");
    if (Number.parseFloat(text("test-accuracy")) >= goal) note("99%");
  };
  document.querySelector("[data-testid=run]").click();
  while (text("status") !== "running") await new Promise((go) => setTimeout(go, 1));
  while (text("status") === "running") {
    look();
    await new Promise((go) => setTimeout(go, 1));
  }
  look();
  note("end");
  return { ...times, status: text("status"), accuracy: text("test-accuracy") };
}"""


def main() -> None:
    """Print the milliseconds of the first run and of later ones."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--repeats", type=int, default=7, help="runs in one page")
    options = parser.parse_args()
    images = ImageCache(BundleCache())
    images.make()
    runs = []
    with serving(create_app(images)) as own, chromium() as browser:
        page = browser.new_page()
        page.set_default_timeout(_PATIENCE_MS)
        page.goto(f"{own}/")
        page.evaluate(READY, _PATIENCE_MS)
        page.wait_for_selector("[data-testid=gallery-card][data-example=spiral]")
        page.evaluate(_CHOOSE)
        for _ in range(options.repeats + 1):
            page.wait_for_timeout(2000)  # until the next interpreter is ready
            runs.append(page.evaluate(_RUN, _GOAL))
            if runs[-1]["status"] != "done" or "99%" not in runs[-1]:
                raise SystemExit(f"bench: the run has not come to 99%: {runs[-1]}")
    print("| ms from Run | first run | later runs, median (least) |\n|---|---|---|")
    for name in ("first step", "99%", "end"):
        first, *later = (run[name] for run in runs)
        print(f"| {name} | {first:.0f} | {median(later):.0f} ({min(later):.0f}) |")


if __name__ == "__main__":
    main()
