"""Any part of the page may fail, stall or be cut: the page says so, and opens once mended."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Error, Page, Route, expect

from playgrad import data
from playgrad.assets import MNIST
from playgrad.server.bundle import BundleCache
from playgrad.server.image import ImageCache
from playgrad.server.pixels import TYPE, pack_images
from tests.browser.bad_network import FAULTS, BadNetwork
from tests.browser.playground import GOOD, PASTE, PATIENCE_MS
from tests.sweeps import dice, slow

pytestmark = [pytest.mark.browser, pytest.mark.pyodide]

accident = pytest.mark.survival("Failed, stalled and cut downloads")

SENTENCE_SECONDS = 15
"""Within this time, a visitor is told what is wrong."""

SLACK_SECONDS = 105
"""For the tests' own machine, which may be busy."""

AT_ONCE = 6
"""Pages that wait together."""

# Files that the page can do without, or does not need before Run: it may be up without a word.
OPTIONAL = re.compile(r"favicon|names\.json|/image/python\.bin|/data/mnist/|graph-layout-worker")
# A stylesheet that is damaged, yet of the right length, is accepted as it is; so is a comment.
UNNOTICED = {"shortened": re.compile(r"\.(css|js|svg)$"), "flipped": re.compile(r"\.(css|js|svg)$")}


@pytest.fixture(scope="module")
def network(server: str) -> Iterator[BadNetwork]:
    network = BadNetwork(server)
    yield network
    network.close()


@pytest.fixture(autouse=True)
def mended(network: BadNetwork) -> Iterator[None]:
    yield
    network.mend()
    network.bytes_per_second = 0


@dataclass
class Visit:
    """A tab with an empty cache."""

    page: Page
    policy_violations: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on(
            "console",
            lambda message: (
                self.policy_violations.append(message.text)
                if "Content Security Policy" in message.text
                else None
            ),
        )

    def open(self, network: BadNetwork) -> None:
        self.page.goto(f"{network.address}/", wait_until="commit")

    def state(self) -> str:
        """Return what the page says is wrong, otherwise its status, "" before it has one."""
        found: str = self.page.evaluate(
            """() => {
              const early = document.getElementById("early");
              if (early && "problem" in early.dataset) return early.innerText;
              const note = document.querySelector("[data-testid=load-note]");
              if (note) return note.innerText;
              const status = document.querySelector("[data-testid=status]");
              return status ? `status: ${status.textContent}` : "";
            }"""
        )
        return found

    def wait_for(self, accepts: Callable[[str], bool], seconds: float) -> str:
        end = time.monotonic() + seconds
        while True:
            try:
                state = self.state()
            except Exception as error:  # between two documents
                state = f"no document: {error}"
            if accepts(state):
                return state
            assert time.monotonic() < end, f"{state!r} after {seconds} s"
            self.page.wait_for_timeout(100)

    def sentence(self, otherwise: str) -> str:
        """Wait for a sentence about what is wrong, or until the status is ``otherwise``."""
        return self.wait_for(
            lambda state: bool(state) and (is_sentence(state) or state == otherwise),
            SENTENCE_SECONDS + SLACK_SECONDS,
        )

    def is_told_of_no_gpu(self) -> bool:
        """Return whether the header says so, as it does without a part of the GPU's worker."""
        return self.page.get_by_test_id("gpu-again").is_visible()

    def try_again(self) -> None:
        """Press the button, unless the page is trying again by itself at this moment."""
        try:
            self.page.evaluate(
                """() => {
                  const buttons = "#early-retry, [data-testid=load-now]";
                  for (const button of document.querySelectorAll(buttons)) {
                    if (button.checkVisibility()) button.click();
                  }
                }"""
            )
        except Error as error:  # it is, in another document
            assert "context was destroyed" in str(error)

    def ready(self) -> None:
        self.wait_for(lambda state: state == "status: ready", PATIENCE_MS / 1000)

    def up(self) -> None:
        """Wait until the page is up, Python or not."""
        self.wait_for(lambda state: state.startswith("status: "), PATIENCE_MS / 1000)


def is_sentence(state: str) -> bool:
    return bool(state) and not state.startswith(("status: ", "no document"))


@contextmanager
def visit(chromium: Browser) -> Iterator[Visit]:
    # Files that are kept would hide what the network does.
    context = chromium.new_context(viewport={"width": 1366, "height": 768}, service_workers="block")
    try:
        visit = Visit(context.new_page())
        yield visit
        assert visit.policy_violations == []
    finally:
        context.close()


