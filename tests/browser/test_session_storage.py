"""A visitor's work comes back after a reload, a crash, going back and forth, a closed browser."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser import sessions
from tests.browser.conftest import address_for
from tests.browser.playground import STUBBORN
from tests.browser.sessions import EDITED, FAILING, SHORT, Visit, shown, training
from tests.sweeps import slow
from tools.setup import system

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Route

pytestmark = [pytest.mark.browser, pytest.mark.survival("Reloads, crashes and closed browsers")]

# Writes megabytes of code that cannot be compressed.
EDIT_RANDOM = """async (megabytes) => {
  const { edit } = await import("/static/js/gallery/examples.js");
  const bytes = () => crypto.getRandomValues(new Uint8Array(50_000));
  const letters = () => Array.from(bytes(), (byte) => 33 + (byte % 90));
  edit(Array.from({ length: 20 * megabytes }, () => String.fromCharCode(...letters())).join(""));
}"""

STROKE = [(0.3, 0.2), (0.7, 0.2), (0.4, 0.8)]


@pytest.fixture
def context(chromium: Browser) -> Iterator[BrowserContext]:
    context = chromium.new_context(viewport={"width": 1366, "height": 768}, service_workers="block")
    yield context
    context.close()


@pytest.fixture
def visit(context: BrowserContext, request: pytest.FixtureRequest) -> Iterator[Visit]:
    visit = Visit(context, address_for(request))
    yield visit
    assert not visit.complaints, "\n".join(visit.complaints)


def before_run(visit: Visit) -> None:
    sessions.wait_until_restored(visit.page, "import")
    visit.write(EDITED)
    visit.choose_device("cpu")


def paused(visit: Visit) -> None:
    training(visit)
    visit.timed("pause", "paused")


def done(visit: Visit) -> None:
    visit.choose_device("cpu")
    visit.finish(SHORT)
    visit.at("tab-lab").click()


def failed(visit: Visit) -> None:
    visit.choose_device("cpu")
    visit.start(FAILING)
    visit.expect_status("error")


@pytest.mark.parametrize(
    "moment",
    [
        training,
        *slow(before_run, done, paused, failed),
    ],
)
def test_a_reload_restores_the_whole_session(
    visit: Visit, moment: Callable[[Visit], None], record_property: Callable[[str, object], None]
) -> None:
    moment(visit)
    if moment is not training:
        sessions.wait_until_saved(visit.page)
    else:
        visit.page.wait_for_timeout(2500)  # it is never all saved
    before = shown(visit.page)
    ways = [visit.crash, visit.reload, visit.back_and_forth]
    held: list[Route] = []  # Python starts after the page has been checked
    visit.context.route("**/engine/python-worker.js", lambda route: held.append(route))
    for way in ways:
        held.clear()
        way()
        sessions.wait_until_restored(visit.page, before["code"].split("\n")[0])
        after = shown(visit.page)
        assert visit.text("status") == "loading", "Python is up: this tests nothing"
        if moment is training:
            assert_almost_all(before, after)
        else:
            state = "stopped" if moment is paused else before["state"]
            assert after == {**before, "state": state}, way.__name__
        before = after
    for route in held:
        route.continue_()
    visit.context.unroute("**/engine/python-worker.js")
    record_property("tried", len(ways))
    if moment is before_run:
        return
    expect(visit.page.locator(".status-sentence")).to_contain_text("Restored from")
    visit.expect_status("stopped", "done", "error")
    if moment in (training, paused):
        step = before["kept"]["step"]
        expect(visit.at("resume-offer")).to_have_text(f"Continue from step {step:,} of 80,000")
        visit.timed("resume", "running")
        visit.wait(lambda: step < visit.steps < before["step"] + 10_000)
        steps = shown(visit.page)["steps"]
        assert steps == sorted(set(steps))
        visit.timed("stop", "stopped")


def assert_almost_all(before: dict[str, Any], after: dict[str, Any]) -> None:
    """Parts that a run under way changes may be a few seconds old."""
    moving = {"steps", "losses", "trend", "step", "loss", "state", "kept", "epochs"}
    assert {k: v for k, v in after.items() if k not in moving} == {
        k: v for k, v in before.items() if k not in moving
    }
    assert after["state"] == "stopped"
    kept = after["kept"]["step"]
    if before["state"] == "stopped":  # since the last return
        assert kept == before["kept"]["step"]
    else:
        assert 0 < kept < 80_000  # later than ``before``, perhaps: the training continued
    assert len(after["steps"]) > 20
    count = min(len(before["steps"]), len(after["steps"]))
    assert after["steps"][:count] == before["steps"][:count]
    assert after["losses"][: count - 1] == before["losses"][: count - 1]


def test_typing_survives_losing_the_page_at_once(visit: Visit) -> None:
    """A page that crashes has no last moment in which it could save."""
    sessions.wait_until_restored(visit.page, "import")
    visit.page.locator(".cm-content").press("Control+Home")
    for number, leave in enumerate([visit.reload, visit.back_and_forth]):
        visit.page.keyboard.type(f"# idea {number}\n")
        leave()
        sessions.wait_until_restored(visit.page, f"# idea {number}")
        # The cursor is where it was, so that the visitor can type on.
        expect(visit.page.locator(".cm-content")).to_be_focused()
    for number in range(6):
        visit.page.keyboard.type(f"# thought {number}\n")
        visit.page.wait_for_timeout(200)
    visit.page.keyboard.type("# the last thought")
    visit.crash()
    sessions.wait_until_restored(visit.page, "# the last thought")
    code = shown(visit.page)["code"]
    assert code.startswith("# idea 0\n# idea 1\n# thought 0\n")
    assert visit.dialogs == []


def launch_persistent(chromium: Browser, folder: Path) -> BrowserContext:
    """Start a browser that keeps its files in ``folder``."""
    return chromium.browser_type.launch_persistent_context(
        str(folder),
        executable_path=system.chromium(),
        args=["--no-sandbox", "--disable-quic", f"--disk-cache-dir={folder}-cache"],
    )


def test_a_session_survives_a_closed_and_a_killed_browser(
    chromium: Browser,
    desk_server: str,
    tmp_path: Path,
    record_property: Callable[[str, object], None],
) -> None:
    folder = tmp_path / "profile"
    browser = launch_persistent(chromium, folder)
    visit = Visit(browser, desk_server)
    visit.expect_status("ready")
    done(visit)
    sessions.wait_until_saved(visit.page)
    before = shown(visit.page)
    for end in (browser.close, lambda: sessions.kill(folder)):
        end()
        (folder / "SingletonLock").unlink(missing_ok=True)
        browser = launch_persistent(chromium, folder)
        visit = Visit(browser, desk_server)
        sessions.wait_until_restored(visit.page, "import time")
        assert shown(visit.page) == before
    record_property("tried", 2)
    weights = visit.weights()
    assert {name: array.shape for name, array in weights.items()} == {
        "dense_1/kernel": (784, 10),
        "dense_1/bias": (10,),
    }
    browser.close()


# Weights that stay

NOTHING_TRAINED = {
    "syntax error": ("for", "error"),
    "wrong name": ("modle.fit()", "error"),
    "no training": ("print('hello')", "done"),
    "exit": ("raise SystemExit(3)", "error"),
    "error before the first step": (
        SHORT.replace("y = rng.integers(0, 10, size=64)", "y = rng.integers(0, 10, size=60)"),
        "error",
    ),
}


@pytest.mark.slow
def test_weights_outlive_runs_that_train_nothing(
    visit: Visit, record_property: Callable[[str, object], None]
) -> None:
    done(visit)
    visit.at("tab-training").click()
    visit.draw(STROKE)
    prediction = visit.at("digit-prediction")
    expect(prediction).not_to_have_text("–")
    weights = visit.weights()
    label = ""
    while label != (label := prediction.inner_text()):
        visit.page.wait_for_timeout(1000)  # until the end of the stroke is part of it

    def still_there() -> None:
        expect(prediction).to_have_text(label)
        kept = visit.weights()
        assert kept.keys() == weights.keys()
        assert all(np.array_equal(kept[name], weights[name]) for name in weights)

    for name, (program, state) in NOTHING_TRAINED.items():
        visit.finish(program, state)
        still_there()
        print(name)
    visit.start(STUBBORN)
    expect(visit.at("console")).to_contain_text("begun")
    visit.timed("stop", "stopped", "loading")
    expect(visit.page.locator(".status-sentence")).to_contain_text("restarted")
    still_there()
    visit.reload()
    sessions.wait_until_restored(visit.page, "while True")
    visit.draw(STROKE)
    still_there()
    visit.expect_status("stopped")
    visit.timed("reset", "ready")
    expect(visit.at("export-safetensors")).to_be_disabled()
    visit.at("notice-action").click()
    still_there()
    record_property("tried", len(NOTHING_TRAINED) + 3)


# Several tabs


def test_tabs_never_overwrite_each_other(context: BrowserContext, desk_server: str) -> None:
    first = Visit(context, desk_server)
    sessions.wait_until_restored(first.page, "import")
    first.write("# of the first tab")
    sessions.wait_until_saved(first.page)

    second = Visit(context, desk_server)
    sessions.wait_until_restored(second.page, "# of the first tab")  # a copy of the latest code
    second.write("# of the second tab")
    # A duplicated tab begins with the same sessionStorage.
    with context.expect_page() as opened:
        first.page.evaluate("() => { window.open(location.href) }")
    third = Visit.__new__(Visit)
    third.context, third.address, third.complaints, third.dialogs = context, desk_server, [], []
    third.adopt(opened.value)
    sessions.wait_until_restored(third.page, "# of the first tab")
    third.write("# of the third tab")
    tabs = [first, second, third]
    for tab in tabs:
        sessions.wait_until_saved(tab.page)
    ids = {tab.page.evaluate("sessionStorage['playgrad.session']") for tab in tabs}
    assert len(ids) == 3
    for tab, name in ((second, "second"), (third, "third")):
        tab.reload()
        sessions.wait_until_restored(tab.page, f"# of the {name} tab")

    # Of closed tabs, the latest comes back, and the others are in the menu.
    for tab in tabs:
        tab.leave()
    again = Visit(context, desk_server)
    sessions.wait_until_restored(again.page, "# of the third tab")
    again.at("project-menu").click()
    entries = again.at("project-open")
    expect(entries).to_have_count(2)
    entries.nth(1).click()
    sessions.wait_until_restored(again.page, "# of the first tab")
    again.at("project-menu").click()
    expect(entries).to_have_count(2)
    again.at("project-remove").first.click()
    expect(entries).to_have_count(1)
    again.leave()


def test_a_new_tab_does_not_take_the_run(context: BrowserContext, desk_server: str) -> None:
    first = Visit(context, desk_server)
    done(first)
    second = Visit(context, desk_server)
    sessions.wait_until_restored(second.page, "import time")
    new = shown(second.page)
    assert new["kept"] is None and new["steps"] == [] and new["output"] == []
    assert new["device"] == "cpu"
    second.leave()
    first.leave()


# Closing asks


def test_closing_asks_only_while_something_would_be_lost(visit: Visit) -> None:
    done(visit)
    sessions.wait_until_saved(visit.page)
    visit.reload()
    assert visit.dialogs == []
    training(visit)
    visit.reload()
    assert visit.dialogs == ["beforeunload"]


# Records that cannot be read

_DAMAGE = """async (damage) => {
  const open = await new Promise((resolve) => {
    const request = indexedDB.open("playgrad");
    request.onsuccess = () => resolve(request.result);
  });
  const stores = ["code", "parts", "checkpoints"];
  const transaction = open.transaction(stores, "readwrite");
  let count = 0;
  for (const name of stores) {
    const store = transaction.objectStore(name);
    store.getAll().onsuccess = ({ target }) => {
      for (const record of target.result) {
        if (record.part.startsWith("aside:")) continue;
        count += 1;
        if (damage === "version") record.version = 99;
        else if (damage === "null") record.value = null;
        else if (damage === "text") record.value = record.part.includes("-") ? 5 : "nonsense";
        else if (damage === "missing") delete record.value;
        else for (const key of Object.keys(record.value)) {
          if (typeof record.value === "object") record.value[key] = { odd: [1, "x"] };
        }
        store.put(record);
      }
    };
  }
  await new Promise((resolve) => (transaction.oncomplete = resolve));
  open.close();
  return count;
}"""


@pytest.mark.parametrize(
    "damage",
    [
        "fields",
        *slow("version", "null", "text", "missing"),
    ],
)
def test_damaged_records_are_put_aside(
    visit: Visit, damage: str, record_property: Callable[[str, object], None]
) -> None:
    done(visit)
    sessions.wait_until_saved(visit.page)
    tried = visit.page.evaluate(_DAMAGE, damage)
    assert tried > 6
    visit.reload()
    expect(visit.page.locator(".status-sentence")).to_contain_text("put aside")
    visit.write(EDITED + SHORT)
    visit.finish()
    record_property("tried", tried)


_RECORDS = """async (written) => {
  const { database } = await import("/static/js/session/session-database.js");
  if (written) await database.write("parts", written);
  const id = sessionStorage["playgrad.session"];
  return (await database.all("parts", id)).filter(({ part }) => /^(run|output|graph)$/.test(part));
}"""


def test_output_and_graph_of_another_run_are_not_shown(visit: Visit) -> None:
    """As after a crash between the savings of two parts."""
    done(visit)
    sessions.wait_until_saved(visit.page)
    first = shown(visit.page)
    records = visit.page.evaluate(_RECORDS, None)
    assert {each["part"] for each in records} == {"run", "output", "graph"}
    visit.finish(SHORT.replace("Dense(10)", "Dense(10, name='other')").replace("trained", "again"))
    sessions.wait_until_saved(visit.page)
    second = shown(visit.page)
    assert first["output"] != second["output"] and first["graph"] != second["graph"]
    assert reloaded(visit) == second
    visit.page.evaluate(_RECORDS, [each for each in records if each["part"] != "run"])
    assert reloaded(visit) == {**second, "output": [], "graph": None}
    # The run's own record is the one that the others are held to.
    visit.page.evaluate(_RECORDS, records)
    after = reloaded(visit)
    assert (after["output"], after["graph"]) == (first["output"], first["graph"])


def reloaded(visit: Visit) -> dict[str, Any]:
    """Reload the page, and return what it shows."""
    visit.reload()
    sessions.wait_until_restored(visit.page, "import")
    return shown(visit.page)


def test_code_of_older_pages_is_taken_over(context: BrowserContext, desk_server: str) -> None:
    page = context.new_page()
    page.goto(f"{desk_server}/healthz")
    page.evaluate(
        """() => {
          localStorage["playgrad.code.mnist-cnn"] = "# the old way";
          localStorage["playgrad.example"] = "mnist-cnn";
        }"""
    )
    page.close()
    for _ in range(2):
        visit = Visit(context, desk_server)
        sessions.wait_until_restored(visit.page, "# the old way")
        assert shown(visit.page)["example"] == "mnist-cnn"
        visit.page.wait_for_function("() => localStorage['playgrad.code.mnist-cnn'] === undefined")
        visit.leave()


# Storage that does not work

BROKEN = {
    "undefined": "Object.defineProperty(globalThis, 'indexedDB', { value: undefined });",
    "forbidden": """IDBFactory.prototype.open = () => {
      throw new DOMException("denied", "SecurityError");
    };""",
    "silent": "IDBFactory.prototype.open = () => ({});",
    "failing": """IDBFactory.prototype.open = () => {
      const request = { error: new DOMException('Internal error', 'UnknownError') };
      setTimeout(() => request.onerror());
      return request;
    };""",
    "aborting": """{
      const { put } = IDBObjectStore.prototype;
      IDBObjectStore.prototype.put = function (...all) {
        put.apply(this, all);
        this.transaction.abort();
      };
    }""",
}


@pytest.mark.parametrize(
    "kind",
    [
        "failing",
        *slow("undefined", "forbidden", "silent", "aborting"),
    ],
)
def test_the_page_without_storage_works_and_reports_it(
    chromium: Browser, desk_server: str, kind: str, tmp_path: Path
) -> None:
    context = chromium.new_context()
    context.add_init_script(BROKEN[kind])
    visit = Visit(context, desk_server)
    sessions.wait_until_restored(visit.page, "import")
    visit.write(SHORT)
    note = visit.at("storage-note")
    expect(note).to_contain_text("does not store anything")
    expect(note).to_contain_text("Save the code and the weights as files")
    assert visit.download("save-code", tmp_path).read_text() == SHORT.strip("\n")
    if kind in ("silent", "aborting"):
        visit.choose_device("cpu")
        visit.finish()
        assert visit.weights()
    visit.reload()
    assert visit.dialogs == ["beforeunload"]
    assert visit.complaints == []
    context.close()


def test_full_storage_never_truncates_code(
    chromium: Browser, desk_server: str, tmp_path: Path
) -> None:
    """A disk of 40 megabytes, and code of 50 that cannot be compressed."""
    mount = ["mount", "-t", "tmpfs", "-o", "size=40m", "tmpfs", str(tmp_path)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting needs the superuser; failing storage is tested anyway")
    try:
        browser = launch_persistent(chromium, tmp_path / "profile")
        visit = Visit(browser, desk_server)
        visit.expect_status("ready")
        visit.page.evaluate(EDIT_RANDOM, 50)
        note = visit.at("storage-note")
        expect(note).to_contain_text("does not fit")
        kept = "import('/static/js/state/store.js').then((store) => store.source.value.length)"
        assert visit.page.evaluate(kept) == 50 * 1_000_000
        visit.write("# small again")
        visit.at("save-again").click()
        expect(note).to_have_count(0)
        sessions.wait_until_saved(visit.page)
        visit.reload()
        sessions.wait_until_restored(visit.page, "# small again")
        browser.close()
    finally:
        subprocess.run(["umount", "-l", str(tmp_path)], check=True)


@pytest.mark.slow
def test_restoring_is_quick(visit: Visit) -> None:
    done(visit)
    sessions.wait_until_saved(visit.page)
    began = time.monotonic()
    visit.reload()
    sessions.wait_until_restored(visit.page, "import time")
    print(f"a reload to the restored page: {time.monotonic() - began:.2f} s")
    assert visit.text("step-count") == "12"
