"""Checkpoints that cannot be written or read: nothing of a training is lost without a word."""

from __future__ import annotations

import json
import re
import resource
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

import playgrad as pg
from playgrad.cli.checkpoint_folder import CheckpointFolder
from tests.cli.processes import environment, run_process
from tests.cli.running import result_of, run
from tests.cli.test_checkpoints import PROGRAM, arguments, expect_same_end, files, steps_of

BREAK = """
import shutil
from pathlib import Path

def break_folder(*_):
    shutil.rmtree({folder!r})
    Path({folder!r}).write_text("no folder")
"""
ENDS = {
    "the program ends": ("break_folder()", 0),
    "the program closes the model": ("break_folder()\nmodel.close()", 0),
    "the program fails": ("break_folder()\nraise ValueError('wrong')", 1),
    "the user stops it": ("break_folder()\nraise KeyboardInterrupt", 130),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "checkpoints"


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "temporary"
    path.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(path))
    return path


def broken_at_the_end(folder: Path) -> str:
    """Return the program, with a callback that breaks the folder when the training ends."""
    callback = "callbacks=pg.nn.LambdaCallback(on_train_end=break_folder), validation_data"
    return BREAK.format(folder=str(folder)) + PROGRAM.replace("validation_data", callback)


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


@pytest.mark.parametrize("end", ENDS)
def test_a_last_checkpoint_that_cannot_be_written_is_reported_and_kept_elsewhere(
    end: str, tmp_path: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    last, code = ENDS[end]
    ending = last.removeprefix("break_folder()")
    program = written(tmp_path / "net.py", broken_at_the_end(folder) + ending)
    whole = tmp_path / "whole"
    expected = result_of(run(capsys, *arguments(written(tmp_path / "w.py", PROGRAM), whole)))
    ended, out, err = run(capsys, *arguments(program, folder))
    assert ended == (code or 1), err
    assert f"cannot create the folder '{folder}': File exists." in err
    if not code:
        assert json.loads(out.splitlines()[-1])["steps"] == 120
    (other,) = re.findall(r"With --checkpoint (\S+) --resume", err)
    again = result_of(run(capsys, *arguments(tmp_path / "w.py", Path(other), "--resume")))
    assert steps_of(files(Path(other))[-1]) == 120
    expect_same_end(again, expected, Path(other), whole)


def test_a_signal_between_a_callback_and_a_broken_folder_is_reported(
    tmp_path: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stop = """
def stop(step, logs):
    if step >= 50:
        break_folder()
        raise KeyboardInterrupt
"""
    callback = "callbacks=pg.nn.LambdaCallback(on_steps_end=stop), validation_data"
    text = PROGRAM.replace("validation_data", callback)
    program = written(tmp_path / "net.py", BREAK.format(folder=str(folder)) + stop + text)
    code, _, err = run(capsys, *arguments(program, folder))
    assert code == 130
    assert err.splitlines()[-1] == "playgrad: stopped"
    assert f"cannot create the folder '{folder}'" in err.splitlines()[-2]


def test_training_continues_while_checkpoints_cannot_be_written(
    tmp_path: Path, folder: Path, temporary: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    disturb = """
steps = iter(range(1, 1000))

def disturb(*_):
    step = next(steps)
    if step == 40:
        break_folder()
    if step == 90:
        Path({folder!r}).unlink()
"""
    callback = "callbacks=pg.nn.LambdaCallback(on_train_batch_end=disturb), validation_data"
    text = BREAK + disturb + PROGRAM.replace("validation_data", callback)
    program = written(tmp_path / "net.py", text.format(folder=str(folder)))
    whole = tmp_path / "whole"
    expected = result_of(run(capsys, *arguments(written(tmp_path / "w.py", PROGRAM), whole)))
    code, out, err = run(capsys, *arguments(program, folder))
    assert code == 0, err
    assert err.count(f"cannot create the folder '{folder}': File exists.") == 1
    assert err.count("training continues, and later checkpoints are tried again") == 1
    assert [steps_of(each) for each in files(folder)] == [100, 120]
    (other,) = re.findall(r"With --checkpoint (\S+) --resume", err)
    assert [steps_of(each) for each in files(Path(other))] == [40, 60, 80]
    expect_same_end(json.loads(out.splitlines()[-1]), expected, folder, whole)


def test_a_program_is_told_before_its_next_training_that_the_last_is_not_saved(
    tmp_path: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = broken_at_the_end(folder)
    program = written(tmp_path / "net.py", text + "\nmodel.fit(x, y, batch_size=10)\n")
    code, _, err = run(capsys, *arguments(program, folder)[:-1], 1000)
    assert code == 1
    told = err.index("training continues, and later checkpoints are tried again")
    assert told < err.rindex("epoch 1")


def test_checkpoints_and_weights_kept_elsewhere_leave_other_runs_alone(
    tmp_path: Path, folder: Path, temporary: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A system gives the numbers of processes out again; here both runs have the same."""
    target = tmp_path / "target" / "w.npz"
    target.parent.mkdir()
    breaking = broken_at_the_end(folder)
    remove = f"Path({str(target.parent)!r}).rmdir()\n"
    program = written(tmp_path / "net.py", f"{breaking}\n{remove}")
    kept: dict[Path, bytes] = {}
    for epochs in (2, 1):  # the second run has fewer steps
        folder.unlink(missing_ok=True)
        target.parent.mkdir(exist_ok=True)
        options = ("--epochs", epochs, "--export", target)
        code, _, err = run(capsys, *arguments(program, folder, *options))
        assert code == 1
        (weights,) = re.findall(r"The trained weights are in (\S+) instead", err)
        (other,) = re.findall(r"With --checkpoint (\S+) --resume", err)
        assert [steps_of(each) for each in files(Path(other))] == [60 * epochs]
        assert {path: path.read_bytes() for path in kept} == kept
        kept |= {path: path.read_bytes() for path in (Path(weights), *files(Path(other)))}
    assert len(kept) == 4


@pytest.mark.skipif(sys.platform == "win32", reason="RLIMIT_FSIZE")
def test_a_full_disk_costs_files_and_nothing_else(tmp_path: Path, folder: Path) -> None:
    """All that cannot be written is named, after the results."""
    program = written(tmp_path / "net.py", PROGRAM)
    paths = {name: tmp_path / f"file.{name}" for name in ("npz", "html", "json")}
    options = ("--export", paths["npz"], "--report", paths["html"], "--trace", paths["json"])

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    before = set(Path(tempfile.gettempdir()).iterdir())
    ended = run_process(
        arguments(program, folder, *options),
        prepare=limit,
        env=environment(TMPDIR=tempfile.gettempdir()),
    )
    assert ended.code == 1
    assert json.loads(ended.out)["steps"] == 120
    *_, epoch, _, _, _, _ = ended.err.splitlines()
    assert "epoch 2" in epoch
    for path in (folder / "step-00000120.playgrad", *paths.values()):
        assert f"cannot write '{path}': File too large" in ended.err
        assert not path.exists()
    assert set(Path(tempfile.gettempdir()).iterdir()) == before


@pytest.mark.parametrize("option", ["--export", "--trace", "--report"])
def test_results_and_the_lost_checkpoint_are_reported_beside_a_file_that_cannot_be_written(
    option: str, tmp_path: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "target" / "x.npz"
    target.parent.mkdir()
    text = broken_at_the_end(folder)
    remove = f"target = Path({str(target.parent)!r})\ntarget.rmdir()\ntarget.write_text('x')\n"
    program = written(tmp_path / "net.py", f"{text}\n{remove}")
    code, out, err = run(capsys, *arguments(program, folder, option, target))
    assert code == 1
    assert json.loads(out)["steps"] == 120
    assert f"cannot create the folder '{folder}': File exists." in err
    assert f"cannot write '{target}': Not a directory." in err
    assert "Error: [Errno" not in err


def test_folders_that_cannot_be_created_are_refused_before_training(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = written(tmp_path / "net.py", PROGRAM)
    file = written(tmp_path / "file", "x")
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "nowhere" / "x")
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    for name in (file / "x", link, link / "x", loop, tmp_path / ("x" * 300)):
        code, _, err = run(capsys, *arguments(program, name))
        assert code != 0 and "epoch 1" not in err, name
        assert str(name)[:150] in err, name


@pytest.mark.parametrize("option", ["--export", "--trace", "--report"])
def test_files_that_cannot_be_written_are_refused_before_training(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = written(tmp_path / "net.py", PROGRAM)
    file = written(tmp_path / "file", "x")
    link = tmp_path / "link.npz"
    link.symlink_to(tmp_path / "nowhere" / "x.npz")
    for name in (file / "x.npz", link, tmp_path / ("x" * 300 + ".npz"), "a\0.npz"):
        code, _, err = run(capsys, "train", program, "--device", "cpu", option, name)
        assert (code, "epoch 1" in err) == (2, False), name


def test_predict_and_export_take_the_checkpoint_before_a_damaged_one(
    tmp_path: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = written(tmp_path / "net.py", PROGRAM)
    result_of(run(capsys, *arguments(program, folder)))
    *_, before, last = files(folder)
    last.write_bytes(last.read_bytes()[:-100])
    x = np.random.default_rng(5).normal(size=(7, 12)).astype(np.float32)
    np.save(tmp_path / "x.npy", x)
    expected = pg.load(before, device="cpu").predict(x)
    options = ("predict", folder, tmp_path / "x.npy", "--format", "json", "--logits")
    code, out, err = run(capsys, *options)
    assert code == 0 and f"{last.name}: the project is damaged" in err
    assert [int(each["class"]) for each in json.loads(out)] == list(expected.argmax(axis=1))
    target = tmp_path / "weights.npz"
    code, _, err = run(capsys, "export", folder, target)
    assert code == 0 and "Trying the one before" in err
    np.testing.assert_array_equal(
        np.load(target)["dense_1/kernel"],
        pg.load(before, device="cpu").named_weights()["dense_1/kernel"],
    )
    for each in files(folder):
        each.write_bytes(b"PK")
    for command in (options, ("export", folder, target)):
        code, _, err = run(capsys, *command)
        assert code == 1 and f"CheckpointError: {last.name}" in err


def test_a_folder_is_listed_whatever_its_name(tmp_path: Path) -> None:
    for name in (tmp_path / ("x" * 300), written(tmp_path / "file", "x") / "y"):
        assert CheckpointFolder(name).files() == []
