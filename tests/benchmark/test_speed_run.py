"""Measuring a machine: real steps on its devices, rows that fail, and what is passed on."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import pytest

from playgrad.benchmark import product, speed_run
from playgrad.benchmark.product import ProductTrainer
from playgrad.benchmark.reference_card import H200, LOSSES
from playgrad.benchmark.speed_report import (
    MOST_TEXT,
    MachineFacts,
    SpeedAdapter,
    as_markdown,
    as_record,
    cleaned,
    known_gflops,
    title_of,
)
from playgrad.benchmark.speed_run import MEASURED, SpeedRow, SpeedRun
from playgrad.benchmark.workloads import WORKLOADS, flops
from playgrad.devices import registry
from playgrad.errors import DeviceError, DeviceLostError, KernelError, OutOfMemoryError

MACHINE = MachineFacts("page", "2026-11-29 12:00 UTC", "0.1.0", "Chromium 156", "SIMD")


def measured(devices: Sequence[str], work: Sequence[str]) -> list[SpeedRow]:
    run = SpeedRun(devices, work, seconds=0.01)
    while run.advance() is not None:
        pass
    assert run.is_done
    return run.rows


@pytest.fixture
def devices_left() -> Iterator[None]:
    """Nothing is left on the GPU."""
    before = registry.gpu(0).host.stats()
    yield
    after = registry.gpu(0).host.stats()
    assert all(after[key] == before[key] for key in ("buffers", "bytes", "programs"))


@pytest.fixture
def small_product(monkeypatch: pytest.MonkeyPatch) -> None:
    """Software adapters take seconds for the large one."""
    monkeypatch.setattr(product, "SIZE", 96)


# Real measurements


@pytest.mark.gpu
def test_each_device_has_its_rows(devices_left: None, small_product: None) -> None:
    rows = [*measured(["gpu"], ["product"]), *measured(["cpu"], ["w0", "product"])]
    assert [(row.device, row.work, row.state, row.error) for row in rows] == [
        ("gpu", "product", "done", None),
        ("cpu", "w0", "done", None),
        ("cpu", "product", "done", None),
    ]
    for row in rows:
        assert row.once and row.gflops and row.once > 0
        work = 2 * 1024**3 if row.work == "product" else flops(WORKLOADS["w0"])
        assert row.gflops == pytest.approx(work / row.once / 1e6)
        assert (row.each is None) == (row.work == "product")


def test_the_losses_of_every_network_are_those_of_the_known_card() -> None:
    """On the card they agreed with four libraries; W1b and W3 take a second."""
    rows = measured(["cpu"], ["w1", "w2"])
    assert [row.state for row in rows] == ["done", "done"]
    assert LOSSES.keys() == set(MEASURED) - {"product"}


def test_stopping_between_pieces_leaves_the_other_rows() -> None:
    run = SpeedRun(["cpu"], ["w0", "w1"], seconds=0.01)
    states = []
    for _ in range(2):
        row = run.advance()
        states.append(row and row.state)
    assert states == ["compiling", "in a row"]
    run.close()
    assert run.advance() is None and not run.is_done
    text = as_markdown(MACHINE, run.rows)
    assert text.count("| not measured |") == 2


# Rows that fail


def test_a_device_that_does_not_exist_fails_its_rows_only() -> None:
    lost, found = measured(["gpu:9", "cpu"], ["w0"])
    assert isinstance(lost.error, DeviceError) and lost.state == "failed"
    assert found.state == "done"
    first, second = as_markdown(MACHINE, [lost, found]).splitlines()[-4:-2]
    assert first.startswith("| gpu:9 W0 tiny, batch 32 | DeviceError: ") and "gpu:9" in first
    assert second.startswith("| cpu W0 tiny, batch 32 | 0") or second[26].isdigit()


@pytest.mark.gpu
def test_a_device_that_is_lost_fails_its_row_and_is_opened_again(small_product: None) -> None:
    run = SpeedRun(["gpu"], ["product", "product"], seconds=0.01)
    while (row := run.advance()) is not None and row.state != "in a row":
        pass
    device = registry.gpu(0)
    device.loss = DeviceLostError("gpu:0: it was pulled out")
    while run.advance() is not None:
        pass
    lost, found = run.rows
    assert isinstance(lost.error, DeviceLostError) and lost.once is None
    assert found.state == "done" and registry.gpu(0) is not device


@pytest.mark.parametrize("error", [OutOfMemoryError("the GPU has no room"), MemoryError()])
def test_a_row_without_memory_says_so(
    monkeypatch: pytest.MonkeyPatch, error: Exception, small_product: None
) -> None:
    class Full(ProductTrainer):
        def gflops(self) -> float:
            raise error

    monkeypatch.setattr(speed_run, "ProductTrainer", Full)
    full, tiny = measured(["cpu"], ["product", "w0"])
    assert full.error is error and tiny.state == "done"
    problem = as_record(MACHINE, [full])["rows"][0]["problem"]
    assert problem in ("OutOfMemoryError: the GPU has no room", "MemoryError: no memory is left")


def test_wrong_losses_give_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed_run, "LOSSES", LOSSES | {"w0": (*LOSSES["w0"][:2], 0.3)})
    (row,) = measured(["cpu"], ["w0"])
    assert isinstance(row.error, KernelError)
    assert str(row.error).startswith("W0 trains wrongly here: the loss of step 3 is 0.21423 instea")
    assert (row.once, row.each, row.gflops) == (None, None, None)


def test_a_wrong_product_gives_no_time(
    monkeypatch: pytest.MonkeyPatch, small_product: None
) -> None:
    class Wrong(ProductTrainer):
        def check(self) -> None:
            self._values[0] *= 1.001
            super().check()

    monkeypatch.setattr(speed_run, "ProductTrainer", Wrong)
    (row,) = measured(["cpu"], ["product"])
    assert isinstance(row.error, KernelError) and "differs from NumPy's by 1.0e-03" in str(
        row.error
    )


# What is passed on


def test_the_known_card_has_a_row_beside_each() -> None:
    assert known_gflops("product", "page") == 1981.07
    assert known_gflops("product", "desktop") is None  # not measured in this way
    assert known_gflops("w3", "page") == pytest.approx(flops(WORKLOADS["w3"]) / 0.9733e6)
    row = SpeedRow("gpu", "w1", "done", once=0.2, each=2.25, gflops=195.5)
    table = as_markdown(MACHINE, [row]).splitlines()
    assert "| gpu W1 mlp, batch 64 | 0.2 | 2.25 | 196 | 0.1 | 1.15 | 262 |" in table
    assert any("NVIDIA H200, 2026-11-27: once" in line for line in table)
    record = as_record(MACHINE, [row])
    assert json.loads(json.dumps(record)) == record
    assert record["beside"]["rows"] == [
        {
            "work": "w1",
            "once_ms": H200.times["page"]["w1"].once,
            "each_ms": 1.1526,
            "gflops": known_gflops("w1", "page"),
        }
    ]
    assert title_of("product") == "product 1024³"


def test_names_from_elsewhere_cannot_break_the_table() -> None:
    hostile = "a | b\n\n# c `d` <script>\x00" + "x" * 1000
    assert (
        cleaned(hostile).startswith("a   b # c  d   script") and len(cleaned(hostile)) <= MOST_TEXT
    )
    adapter = SpeedAdapter(vendor=hostile, features=["shader-f16"], limits={hostile: 1})
    machine = MachineFacts("desktop", "2026-11-29", "0.1.0", hostile, hostile, adapter)
    lines = as_markdown(machine, [SpeedRow("gpu", "w0")]).splitlines()
    assert all(line.startswith(("**", "- ", "|", "NVIDIA")) for line in lines if line)
    assert [line.count("|") for line in lines if line.startswith("|")] == [8, 8, 8]
    assert "- features: shader-f16" in lines