@dataclass
class Opening:
    """A visit that had to wait: first for a module of the page, and then for a file of Python's.

    Attributes:
        said: what the page said while it waited for the module.
    """

    network: BadNetwork
    tab: Visit
    said: str


@pytest.fixture(scope="module")
def opening(chromium: Browser, server: str) -> Iterator[Opening]:
    """The page, which has opened by itself once the server was mended, and waits for Python."""
    ImageCache(BundleCache()).make()  # without one, Python starts from other files
    network = BadNetwork(server)
    with visit(chromium) as tab:
        network.break_("missing", "/js/main.js")
        tab.open(network)
        said = tab.sentence(otherwise="none")
        network.mend()
        network.break_("silent", "/pyodide.asm.wasm")
        network.asked.clear()
        tab.up()
        yield Opening(network, tab, said)
    network.close()


@pytest.fixture(scope="module")
def requested(opening: Opening) -> dict[str, list[str]]:
    """The paths that a real visit requests until it is ready: by the page, and by its workers."""
    network, tab = opening.network, opening.tab
    network.mend()
    tab.try_again()
    tab.ready()
    scripts = {worker.url.partition(network.address)[2] for worker in tab.page.workers}
    asked = [path for path in dict.fromkeys(network.asked) if path != "/"]
    folders = ("/static/js/", "/static/css", "/static/vendor", "/static/chunks/page")
    early = [path for path in asked if path.startswith(folders)]
    by_page = [path for path in early if path not in scripts and "versions" not in path]
    return {"page": by_page, "engine": [path for path in asked if path not in by_page]}


@accident
def test_the_page_opens_by_itself_when_the_server_is_mended(opening: Opening) -> None:
    assert "did not arrive" in opening.said
    assert opening.tab.state() == "status: loading"


def test_a_drawing_is_read_while_python_is_loading(opening: Opening) -> None:
    """A network that comes with the page answers; the visitor's does as soon as there is one."""
    page = opening.tab.page
    page.locator("[data-testid=gallery-card][data-example=mnist-mlp]").click()
    expect(page.get_by_test_id("digit-canvas")).to_be_focused()
    keys = ["ArrowUp", "ArrowUp", " ", *["ArrowDown"] * 18]  # a one, with the keyboard
    for key in keys:
        page.keyboard.press(key)
    expect(page.get_by_test_id("digit-prediction")).to_have_text("1")
    expect(page.get_by_test_id("digit-hint")).to_contain_text("comes with the page")
    assert page.get_by_test_id("status").inner_text() == "loading"


# The animation of the wandering part of the progress bar, its width meanwhile, and the bar's.
WANDERING = """(bar) => {
  for (const animation of bar.getAnimations({ subtree: true })) animation.currentTime = 3400;
  const { animationName, width, transform } = getComputedStyle(bar, "::after");
  const shown = parseFloat(width) * new DOMMatrix(transform).a;
  return [animationName, Math.round(shown), bar.clientWidth];
}"""


def test_the_bar_without_motion_shows_no_share_of_an_unknown_total(opening: Opening) -> None:
    """If the wandering part stood still, it would say how much has arrived."""
    page = opening.tab.page
    page.emulate_media(reduced_motion="reduce")
    bar = page.get_by_test_id("progress")
    expect(bar).to_have_attribute("data-unknown", "")
    for attribute in ("aria-valuenow", "aria-valuetext"):
        assert bar.get_attribute(attribute) is None, "screen readers would read a share"
    assert bar.text_content() == ""
    animation, covered, whole = bar.evaluate(WANDERING)
    assert animation == "none"
    assert covered == whole > 1000
    page.emulate_media(reduced_motion="no-preference")
    animation, covered, _ = bar.evaluate(WANDERING)
    assert animation == "wander"
    assert 0 < covered < whole / 2


def test_data_sets_are_fetched_once_python_is_up(opening: Opening) -> None:
    """Python is what a slow line has to bring first."""
    network, tab = opening.network, opening.tab
    tab.page.wait_for_timeout(1000)
    assert not [path for path in network.asked if "/data/" in path]
    network.mend()
    end = time.monotonic() + PATIENCE_MS / 1000
    while not any("train-images" in path for path in network.asked):
        assert time.monotonic() < end, "the data set of the first example is not fetched"
        tab.try_again()
        tab.page.wait_for_timeout(100)


