"""``playgrad train --checkpoint``: however a run ends, ``--resume`` continues from a whole file."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest

import playgrad as pg
from playgrad.training.checkpoints.project_file import decode_project
from playgrad.training.checkpoints.record import Checkpoint
from tests.cli.processes import Ended, end_of, running
from tests.cli.running import result_of, run
from tests.sweeps import dice, slow

PROGRAM = """
import numpy as np
import playgrad as pg
from playgrad import nn

x = np.random.default_rng(0).normal(size=(600, 12)).astype(np.float32)
y = (x.sum(1) > 0).astype(np.int32)
model = pg.Sequential(
    [nn.Dense(16, activation="relu"), nn.BatchNormalization(), nn.Dropout(0.2), nn.Dense(2)]
)
loss = nn.SparseCategoricalCrossentropy(from_logits=True)
model.compile(pg.optim.Adam(0.003), loss, ["accuracy"])
model.fit(x, y, batch_size=10, epochs=2, validation_data=(x, y))
"""
RESULTS = ("steps", "train_loss", "test_loss", "test_accuracy", "seed")
linux = pytest.mark.skipif(sys.platform != "linux", reason="signals")


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "net.py"
    path.write_text(PROGRAM)
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "checkpoints"


def arguments(program: Path, folder: Path, *more: object) -> list[str]:
    every = ("--checkpoint", folder, "--every", 20)
    return [str(each) for each in ("train", program, "--device", "cpu", "--json", *every, *more)]


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("step-*.playgrad"))


def steps_of(file: Path) -> int:
    return sum(fit.step for fit in decode_project(file.read_bytes()).fits)


def expect_same_end(ended: Any, whole: Any, folder: Path, expected: Path) -> None:
    """Check that two runs have had the same curve and have the same weights."""
    assert {name: ended[name] for name in RESULTS} == {name: whole[name] for name in RESULTS}
    one, other = (decode_project(files(each)[-1].read_bytes()) for each in (folder, expected))
    np.testing.assert_array_equal(one.fits[-1].steps, other.fits[-1].steps)
    assert one.fits[-1].history == other.fits[-1].history
    for name, array in one.state.items():
        np.testing.assert_array_equal(array, other.state[name], err_msg=name)


def test_checkpoints_come_at_exact_steps_and_the_last_ones_are_kept(
    program: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = result_of(run(capsys, *arguments(program, folder)))
    assert result["steps"] == 120
    assert [each.name for each in folder.iterdir() if each.name.startswith(".")] == []
    assert [steps_of(each) for each in files(folder)] == [80, 100, 120]
    last = decode_project(files(folder)[-1].read_bytes())
    assert last.info()["finished"]
    assert last.model.parameters == result["parameters"]


def test_a_completed_run_is_reported_again_and_not_trained(
    program: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = result_of(run(capsys, *arguments(program, folder)))
    code, out, err = run(capsys, *arguments(program, folder, "--resume"))
    assert (code, json.loads(out)) == (0, first)
    assert "continuing after step 120" in err and "epoch" not in err


def test_a_completed_run_continues_with_more_epochs(
    program: Path, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = result_of(run(capsys, *arguments(program, tmp_path / "whole", "--epochs", 3)))
    run(capsys, *arguments(program, folder))
    code, _, err = run(capsys, *arguments(program, folder, "--resume", "--epochs", 1))
    assert code == 1
    assert "2 epochs (120 steps) of this training, more than the 1 epoch (60 steps) asked" in err
    assert steps_of(files(folder)[-1]) == 120
    ended = result_of(run(capsys, *arguments(program, folder, "--resume", "--epochs", 3)))
    expect_same_end(ended, whole, folder, tmp_path / "whole")
    assert steps_of(files(folder)[-1]) == 180


def test_resume_without_a_checkpoint_trains_from_the_start(
    program: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert result_of(run(capsys, *arguments(program, folder, "--resume")))["steps"] == 120


def test_a_training_that_a_callback_interrupts_continues(
    program: Path, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = result_of(run(capsys, *arguments(program, tmp_path / "whole")))
    halting = """
from playgrad import nn
def halt(step, logs):
    if step > 70:
        raise KeyboardInterrupt
