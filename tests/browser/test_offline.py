"""After a visit, the page opens and trains without a server; versions of it never mix."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from playgrad import paths
from playgrad.assets import PACKAGE_FILES, PYODIDE_URL
from playgrad.server.bundle import BundleCache
from playgrad.server.image import ImageCache
from tests.browser.bad_network import BadNetwork
from tests.browser.playground import Playground
from tests.browser.test_onnx_export import ROUND_TRIP
from tests.browser.versions import VersionedServer

pytestmark = [pytest.mark.browser, pytest.mark.pyodide]

# The name of the version that the next visit opens, and the paths that are kept for it.
KEPT = """async () => {
  const cache = await caches.open("playgrad-1");
  const current = await cache.match("/kept/current");
  if (!current) return null;
  const list = await (await cache.match(`/kept/version/${await current.text()}`)).json();
  const files = { ...list.files, ...list.extras };
  const keys = new Set((await cache.keys()).map(({ url }) => url.slice(location.origin.length)));
  const isKept = (path) => keys.has(`${path}?sha256=${files[path]}&headers=${list.headers}`);
  return { version: list.version, paths: Object.keys(files).filter(isKept) };
}"""
DATA = [f"/data/mnist/{part}-{kind}" for part in ("train", "test") for kind in ("images", "labels")]
LATER = f"{PYODIDE_URL}python_stdlib_later.zip"
EXTRAS = ["/image/python.bin", LATER, *DATA]


FEW_DIGITS = (
    (paths.static() / "examples" / "mnist-mlp.py")
    .read_text(encoding="utf-8")
    .replace(
        "pg.data.mnist()\n",
        """pg.data.mnist()
x_train, y_train, x_test, y_test = x_train[:6400], y_train[:6400], x_test[:1000], y_test[:1000]
""",
    )
)
"""The first example, with a tenth of its images."""


IMAGE = "from PIL import Image\nprint(Image.new('L', (3, 2)).size)"


# Whether the interpreter had the package before the run, which does not import it.
AHEAD = """
import os, sysconfig
print("ahead", os.path.isdir(os.path.join(sysconfig.get_path("purelib"), "PIL")))
"""


@pytest.fixture(scope="module")
def versions(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VersionedServer]:
    ImageCache(BundleCache()).make()
    server = VersionedServer(tmp_path_factory.mktemp("versions"))
    yield server
    server.stop()


@pytest.fixture(scope="module")
def network(versions: VersionedServer) -> Iterator[BadNetwork]:
    network = BadNetwork(versions.address)
    yield network
    network.close()


class Visitor(Playground):
    """A browser that keeps the pages it has seen, with one tab or more.

    Attributes:
        said: what workers and pages said on the console.
    """

    def __init__(self, chromium: Browser, network: BadNetwork) -> None:
        super().__init__(chromium, network.address, service_workers="allow")
        self.said: list[str] = []
        self.context.on("console", lambda message: self.said.append(message.text))

    def reload(self) -> None:
        """Open the page again, and wait until Python is up."""
        self.page.reload(wait_until="commit")
        self.page.wait_for_selector("[data-testid=status]")
        self.expect_status("ready", "done")  # as the last run has ended

    def kept(self) -> dict[str, object]:
        kept: dict[str, object] | None = self.page.evaluate(KEPT)
        return kept or {"version": None, "paths": []}

    def wait_until_kept(self, *paths: str, other_than: object = None) -> object:
        """Wait until a version is kept, with extras; return its name."""

        def is_kept() -> bool:
            kept = self.kept()
            have = kept["paths"]
            assert isinstance(have, list)
            return kept["version"] not in (None, other_than) and set(paths) <= set(have)

        self.wait(is_kept)
        return self.kept()["version"]


def is_package(path: str) -> bool:
    return path.startswith("/packages/")


def seen(page: Page) -> list[str]:
    """The versions of the document, of its scripts, and of a file that is loaded on demand."""
    marks: list[str] = page.evaluate(
        """async () => [document.body.dataset.version, document.body.dataset.script,
          /"(.*)"/.exec(await (await fetch("/static/js/later.js")).text())[1]]"""
    )
    return marks


@pytest.fixture(scope="module")
def visitor(chromium: Browser, network: BadNetwork) -> Iterator[Visitor]:
    """A browser in which the page was opened and kept, and opened again for the image."""
    visitor = Visitor(chromium, network)
    visitor.expect_status("ready")
    early = sum(size for path, size in network.sent.items() if path not in DATA)
    visitor.wait_until_kept(*DATA)
    visitor.reload()
    visitor.wait_until_kept(*EXTRAS)
    assert not any(map(is_package, network.asked)), "nobody has imported one"
    print(f"first load: {early / 1e6:.1f} MB; all: {network.sent.total() / 1e6:.1f} MB")
    yield visitor
    visitor.close()


TABLES_AND_FIGURES = """
import io
import numpy as np
import pandas as pd
from PIL import Image
import matplotlib.pyplot as plt