def try_each(
    chromium: Browser, network: BadNetwork, cases: Sequence[tuple[str, str]], goal: str
) -> list[str]:
    """Break one file after the other; return what went wrong.

    Several pages wait together, each on a bad network of its own.
    """
    failures = []
    for start in range(0, len(cases), AT_ONCE):
        with ExitStack() as stack:
            tabs = []
            for path, fault in cases[start : start + AT_ONCE]:
                own = BadNetwork(f"http://{network.origin}")
                stack.callback(own.close)
                own.break_(fault, lambda asked, path=path: asked == path)
                tab = stack.enter_context(visit(chromium))
                tab.open(own)
                tabs.append((path, fault, own, tab))
            for path, fault, own, tab in tabs:
                began = time.monotonic()
                try:
                    said = tab.sentence(otherwise=f"status: {goal}")
                    hidden = UNNOTICED.get(fault)
                    if not is_sentence(said) and not tab.is_told_of_no_gpu():
                        assert OPTIONAL.search(path) or (hidden and hidden.search(path)), "no word"
                    own.mend()
                    tab.try_again()
                    tab.up() if goal != "ready" else tab.ready()
                    tab.page.close()
                except AssertionError as error:
                    failures.append(f"{path}, {fault}: {error}")
                print(f"{path}, {fault}: {time.monotonic() - began:.1f} s: {said!r}")
    return failures


def some(cases: Sequence[tuple[str, str]], count: int) -> list[tuple[str, str]]:
    return dice(*cases).sample(list(cases), count)


QUICK = ("missing", "broken", "reset", "cut", "shortened")
"""Faults that the browser reports at once."""


@accident
def test_a_missing_part_of_the_page_is_reported(
    chromium: Browser,
    network: BadNetwork,
    requested: dict[str, list[str]],
    record_property: Callable[[str, object], None],
) -> None:
    assert any("chunks/page" in path for path in requested["page"])
    modules = [path for path in requested["page"] if not path.endswith(".css")]
    sheets = [path for path in requested["page"] if path.endswith(".css")]
    cases = some([(path, fault) for path in modules for fault in QUICK], 1)
    cases += [
        (dice("sheets").choice(sheets), "missing"),
        (dice("modules").choice(modules), "silent"),
    ]
    record_property("tried", len(cases))
    assert try_each(chromium, network, cases, "loading") == []


@accident
@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("pyodide.asm.wasm", "cut"),
        ("chunks/engine-", "shortened"),
    ],
)
def test_a_missing_part_of_the_engine_is_reported(
    chromium: Browser,
    network: BadNetwork,
    requested: dict[str, list[str]],
    name: str,
    fault: str,
) -> None:
    (path,) = [path for path in requested["engine"] if name in path]
    assert try_each(chromium, network, [(path, fault)], "ready") == []


@accident
@pytest.mark.gpu
def test_a_damaged_part_of_the_gpu_worker_can_be_loaded_again(
    chromium: Browser, network: BadNetwork
) -> None:
    """The browser keeps it with the mark of the right one."""
    with visit(chromium) as tab, network.broken("shortened", "engine/device-worker.js"):
        tab.open(network)
        tab.ready()
        assert tab.is_told_of_no_gpu()
        network.mend()
        tab.page.get_by_test_id("gpu-again").click()
        expect(tab.page.get_by_test_id("gpu-again")).to_have_count(0)


@accident
@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize(("part", "until"), [("page", "loading"), ("engine", "ready")])
def test_each_missing_or_damaged_file_is_reported(
    chromium: Browser,
    network: BadNetwork,
    requested: dict[str, list[str]],
    part: str,
    until: str,
    fault: str,
    record_property: Callable[[str, object], None],
) -> None:
    cases = [(path, fault) for path in requested[part]]
    record_property("tried", len(cases))
    assert try_each(chromium, network, cases, until) == []


@accident
@pytest.mark.parametrize("seconds", [0.3, *slow(0.0, 1.0)])
def test_the_page_loads_after_being_offline_for_a_while(
    chromium: Browser, network: BadNetwork, seconds: float
) -> None:
    with visit(chromium) as tab:
        tab.open(network)
        tab.page.wait_for_timeout(1000 * seconds)
        tab.page.context.set_offline(True)
        tab.page.wait_for_timeout(1000)
        tab.page.context.set_offline(False)
        tab.ready()


READ = "from playgrad import data\nprint(data.mnist()[0][1][:3])"


