"""The Lab in the page: strategies are run, measured, drawn, compared and stopped, and may fail."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.playground import STUBBORN, Playground

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.browser, pytest.mark.pyodide, pytest.mark.gpu]

PROGRAM = """
import numpy as np
import playgrad as pg
from playgrad import nn

x = np.random.default_rng(0).normal(size=(64, 4)).astype(np.float32)
model = pg.Sequential([nn.Dense(8, activation="tanh") for _ in range(3)] + [nn.Dense(2)])
model.compile(
    optimizer=pg.optim.SGD(learning_rate=0.1),
    loss=nn.SparseCategoricalCrossentropy(from_logits=True),
)
model.fit(x, (x[:, 0] > 0).astype(np.int32), batch_size=16, epochs=100_000, verbose=0)
"""
EXAMPLE = Path(__file__).parents[2] / "static" / "examples" / "sync-against-async.py"
STEPS = 40
MOST_RUNS = 8
RUN, DEVICES, MS, ONE, IDEAL, WAITING, MOVED, LOSS = range(8)
"""Columns of the table of runs."""


# Notes each sentence beside the status, of which some are there for milliseconds.
_LISTEN = """() => {
  const line = document.querySelector(".status-line");
  globalThis.said = [];
  const note = () => said.push(line.textContent);
  new MutationObserver(note).observe(line, { subtree: true, childList: true, characterData: true });
}"""


class LabPage(Playground):
    def choose(self, strategy: str, devices: int | None = None, steps: int = STEPS) -> None:
        self.at("lab-strategy").select_option(strategy)
        self.fill("lab-steps", steps)
        if devices is not None:
            self.fill("lab-devices", devices)

    def choose_and_read_honest_words(self, strategy: str, devices: int) -> str:
        self.choose(strategy, devices)
        return self.text("lab-honest")

    def fill(self, field: str, value: int) -> None:
        self.at(field).fill(str(value))
        self.at(field).press("Tab")

    def run_in_lab(self, state: str = "done", first: str = "") -> list[str]:
        """Run with the chosen settings, while the page says ``first``; return the cells of the
        run's row."""
        before = self.at("lab-run-row").count()
        self.page.evaluate(_LISTEN)
        self.at("lab-run").click()
        if first:
            self.wait(lambda: any(first in text for text in self.page.evaluate("said")))
        expect(self.at("lab-run-row")).to_have_count(min(before + 1, MOST_RUNS))
        self.expect_status(state)
        return self.rows()[-1]

    def rows(self) -> list[list[str]]:
        rows = self.at("lab-run-row").all()
        return [row.locator("th, td").all_inner_texts() for row in rows]

    def tracks(self) -> list[str]:
        tracks = self.at("lab-lane").all()
        return [track.get_attribute("data-device") or "" for track in tracks]

    def percent(self, test_id: str) -> int:
        return int(self.text(test_id).rstrip("%"))


@pytest.fixture(scope="module")
def opened(chromium: Browser, server: str) -> Iterator[LabPage]:
    page = LabPage(chromium, server)
    page.expect_status("ready")
    page.choose_device("cpu")
    page.write(PROGRAM)
    page.at("tab-lab").click()
    yield page
    page.close()


@pytest.fixture
def lab(opened: LabPage) -> LabPage:
    """The Lab without runs."""
    if opened.at("lab-clear").count():
        opened.at("lab-clear").click()
    return opened


@contextmanager
def graph_of(lab: LabPage) -> Iterator[None]:
    lab.at("tab-graph").click()
    yield
    lab.at("tab-lab").click()


def expect_graph_colours(lab: LabPage, colours: str, legend: str) -> None:
    assert lab.at("graph-colours").input_value() == colours
    expect(lab.page.locator(".graph-legend")).to_contain_text(legend)


