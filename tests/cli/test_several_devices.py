"""`playgrad train` on several devices, and `playgrad simulate`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import result_of, run


@pytest.mark.parametrize("strategy", [["sync"], ["pipeline", "--schedule", "gpipe"]])
def test_training_on_several_devices_matches_one_device(
    capsys: pytest.CaptureFixture[str], program: Path, tmp_path: Path, strategy: list[str]
) -> None:
    """The losses are the same as on one device; the trace and the timeline have all devices."""
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


def test_strategy_options_need_a_strategy(
    capsys: pytest.CaptureFixture[str], program: Path
) -> None:
    code, _, err = run(capsys, "train", program, "--devices", 2)
    assert code == 2
    assert "--devices has no effect without --parallel" in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["train", "--parallel", "sync", "--staleness", 3], "--staleness has no effect with"),
        (["train", "--parallel", "overlap", "--devices", 2], "overlap, only with sync or pipeline"),
        (["simulate", "--micro-batches", 8], "--parallel sync, only with pipeline"),
    ],
)
def test_options_that_the_strategy_does_not_use_are_refused(
    capsys: pytest.CaptureFixture[str], program: Path, arguments: list[Any], words: str
) -> None:
    command, *rest = arguments
    code, _, err = run(capsys, command, program, *rest)
    assert code == 2
    assert words in err


def test_training_with_automatic_placement_matches_one_device(
    capsys: pytest.CaptureFixture[str], program: Path
) -> None:
    """The losses are the same as on one device; each operation is listed with its decision."""
    common = ["train", program, "--device", "cpu", "--steps", 6]
    alone = result_of(run(capsys, *common, "--json"))
    placed = [*common, "--placement", "auto", "--devices", 2]
    result = result_of(run(capsys, *placed, "--json"))
    assert result["train_loss"] == pytest.approx(alone["train_loss"], rel=1e-5)
    assert result["placement"]["seconds"] > 0
    out = run(capsys, *placed)[1]
    assert result["placement"]["headline"].startswith("By measured times: ")
    assert "By measured times: " in out and "\n  cpu:0  " in out


def test_explain_lists_the_decisions_of_any_placement(
    capsys: pytest.CaptureFixture[str], program: Path
) -> None:
    out = run(capsys, "train", program, "--device", "cpu", "--steps", 2, "--explain")[1]
    assert "By measured times: " in out and ": the session's device" in out
    strategy = ["--parallel", "sync", "--devices", 2]
    out = run(capsys, "train", program, "--device", "cpu", "--steps", 2, "--explain", *strategy)[1]
    assert "\n  cpu:1  " in out and "set by device scope" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--placement", "auto", "--parallel", "sync"], "so --placement has no effect"),
        (["--device-kinds", "cpu"], "--device-kinds has no effect without --placement"),
        (["--placement", "auto", "--device-kinds", "tpu"], "'tpu' is not one of cpu, gpu"),
        (["--placement", "auto", "--every", 2], "--every N has no effect without --checkpoint"),
    ],
)
def test_impossible_placements_are_refused(
    capsys: pytest.CaptureFixture[str], program: Path, arguments: list[str], words: str
) -> None:
    code, _, err = run(capsys, "train", program, *arguments)
    assert code == 2
    assert words in err


@pytest.mark.parametrize("strategy", ["sync", "pipeline"])
def test_simulate_predicts_devices_that_are_not_here(
    capsys: pytest.CaptureFixture[str], program: Path, strategy: str
) -> None:
    """One device takes the measured time; several also move bytes."""
    counts = [1, 2] if strategy == "pipeline" else [1, 8]
    arguments = ["simulate", program, "--device", "cpu", "--parallel", strategy]
    arguments += ["--devices", *counts]
    code, out, err = run(capsys, *arguments, "--json")
    assert code == 0, err
    rows = json.loads(out.splitlines()[-1])
    assert [row["devices"] for row in rows] == counts
    assert rows[0]["efficiency"] == pytest.approx(1) and rows[0]["bytes_moved"] == 0
    assert rows[1]["efficiency"] > 0 and rows[1]["bytes_moved"] > 0
    assert "of the ideal" in run(capsys, *arguments)[1]


def test_simulate_measures_the_devices_of_this_machine(
    capsys: pytest.CaptureFixture[str], program: Path
) -> None:
    arguments = ["simulate", program, "--device", "cpu", "--devices", 4, "--here"]
    code, out, err = run(capsys, *arguments, "--json")
    assert code == 0, err
    (row,) = json.loads(out.splitlines()[-1])
    assert row["seconds"] > 0 and row["communication"] == 0 and row["bytes_moved"] > 0


def test_simulate_refuses_more_devices_than_samples(
    capsys: pytest.CaptureFixture[str], program: Path
) -> None:
    arguments = ["simulate", program, "--device", "cpu", "--devices", 16]
    code, _, err = run(capsys, *arguments)
    assert code == 1 and "a batch of 10 cannot be divided into 16 parts" in err
    assert run(capsys, *arguments, "--batch-size", 32)[0] == 0


DIVIDED = """
import numpy as np, playgrad as pg
from playgrad import nn
pg.set_logical_devices(cpu=4)
with pg.Graph(seed=1).as_default():
    model = pg.Sequential(
        [
            pg.Input((6,)),
            *nn.parallel_mlp(8, 6, ["cpu:0", "cpu:1"]),
            *nn.parallel_mlp(8, 6, ["cpu:2", "cpu:3"]),
            nn.Dense(1),
        ]
    )
