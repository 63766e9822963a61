"""The command line, as a user meets it: output, files, exit codes."""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad.cli import main
from playgrad.cli.bar import ProgressBar, clock, epoch_line, progress_line
from playgrad.devices.registry import close_gpus, gpu, keep_tuning
from playgrad.devices.tuning import HARDWARE, VARIANTS
from playgrad.io import load, save
from playgrad.parallel import collectives, named

PROGRAM = """
import numpy as np
import playgrad as pg

x = np.random.default_rng(0).normal(size=(40, 3))
y = (x.sum(1) > 0).astype(int)
model = pg.Sequential([pg.nn.Dense(4, activation="relu"), pg.nn.Dense(2)])
loss = pg.nn.SparseCategoricalCrossentropy(from_logits=True)
model.compile(pg.optim.Adam(0.05), loss, ["accuracy"])
model.fit(x, y, batch_size=10, epochs=3, validation_data=(x, y))
print("the program is done")
"""

Run = tuple[int, str, str]


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "small.py"
    path.write_text(PROGRAM)
    return path


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> Run:
    try:
        code = main([str(argument) for argument in arguments])
    except SystemExit as stop:
        assert isinstance(stop.code, int)
        code = stop.code
    out, err = capsys.readouterr()
    return code, out, err


def result_of(run: Run) -> Any:
    code, out, err = run
    assert code == 0, err
    return json.loads(out.splitlines()[-1])


def test_train_a_program(capsys: pytest.CaptureFixture[str], program: Path) -> None:
    result = result_of(run(capsys, "train", program, "--device", "cpu", "--json", "--seed", 7))
    assert {
        "example": "small",
        "device": "cpu:0",
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


def test_steps_batch_size_export_and_trace(
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
    """A whole epoch on the real data set, on the device that every machine has."""
    result = result_of(run(capsys, "train", "mnist-mlp", "--device", "cpu", "--json"))
    assert result["steps"] == 938
    assert result["test_accuracy"] >= 0.955


def test_devices(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "devices")
    assert code == 0
    assert out.startswith("cpu:0  NumPy")
    devices = json.loads(run(capsys, "devices", "--json")[1])
    assert devices[0]["device"] == "cpu:0"


def test_examples(capsys: pytest.CaptureFixture[str]) -> None:
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


def test_failures_are_told_on_stderr(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, program: Path
) -> None:
    def failing(text: str) -> Run:
        path = tmp_path / "wrong.py"
        path.write_text(text, encoding="utf-8", errors="surrogateescape")
        return run(capsys, "train", path, "--device", "cpu")

    code, out, err = failing("import playgrad as pg\npg.nn.Dense(-1)\n")
    assert (code, out) == (1, "")
    assert err.startswith("playgrad: ShapeError: units of a Dense layer")
    assert "wrong.py, line 2" in err
    assert "Traceback" not in err
    code, _, err = failing("x = 1\n\nprint(y)\n")
    assert code == 1
    assert "NameError: name 'y' is not defined" in err
    assert "wrong.py, line 3)" in err
    code, _, err = failing("x = (\n")
    assert (code, "SyntaxError" in err) == (1, True)
    code, _, err = failing("x = 1\n")
    assert (code, err) == (
        1,
        "playgrad: GraphError: wrong.py trained no model. It must call fit().\n",
    )
    code, _, err = failing("import numpy as np\nnp.zeros(3).reshape(2)\n")
    assert (code, "wrong.py, line 2)" in err) == (1, True)
    code, _, err = failing("import sys\nsys.exit(3)\n")
    assert (code, err) == (1, "playgrad: PlaygradError: wrong.py ended with exit status 3.\n")
    code, _, err = failing("x = '\udcff'\n")
    assert (code, "SyntaxError" in err) == (1, True)
    code, _, err = failing("raise KeyboardInterrupt\n")
    assert (code, err) == (1, "playgrad: stopped\n")
    (tmp_path / "w.npz").write_bytes(b"PK nonsense")
    code, _, err = run(capsys, "export", tmp_path / "w.npz")
    assert (code, "CheckpointError: w.npz: this is no npz file" in err) == (1, True)
    code, _, err = run(capsys, "train", program, "--device", "gpu:99")
    assert (code, "DeviceError: there is no gpu:99 here" in err) == (1, True)
    code, _, err = run(capsys, "--debug", "train", tmp_path / "wrong.py")
    assert (code, "Traceback" in err) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "required: COMMAND"),
        (("trian",), "invalid choice"),
        (("train",), "required: EXAMPLE|FILE"),
        (("train", "no-such"), "there is no example or file 'no-such': see `playgrad examples`"),
        (("train", "../examples/mnist-mlp"), "there is no example or file"),
        (("train", "mnist-mlp", "--steps", "0"), "'0' is no whole number of at least 1"),
        (("train", "mnist-mlp", "--epochs", "1.5"), "'1.5' is no whole number"),
        (("train", "mnist-mlp", "--steps", "5", "--epochs", "1"), "not allowed with"),
        (("train", "mnist-mlp", "--device", "tpu"), "'tpu' is none of auto, cpu, gpu, gpu:N"),
        (("train", "mnist-mlp", "--export", "w.pt"), "does not tell the format"),
        (("train", "mnist-mlp", "--export", "/none/w.npz"), "there is no folder '/none'"),
        (("train", "mnist-mlp", "--trace", "."), "'.' is a folder"),
        (("serve", "--port", "99999"), "'99999' is no port number"),
        (("serve", "--host", ""), "no address is given"),
    ],
)
def test_wrong_usage(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], words: str
) -> None:
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert words in err


