"""`playgrad devices`, `examples`, `export` and `tune`."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.devices.registry import close_gpus, gpu, save_tuning
from playgrad.devices.this_host import this_host
from playgrad.devices.tuning import HARDWARE, VARIANTS
from playgrad.io import load, save
from playgrad.runtime import tuner
from playgrad.runtime.tuner import PROBES, Probe
from tests.cli.running import result_of, run
from tests.sweeps import slow


def test_devices_are_listed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, out, _ = run(capsys, "devices")
    assert code == 0
    assert out.startswith("cpu:0  NumPy")
    assert "Training on cpu: NumPy, since PLAYGRAD_SIMD is 0. " in out
    monkeypatch.delenv("PLAYGRAD_SIMD")
    assert "Training on cpu: steps are compiled (wasmtime " in run(capsys, "devices")[1]
    devices = json.loads(run(capsys, "devices", "--json")[1])
    assert devices[0]["device"] == "cpu:0"


def test_devices_without_a_driver_say_what_to_install(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(this_host(), "list_adapters", list)
    monkeypatch.delenv("PLAYGRAD_DEVICE")
    close_gpus()
    code, out, _ = run(capsys, "devices")
    command = "as root: apt-get install mesa-vulkan-drivers"
    assert code == 0 and "There is no GPU." in out and command in out
    program = tmp_path / "program.py"
    program.write_text("import playgrad as pg\npg.Session(device='gpu')\n")
    code, _, err = run(capsys, "train", program, "--device", "gpu")
    assert code == 1 and command in err
    monkeypatch.undo()
    close_gpus()


def test_examples_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "examples")
    assert code == 0
    assert re.search(r"^mnist-mlp +Handwritten digits", out, re.MULTILINE)
    listed = json.loads(run(capsys, "examples", "--json")[1])
    assert {"mnist-mlp", "mnist-cnn"} <= {example["id"] for example in listed}


def test_export_converts_and_lists(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    tensors = {"dense_1/kernel": np.ones((2, 3), np.float32)}
    source, target = tmp_path / "w.safetensors", tmp_path / "w.npz"
    save(tensors, source)
    assert run(capsys, "export", source, target) == (0, f"1 tensors written to {target}\n", "")
    np.testing.assert_array_equal(load(target)["dense_1/kernel"], tensors["dense_1/kernel"])
    code, out, _ = run(capsys, "export", target)
    assert (code, out) == (0, "dense_1/kernel  float32  (2, 3)\n1 tensors, 6 numbers\n")


def test_export_keeps_the_layers_in_safetensors(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    model = pg.Sequential([pg.Input((2,)), nn.Dense(3)])
    source, target = tmp_path / "w.safetensors", tmp_path / "copy.safetensors"
    model.export(source)
    for written in (target, source):  # over itself, too
        assert run(capsys, "export", source, written)[0] == 0
        x = np.ones((1, 2), np.float32)
        np.testing.assert_array_equal(pg.load_model(written).predict(x), model.predict(x))


@pytest.mark.gpu
def test_tune_lists_and_forgets(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLAYGRAD_CACHE", str(tmp_path))
    close_gpus()
    (row, *_) = result_of(run(capsys, "tune", "--list", "--json"))
    assert (row["device"], row["why"]) == ("gpu:0", "by kind")
    save_tuning(gpu(0), HARDWARE)
    code, out, _ = run(capsys, "tune", "--list")
    assert code == 0
    assert out.split("measured")[1].split()[:3] == ["shared_64", "shared_64", "trees"]
    code, out, _ = run(capsys, "tune", "--forget")
    assert (code, "forgotten" in out) == (0, True)
    assert result_of(run(capsys, "tune", "--list", "--json"))[0]["why"] == "by kind"
    assert run(capsys, "tune", "--device", "cpu")[0] == 2
    close_gpus()


SMALL = tuple(
    replace(probe, shapes=shapes, work=work)
    for probe, shapes, work in zip(
        (PROBES[0], PROBES[3], PROBES[4]),
        (((40, 30), (30, 20)), ((1, 6, 6, 4), (1, 4, 4, 8)), ((16, 64),)),
        (48_000, 9_216, 1_024),
        strict=True,
    )
)
"""A probe of each kind that takes a software adapter milliseconds."""


@pytest.mark.gpu
@pytest.mark.parametrize("probes", [SMALL, *slow((PROBES,))], ids=len)
def test_tune_measures_and_remembers(
    probes: tuple[Probe, ...],
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tuner, "PROBES", probes)
    monkeypatch.setenv("PLAYGRAD_CACHE", str(tmp_path))
    close_gpus()
    code, out, err = run(capsys, "tune")
    assert code == 0, err
    assert {"square product", "filter gradient", "sums of rows"} <= {
        line.partition("  ")[0] for line in out.splitlines()
    }
    assert "wrong" not in out
    (row, *_) = result_of(run(capsys, "tune", "--list", "--json"))
    assert row["why"] == "measured"
    assert all(f"{kind}: {row[kind]}" in out for kind in VARIANTS)
    close_gpus()
