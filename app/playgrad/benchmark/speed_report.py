"""The numbers of a measurement, beside those of a known card: as plain data and as a table.

Both are in English wherever they are made, since they are to be passed on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from playgrad.benchmark.product import FLOPS
from playgrad.benchmark.reference_card import H200, KnownCard, Place
from playgrad.benchmark.speed_run import PRODUCT, SpeedRow
from playgrad.benchmark.workloads import WORKLOADS, flops
from playgrad.devices import registry
from playgrad.devices.kinds import index_of
from playgrad.errors import DeviceError

FORMAT = "playgrad speed 1"
MOST_TEXT = 200
MOST_FEATURES = 200
FEATURES = (
    "shader-f16", "subgroups", "subgroup", "subgroup-size-control",
    "chromium-experimental-subgroup-matrix", "cooperative-matrix",
    "packed_4x8_integer_dot_product", "timestamp-query",
)  # fmt: skip
"""The features that decide about kernels, by the names of browsers and of wgpu."""
NONE = "–"


@dataclass(frozen=True)
class SpeedAdapter:
    """A GPU as its host describes it.

    Attributes:
        limits: the adapter's own, not those that a device was opened with; and the sizes of
            subgroups, where they are known.
    """

    vendor: str = ""
    architecture: str = ""
    device: str = ""
    description: str = ""
    driver: str = ""
    backend: str = ""
    is_software: bool = False
    features: Sequence[str] = ()
    limits: Mapping[str, int] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """A line that names it."""
        names = dict.fromkeys(
            (self.vendor, self.architecture, self.device, self.description, self.driver)
        )
        where = [self.backend, "software"] if self.is_software else [self.backend]
        return ", ".join(filter(None, (*names, *where))) or "unnamed"


@dataclass(frozen=True)
class MachineFacts:
    """What was measured, and with what.

    Attributes:
        place: "page", or "desktop" for wgpu-py.
        date: in UTC.
        runner: the browser or the library that runs kernels.
        processor: what trains on "cpu".
        adapter: None without a GPU.
        kernels: the variants that the GPU ran, and whether they were measured; empty without a GPU.
    """

    place: Place
    date: str
    playgrad: str
    runner: str
    processor: str
    adapter: SpeedAdapter | None = None
    kernels: str = ""


def kernels_of(device: str) -> str:
    """Return `MachineFacts.kernels` of a GPU; an empty text if it cannot be opened."""
    try:
        target = registry.gpu(index_of(device)).target
    except DeviceError:
        return ""
    variants = ", ".join(f"{kind} {name}" for kind, name in asdict(target.tuning).items())
    return f"{variants} ({'measured' if target.measured else 'not measured'})"


def cleaned(text: str) -> str:
    """Return a text from elsewhere in one line of bounded length, without marks of Markdown."""
    line = " ".join(text.split())
    return "".join(" " if mark in "|`<>" or not mark.isprintable() else mark for mark in line)[
        :MOST_TEXT
    ].strip()


def title_of(work: str) -> str:
    """Return the name of a row."""
    if work == PRODUCT:
        return "product 1024³"
    workload = WORKLOADS[work]
    return f"W{work[1:]} {workload.title}, batch {workload.batch}"


def known_gflops(work: str, place: Place, card: KnownCard = H200) -> float | None:
    """Return the 10⁹ operations a second of the known card; None if they were not measured."""
    if work == PRODUCT:
        return card.products.get(place)
    times = card.times[place].get(work)
    return None if times is None else flops(WORKLOADS[work]) / times.once / 1e6


def known_once(work: str, place: Place, card: KnownCard = H200) -> float | None:
    """Return the milliseconds of a step, or product, in a row on the known card."""
    if work == PRODUCT:
        speed = card.products.get(place)
        return None if speed is None else FLOPS / speed / 1e6
    times = card.times[place].get(work)
    return None if times is None else times.once


def known_each(work: str, place: Place, card: KnownCard = H200) -> float | None:
    """Return the milliseconds of a step that is read on the known card."""
    times = card.times[place].get(work)
    return None if times is None else times.each


def as_record(machine: MachineFacts, rows: Sequence[SpeedRow]) -> dict[str, Any]:
    """Return everything as plain data, for a file."""
    works = list(dict.fromkeys(row.work for row in rows))
    return {
        "format": FORMAT,
        **asdict(machine),
        "rows": [
            {
                "device": row.device,
                "work": row.work,
                "title": title_of(row.work),
                "once_ms": row.once,
                "each_ms": row.each,
                "gflops": row.gflops,
                "dispatches": row.dispatches,
                "problem": _problem(row),
            }
            for row in rows
        ],
        "beside": {
            "name": H200.name,
            "date": H200.date,
            "driver": H200.driver,
            "runner": H200.runners[machine.place],
            "rows": [
                {
                    "work": work,
                    "once_ms": known_once(work, machine.place),
                    "each_ms": known_each(work, machine.place),
                    "gflops": known_gflops(work, machine.place),
                }
                for work in works
            ],
        },
    }


def as_markdown(machine: MachineFacts, rows: Sequence[SpeedRow]) -> str:
    """Return a table to paste into a message."""
    place, card = machine.place, H200
    lines = [
        f"**How fast playgrad trains here**: playgrad {cleaned(machine.playgrad)}, {machine.date}, "
        f"{cleaned(machine.runner)}, in {'the page' if place == 'page' else 'Python'}",
        "",
    ]
    adapter = machine.adapter
    if adapter is not None:
        lines.append(f"- gpu: {cleaned(adapter.title)}")
        features = [name for name in FEATURES if name in adapter.features]
        limits = [f"{cleaned(name)} {value:,}" for name, value in adapter.limits.items()]
        lines.append(f"- features: {', '.join(features) or 'none of note'}")
        lines += [f"- limits: {', '.join(limits)}"] if limits else []
        lines += [f"- kernels: {machine.kernels}"] if machine.kernels else []
    lines += [f"- cpu: {cleaned(machine.processor)}", ""]
    beside = f"{card.name}, {card.date}"
    lines += [
        f"| | once, ms | each read, ms | GFLOP/s | {beside}: once | each read | GFLOP/s |",
        "|---" * 7 + "|",
    ]
    for row in rows:
        known = (known(row.work, place) for known in (known_once, known_each, known_gflops))
        values = [row.once, row.each, row.gflops, *known]
        cells = [f"{row.device} {title_of(row.work)}", *map(number, values)]
        if problem := _problem(row):
            cells[1:4] = [cleaned(problem), NONE, NONE]
        lines.append(f"| {' | '.join(cells)} |")
    lines += [
        "",
        f"{beside}: driver {card.driver}, {card.runners[place]}. Once: many steps in a row, then "
        "one read. Each read: the loss of every step is read.",
    ]
    return "\n".join(lines) + "\n"


def number(value: float | None) -> str:
    """Return a number with three digits; a dash for None."""
    if value is None:
        return NONE
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _problem(row: SpeedRow) -> str | None:
    if row.error is not None:
        return f"{type(row.error).__name__}: {str(row.error) or 'no memory is left'}"
    return None if row.state == "done" else "not measured"