def test_host_and_port_come_from_the_environment(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[tuple[str, int]] = []
    monkeypatch.setattr("playgrad.server.serve", lambda host, port: calls.append((host, port)))
    monkeypatch.delenv("HOST", raising=False)
    monkeypatch.delenv("PORT", raising=False)
    assert run(capsys, "serve")[0] == 0
    monkeypatch.setenv("HOST", "0.0.0.0")
    monkeypatch.setenv("PORT", "8123")
    assert run(capsys, "serve")[0] == 0
    assert run(capsys, "serve", "--port", 80)[0] == 0
    monkeypatch.setenv("HOST", "")
    monkeypatch.setenv("PORT", "")
    assert run(capsys, "serve")[0] == 0
    assert calls == [
        ("127.0.0.1", 8000), ("0.0.0.0", 8123), ("0.0.0.0", 80), ("127.0.0.1", 8000)
    ]  # fmt: skip
    monkeypatch.setenv("PORT", "http")
    assert run(capsys, "serve")[0] == 2


def test_a_program_runs_as_python_runs_it(
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


def test_as_a_process(program: Path) -> None:
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
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ, timeout=120)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "the program is done"
    assert json.loads(lines[-1])["steps"] == 12


class Terminal:
    """A stream that says it is a terminal."""

    def __init__(self) -> None:
        self.text = ""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.text += text
        return len(text)

    def flush(self) -> None:
        pass


EVENT = {
    "kind": "progress", "epoch": 1, "step": 469, "total_steps": 938,
    "points": [[468, 0.5, 0.8], [469, 0.25, 0.875]],
    "steps_per_second": 123.4, "seconds": 3.8, "eta_seconds": 65.2,
}  # fmt: skip


def test_progress_bar() -> None:
    line = progress_line(EVENT, 2, 120)
    assert line == (
        "epoch 1/2 [###############...............] "
        "469/938  loss 0.2500  accuracy 0.875  123.4 steps/s  1:05 left"
    )
    for columns in range(10, 130):
        assert len(progress_line(EVENT, 2, columns)) < columns
    terminal = Terminal()
    bar = ProgressBar(terminal)  # type: ignore[arg-type]
    bar.show({"kind": "fit_begin", "epochs": 2})
    bar.show(EVENT)
    bar.show({**EVENT, "points": [[470, 1.0, None]], "step": 938})
    bar.close()
    assert terminal.text.count("\r\x1b[K") == 3
    assert terminal.text.endswith("\r\x1b[K")


def test_epoch_line_and_clock() -> None:
    event = {
        "epoch": 1, "loss": 0.5, "accuracy": None, "test_loss": 0.25, "test_accuracy": None,
        "seconds": 2.0,
    }  # fmt: skip
    assert epoch_line(event, 3) == "epoch 1/3: loss 0.5000, test loss 0.2500 (2.0 s)"
    assert [clock(s) for s in (0, 9.6, 61, 3600, 7325)] == [
        "0:00", "0:10", "1:01", "1:00:00", "2:02:05",
    ]  # fmt: skip


@pytest.mark.parametrize("strategy", [["sync"], ["pipeline", "--schedule", "gpipe"]])
def test_train_on_several_devices(
    capsys: pytest.CaptureFixture[str], program: Path, tmp_path: Path, strategy: list[str]
) -> None:
    """The same losses as on one device, a trace of all of them, and how their time was spent."""
    trace = tmp_path / "trace.json"
    common = ["train", program, "--device", "cpu", "--steps", 6]
    alone = result_of(run(capsys, *common, "--json"))
    several = [*common, "--parallel", *strategy, "--devices", 2, "--trace", trace]
    together = result_of(run(capsys, *several, "--json"))
    assert together["train_loss"] == pytest.approx(alone["train_loss"], rel=1e-5)
    times = together["timeline"]
    assert [device["device"] for device in times["devices"]] == ["cpu:0", "cpu:1"]
    assert times["bytes_moved"] > 0 and 0 <= times["bubble"] < 1
    events = json.loads(trace.read_text())["traceEvents"]
    assert {"cpu:0", "cpu:1"} <= {event["args"].get("name") for event in events}
    assert "on 2 devices: idle" in run(capsys, *several)[1]


def test_training_that_ends_early_has_no_timeline(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    program = tmp_path / "early.py"
    program.write_text(
        "import numpy as np, playgrad as pg\n"
        "class Enough(pg.nn.Callback):\n"
        "    def on_epoch_end(self, epoch, logs):\n"
        "        self.model.stop_training = True\n"
        "model = pg.Sequential([pg.nn.Dense(1)])\n"
        "model.compile('sgd', 'mse')\n"
        "x = np.ones((6, 2), np.float32)\n"
        "model.fit(x, x[:, :1], batch_size=3, epochs=3, callbacks=Enough())\n"
    )
    code, out, _ = run(capsys, "train", program, "--device", "cpu", "--parallel", "sync")
    assert code == 0
    assert "no step was traced: training ended before its last one" in out


def test_details_of_a_strategy_need_one(capsys: pytest.CaptureFixture[str], program: Path) -> None:
    code, _, err = run(capsys, "train", program, "--devices", 2)
    assert code == 2
    assert "--devices says nothing without --parallel" in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["train", "--parallel", "sync", "--staleness", 3], "--staleness says nothing with"),
        (["train", "--parallel", "overlap", "--devices", 2], "overlap, but with sync or async"),
        (["simulate", "--micro-batches", 8], "--parallel sync, but with pipeline"),
    ],
)
def test_details_that_a_strategy_has_no_use_for_are_refused(
    capsys: pytest.CaptureFixture[str], program: Path, arguments: list[Any], words: str
) -> None:
    command, *rest = arguments
    code, _, err = run(capsys, command, program, *rest)
    assert code == 2
    assert words in err


