"""Links, project files and stored sessions with values out of bounds: they never stop the page."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, expect

from tests import sweeps
from tests.browser import sessions
from tests.browser.conftest import address_for
from tests.browser.playground import PATIENCE_MS, Playground
from tests.browser.sessions import Visit

pytestmark = [pytest.mark.browser, pytest.mark.survival("Values out of bounds")]

FUZZ = (Path(__file__).parent / "field_fuzz.js").read_text(encoding="utf-8")


def test_no_field_stops_the_page(playground: Playground) -> None:
    """What is not refused is shown, with settings within bounds, and the page still answers."""
    page = playground.page
    page.evaluate(FUZZ)
    shown = sweeps.budget(120, night=5000)
    page.evaluate("([seed, most]) => void fuzz.begin(seed, most)", [sweeps.SEED % 1000, shown])
    try:
        page.wait_for_function("() => fuzz.outcome.isDone", timeout=PATIENCE_MS)
    finally:
        outcome = page.evaluate("() => fuzz.outcome")
        print({name: outcome[name] for name in ("fields", "cases", "shown", "last")})
    assert not outcome["problems"]
    assert outcome["fields"] > 200
    assert outcome["shown"] > 100


# A link that no page makes.
HOSTILE = """async () => {
  const { encode } = await import("/static/js/sharing/link.js");
  const { USUAL_LAB } = await import("/static/js/state/bounds.js");
  return "/" + await encode({
    version: 1, exampleId: "spiral", title: "Spiral", code: "print('from a link')",
    device: "cpu", view: "lab", expected: null,
    lab: { ...USUAL_LAB, strategy: "sync", devices: 1e9 },
  });
}"""

# Writes the number of devices into the saved choices, as no page does.
DAMAGE = """async (devices) => {
  const { database } = await import("/static/js/session/session-database.js");
  const records = await database.all("parts");
  for (const record of records) if (record.part === "choices") record.value.lab.devices = devices;
  await database.write("parts", records);
}"""


@pytest.fixture
def visit(chromium: Browser, request: pytest.FixtureRequest) -> Iterator[Visit]:
    context = chromium.new_context(viewport={"width": 1366, "height": 768}, service_workers="block")
    visit = Visit(context, address_for(request))
    sessions.wait_until_restored(visit.page, "import")
    yield visit
    context.close()
    assert not visit.complaints, "\n".join(visit.complaints)


def test_a_billion_devices_from_a_link_or_storage_become_the_most(visit: Visit) -> None:
    most = visit.page.evaluate(
        "import('/static/engine/device-links.js').then(({ mostDevices }) => mostDevices())"
    )
    link = visit.page.evaluate(HOSTILE)
    for way in ("link", "storage"):
        if way == "link":
            visit.page.goto(f"{visit.address}{link}")
        else:
            sessions.wait_until_saved(visit.page)
            visit.page.evaluate(DAMAGE, 1e9)
            visit.reload()
        sessions.wait_until_restored(visit.page, "from a link")
        expect(visit.at("lab-devices")).to_have_value(str(most))
        expect(visit.page.locator(".status-sentence")).to_contain_text(
            f"“devices” was out of bounds (1000000000). It is {most} now."
        )
    sessions.wait_until_saved(visit.page)
    visit.reload()  # what was corrected is saved, so it is said once
    sessions.wait_until_restored(visit.page, "from a link")
    expect(visit.at("lab-devices")).to_have_value(str(most))
    expect(visit.page.locator(".status-sentence")).not_to_contain_text("out of bounds")


FAILED = "Object.values(localStorage).filter((each) => each === 'failed')"
IS_UP = "() => !Object.keys(localStorage).some((key) => key.startsWith('playgrad.opening.'))"

# A page that never gets the saved program, and so never comes up.
STUCK = """
const get = IDBObjectStore.prototype.get;
IDBObjectStore.prototype.get = function (key) {
  if (this.name !== "code" || sessionStorage.isRepaired) return get.call(this, key);
  console.log("stuck");
  return {};
};
"""


# Takes the lock of the session that was left out, as another tab would. `leave` gives it back.
OPEN_ELSEWHERE = """async () => {
  const { unopened } = await import("/static/js/state/store.js");
  await new Promise((resolve) => {
    navigator.locks.request(`playgrad.session.${unopened.value}`, () => {
      resolve();
      return new Promise((end) => (globalThis.leave = end));
    });
  });
}"""

# Adds records without what they should have to the session that was left out.
BREAK = """async () => {
  const { database } = await import("/static/js/session/session-database.js");
  const { unopened } = await import("/static/js/state/store.js");
  const record = { session: unopened.value, version: 1, saved: 1 };
  await database.write("code", [{ ...record, part: "broken" }]);
  await database.write("checkpoints", [{ ...record, part: "checkpoint", value: null }]);
}"""

# A page that cannot draw the name of a project.
UNDRAWN = """
const { set } = Object.getOwnPropertyDescriptor(CharacterData.prototype, "data");
const create = document.createTextNode;
const check = (text) => {
  if (text === "undrawn") throw new Error("cannot be drawn");
};
Object.defineProperty(CharacterData.prototype, "data", {
  set(text) { check(text); set.call(this, text); },
});
document.createTextNode = (text) => (check(text), create.call(document, text));
"""


def _is_stuck(message: ConsoleMessage) -> bool:
    return message.text == "stuck"


def test_a_session_with_which_the_page_could_not_be_opened_twice_is_left_out_and_kept(
    visit: Visit, tmp_path: Path
) -> None:
    visit.write("kept = 1")
    sessions.wait_until_saved(visit.page)
    for _ in range(3):
        visit.reload()  # a page that is left while it opens is not at fault
    sessions.wait_until_restored(visit.page, "kept = 1")
    visit.page.wait_for_function(IS_UP)
    visit.context.add_init_script(STUCK)
    for _ in range(2):
        with visit.context.expect_event("console", _is_stuck, timeout=PATIENCE_MS):
            visit.crash()
    visit.crash()
    expect(visit.at("unopened-note")).to_be_visible()
    visit.expect_status("ready")
    assert "kept" not in visit.text("editor")
    visit.page.evaluate("sessionStorage.isRepaired = 'yes'")
    visit.page.evaluate(BREAK)
    project = visit.download("unopened-save", tmp_path)
    status = visit.page.locator(".status-sentence")
    expect(status).to_contain_text("Missing: the code of broken, the weights.")
    with zipfile.ZipFile(project) as archive:
        programs = [name for name in archive.namelist() if name.startswith("code/")]
        assert [archive.read(name) for name in programs] == [b"kept = 1"]
    visit.page.evaluate(OPEN_ELSEWHERE)
    visit.at("unopened-again").click()
    expect(visit.at("unopened-note")).to_contain_text("open in another tab")
    visit.page.evaluate("leave()")
    visit.at("unopened-again").click()
    sessions.wait_until_restored(visit.page, "kept = 1")
    expect(visit.at("unopened-note")).to_have_count(0)


def test_tabs_that_are_still_opening_the_session_do_not_bar_it(visit: Visit) -> None:
    visit.write("kept = 1")
    sessions.wait_until_saved(visit.page)
    visit.context.add_init_script(STUCK)
    for _ in range(2):
        with visit.context.expect_event("console", _is_stuck, timeout=PATIENCE_MS):
            visit.adopt(visit.context.new_page())
            visit.page.goto(f"{visit.address}/")
    visit.adopt(visit.context.new_page())
    visit.page.add_init_script("sessionStorage.isRepaired = 'yes'")
    visit.page.goto(f"{visit.address}/")
    sessions.wait_until_restored(visit.page, "kept = 1")
    expect(visit.at("unopened-note")).to_have_count(0)


def test_a_session_that_cannot_be_drawn_twice_is_left_out(visit: Visit) -> None:
    visit.page.wait_for_function(IS_UP)
    visit.page.evaluate(
        "import('/static/js/session/projects.js').then(({ rename }) => rename('undrawn'))"
    )
    sessions.wait_until_saved(visit.page)
    visit.context.add_init_script(UNDRAWN)
    for attempts in (1, 2):
        visit.reload()
        visit.page.wait_for_function(f"() => {FAILED}.length === {attempts}")
    visit.reload()
    expect(visit.at("unopened-note")).to_be_visible()
    visit.forgive("cannot be drawn")