def test_strategies_are_run_measured_compared_and_drawn(lab: LabPage) -> None:
    lab.choose("single")
    single = lab.run_in_lab()
    assert lab.tracks() == ["cpu:0"]
    assert single[ONE:WAITING] == ["1.00 ×", "100%"]
    assert single[MOVED] == "0 B"

    lab.choose("sync", 2)
    sync = lab.run_in_lab(first="Starting Python for cpu:1")
    assert lab.workers().count("cpu-worker.js") == 1
    assert lab.tracks() == ["cpu:0", "cpu:1"]
    assert sync[DEVICES] == "2 cpu"
    assert sync[MOVED] == lab.text("lab-bytes") == "1.6 KiB"  # 202 parameters both ways, and losses
    assert float(sync[LOSS]) == pytest.approx(float(single[LOSS]), abs=2e-4)
    assert sync[ONE].endswith("×")
    assert lab.at("lab-bubble-remark").count() == 0
    assert lab.at("lab-bytes-remark").count() == 0
    expect(lab.page.locator("#lab-timeline-title")).to_have_text("Timeline of one step")
    with graph_of(lab):
        expect_graph_colours(lab, "device", "cpu:1")
        for number in (0, 1):  # visible at once, without expanding a scope
            replica = lab.page.locator(f'[data-id="scope:data_parallel/replica_{number}"]')
            expect(replica).to_have_attribute("data-colour", f"device-{number}")

    lab.choose("pipeline", 2)
    lab.at("lab-schedule").select_option("gpipe")
    pipeline = lab.run_in_lab()
    assert "times as fast as one device" in lab.text("lab-honest")
    assert lab.tracks() == ["cpu:0", "cpu:1"]
    assert float(pipeline[LOSS]) == pytest.approx(float(single[LOSS]), abs=2e-4)
    assert lab.text("lab-bubble-remark") == "formula 20%"  # 1 / (4 + 1)
    assert 0 < lab.percent("lab-bubble") < 100
    assert 0 <= lab.percent("lab-communication") < 100
    assert lab.at("lab-times").locator("tbody tr").count() == 2
    for row in lab.rows():
        assert float(row[MS]) > 0

    # Show the timeline of an earlier run again.
    lab.at("lab-run-row").first.get_by_role("button", name="One device").click()
    assert lab.tracks() == ["cpu:0"]
    assert "One device" in lab.text("lab-timeline-run")


def test_strategies_run_on_several_gpu_workers(lab: LabPage) -> None:
    """Each device has its own worker and GPUDevice; the losses are the same as on one device."""
    lab.write(PROGRAM.replace("range(3)", "range(1)"))  # each GPUDevice compiles all kernels
    lab.at("lab-kind").select_option("gpu")
    try:
        assert lab.at("device-select").input_value() == "gpu"
        assert "share one GPU" in lab.choose_and_read_honest_words("sync", 4)
        lab.choose("single")
        single = lab.run_in_lab()
        assert lab.tracks() == ["gpu:0"]
        for strategy in ("sync", "pipeline"):
            lab.choose(strategy, 2)
            run = lab.run_in_lab()
            assert lab.tracks() == ["gpu:0", "gpu:1"]
            assert float(run[LOSS]) == pytest.approx(float(single[LOSS]), abs=2e-4)
        lab.choose("async", 2)
        lab.run_in_lab()
        # Only a few updates are traced, not necessarily of every replica.
        assert {"gpu:0", "gpu:1"} & set(lab.tracks())
    finally:
        lab.choose_device("cpu")
        lab.write(PROGRAM)


def test_an_asynchronous_run_tells_of_its_updates(lab: LabPage) -> None:
    """Two updates of each replica are measured together; the graph shows server and replicas."""
    lab.choose("async", 2)
    lab.fill("lab-staleness", 1)
    run = lab.run_in_lab()
    assert "at most 1 ahead" in run[RUN]
    # For each update, though more or fewer batches may begin than end during the trace.
    assert run[MOVED] in ("1.2 KiB", "1.4 KiB", "1.6 KiB", "1.8 KiB", "2.0 KiB")
    assert run[MOVED] == lab.text("lab-bytes")
    expect(lab.page.locator("#lab-timeline-title")).to_have_text("Timeline of 4 steps")
    expect(lab.at("lab-bytes-remark")).to_have_count(1)
    assert 0 <= float(lab.text("lab-mean-staleness")) <= 2
    table = lab.at("lab-times").inner_text()
    assert "updates" in table
    assert "cpu:0 (weights)" in table
    lab.at("lab-placement").locator("summary").click()
    expect(lab.at("lab-placement-replicas")).to_contain_text("on its own device")
    legend = lab.page.locator(".graph-legend li")
    with graph_of(lab):
        expect(legend).to_have_text(["cpu:0", "cpu:0 (weights)", "cpu:1", "control edge"])
        colours = {
            name: lab.page.locator(f'[data-id="scope:{name}"]').get_attribute("data-colour")
            for name in ("replica_0", "replica_1", "sgd", "train")
        }
    assert colours == {
        "replica_0": "device-0",
        "replica_1": "device-2",
        "sgd": "device-1",
        "train": "device-1",
    }