def test_train_with_automatic_placement(capsys: pytest.CaptureFixture[str], program: Path) -> None:
    """The losses of one device, and what was decided for each operation."""
    common = ["train", program, "--device", "cpu", "--steps", 6]
    alone = result_of(run(capsys, *common, "--json"))
    placed = [*common, "--placement", "auto", "--devices", 2]
    result = result_of(run(capsys, *placed, "--json"))
    assert result["train_loss"] == pytest.approx(alone["train_loss"], rel=1e-5)
    assert result["placement"]["seconds"] > 0
    out = run(capsys, *placed)[1]
    assert result["placement"]["headline"].startswith("By measured times: ")
    assert "By measured times: " in out and "\n  cpu:0  " in out


def test_explain_any_placement(capsys: pytest.CaptureFixture[str], program: Path) -> None:
    out = run(capsys, "train", program, "--device", "cpu", "--steps", 2, "--explain")[1]
    assert "By measured times: " in out and ": the session's device" in out
    strategy = ["--parallel", "sync", "--devices", 2]
    out = run(capsys, "train", program, "--device", "cpu", "--steps", 2, "--explain", *strategy)[1]
    assert "\n  cpu:1  " in out and "asked for by device scope" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--placement", "auto", "--parallel", "sync"], "so --placement says nothing"),
        (["--device-kinds", "cpu"], "--device-kinds says nothing without --placement"),
        (["--placement", "auto", "--device-kinds", "tpu"], "'tpu' is none of cpu, gpu"),
        (["--placement", "auto", "--every", 2], "--every says nothing without --parallel"),
    ],
)
def test_placements_that_are_none(
    capsys: pytest.CaptureFixture[str], program: Path, arguments: list[str], words: str
) -> None:
    code, _, err = run(capsys, "train", program, *arguments)
    assert code == 2
    assert words in err


