"""Questions about the speed of this machine; see `playgrad.benchmark`.

The page asks for one piece of a measurement after the other, so that whatever else it asks, or a
run, waits for one piece. What measures is imported when the first of these questions is asked.
"""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypedDict

import playgrad
from playgrad.errors import GraphError
from playgrad.page.faults import ErrorInfo, describe
from playgrad.page.question import question
from playgrad.page.workspace import Workspace

if TYPE_CHECKING:
    from playgrad.benchmark.measured_machine import MeasuredMachine
    from playgrad.benchmark.speed_run import SpeedRow

MOST_LIMITS = 40


class SpeedAdapterForm(TypedDict):
    """As the browser describes it; `limits`: its own, and the sizes of its subgroups."""

    vendor: str
    architecture: str
    device: str
    description: str
    software: bool
    features: list[str]
    limits: dict[str, int]


class SpeedQuestion(TypedDict):
    """`devices`: on which all is measured; `browser`, `processor`: their names, in words."""

    devices: list[Literal["gpu", "cpu"]]
    browser: str
    processor: str
    adapter: SpeedAdapterForm | None


class SpeedTimes(TypedDict):
    """Milliseconds of a step in a row, and with each one read; 10⁹ operations a second."""

    once: float | None
    each: float | None
    gflops: float | None


class SpeedRowForm(TypedDict):
    """`known`: of the known card."""

    device: str
    work: str
    title: str
    state: Literal["waiting", "compiling", "in a row", "each read", "done", "failed"]
    times: SpeedTimes
    known: SpeedTimes
    error: ErrorInfo | None


class KnownCardForm(TypedDict):
    name: str
    date: str
    driver: str
    runner: str


class SpeedState(TypedDict):
    """`row`: the number of the one that is measured next; null at the end."""

    rows: list[SpeedRowForm]
    row: int | None
    card: KnownCardForm


class SpeedTexts(TypedDict):
    """The table in Markdown, and everything as JSON; both in English."""

    markdown: str
    json: str


@question("speed_begin", "workspace")
def speed_begin(workspace: Workspace, request: SpeedQuestion) -> SpeedState:
    """Begin to measure this machine, in place of the measurement before.

    Raises:
        GraphError: no device was named.
    """
    from playgrad.benchmark.measured_machine import MeasuredMachine
    from playgrad.benchmark.speed_report import (
        MOST_FEATURES,
        MachineFacts,
        SpeedAdapter,
        cleaned,
    )
    from playgrad.benchmark.speed_run import SpeedRun

    devices = list(dict.fromkeys(request["devices"]))
    if not devices:
        raise GraphError("no device was chosen.", hint="Choose the GPU, the CPU, or both.")
    adapter, shown = request["adapter"], None
    if adapter is not None and "gpu" in devices:
        shown = SpeedAdapter(
            vendor=cleaned(adapter["vendor"]),
            architecture=cleaned(adapter["architecture"]),
            device=cleaned(adapter["device"]),
            description=cleaned(adapter["description"]),
            backend="WebGPU",
            is_software=adapter["software"],
            features=[cleaned(name) for name in adapter["features"][:MOST_FEATURES]],
            limits={
                cleaned(name): value for name, value in [*adapter["limits"].items()][:MOST_LIMITS]
            },
        )
    machine = MachineFacts(
        place="page",
        date=time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        playgrad=playgrad.__version__,
        runner=cleaned(request["browser"]),
        processor=cleaned(request["processor"]),
        adapter=shown,
    )
    workspace.forget_speed()
    workspace.speed = MeasuredMachine(machine, SpeedRun(devices))
    return _state(workspace.speed, workspace.speed.run.advance())


@question("speed_next", "workspace")
def speed_next(workspace: Workspace) -> SpeedState:
    """Measure the next piece.

    Raises:
        GraphError: nothing was begun.
    """
    speed = _begun(workspace)
    return _state(speed, speed.run.advance())


@question("speed_texts", "workspace")
def speed_texts(workspace: Workspace) -> SpeedTexts:
    """Return what was measured, to be passed on; leave what was not.

    Raises:
        GraphError: nothing was begun.
    """
    from playgrad.benchmark.speed_report import as_markdown, as_record, kernels_of

    speed = _begun(workspace)
    speed.run.close()
    rows, machine = speed.run.rows, speed.machine
    if machine.adapter is not None:
        machine = replace(machine, kernels=kernels_of("gpu"))
    record = as_record(machine, rows)
    return {"markdown": as_markdown(machine, rows), "json": json.dumps(record, indent=1)}


def _begun(workspace: Workspace) -> MeasuredMachine:
    if workspace.speed is None:
        raise GraphError("nothing is being measured.", hint="Press Measure.")
    return workspace.speed


def _state(speed: MeasuredMachine, current: SpeedRow | None) -> SpeedState:
    from playgrad.benchmark.reference_card import H200

    rows = speed.run.rows
    return {
        "rows": [_row(row) for row in rows],
        "row": None if current is None else rows.index(current),
        "card": {
            "name": H200.name,
            "date": H200.date,
            "driver": H200.driver,
            "runner": H200.runners["page"],
        },
    }


def _row(row: SpeedRow) -> Any:
    from playgrad.benchmark.speed_report import known_each, known_gflops, known_once, title_of

    return {
        "device": row.device,
        "work": row.work,
        "title": title_of(row.work),
        "state": row.state,
        "times": {"once": row.once, "each": row.each, "gflops": row.gflops},
        "known": {
            "once": known_once(row.work, "page"),
            "each": known_each(row.work, "page"),
            "gflops": known_gflops(row.work, "page"),
        },
        "error": None if row.error is None else describe(row.error),
    }