def test_only_relevant_options_are_shown_and_all_are_explained(lab: LabPage) -> None:
    always = {"lab-strategy", "lab-kind"}
    several = always | {"lab-devices", "lab-steps", "lab-delay-0", "lab-delay-1"}
    pipeline = several | {"lab-micro-batches", "lab-schedule"}
    shown = {
        ("single", None): always | {"lab-steps"},
        ("program", None): always,
        ("sync", None): several | {"lab-collective"},
        ("async", None): several | {"lab-staleness"},
        ("local", None): several | {"lab-collective", "lab-every"},
        ("pipeline", "interleaved"): pipeline | {"lab-chunks"},
        ("pipeline", "bidirectional"): pipeline | {"lab-collective"},
        ("pipeline", "1f1b"): pipeline,
        ("overlap", None): always | {"lab-steps"},
    }
    lab.choose("sync", 2)
    for (strategy, schedule), names in shown.items():
        lab.at("lab-strategy").select_option(strategy)
        if schedule:
            lab.at("lab-schedule").select_option(schedule)
        controls = lab.page.locator(".lab-controls").locator("input, select").all()
        assert {each.get_attribute("data-testid") for each in controls} == names
        for each in controls:
            assert each.evaluate("field => field.labels.length") == 1
            about = each.get_attribute("aria-describedby")
            if about:
                assert len(lab.page.locator(f"#{about}").inner_text()) > 15
            else:
                assert (each.get_attribute("id") or "").startswith("lab-delay-")
    lab.at("lab-strategy").select_option("sync")
    # Numbers are corrected when a field loses the focus.
    lab.fill("lab-devices", 9999)
    most = int(lab.at("lab-devices").get_attribute("max") or 0)
    assert most >= 4
    assert lab.at("lab-devices").input_value() == str(most)
    help_text = lab.page.locator("#lab-devices-help")
    expect(help_text).to_contain_text(f"Allowed: 1 to {most}.")
    lab.fill("lab-devices", 2)
    expect(help_text).not_to_contain_text("Allowed:")
    assert "NumPy workers" in lab.text("lab-honest")


def test_a_program_compares_strategies_by_itself(lab: LabPage) -> None:
    """Each fit of the example is a row; delays are drawn as delays."""
    lab.write(EXAMPLE.read_text(encoding="utf-8").replace("epochs=5", "epochs=2"))
    try:
        lab.at("lab-strategy").select_option("program")
        lab.at("lab-run").click()
        lab.expect_status("running", "done")
        lab.expect_status("done")
        titles = [row[RUN].split(" ", 1)[1] for row in lab.rows()]
        assert titles == [
            "One device",
            "Data parallel, synchronous",
            "Data parallel, asynchronous",
            "Data parallel, asynchronous, at most 1 ahead",
        ]
        one, sync, free, _ = lab.rows()
        assert float(one[LOSS]) == pytest.approx(float(sync[LOSS]), abs=2e-4)
        assert float(sync[MS]) > float(free[MS])  # 0.16 s of delays per step
        lab.at("lab-run-row").nth(1).get_by_role("button", name="Data parallel").click()
        held = lab.page.locator('[data-device="cpu:1"] [data-kind="delay"]')
        assert held.count() >= 1
        assert held.first.get_attribute("data-held") in ("gradient", "forward")
        assert "steps/s" in lab.text("console")
    finally:
        lab.at("lab-strategy").select_option("single")
        lab.write(PROGRAM)


def test_a_program_with_device_scopes_is_not_labelled_one_device(lab: LabPage) -> None:
    """Device scopes apply without a strategy, too; a strategy on one device is a strategy."""
    scoped = PROGRAM.replace("[nn.Dense(2)]", "[last]").replace(
        "model = ",
        "pg.set_logical_devices(cpu=2)\nwith pg.device('cpu:1'): last = nn.Dense(2)\nmodel = ",
    )
    lab.write(scoped)
    try:
        lab.choose("single")
        run = lab.run_in_lab()
        assert "Placed by the program" in run[RUN]
        assert (run[DEVICES], run[ONE]) == ("2 cpu", "–")
        both = PROGRAM.replace("epochs=100_000", "epochs=10")
        again = "".join(f"{line}\n" for line in both.splitlines() if "import" not in line)
        again = again.replace("optimizer=", "strategy=pg.parallel.Overlap(2), optimizer=")
        lab.write(both + again)
        lab.at("lab-strategy").select_option("program")
        lab.at("lab-run").click()
        lab.expect_status("running", "done")
        lab.expect_status("done")
        one, overlapped = lab.rows()[-2:]
        assert "One device" in one[RUN] and "Overlapped steps" in overlapped[RUN]
        assert one[ONE] == "1.00 ×" and overlapped[ONE].endswith("×")
    finally:
        lab.at("lab-strategy").select_option("single")
        lab.write(PROGRAM)


