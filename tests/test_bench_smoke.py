"""Short runs of the benchmark: playgrad in the page and on the desktop, PyTorch, NumPy, and the
strategies for several devices."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bench import (
    compiled_steps,
    gpu_kernels,
    gpu_probes,
    inference_in_page,
    node_times,
    parallel,
    small_models,
)
from bench.browser import playgrad_program
from bench.gpu_costs import report
from bench.open_views import interval_of_median
from playgrad.benchmark.workloads import WORKLOADS, flops, weights_of
from playgrad.devices.tuning import MEMORY, PRODUCTS, VARIANTS
from playgrad.graph.spec import TensorSpec
from playgrad.ops.core.kernel import KernelRequest
from playgrad.runtime.tuner import Probe
from tests.kernels.harness import BY_BLOCKS, GPU

ROOT = Path(__file__).resolve().parent.parent


def test_workload_sizes_match_their_networks() -> None:
    shapes = [each.shape for each in weights_of(WORKLOADS["w2"]) if each.kind == "kernel"]
    assert shapes == [(5, 5, 1, 6), (5, 5, 6, 16), (400, 120), (120, 84), (84, 10)]
    assert flops(WORKLOADS["w1"]) == 64 * (4 * 784 * 128 + 6 * 128 * 10)
    assert sum(math.prod(each.shape) for each in weights_of(WORKLOADS["w4"])) == 110_529
    assert flops(WORKLOADS["w5"]) == 64 * (28 * 512 * (4 * 28 + 3 * 6 * 128) + 6 * 128 * 10)


@pytest.mark.parametrize(
    "program",
    [compiled_steps.PROGRAM, inference_in_page.PROGRAM, node_times.PROGRAM],
    ids=["compiled steps", "inference", "times of nodes"],
)
def test_programs_for_the_page_define_all_their_names(program: str) -> None:
    """They are put together from files and run nowhere else."""
    names = {"WORKLOAD": "w1", "SECONDS": 1, "THREADS": 2, "BATCH": 1}
    ruff = [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "F821", "-"]
    source = playgrad_program(names, program)
    found = subprocess.run(ruff, input=source, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout


def test_the_interval_of_a_median_uses_order_statistics() -> None:
    """With the ranks of Conover's table."""
    assert interval_of_median([float(rank) for rank in range(40, 0, -1)]) == (14, 27)
    assert interval_of_median([float(rank) for rank in range(1, 7)]) == (1, 6)
    assert interval_of_median([1.0]) == (1, 1)


DESKTOP = [("playgrad", "wgpu"), ("playgrad", "cpu"), ("numpy", "cpu"), ("torch", "cpu")]
PAGE = [("playgrad", "webgpu"), ("playgrad", "cpu"), ("numpy", "cpu")]


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.gpu
@pytest.mark.parametrize(
    ("parts", "names", "texts"),
    [
        ("desktop", DESKTOP, ["**playgrad wgpu**"]),
        ("page startup", PAGE, ["**playgrad webgpu**", "second Run until its first step"]),
    ],
)
def test_a_quick_run_reports_every_part(
    parts: str, names: list[tuple[str, str]], texts: list[str], tmp_path: Path
) -> None:
    report = tmp_path / "report.json"
    command = [sys.executable, "-m", "bench", "--quick", "--no-install", "--json", str(report)]
    command += ["--only", "w0", "--only", "torch", "--only", "numpy", "--parts", *parts.split()]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert all(text in ran.stdout for text in texts)
    rows = json.loads(report.read_text(encoding="utf-8"))["rows"]
    assert [(row["peer"], row["backend"]) for row in rows] == names
    assert [row["problems"] for row in rows] == [[]] * len(rows)


@pytest.mark.parametrize("probe", gpu_probes.PROBES, ids=lambda probe: probe.name)
def test_probes_of_kernels_are_valid(probe: Probe) -> None:
    """Also of those that take too long here. References are run on smaller inputs."""
    if probe.op.expand is not None:  # it becomes others, and all of its sizes belong together
        inputs = probe.arrays()
        (result,) = probe.op.reference([x[:2] if n == 0 else x for n, x in enumerate(inputs)], {})
        assert np.isfinite(result).all()
        return
    specs = [TensorSpec(shape, "float32") for shape in probe.shapes]
    outputs = tuple(probe.op.infer(specs, probe.attrs))
    assert probe.op.lower is not None
    for target in (GPU, BY_BLOCKS):
        request = KernelRequest(tuple(specs), outputs, probe.attrs, target)
        assert probe.op.lower(request).calls
    if probe.kind != "convolution":  # whose attributes include sizes
        small = [np.ones([min(size, 8) for size in shape], np.float32) for shape in probe.shapes]
        assert np.isfinite(probe.op.reference(small, probe.attrs)[0]).all()


