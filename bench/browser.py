"""One headless Chromium, a fresh page for each measurement."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlencode

from playwright.sync_api import Browser, Error, Page, sync_playwright

from bench.paths import BENCH, WEB
from bench.server import peers_app, playgrad_app, serving

Outcome = dict[str, Any]

_FLAGS = (
    "--no-sandbox",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--enable-unsafe-webgpu",
)
_SOFTWARE = "--use-webgpu-adapter=swiftshader"
_NAMES = ("chromium", "chromium-browser", "google-chrome", "chromium-headless-shell")

_PROGRAM = """
from playgrad.devices import _browser
def read(name):
    return _browser.fetch_data(f"/data/bench/{name}")
"""
_TRAIN = """
trainer = PlaygradTrainer(read, WORKLOAD, DEVICE)
# The page uses the same clock.
result = measure(trainer, SETTINGS, now=time.time)
result |= {"backend": trainer.backend, "adapter": trainer.adapter, "phases": trainer.phases,
           "dispatches": trainer.dispatches or None, "kernels": trainer.kernels(),
           "device_bytes": trainer.device_bytes, "least_bytes": trainer.least_bytes}
print("RESULT" + json.dumps(result))
"""
_BY_HAND = """
result = measure(NumpyTrainer(read, WORKLOAD), SETTINGS, now=time.time)
print("RESULT" + json.dumps(result | {"backend": "cpu"}))
"""


class Tab:
    """Opens pages in one Chromium, from the peers' server and from playgrad's."""

    def __init__(self, browser: Browser, peers: str, playgrad: str, seconds: float) -> None:
        self.browser = browser
        self.peers = peers
        self.playgrad = playgrad
        self.milliseconds = 1000 * seconds

    @contextmanager
    def page(self) -> Iterator[Page]:
        """Open a page that shares nothing with earlier ones, not even caches."""
        context = self.browser.new_context(service_workers="block")
        page = context.new_page()
        page.set_default_timeout(self.milliseconds)
        try:
            yield page
        finally:
            context.close()

    def peer(self, peer: str, backend: str, workload: str, settings: Outcome) -> Outcome:
        """Measure a peer on ``workload``, or with ``matmul`` the speed of a matrix product."""
        query = {"peer": peer, "backend": backend, "workload": workload, **settings}
        return self.outcome("page.html", query)

    def outcome(self, name: str, query: Outcome) -> Outcome:
        """Return the outcome of a page of ``bench/web``, or its error."""
        with self.page() as page:
            try:
                page.goto(f"{self.peers}/web/{name}?{urlencode(query)}")
                page.wait_for_function("globalThis.outcome")
                outcome: Outcome = page.evaluate("globalThis.outcome")
            except Error as error:
                return {"error": str(error).splitlines()[0]}
        return outcome

    def run_playgrad(self, source: str, device: str, runs: int = 1) -> Outcome:
        """Run a program ``runs`` times in a row in playgrad's workers.

        Returns:
            A dict: ``marks``, the times of events; ``begun``, when each run began, in milliseconds
            since ``origin``; ``results``, as printed by the runs.
        """
        script = (WEB / "playgrad.js").read_text(encoding="utf-8")
        with self.page() as page:
            try:
                page.goto(f"{self.playgrad}/healthz")
                ran = page.evaluate(
                    script,
                    {
                        "source": source,
                        "device": device,
                        "runs": runs,
                        "milliseconds": self.milliseconds,
                    },
                )
            except Error as error:
                return {"error": str(error).splitlines()[0]}
        if problem := ran.pop("error"):
            return {"error": problem}
        return ran | {
            "results": [json.loads(text.rpartition("RESULT")[2]) for text in ran["texts"]]
        }

    def playgrad_on(self, backend: str, workload: str, settings: Outcome) -> Outcome:
        """Measure playgrad on ``webgpu`` or ``cpu``."""
        if workload == "matmul":
            ran = self.run_playgrad(product_program(), "gpu")
            return ran if "error" in ran else {"backend": "webgpu", **ran["results"][0]}
        device = {"webgpu": "gpu", "cpu": "cpu"}[backend]
        ran = self.run_playgrad(train_program(workload, device, settings), device)
        if "error" in ran:
            return ran
        outcome = _timed(ran)
        outcome["backend"] = {"gpu": "webgpu", "cpu": "cpu"}[outcome["backend"]]
        return outcome | {"marks": ran["marks"]}

    def numpy_by_hand(self, workload: str, settings: Outcome) -> Outcome:
        """Measure the step written in NumPy, in the same Python that runs playgrad."""
        ran = self.run_playgrad(by_hand_program(workload, settings), "cpu")
        return ran if "error" in ran else _timed(ran)


def _timed(ran: Outcome) -> Outcome:
    """Return the program's outcome, with the first step counted from navigation."""
    outcome: Outcome
    (outcome,) = ran["results"]
    outcome["first_step_ms"] = 1000 * outcome.pop("first_step") - ran["origin"]
    return outcome


def pasted(name: str) -> str:
    """Return a file of the benchmark as a part of a program for the page."""
    text = (BENCH / name).read_text(encoding="utf-8")
    return text.replace("from __future__ import annotations\n", "")


def train_program(workload: str, device: str, settings: Outcome) -> str:
    """Return the program that measures playgrad in the page: the desktop's files, concatenated."""
    names = {"WORKLOAD": workload, "DEVICE": device, "SETTINGS": settings}
    return playgrad_program(names, _TRAIN)


def playgrad_program(names: Outcome, then: str) -> str:
    """Return a program for the page: the desktop's files, the values of ``names``, and ``then``."""
    return _program("peers/playgrad_program.py", names, then)


def by_hand_program(workload: str, settings: Outcome) -> str:
    names = {"WORKLOAD": workload, "SETTINGS": settings}
    return _program("peers/numpy_by_hand.py", names, _BY_HAND)


def _program(peer: str, names: Outcome, then: str) -> str:
    parts = [pasted("measure.py"), pasted(peer), _PROGRAM]
    parts += [f"{name} = {value!r}\n" for name, value in names.items()]
    return "".join([*parts, then])


def product_program() -> str:
    program = pasted("peers/playgrad_program.py")
    return program + 'print("RESULT" + json.dumps({"gflops": product_gflops()}))\n'


@contextmanager
def chromium(hardware: bool = False) -> Iterator[Browser]:
    """Launch a headless Chromium with WebGPU on the software adapter, or on the machine's GPU."""
    executable = next(filter(None, map(shutil.which, _NAMES)), None)
    if not executable:
        raise SystemExit("bench: no Chromium on PATH; `make setup-test` installs it")
    flags = [*_FLAGS] if hardware else [*_FLAGS, _SOFTWARE]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=flags)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def opened_tab(seconds: float, hardware: bool = False) -> Iterator[Tab]:
    """Start both servers and Chromium; an answer may take so many seconds."""
    with (
        serving(peers_app()) as peers,
        serving(playgrad_app()) as playgrad,
        chromium(hardware) as browser,
    ):
        yield Tab(browser, peers, playgrad, seconds)