def test_a_run_with_delays_has_no_ratio_to_one_device(lab: LabPage) -> None:
    lab.choose("single")
    lab.run_in_lab()
    with graph_of(lab):  # not the devices of an earlier run
        expect_graph_colours(lab, "phase", "gradient")
    lab.choose("sync", 2)
    assert "Run one device first" in lab.text("lab-honest")
    lab.fill("lab-delay-1", 1)
    try:
        lab.run_in_lab()
        assert "Run it without delays" in lab.text("lab-honest")
    finally:
        lab.fill("lab-delay-1", 0)


def test_a_program_without_training_is_labelled(lab: LabPage) -> None:
    """Runs of different programs are labelled."""
    lab.choose("single")
    lab.run_in_lab()
    expect(lab.page.locator(".lab-run-program")).to_have_count(0)
    lab.write("print('hello')")
    try:
        title = lab.run_in_lab()[RUN]
        assert "One device (no fit() was called)" in title
        programs = lab.page.locator(".lab-run-program").all_inner_texts()
        assert [each.endswith(", edited") for each in programs] == [True, True]
    finally:
        lab.write(PROGRAM)


def test_a_run_of_two_fits_shows_the_second(lab: LabPage) -> None:
    """The second fit is too short to be traced: the timeline of the first is not shown."""
    shorter = PROGRAM.replace(
        "model.fit(", "model.fit(x, (x[:, 0] > 0).astype(np.int32), epochs=9)\nmodel.fit("
    )
    lab.write(
        shorter.replace("epochs=100_000", "epochs=1").replace("batch_size=16", "batch_size=64")
    )
    try:
        lab.at("lab-strategy").select_option("sync")
        lab.fill("lab-steps", 0)
        run = lab.run_in_lab()
        assert run[WAITING] == run[MOVED] == "–"
        lab.at("lab-run-row").last.get_by_role("button", name="Data parallel").click()
        expect(lab.page.locator(".lab-timeline")).to_contain_text("before a step was measured")
    finally:
        lab.write(PROGRAM)


def test_a_run_whose_python_did_not_stop_has_ended(lab: LabPage) -> None:
    """A later run in the other tab is not mistaken for it."""
    lab.choose("single")
    lab.write(STUBBORN)
    try:
        lab.at("lab-run").click()
        lab.expect_status("running")
        lab.page.wait_for_timeout(300)
        lab.timed("lab-stop", "loading", "stopped")
        assert "(stopped)" in lab.rows()[-1][RUN]
        lab.runs_well()
        (row,) = lab.rows()
        assert "(stopped)" in row[RUN]
        assert row[MS] == row[LOSS] == "–"
    finally:
        lab.write(PROGRAM)


def test_steps_that_belong_together_are_measured_together(lab: LabPage) -> None:
    """Local SGD by its whole round."""
    lab.choose("local", 2)
    lab.fill("lab-every", 2)
    run = lab.run_in_lab()
    # 202 parameters both ways once in two steps, with the losses and a finite flag.
    assert run[MOVED] == lab.text("lab-bytes") == "816 B"
    expect(lab.page.locator("#lab-timeline-title")).to_have_text("Timeline of 2 steps")
    expect(lab.at("lab-bytes-remark")).to_have_count(1)


def test_asynchronous_replicas_continue_without_a_lost_one(lab: LabPage) -> None:
    """Also while a step is traced; the run names the lost replica, and the next has a new one."""
    lab.choose("async", 2, steps=0)
    lab.at("lab-run").click()
    lab.wait(lambda: len(lab.tracks()) > 0)
    (worker,) = [
        each
        for each in lab.page.workers
        if "cpu-worker" in each.url and each.evaluate("name") == "cpu:1"
    ]
    worker.evaluate("void setTimeout(() => self.close())")
    lab.wait(lambda: "cpu:1: its worker has ended" in lab.page.locator("body").inner_text())
    traced = lab.text("lab-times")
    lab.at("lab-trace").click()
    lab.wait(lambda: lab.text("lab-times") != traced)
    lab.page.wait_for_timeout(0)
    assert lab.text("status") == "running"
    assert lab.timed("lab-stop", "stopped") < 5000
    expect(lab.page.locator(".lab-lost")).to_contain_text("cpu:1 was lost; the others continued")
    lab.choose("sync", 2)
    lab.run_in_lab()
    assert lab.tracks() == ["cpu:0", "cpu:1"]


