"""``playgrad bench``."""

from __future__ import annotations

import json

import pytest

from playgrad.benchmark import product
from playgrad.benchmark.speed_run import SpeedRun
from playgrad.cli import bench
from playgrad.devices import registry
from tests.cli.running import result_of, run


def test_a_table_is_printed_with_the_known_card(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "bench", "--device", "cpu", "--only", "w0")
    assert code == 0
    assert err.splitlines()[0] == "cpu W0 tiny, batch 32: compiling"
    assert "NVIDIA H200, 2026-11-27: once" in out and "| cpu W0 tiny, batch 32 | 0" in out
    assert "- gpu:" not in out and "- cpu: " in out


@pytest.mark.gpu
def test_json_describes_the_adapter(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(product, "SIZE", 96)  # seconds for a software adapter otherwise
    record = result_of(run(capsys, "bench", "--device", "gpu:0", "--only", "product", "--json"))
    info = registry.gpu_adapters()[0]
    assert record["adapter"]["device"] == info.name
    assert record["adapter"]["limits"]["max_buffer_size"] == info.limits.max_buffer_size
    assert record["kernels"].startswith("product ") and "measured)" in record["kernels"]
    (row,) = record["rows"]
    assert row["once_ms"] > 0 and row["gflops"] > 0 and row["problem"] is None


def test_a_failed_row_is_an_exit_code(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, _, err = run(capsys, "bench", "--device", "gpu:9", "--only", "w0")
    assert code == 1 and "there is no gpu:9" in err

    def interrupted(self: SpeedRun) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(SpeedRun, "advance", interrupted)
    code, out, _ = run(capsys, "bench", "--device", "cpu", "--only", "w0", "--json")
    assert code == 130 and json.loads(out)["rows"][0]["problem"] == "not measured"


def test_software_adapters_are_left_out_unless_named() -> None:
    adapters = registry.gpu_adapters()
    has_hardware = bool(adapters) and not adapters[0].is_software
    assert bench.default_devices() == (["gpu", "cpu"] if has_hardware else ["cpu"])