def test_names_of_strategies() -> None:
    """The command line says them again, so as not to import the library for its help."""
    commands = importlib.import_module("playgrad.cli.main")
    assert commands.STRATEGIES == named.NAMES
    assert commands.DETAILS == named.DETAILS
    assert set(commands.COLLECTIVES) == set(collectives.NAMES)


@pytest.mark.parametrize("strategy", ["sync", "pipeline"])
def test_simulate_devices_that_are_not_here(
    capsys: pytest.CaptureFixture[str], program: Path, strategy: str
) -> None:
    """One device takes what was measured; more are no better than the ideal."""
    counts = [1, 2] if strategy == "pipeline" else [1, 8]
    arguments = ["simulate", program, "--device", "cpu", "--parallel", strategy]
    arguments += ["--devices", *counts]
    code, out, err = run(capsys, *arguments, "--json")
    assert code == 0, err
    rows = json.loads(out.splitlines()[-1])
    assert [row["devices"] for row in rows] == counts
    assert rows[0]["efficiency"] == pytest.approx(1) and rows[0]["bytes_moved"] == 0
    assert 0 < rows[1]["efficiency"] < 1 and rows[1]["bytes_moved"] > 0
    assert "of the ideal" in run(capsys, *arguments)[1]


def test_simulate_devices_of_this_machine(
    capsys: pytest.CaptureFixture[str], program: Path
) -> None:
    arguments = ["simulate", program, "--device", "cpu", "--devices", 4, "--here"]
    code, out, err = run(capsys, *arguments, "--json")
    assert code == 0, err
    (row,) = json.loads(out.splitlines()[-1])
    assert row["seconds"] > 0 and row["communication"] == 0 and row["bytes_moved"] > 0


def test_simulate_more_devices_than_samples(
    capsys: pytest.CaptureFixture[str], program: Path
) -> None:
    arguments = ["simulate", program, "--device", "cpu", "--devices", 16]
    code, _, err = run(capsys, *arguments)
    assert code == 1 and "a batch of 10 cannot be divided into 16 parts" in err
    assert run(capsys, *arguments, "--batch-size", 32)[0] == 0


@pytest.mark.gpu
def test_tune_lists_and_forgets(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLAYGRAD_CACHE", str(tmp_path))
    close_gpus()
    (row, *_) = result_of(run(capsys, "tune", "--list", "--json"))
    assert (row["device"], row["why"]) == ("gpu:0", "by kind")
    keep_tuning(gpu(0), HARDWARE)
    code, out, _ = run(capsys, "tune", "--list")
    assert code == 0
    assert out.split("measured")[1].split()[:3] == ["shared_64", "shared_64", "trees"]
    code, out, _ = run(capsys, "tune", "--forget")
    assert (code, "forgotten" in out) == (0, True)
    assert result_of(run(capsys, "tune", "--list", "--json"))[0]["why"] == "by kind"
    assert run(capsys, "tune", "--device", "cpu")[0] == 2
    close_gpus()


@pytest.mark.gpu
def test_tune_measures_and_remembers(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