def test_placement_is_explained_and_keys_move_through_tracks_and_tabs(lab: LabPage) -> None:
    lab.choose("sync", 2)
    lab.run_in_lab()
    lab.at("lab-placement").locator("summary").click()
    expect(lab.at("lab-placement-headline")).to_contain_text("By measured times: ")
    expect(lab.at("lab-placement-replicas")).to_have_count(0)
    text = lab.at("lab-placement-rows").inner_text()
    assert "cpu:0" in text and "cpu:1" in text
    assert "set by device scope" in text
    track = lab.at("lab-lane").nth(1)
    track.focus()
    track.press("ArrowRight")
    first = lab.text("lab-looked")
    assert first.startswith("cpu:1: ")
    assert " ms" in first
    track.press("ArrowRight")
    assert lab.text("lab-looked") != first
    lab.at("tab-lab").focus()
    lab.at("tab-lab").press("ArrowLeft")
    expect(lab.at("tab-shrink")).to_be_focused()
    expect(lab.at("shrink")).to_be_visible()
    lab.at("tab-shrink").press("Home")
    expect(lab.at("tab-training")).to_be_focused()
    expect(lab.at("task")).to_be_visible()
    lab.at("tab-training").press("End")
    expect(lab.at("lab-run")).to_be_visible()


def test_an_automatic_placement_reports_its_decisions(lab: LabPage) -> None:
    program = PROGRAM.replace("model = ", "pg.set_logical_devices(cpu=2)\nmodel = ")
    lab.write(program.replace("optimizer=", 'placement="auto", optimizer='))
    try:
        lab.at("lab-strategy").select_option("program")
        lab.at("lab-run").click()
        lab.wait(lambda: len(lab.tracks()) > 0)
        lab.at("lab-placement").locator("summary").click()
        headline = lab.at("lab-placement-headline")
        expect(headline).to_contain_text("By measured times: ")
        assert " on cpu:0 alone" in headline.inner_text()
        assert lab.timed("lab-stop", "stopped") < 5000
    finally:
        lab.at("lab-strategy").select_option("single")
        lab.write(PROGRAM)


def test_errors_are_shown_and_the_next_run_works(lab: LabPage) -> None:
    lab.choose("pipeline", 4)
    lab.at("lab-schedule").select_option("interleaved")  # eight stages of four layers
    lab.run_in_lab("error")
    assert lab.text("lab-failure") == lab.text("lab-failure").strip() != ""
    assert "(error)" in lab.rows()[-1][RUN]
    lab.at("lab-schedule").select_option("1f1b")
    lab.choose("pipeline", 2)
    lab.run_in_lab()
    expect(lab.at("lab-failure")).to_have_count(0)


def test_a_step_is_measured_on_demand_and_stop_stops(lab: LabPage) -> None:
    lab.choose("sync", 2, steps=0)
    lab.at("lab-run").click()
    lab.wait(lambda: len(lab.tracks()) == 2 and lab.steps > 60)
    lab.page.evaluate("document.querySelector('[data-testid=lab-lanes]').dataset.old = 'yes'")
    traced = lab.text("lab-times")
    lab.at("lab-trace").click()
    lab.wait(lambda: lab.text("lab-times") != traced)
    # A run of 400,000 steps shows a speed long before a tenth of them.
    lab.wait(lambda: lab.text("lab-speed") != "–")
    assert lab.timed("lab-stop", "stopped") < 5000
    assert "(stopped)" in lab.rows()[-1][RUN]
    assert lab.at("lab-trace").is_disabled()


@pytest.mark.slow
def test_many_switches_leave_nothing_behind(lab: LabPage) -> None:
    lab.choose("single", steps=4)
    lab.run_in_lab()
    workers = lab.workers()
    for _ in range(3):
        for strategy in ("sync", "pipeline", "local"):
            lab.choose(strategy, 2, steps=4)
            lab.run_in_lab()
    rows = lab.rows()
    assert len(rows) == MOST_RUNS  # the latest, and the run that they are compared with
    assert "One device" in rows[0][RUN] and "One device" not in rows[1][RUN]
    assert all(row[ONE].endswith("×") for row in rows)
    colours = lab.page.locator(".lab-run-name .legend-line")
    assert len({each.get_attribute("style") for each in colours.all()}) == MOST_RUNS
    assert lab.workers() == workers
    left = "from playgrad.runtime import open_sessions as o\nprint(len(o.open_sessions))"
    assert lab.finish(left).split() == ["0"]
    lab.write(PROGRAM)
