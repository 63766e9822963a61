"""`playgrad train`: what it reports, what it writes, and how programs run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import playgrad as pg
from playgrad.io import load
from tests.cli.running import result_of, run


def test_train_prints_the_result_as_json(capsys: pytest.CaptureFixture[str], program: Path) -> None:
    result = result_of(run(capsys, "train", program, "--device", "cpu", "--json", "--seed", 7))
    assert {
        "example": "small",
        "device": "cpu:0",
        "precision": "float32",
        "adapter": "NumPy",
        "seed": 7,
        "epochs": 3,
        "batch_size": 10,
        "parameters": 26,
        "steps": 12,
        "dispatches_per_step": 0,
    }.items() <= result.items()
    assert 0 < result["ms_per_step"] * 12 / 1000 <= result["seconds"] + 0.01
    assert 0 < result["train_loss"] < 1
    assert 0.5 < result["test_accuracy"] <= 1


def test_the_same_seed_gives_the_same_result(
    capsys: pytest.CaptureFixture[str], program: Path
) -> None:
    def loss(seed: int) -> float:
        arguments = ("train", program, "--device", "cpu", "--json", "--seed", seed)
        value: float = result_of(run(capsys, *arguments))["train_loss"]
        return value

    assert loss(1) == loss(1) != loss(2)


def test_options_set_steps_batch_size_export_and_trace(
    capsys: pytest.CaptureFixture[str], program: Path, tmp_path: Path
) -> None:
    weights, trace = tmp_path / "w.safetensors", tmp_path / "trace.json"
    code, out, err = run(
        capsys, "train", program, "--device", "cpu", "--steps", 5, "--batch-size", 4,
        "--export", weights, "--trace", trace,
    )  # fmt: skip
    assert code == 0
    assert "small on cpu:0 (NumPy): train loss" in out
    assert "5 steps in " in out
    assert f"weights written to {weights}" in out
    assert "epoch 1/1: loss" in err
    assert {name: array.shape for name, array in load(weights).items()} == {
        "dense_1/kernel": (3, 4),
        "dense_1/bias": (4,),
        "dense_2/kernel": (4, 2),
        "dense_2/bias": (2,),
    }
    events = json.loads(trace.read_text())["traceEvents"]
    assert any(event["name"].startswith("dense_1/") for event in events)


@pytest.mark.survival("Files under full disks and signals")
@pytest.mark.parametrize("name", ["w.safetensors", "w.npz"])
def test_weights_that_cannot_be_written_are_kept(
    capsys: pytest.CaptureFixture[str],
    program: Path,
    tmp_path: Path,
    name: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    target = tmp_path / "removed" / name  # by the program
    target.parent.mkdir()
    program.write_text(f"{program.read_text()}\nimport os\nos.rmdir({str(target.parent)!r})\n")
    code, _, err = run(capsys, "train", program, "--device", "cpu", "--export", target)
    assert code == 1
    assert f"CheckpointError: cannot write '{target}': No such file or directory." in err
    (rescued,) = tmp_path.glob(f"playgrad-*/{name}")
    assert f"The trained weights are in {rescued} instead." in err
    assert len(load(rescued)) == 4


@pytest.mark.gpu
@pytest.mark.parametrize("example", ["mnist-mlp", "mnist-cnn"])
def test_the_examples_run_on_a_gpu(
    capsys: pytest.CaptureFixture[str], example: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (x, y), (x_test, y_test) = pg.data.mnist()
    monkeypatch.setattr(
        pg.data, "mnist", lambda: ((x[:2000], y[:2000]), (x_test[:500], y_test[:500]))
    )
    result = result_of(run(capsys, "train", example, "--device", "gpu", "--json"))
    assert result["device"] == "gpu:0"
    assert result["steps"] == 32
    assert 1 < result["dispatches_per_step"] < 60
    assert result["test_accuracy"] > 0.6


def test_the_small_example_learns_mnist(capsys: pytest.CaptureFixture[str]) -> None:
    """Train for an epoch on the real data set, on the processor."""
    result = result_of(run(capsys, "train", "mnist-mlp", "--device", "cpu", "--json"))
    assert result["steps"] == 938
    assert result["test_accuracy"] >= 0.955


def test_a_program_runs_as_under_python(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, program: Path
) -> None:
    (tmp_path / "beside.py").write_text("name = 'beside'\n")
    path = tmp_path / "whole.py"
    path.write_text(
        "import sys, beside\n"
        f"print(beside.name, len(sys.argv))\n{program.read_text()}\nsys.exit()\n"
    )
    before = list(sys.path), list(sys.argv)
    code, out, err = run(capsys, "train", path, "--device", "cpu", "--json")
    assert (code, out.splitlines()[0]) == (0, "beside 1"), err
    assert json.loads(out.splitlines()[-1])["steps"] == 12
    assert (sys.path, sys.argv) == before


def test_train_runs_as_a_process(program: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "playgrad.cli",
        "train",
        str(program),
        "--device",
        "cpu",
        "--json",
    ]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ, timeout=500)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "the program is done"
    assert json.loads(lines[-1])["steps"] == 12
