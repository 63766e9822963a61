"""The page's own Python and the desktop's in its place give the same events and the same numbers.

Every request, every event and every answer is among them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.conftest import Engine
from tests.page.answers import EVENT_FORMS, REQUEST_FORMS
from tests.page.every_request import FAILED, ILL, LAB, PROGRAM, QUESTIONS, WHILE_TRAINING

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.browser, pytest.mark.gpu, pytest.mark.pyodide]

OPTIONS: dict[str, Any] = {"device": "cpu", "paused": False}

# Runs programs with requests that arrive meanwhile, and asks questions after the first one. Bytes
# become their number.
_DRIVE = """async ({ runs, training, questions }) => {
  const { client, events, next } = engine;
  const answers = [];
  const asked = [];
  const REST = ["done", "stopped", "error", "idle"];
  const post = (command, payload) => (asked.push(command.kind), client.post(command, payload));
  const ask = async (question, payload) => {
    asked.push(question.kind);
    const answer = await client.ask(question, payload);
    answers.push({ [question.kind]: answer });
    return answer;
  };
  const run = async (source, options, during, payload) => {
    const rest = next(({ kind, state }) => kind === "status" && REST.includes(state));
    post({ kind: "run", source, options }, payload);
    for (const command of during) post(command);
    await rest;
  };
  const tuned = next(({ kind }) => kind === "tuning");
  post({ kind: "tune" });
  await tuned;
  const [[program, options], ...others] = runs;
  await run(program, options, training);
  const files = [];
  for (const question of questions) files.push((await ask(question)).bytes);
  await ask({ kind: "import", name: "weights.npz" }, files.at(-1));
  await ask({ kind: "model_file", name: "net.onnx" }, files[0]);
  const names = ["nodes.csv", "edges.csv"];
  const tables = new TextEncoder().encode("id,class\\na,p\\nb,q\\nsource,target\\na,b\\n");
  await ask({ kind: "graph_files", names, first: 17 }, tables);
  const { bytes } = events("checkpoint").at(-1);
  const idle = next(({ kind, state }) => kind === "status" && state === "idle");
  post({ kind: "reset" });
  await idle;
  await ask({ kind: "restore" }, bytes);
  await run(program, { ...options, resume: true }, [], bytes);
  for (const [source, options] of others) await run(source, options, options.lab ? training : []);
  const sized = (key, value) => (value instanceof Uint8Array ? value.length : value);
  const numbers = (key, value) =>
    typeof value === "number" && !Number.isFinite(value) ? String(value) : sized(key, value);
  return JSON.stringify({ asked, answers, events: events() }, numbers);
}"""


RUNS = [
    (PROGRAM, OPTIONS),
    (FAILED, OPTIONS),
    (ILL, OPTIONS | {"doctor": True}),
    (PROGRAM, OPTIONS | {"devices": 2, "lab": LAB}),
]
BY_TIME = {"progress", "checkpoint", "stdout", "stderr", "doctor", "trace"}
"""Events whose number depends on how fast the machine is."""
SKIPPED = {
    "sha256", "runs", "seconds", "seconds_alone", "start", "end", "duration", "idle", "round_trips",
    "chrome", "eta_seconds", "steps_per_second", "traceback", "timeline", "kinds", "headline",
    "histograms",  # of steps that a clock chooses
    "gzip", "signal_to_noise",
    "times", "markdown", "json",  # of the machine's speed
    "computed_nodes", "adapter",  # the page's Python compiles steps, the desktop's does not here
}  # fmt: skip
"""Parts of messages that depend on time, on the host, or on the last bit of a number."""


def drive(chromium: Browser, address: str) -> dict[str, Any]:
    """Return what was asked, the answers, and Python's events."""
    page = chromium.new_page()
    page.goto(f"{address}/healthz")
    Engine(page)
    questions = {"runs": RUNS, "training": WHILE_TRAINING, "questions": QUESTIONS}
    driven: dict[str, Any] = json.loads(page.evaluate(_DRIVE, questions))
    page.close()
    listed = {*EVENT_FORMS, "reply"}
    driven["events"] = [event for event in driven["events"] if event["kind"] in listed]
    return driven


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the parts of a message, with the path to each, except parts that may differ."""
    if isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            if key not in SKIPPED:
                yield from leaves(part, f"{path}.{key}")
    else:
        yield path, value


def agree(value: Any, other: Any) -> bool:
    if isinstance(value, float | int) and isinstance(other, float | int):
        return math.isclose(value, other, rel_tol=1e-4, abs_tol=1e-5)
    return bool(value == other)


def differences(value: Any, other: Any) -> list[str]:
    parts, others = dict(leaves(value)), dict(leaves(other))
    return [
        f"{path}: {parts.get(path, 'missing')} and {others.get(path, 'missing')}"
        for path in parts.keys() | others.keys()
        if not agree(parts.get(path, "missing"), others.get(path, "missing"))
    ]


def lasting(events: list[dict[str, Any]]) -> list[tuple[str, str | None]]:
    """Return the kinds of events, and the states that they report."""
    return [(each["kind"], each.get("state")) for each in events if each["kind"] not in BY_TIME]


def before_lab(events: list[dict[str, Any]]) -> list[Any]:
    """Return the events before the Lab's asynchronous run, which depends on the faster device, and
    the points of all curves."""
    events = events[: [event["kind"] for event in events].index("lab_fit")]
    points = [each for event in events if event["kind"] == "progress" for each in event["points"]]
    return [points, *(event for event in events if event["kind"] not in BY_TIME)]


def test_both_pythons_give_the_same(chromium: Browser, server: str, desk_server: str) -> None:
    pyodide, desk = drive(chromium, server), drive(chromium, desk_server)

    events = {event["kind"] for event in pyodide["events"]}
    # Sweeps run in interpreters beside the page: test_program_sweep.py.
    of_sweeps = {"trial_start", "trial_message", "trial_verdict", "trials_end"}
    # Ratings follow long matches: test_game_board.py.
    assert events - {"reply"} == EVENT_FORMS.keys() - of_sweeps - {"rating"}
    assert set(pyodide["asked"]) == REQUEST_FORMS.keys() - of_sweeps

    pythons = (pyodide["events"], desk["events"])
    kinds, numbers = map(lasting, pythons), map(before_lab, pythons)
    assert next(kinds) == next(kinds)
    problems = differences(pyodide["answers"], desk["answers"]) + differences(*numbers)
    assert problems == [], "\n".join(problems)