model.compile("adam", "mse", device="cpu")
x = np.random.default_rng(0).random((32, 6), np.float32)
model.fit(x, x[:, :1], batch_size=16, epochs=2, shuffle=False, verbose=0)
"""


def test_stages_of_several_devices_train_like_one_device(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Layers divided among the devices of their stage, in one pipeline and in two."""
    program = tmp_path / "divided.py"
    program.write_text(DIVIDED)
    common = ["train", program, "--device", "cpu", "--json"]
    alone = result_of(run(capsys, *common))
    shape = ["--parallel", "pipeline", "--devices-per-stage", 2, "--micro-batches", 2]
    for devices, replicas in ((4, 1), (8, 2)):
        placed = [*shape, "--devices", devices, "--replicas", replicas]
        together = result_of(run(capsys, *common, *placed))
        assert together["train_loss"] == pytest.approx(alone["train_loss"], rel=1e-5)
        names = [device["device"] for device in together["timeline"]["devices"]]
        assert names == [f"cpu:{number}" for number in range(devices)]
    code, _, err = run(capsys, *common, *shape, "--devices", 3)
    assert code == 1
    assert "a pipeline of 3 devices cannot be divided into stages of 2" in err


@pytest.mark.parametrize("schedule", ["interleaved", "dualpipe", "pipedream"])
def test_simulate_predicts_bubbles_of_schedules(
    capsys: pytest.CaptureFixture[str], program: Path, schedule: str
) -> None:
    arguments = ["simulate", program, "--device", "cpu", "--parallel", "pipeline"]
    arguments += ["--devices", 1, 2, "--schedule", schedule, "--micro-batches", 2]
    if schedule == "interleaved":
        arguments += ["--chunks", 1]
    code, out, err = run(capsys, *arguments, "--json")
    assert code == 0, err
    alone, two = json.loads(out.splitlines()[-1])
    assert alone["bytes_moved"] == 0 < two["bytes_moved"]
    assert 0 < two["bubble"] < 1


def test_simulate_predicts_stages_of_several_devices(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    program = tmp_path / "divided.py"
    program.write_text(DIVIDED)
    arguments = ["simulate", program, "--device", "cpu", "--parallel", "pipeline"]
    arguments += ["--devices-per-stage", 2, "--micro-batches", 2]
    code, out, err = run(capsys, *arguments, "--devices", 1, 4, "--json")
    assert code == 0, err
    alone, four = json.loads(out.splitlines()[-1])
    assert alone["bytes_moved"] == 0 < four["bytes_moved"]
    replicated = [*arguments, "--devices", 8, "--replicas", 2, "--json"]
    code, out, err = run(capsys, *replicated)
    assert code == 0, err
    (eight,) = json.loads(out.splitlines()[-1])
    assert eight["bytes_moved"] > four["bytes_moved"]
    code, _, err = run(capsys, *arguments, "--devices", 4, "--here")
    assert code == 1 and "measured one after the other" in err