halting = nn.LambdaCallback(on_steps_end=halt)
"""
    halted = PROGRAM.replace("validation_data", "callbacks=halting, validation_data")
    program.write_text(halting + halted)
    assert run(capsys, *arguments(program, folder))[0] == 130
    assert 70 < steps_of(files(folder)[-1]) < 120
    program.write_text(PROGRAM)
    ended = result_of(run(capsys, *arguments(program, folder, "--resume")))
    expect_same_end(ended, whole, folder, tmp_path / "whole")


@linux
@pytest.mark.survival("Runs that are killed")
@pytest.mark.parametrize("kills", [2, *slow(20)])
def test_a_run_that_is_killed_at_any_step_continues(
    kills: int,
    program: Path,
    folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    record_property: Callable[[str, object], None],
) -> None:
    """SIGKILL at random moments; each time the next run continues from a whole checkpoint."""
    record_property("tried", kills)
    draw = dice(kills)
    steps = ("--steps", 250 + 250 * kills)
    whole = result_of(run(capsys, *arguments(program, tmp_path / "whole", *steps)))
    before, killed = 0, 0
    while True:
        with running(*arguments(program, folder, *steps, "--resume")) as process:
            ended = killed_after_progress(process, folder, before, draw, killed < kills)
            if ended is not None:
                break
        killed += 1
        reached = [steps_of(each) for each in files(folder)]  # every one of them is whole
        assert reached and all(step % 20 == 0 for step in reached) and reached[-1] > before
        before = reached[-1]
    assert killed == kills
    assert ended.code == 0, ended.err
    assert f"continuing after step {before:,}" in ended.err
    expect_same_end(json.loads(ended.out), whole, folder, tmp_path / "whole")


def killed_after_progress(
    process: subprocess.Popen[bytes], folder: Path, before: int, draw: random.Random, kill: bool
) -> Ended | None:
    """Kill a run a moment after it has made a new checkpoint; return how it ended by itself."""
    if not kill:
        return end_of(process)
    while process.poll() is None:
        names = [int(each.stem.removeprefix("step-")) for each in files(folder)]
        if names and max(names) > before:
            time.sleep(0.2 * draw.random())
            process.kill()
            process.communicate()
            return None if process.returncode == -signal.SIGKILL else Ended(0, "", "")
        time.sleep(0.005)
    return end_of(process)


@linux
@pytest.mark.gpu
@pytest.mark.survival("Runs that are stopped")
@pytest.mark.parametrize(
    ("number", "device"),
    [
        (signal.SIGINT, "gpu"),
        (signal.SIGTERM, "cpu"),
        *slow((signal.SIGINT, "cpu"), (signal.SIGTERM, "gpu")),
    ],
)
def test_a_signal_saves_the_very_step_and_the_run_continues(
    number: signal.Signals,
    device: str,
    program: Path,
    folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    options = ("--steps", 1000, "--device", device)
    whole = result_of(run(capsys, *arguments(program, tmp_path / "whole", *options)))
    with running(*arguments(program, folder, *options)) as process:
        while not files(folder) and process.poll() is None:
            time.sleep(0.005)
        time.sleep(0.05)
        process.send_signal(number)
        ended = end_of(process)
    assert ended.code == 128 + number
    assert ended.err.splitlines()[-1] == "playgrad: stopped"
    stopped = decode_project(files(folder)[-1].read_bytes())
    assert 0 < stopped.info()["step"] < 1000 and not stopped.info()["finished"]
    again = result_of(run(capsys, *arguments(program, folder, *options, "--resume")))
    expect_same_end(again, whole, folder, tmp_path / "whole")


def test_the_checkpoint_before_a_damaged_one_is_taken(
    program: Path, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = result_of(run(capsys, *arguments(program, tmp_path / "whole")))
    run(capsys, *arguments(program, folder))
    *_, last = files(folder)
    last.write_bytes(last.read_bytes()[:-100])
    code, out, err = run(capsys, *arguments(program, folder, "--resume"))
    assert (
        "step-00000120.playgrad: the project is damaged" in err and "Trying the one before" in err
    )
    assert "continuing after step 100" in err
    assert code == 0
    expect_same_end(json.loads(out), whole, folder, tmp_path / "whole")
    for each in files(folder):
        each.write_bytes(b"PK")
    before = [each.read_bytes() for each in files(folder)]
    code, _, err = run(capsys, *arguments(program, folder, "--resume"))
    assert code == 1 and "CheckpointError: step-00000120.playgrad" in err
    assert [each.read_bytes() for each in files(folder)] == before


CHANGES: dict[str, tuple[tuple[object, ...], str]] = {
    "seed": (("--seed", 3), "the seed has changed .* 0 before, 3 now"),
    "batch size": (("--batch-size", 20), "batch_size 10 before, 20 now"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_options_that_change_the_curve_are_refused(
    name: str, program: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(capsys, *arguments(program, folder))
    more, message = CHANGES[name]
    before = [each.read_bytes() for each in files(folder)]
    with pytest.raises(AssertionError, match=message):
        result_of(run(capsys, *arguments(program, folder, "--resume", *more)))
    assert [each.read_bytes() for each in files(folder)] == before


def test_wrong_usage_is_refused(
    program: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(capsys, *arguments(program, folder))
    wrong: list[tuple[list[object], str]] = [
        (arguments(program, folder), "has checkpoints of an earlier run: add --resume"),  # type: ignore[list-item]
        (["train", program, "--resume"], "--resume has no effect without --checkpoint"),
        (["train", program, "--checkpoint-every", 9], "no effect without --checkpoint"),
        (["train", program, "--every", 3], "no effect without --checkpoint DIR, which saves"),
        (["train", program, "--checkpoint", program], "is not a folder"),
        ([*arguments(program, folder, "--resume"), "--checkpoint-every", 9], "both say when"),
    ]
    for options, message in wrong:
        code, _, err = run(capsys, *options)
        assert code == 2 and message in err
    assert len(files(folder)) == 3


def test_every_is_an_option_of_a_strategy_as_well(
    program: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    local = ("--parallel", "local", "--checkpoint-every", 50)
    result_of(run(capsys, *arguments(program, folder, *local)))  # averages every 20 steps
    assert [steps_of(each) for each in files(folder)] == [50, 100, 120]
    compiled = decode_project(files(folder)[-1].read_bytes()).model.compiled
    assert compiled is not None
    assert compiled["arguments"]["strategy"]["arguments"]["every"] == 20


def test_a_checkpoint_is_exported_and_predicts(
    program: Path, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(capsys, *arguments(program, folder))
    x = np.random.default_rng(5).normal(size=(7, 12)).astype(np.float32)
    np.save(tmp_path / "x.npy", x)
    expected = pg.load(files(folder)[-1], device="cpu").predict(x)
    for source in (folder, files(folder)[-1]):
        target = tmp_path / "net.onnx"
        assert run(capsys, "export", source, target)[0] == 0
        session = onnxruntime.InferenceSession(target)
        (outputs,) = session.run(None, {session.get_inputs()[0].name: x})
        np.testing.assert_allclose(outputs, expected, atol=1e-5)
        target.unlink()
        options = ("predict", source, tmp_path / "x.npy", "--format", "json", "--logits")
        predictions = json.loads(run(capsys, *options)[1])
        classes = [int(each["class"]) for each in predictions]
        assert classes == list(expected.argmax(axis=1))
    code, out, _ = run(capsys, "export", files(folder)[-1], "--format", "onnx")
    beside = files(folder)[-1].with_suffix(".onnx")
    assert code == 0 and str(beside) in out and beside.is_file()
    code, out, _ = run(capsys, "export", files(folder)[-1])
    assert code == 0 and "dense_1/kernel" in out
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "has no checkpoints" in run(capsys, "export", empty)[2]
    assert run(capsys, "export", folder, tmp_path / "net.xyz")[0] == 2


def test_programs_with_several_fits_are_resumed_in_the_second(
    program: Path, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program.write_text(program.read_text() + "model.fit(x, y, batch_size=20, epochs=2)\n")
    whole = result_of(run(capsys, *arguments(program, tmp_path / "whole")))
    run(capsys, *arguments(program, folder))
    assert [steps_of(each) for each in files(folder)] == [140, 160, 180]
    files(folder)[-1].unlink()
    files(folder)[-1].unlink()
    ended = result_of(run(capsys, *arguments(program, folder, "--resume")))
    expect_same_end(ended, whole, folder, tmp_path / "whole")


def test_a_checkpoint_contains_the_program_that_ran(
    program: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(capsys, *arguments(program, folder))
    content = files(folder)[-1].read_bytes()
    assert PROGRAM.encode() in content
    assert str(program.parent).encode() not in content
    assert isinstance(decode_project(content), Checkpoint)
