"""The benchmark runs: playgrad in the page and on the desktop, beside PyTorch, a few steps each."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench.workloads import WORKLOADS, flops, weighted_layers

ROOT = Path(__file__).resolve().parent.parent


def test_sizes() -> None:
    shapes = [each.kernel_shape for each, _ in weighted_layers(WORKLOADS["w2"])]
    assert shapes == [(5, 5, 1, 6), (5, 5, 6, 16), (400, 120), (120, 84), (84, 10)]
    assert flops(WORKLOADS["w1"]) == 64 * (4 * 784 * 128 + 6 * 128 * 10)


@pytest.mark.browser
@pytest.mark.gpu
def test_quick_run(tmp_path: Path) -> None:
    told = tmp_path / "told.json"
    command = [sys.executable, "-m", "bench", "--quick", "--no-install", "--json", str(told)]
    command += ["--only", "w0", "--only", "torch", "--parts", "page", "desktop"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert "**playgrad webgpu**" in ran.stdout
    rows = json.loads(told.read_text(encoding="utf-8"))["rows"]
    names = [(row["peer"], row["backend"]) for row in rows]
    assert names == [
        ("playgrad", "webgpu"),
        ("playgrad", "cpu"),
        ("playgrad", "wgpu"),
        ("playgrad", "cpu"),
        ("torch", "cpu"),
    ]
    assert [row["problems"] for row in rows] == [[]] * len(rows)
