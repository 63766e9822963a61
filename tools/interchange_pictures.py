"""Take the pictures of docs/interchange.md: ``python -m tools.interchange_pictures``.

Real training in headless Chromium. Look at the pictures in ``docs/images`` before you
commit them.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from playwright.sync_api import Page

import playgrad as pg
from bench.browser import chromium
from bench.server import playgrad_app, serving
from playgrad import io, nn
from playgrad.server.bundle import BundleCache
from playgrad.server.image import ImageCache
from tools.pictures import IMAGES, open_page, wait_for_status

WIDTH, TALL, LOW = 1180, 1400, 360
LAYERS = {"fc1": (16, 2), "fc2": (16, 16), "fc3": (2, 16)}
"""The layers of the spiral's network, as PyTorch would call them, with its layout (out, in)."""


def main() -> None:
    """Take all pictures."""
    ImageCache(BundleCache()).make()
    with (
        serving(playgrad_app()) as server,
        chromium() as browser,
        tempfile.TemporaryDirectory() as folder,
    ):
        page = open_page(browser, f"{server}/", WIDTH, 860)
        _train(page)
        _export(page)
        _matching(page, Path(folder))
        _model(page, Path(folder))


def _train(page: Page) -> None:
    """Separate two spirals."""
    page.get_by_test_id("example-select").select_option("spiral")
    page.get_by_test_id("device-select").select_option("cpu")
    page.get_by_test_id("run").click()
    wait_for_status(page, "running")
    wait_for_status(page, "done")


def _export(page: Page) -> None:
    """The menu of files."""
    page.set_viewport_size({"width": WIDTH, "height": TALL})  # so that nothing is scrolled away
    page.get_by_test_id("export").click()
    page.locator("#export-content").screenshot(path=IMAGES / "models-export.png")
    page.keyboard.press("Escape")


def _matching(page: Page, folder: Path) -> None:
    """Weights with the names of a PyTorch module."""
    random = np.random.default_rng(0)
    tensors = {}
    for name, shape in LAYERS.items():
        tensors[f"{name}.weight"] = random.normal(size=shape).astype(np.float32)
        tensors[f"{name}.bias"] = np.zeros(shape[0], np.float32)
    io.save(tensors, folder / "theirs.safetensors")
    page.get_by_test_id("import-weights").set_input_files(folder / "theirs.safetensors")
    page.get_by_test_id("matching").screenshot(path=IMAGES / "models-matching.png")
    page.get_by_test_id("matching-cancel").click()


def _model(page: Page, folder: Path) -> None:
    """A model that the visitor has brought."""
    layers = [nn.Conv2D(6, 5, activation="relu"), nn.MaxPooling2D(), nn.Flatten(), nn.Dense(10)]
    pg.Sequential([pg.Input((28, 28, 1)), *layers]).export(folder / "digits.onnx")
    page.get_by_test_id("data-open").click()
    page.get_by_test_id("data-file").set_input_files(folder / "digits.onnx")
    page.get_by_test_id("model-use").wait_for()
    page.set_viewport_size({"width": WIDTH, "height": LOW})
    page.get_by_test_id("data-drawer").screenshot(path=IMAGES / "models-bring.png")


if __name__ == "__main__":
    main()