@pytest.mark.gpu
def test_kernels_are_compared_on_a_gpu(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """And a product that no time is left for is named."""
    probes = (
        gpu_probes.product("W1", 8, 4, 12, a="T"),
        gpu_probes.memory("negative", "neg", (8, 4)),
        gpu_probes.product("", 4096, 4096, 4096),
    )
    monkeypatch.setattr(gpu_probes, "PROBES", probes)
    report = tmp_path / "kernels.json"
    assert gpu_kernels.main(["--largest", "1", "--json", str(report)]) == 0
    out = capsys.readouterr().out
    assert "| W1 8ᵀ × 4 × 12 |" in out
    assert "4096" not in out
    first, second = json.loads(report.read_text(encoding="utf-8"))["rows"]
    assert {*PRODUCTS} - set(first["seconds"]) <= {"quads_8x8"}
    assert set(second["seconds"]) == {*MEMORY}
    assert gpu_kernels.main(["--seconds", "0"]) == 0
    assert "3 of 3 probes were left out" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.gpu
def test_a_quick_run_compares_strategies(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    command = [sys.executable, "-m", "bench", "--quick", "--no-install", "--json", str(report)]
    ran = subprocess.run(
        [*command, "--parts", "parallel"], cwd=ROOT, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    assert "| 1f1b | 2 |" in ran.stdout
    tables = json.loads(report.read_text(encoding="utf-8"))["parallel"]
    assert list(tables) == ["mlp, desktop, cpu", "mlp, page, gpu"]
    for rows in tables.values():
        assert [(row["strategy"], row["devices"]) for row in rows] == [
            ("one device", 1),
            ("synchronous", 2),
            ("1f1b", 2),
        ]
        _, sync, pipeline = rows
        assert sync["bytes"] > 4 * 27_000 > pipeline["bytes"] > 0  # parameters; activations
        assert pipeline["formula"] == pytest.approx(1 / 5)
        assert 0 < pipeline["bubble"] < 1
        assert all(row["steps_per_second"] > 0 for row in rows)


def test_strategies_with_large_errors_are_reported() -> None:
    rows = [
        {"strategy": "gpipe", "devices": 2, "error": 1e-7},
        {"strategy": "1f1b", "devices": 4, "error": 1e-2},
        {"strategy": "asynchronous", "devices": 2, "error": 1e-1},
        {"strategy": "synchronous", "devices": 2, "error": float("nan")},
    ]
    assert parallel.problems({"mlp": rows}) == [
        "mlp: 1f1b on 4 devices differs by 1.0e-02",
        "mlp: synchronous on 2 devices differs by nan",
    ]


@pytest.mark.slow
def test_small_models_are_measured_in_every_form(monkeypatch: pytest.MonkeyPatch) -> None:
    quick = small_models.CASES["sounds"]._replace(epochs=(3, 1))
    monkeypatch.setitem(small_models.CASES, "sounds", quick)
    table = [row.strip("| ").split(" | ") for row in small_models.rows("sounds")]
    assert [row[1] for row in table[:4]] == ["float32", "float16", "int8", "int4"]
    assert len({row[1] for row in table}) == len(table) == 9
    assert {float(row[5]) > 1.5 for row in table[1:]} == {True}


def test_costs_of_a_gpu_need_right_products(capsys: pytest.CaptureFixture[str]) -> None:
    tile = {"rows": 64, "columns": 64, "step": 16, "down": 8, "across": 4, "prefetch": True}
    row = {"size": 256, **tile, "unroll": False, "gigaflops": 1.5, "error": 1e-9}
    outcome = {"adapter": "a", "features": [], "opened": [], "dispatches": [], "bandwidth": []}
    report({**outcome, "products": [row]})
    assert "| 256³ | 64 × 64 × 16 by 8 × 4, prefetch | 1.5 | 1.0e-09 |" in capsys.readouterr().out
    for error in (1.0, math.nan):
        with pytest.raises(SystemExit, match="64 × 64 × 16"):
            report({**outcome, "products": [{**row, "error": error}]})


def test_probes_are_chosen_by_kind_and_size() -> None:
    assert {probe.kind for probe in gpu_probes.chosen([], math.inf)} == set(VARIANTS)
    small = gpu_probes.chosen(["product"], 0.1)
    assert small and all(p.kind == "product" and p.work <= 1e8 for p in small)