@accident
@pytest.mark.parametrize(
    "fault",
    [
        "cut",
        *slow("missing", "flipped", "shortened", "broken"),
    ],
)
def test_a_data_set_cut_in_transit_is_fetched_again(
    chromium: Browser, network: BadNetwork, fault: str
) -> None:
    """Data that was cut or damaged is not kept: the program gets the right bytes as soon as it can.

    The page begins to fetch the data set when it opens, because its first example reads it.
    """
    network.break_(fault, "/data/mnist/test-labels")
    with visit(chromium) as tab:
        tab.open(network)
        # The page may already say that the file does not arrive, and keep trying for a minute.
        expect(tab.page.get_by_test_id("status")).to_have_text("ready")
        read_data(tab, network, fault)


FEW_BYTES = 'Object.defineProperty(navigator, "connection", { value: { saveData: true } })'


def test_packed_images_are_unpacked_to_the_same_pixels(
    chromium: Browser, network: BadNetwork, tmp_path: Path
) -> None:
    """Where bytes count. And damaged ones are refused, which no digest of the answer shows."""
    file = MNIST.pinned["t10k-images-idx3-ubyte"]
    copy = replace(MNIST, path=str(tmp_path), files=(file,))
    (tmp_path / file.name).symlink_to(MNIST.folder() / file.name)
    pack_images([copy])
    packed = (tmp_path / f"{file.name}.pixels16").read_bytes()
    sent = [packed[:-1000] + bytes(1000)]

    def answer(route: Route) -> None:
        assert TYPE in route.request.headers["accept"]
        route.fulfill(body=sent[0], content_type=TYPE)

    with visit(chromium) as tab:
        tab.page.route("**/data/mnist/test-images", answer)
        tab.page.add_init_script(FEW_BYTES)
        tab.open(network)
        tab.ready()
        program = "from playgrad import data\nprint(data.mnist()[1][0][-9:].sum())"
        write(tab.page, program)
        tab.page.get_by_test_id("run").click()
        expect(tab.page.get_by_test_id("error")).to_contain_text("checksum is wrong")
        sent[0] = packed
        tab.page.get_by_test_id("run").click()
        total = int(data.mnist()[1][0][-9:].sum())
        expect(tab.page.get_by_test_id("console")).to_contain_text(str(total))


def read_data(tab: Visit, network: BadNetwork, fault: str) -> None:
    page = tab.page
    write(page, f"# {fault}\n{READ}")
    page.get_by_test_id("run").click()
    if fault in ("missing", "broken"):  # the server's own words
        expect(page.get_by_test_id("error")).to_contain_text("test-labels")
        network.mend()
        page.get_by_test_id("run").click()
    else:
        expect(page.get_by_test_id("load-note")).to_contain_text("test-labels")
        network.mend()
        tab.try_again()
    expect(page.get_by_test_id("status")).to_have_text("done")
    expect(page.get_by_test_id("console")).to_contain_text("[5 0 4]")
    expect(page.get_by_test_id("load-note")).to_have_count(0)


def write(page: Page, source: str) -> None:
    content = page.locator("[data-testid=editor] .cm-content")
    content.press("Control+a")
    content.evaluate(PASTE, source)


@pytest.mark.parametrize("megabits", [16, *slow(8, 4, 2)])
def test_a_slow_line_loads_only_the_files_that_python_needs(
    chromium: Browser,
    network: BadNetwork,
    record_property: Callable[[str, object], None],
    megabits: int,
) -> None:
    """There the image of Python's memory would take longer than it saves."""
    ImageCache(BundleCache()).make()
    network.bytes_per_second = megabits * 125_000
    network.sent.clear()
    with visit(chromium) as tab:
        began = time.monotonic()
        tab.open(network)
        tab.up()
        sentence = tab.page.locator(".status-sentence")
        words = re.compile(r"\d+\.\d of \d+\.\d MB · about \d+ s\.")
        expect(sentence).to_contain_text(words)
        expect(tab.page.get_by_test_id("load-note")).to_have_count(0)
        tab.ready()
        seconds = time.monotonic() - began
        image, total = network.sent["/image/python.bin"], network.sent.total()
        print(f"{megabits} Mbit/s: ready after {seconds:.1f} s, {total / 1e6:.1f} MB,")
        print(f"{image / 1e6:.1f} of them of an image that was given up")
        record_property("megabytes", total / 1e6)
        assert image < 3e6
        assert (image == 0) == (megabits < 8), "what is given up is not begun on a slow line"
        # With gzip; the smallest copies, which this server lacks, are 7.4 MB.
        assert total - image < 9.6e6
        network.bytes_per_second = 0
        write(tab.page, GOOD)
        tab.page.get_by_test_id("run").click()
        console = tab.page.get_by_test_id("console")
        expect(console).to_contain_text("trained well")