table = pd.read_csv(io.StringIO("kind,price\\na,1\\nb,2\\na,4\\n"))
print("means", table.groupby("kind")["price"].mean().to_dict())
pixels = np.arange(64, dtype=np.uint8).reshape(8, 8)
print("row", np.asarray(Image.fromarray(pixels).resize((4, 4), Image.Resampling.BOX))[0].tolist())
plt.plot([1, 2, 3], [4, 1, 3], label="training")
plt.xlabel("epoch")
plt.legend()
plt.savefig("curve.png")
print("saved", Image.open("curve.png").size)
plt.show()
plt.scatter([1, 2, 3], [3, 1, 2])
"""
# The colours of a figure's canvas, of which many pixels have the same.
COLOURS = """(figure) => {
  const canvas = figure.querySelector("canvas");
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const counts = new Map();
  for (const pixel of new Uint32Array(data.buffer)) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
  return [...counts].filter(([, count]) => count > 200).map(([pixel]) => pixel.toString(16));
}"""
WHITE, BLUE = "ffffffff", "ffb4771f"
"""As words of four bytes, the red one last; blue is the first colour of matplotlib."""


@pytest.fixture(scope="module")
def output(visitor: Visitor, network: BadNetwork) -> str:
    """What a program has printed that imports packages, which are kept since then."""
    line = visitor.page.locator(".status-line")
    with network.broken("reset", is_package):
        visitor.start(TABLES_AND_FIGURES)
        expect(line).to_contain_text("Loading the Python packages that the program imports: 0 MB")
        visitor.at("stop").click()
        visitor.expect_status("stopped")
    output = visitor.finish()
    visitor.forgive("Failed to load resource")  # which the page was told late
    visitor.wait_until_kept(*(f"/packages/{name}" for name in PACKAGE_FILES))
    return output


def test_packages_of_a_program_are_loaded_and_their_figures_shown(
    visitor: Visitor, output: str, tmp_path: Path
) -> None:
    assert "means {'a': 2.5, 'b': 2.0}\nrow [5, 7, 9, 11]\nsaved (640, 480)\n" in output
    figure, last = visitor.at("output-figure").all()
    label = "figure with 1 line (training) of y over epoch"
    expect(figure).to_have_attribute("aria-label", label)
    visitor.wait(lambda: {WHITE, BLUE} <= set(figure.evaluate(COLOURS)))
    # What was not shown comes at the end.
    expect(last).to_have_attribute("aria-label", "figure with 3 points")
    saved = visitor.download_from(figure.get_by_test_id("figure-png"), tmp_path)
    assert saved.read_bytes()[16:24] == struct.pack(">II", 1280, 960)


@pytest.mark.gpu
@pytest.mark.survival("Visits without a server")
def test_the_first_example_trains_without_a_server(
    visitor: Visitor, network: BadNetwork, output: str
) -> None:
    first = visitor.page
    with network.broken("reset", lambda path: True):
        network.asked.clear()
        visitor.reload()
        assert visitor.page.evaluate("crossOriginIsolated")
        visitor.choose_device("gpu")
        visitor.finish(FEW_DIGITS)
        assert visitor.steps == 100
        assert visitor.number("test-accuracy") > 80
        assert "difference" in visitor.finish(ROUND_TRIP)  # needs a part that was never asked for
        assert "later.zip" in visitor.finish("import unittest\nprint(unittest.__file__)")
        assert "(3, 2)" in visitor.finish(IMAGE)  # a package that was loaded before

        def is_ahead(seconds: int) -> bool:
            visitor.page.wait_for_timeout(1000 * seconds)
            return "ahead True" in visitor.finish(AHEAD)

        assert any(map(is_ahead, (2, 10, 60)))
        assert set(network.asked) <= {"/", "/version.json", "/service-worker.js"}, network.asked
        # A link opens too, in a tab of its own, and so does the page in a frame.
        link = visitor.page.evaluate(
            "import('/static/js/sharing/sharing.js').then(({ makeLink }) => makeLink([]))"
        )
        visitor.page = visitor.context.new_page()
        visitor.page.goto(link)
        expect(visitor.at("shared-note")).to_be_visible()
        visitor.page.goto(link.replace("/#", "/embed#"))
        expect(visitor.at("embed-open")).to_be_visible()
        visitor.expect_status("ready")
        visitor.page.close()
    visitor.page = first
    assert visitor.complaints == []


@pytest.mark.survival("Updates of the page")
def test_an_update_is_taken_as_a_whole(
    visitor: Visitor, versions: VersionedServer, network: BadNetwork
) -> None:
    first = visitor.wait_until_kept()
    old = visitor.page

    # A visit shows a change at once; keeping it fails, because one file is not available.
    versions.publish("two")
    network.break_("broken", "/static/js/later.js")
    visitor.page = new = visitor.context.new_page()
    new.goto(network.address)
    visitor.expect_status("ready")
    assert seen_scripts(new) == ["two"] * 2
    visitor.wait(lambda: any("was not kept" in text for text in visitor.said))
    assert visitor.kept()["version"] == first
    network.mend()

    # Without a server, the old version opens, whole.
    visitor.page = old
    with network.broken("reset", lambda path: True):
        visitor.said.clear()
        visitor.reload()
        assert seen(old) == ["one"] * 3
        assert "worker one" in visitor.said and "worker two" not in visitor.said

    # With all files, the new one is kept, while an open page continues with its own.
    new.evaluate("import('/static/js/start/offline.js').then(({ keepForLater }) => keepForLater())")
    visitor.wait_until_kept(other_than=first)
    visitor.said.clear()
    visitor.page = new
    with network.broken("broken", lambda path: path != "/"):  # whose header names the version
        new.reload(wait_until="commit")
        visitor.wait(lambda: "worker two" in visitor.said)
        new.wait_for_selector("[data-testid=status]")
        assert seen(new) == ["two"] * 3
        assert "worker one" not in visitor.said
        assert seen(old) == ["one"] * 3
    visitor.forgive("Failed to load resource")


def seen_scripts(page: Page) -> list[str]:
    marks: list[str] = page.evaluate(
        "() => [document.body.dataset.version, document.body.dataset.script]"
    )
    return marks


@pytest.mark.slow
@pytest.mark.survival("Updates of the page")
def test_the_page_works_with_a_full_or_cleared_cache(
    chromium: Browser, versions: VersionedServer, network: BadNetwork
) -> None:
    visitor = Visitor(chromium, network)
    quota = visitor.context.new_cdp_session(visitor.page)
    limit = {"origin": network.address, "quotaSize": 3_000_000}
    quota.send("Storage.overrideQuotaForOrigin", limit)
    visitor.expect_status("ready")
    visitor.wait(lambda: any("was not kept" in text for text in visitor.said))
    assert visitor.kept()["version"] is None
    visitor.reload()
    visitor.runs_well()

    # With room it is kept; then the browser clears its cache, while the worker stays.
    quota.send("Storage.overrideQuotaForOrigin", {"origin": network.address})
    visitor.reload()
    visitor.wait_until_kept()
    assert visitor.page.evaluate("caches.delete('playgrad-1')")
    assert visitor.page.evaluate("fetch('/static/js/later.js').then(({ ok }) => ok)")
    visitor.reload()
    visitor.runs_well()
    visitor.close()
