"""Trials in processes: compared, started again, ended early, continued."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

import playgrad as pg
from playgrad import nn
from playgrad.sweeps.record import FILE


def bowl(x: float, y: int = 0) -> float:
    return (x - 2) ** 2 + y


def test_a_function_is_swept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = pg.sweep(bowl, grid={"x": [0, 2], "y": [1]}, parallel=2, folder=tmp_path)
    assert [trial.value for trial in result.trials] == [5, 1]
    assert (result.metric, result.direction, result.weights) == ("value", "min", None)
    assert result.best.settings == {"x": 2, "y": 1}
    assert "trial 2 (x=2 y=1): 1, " in capsys.readouterr().out
    assert str(result).splitlines()[1].split()[:5] == ["2", "x=2", "y=1", "1", "done"]
    # Continued: trials that have ended are not run again.
    again = pg.sweep(bowl, grid={"x": [0, 2], "y": [1]}, folder=tmp_path, verbose=0)
    assert again.trials == result.trials
    with pytest.raises(pg.CheckpointError, match="another sweep, with another grid"):
        pg.sweep(bowl, grid={"x": [0]}, folder=tmp_path)


def train(rate: float, path: str) -> Any:
    x = np.linspace(-1, 1, 64, dtype=np.float32)[:, None]
    if rate == 0.3 and not os.path.exists(path):
        Path(path).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    model = pg.Sequential([nn.Dense(1)])
    model.compile(pg.optim.SGD(rate), loss="mse", metrics=["mae"])
    return model.fit(x, 3 * x, batch_size=16, epochs=4, validation_data=(x, 3 * x), verbose=0)


def test_weights_of_the_best_are_kept_and_a_killed_trial_is_started_again(tmp_path: Path) -> None:
    result = pg.sweep(
        train, grid={"rate": [0.01, 0.3, 1e30], "path": [str(tmp_path / "killed")]},
        folder=tmp_path / "sweep", parallel=2, verbose=0,
    )  # fmt: skip
    assert result.metric == "val_loss"
    assert result.best.number == 2
    assert [trial.attempts for trial in result.trials] == [1, 2, 1 if result.trials[2].ended else 2]
    assert result.trials[2].value is None, "a loss that is not finite is never the best"
    assert result.weights is not None
    (kernel,) = [v for n, v in load_file(result.weights).items() if "kernel" in n]
    assert kernel.item() == pytest.approx(3, abs=0.3)
    names = {file.name for file in (tmp_path / "sweep").iterdir()}
    assert names == {FILE, "best.safetensors", *(f"trial-{n}.log" for n in (1, 2, 3))}


def loop(rate: float) -> float:
    x = np.ones((8, 1), np.float32)
    layer = pg.Sequential([pg.Input((1,)), nn.Dense(1)])
    optimizer = pg.optim.SGD(rate)

    @pg.function(layer)
    def step(inputs: Any) -> Any:
        loss = pg.reduce_mean(pg.square(layer(inputs) - 2.0))
        optimizer.minimize(loss)
        return loss

    return [float(step(x)) for _ in range(5)][-1]


def test_a_loop_of_its_own_is_swept_and_fewer_trials_lose_nothing(tmp_path: Path) -> None:
    result = pg.sweep(loop, grid={"rate": [1e-9, 0.1]}, folder=tmp_path, verbose=0)
    assert [trial.state for trial in result.trials] == ["done", "done"], result.trials[0].error
    assert result.best.number == 2
    weights = (tmp_path / "best.safetensors").read_bytes()
    again = pg.sweep(loop, grid={"rate": [1e-9, 0.1]}, trials=1, folder=tmp_path, verbose=0)
    assert again.trials == result.trials
    assert (tmp_path / "best.safetensors").read_bytes() == weights


def leave_behind(path: str) -> float:
    os.chdir("/")
    child = os.fork()
    if child == 0:
        time.sleep(600)
    Path(path).write_text(str(child))
    os._exit(3)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_program_that_leaves_processes_behind_ends_with_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = str(tmp_path / "pid")
    result = pg.sweep(leave_behind, grid={"path": [path]}, folder="here", verbose=0)
    assert "exited with status 3" in result.trials[0].error
    stat = Path("/proc", Path(path).read_text(), "stat")
    assert not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z"
    assert (tmp_path / "here" / FILE).is_file()


def fail(x: int) -> float:
    print("almost there")
    raise ValueError("the disk is upside down")


def test_a_trial_that_fails_twice_is_named(tmp_path: Path) -> None:
    result = pg.sweep(fail, grid={"x": [1]}, folder=tmp_path, verbose=0)
    (trial,) = result.trials
    assert (trial.state, trial.attempts) == ("failed", 2)
    assert trial.error == "ValueError: the disk is upside down"
    assert "almost there" in (tmp_path / "trial-1.log").read_text()
    with pytest.raises(pg.GraphError, match=r"trial 1 .* failed: ValueError: the disk is upside"):
        _ = result.best
    assert json.loads((tmp_path / FILE).read_text())["trials"][0]["state"] == "failed"


def slow_or_bad(rate: float) -> Any:
    x = np.linspace(-1, 1, 32, dtype=np.float32)[:, None]
    model = pg.Sequential([nn.Dense(1)])
    model.compile(pg.optim.SGD(rate), loss="mse")
    time.sleep(0 if rate > 0.1 else 1)  # the bad ones come later
    return model.fit(x, 3 * x, batch_size=8, epochs=9, verbose=0)


def test_halving_ends_bad_trials_early(tmp_path: Path) -> None:
    result = pg.sweep(
        slow_or_bad, grid={"rate": [0.4, 1e-6, 1e-7]}, halving=pg.Halving(9), parallel=1,
        folder=tmp_path, verbose=0,
    )  # fmt: skip
    assert [trial.state for trial in result.trials] == ["done", "cut", "cut"]
    steps = [len(trial.steps) for trial in result.trials]
    assert steps[0] == 36 and max(steps[1:]) < 12, "an epoch has four steps"
    assert result.ranked[0].number == 1


def several(x: int) -> dict[str, float]:
    return {"a": x, "b": -x}


def test_several_results_need_a_name_and_a_direction(tmp_path: Path) -> None:
    with pytest.raises(pg.GraphError, match=r"none is called value or loss.*Choose one of a, b"):
        pg.sweep(several, grid={"x": [1]}, folder=tmp_path / "1", verbose=0)
    with pytest.raises(pg.GraphError, match=r"nothing says whether .* 'b' are better"):
        pg.sweep(several, grid={"x": [1]}, metric="b", folder=tmp_path / "2", verbose=0)
    result = pg.sweep(several, grid={"x": [1, 3]}, metric="a", mode="max", verbose=0)
    assert result.best.settings == {"x": 3}
    assert result.folder.is_dir()
    folder = result.folder
    del result
    assert not folder.exists(), "a temporary folder goes with the result"


def test_what_cannot_be_sent_or_compared_is_refused(tmp_path: Path) -> None:
    lock = open(tmp_path / "file", "w")  # noqa: SIM115 - cannot be pickled
    with lock, pytest.raises(pg.GraphError, match="cannot be sent to another process"):
        pg.sweep(lambda x: lock.write(x), grid={"x": [1]})
    with pytest.raises(pg.DataError, match="parallel is from 1 to 256, got 0"):
        pg.sweep(bowl, grid={"x": [1]}, parallel=0)
    with pytest.raises(pg.DataError, match="mode must be"):
        pg.sweep(bowl, grid={"x": [1]}, mode="best")


@pytest.mark.parametrize("content", ["", "{", "[]", '{"format": "x", "version": 1}', "null"])
def test_a_damaged_record_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / FILE).write_text(content)
    with pytest.raises(pg.CheckpointError, match=r"sweep\.json"):
        pg.sweep(bowl, grid={"x": [1]}, folder=tmp_path)
    assert (tmp_path / FILE).read_text() == content
