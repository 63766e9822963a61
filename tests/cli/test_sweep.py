"""`playgrad sweep`: settings of a program, tried at the same time."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.cli.processes import environment
from tests.cli.running import result_of, run


@pytest.fixture
def swept(tmp_path: Path, program: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    text = program.read_text().replace("Dense(4", "Dense(units").replace("0.05)", "rate)")
    program.write_text(f"units = 4\nrate = 0.05\n{text}")
    return program


def test_a_sweep_reports_the_best_and_is_continued(
    capsys: pytest.CaptureFixture[str], swept: Path
) -> None:
    arguments = ("sweep", swept, "--random", "units=2..9", "rate=0.05,1e-9", "--trials", 3)
    code, out, err = run(capsys, *arguments, "--parallel", 3)
    assert code == 0, err
    assert out.splitlines()[0].split() == ["settings", "val_loss", "state", "seconds"]
    assert "weights of the best: sweep-small/best.safetensors" in out
    assert err.count("playgrad: trial ") == 3
    assert "the program is done" in Path("sweep-small/trial-1.log").read_text()
    logs = {log: log.stat().st_mtime_ns for log in Path("sweep-small").glob("*.log")}
    result = result_of(run(capsys, *arguments, "--json"))
    assert {log: log.stat().st_mtime_ns for log in logs} == logs, "nothing is trained again"
    values = [trial["metrics"]["val_loss"] for trial in result["trials"]]
    assert result["best"]["value"] == min(values)
    assert all(2 <= trial["settings"]["units"] <= 9 for trial in result["trials"])
    with zipfile.ZipFile("sweep-small/sweep.playgrad") as project:
        runs = json.loads(project.read("parts/runs.json"))
        best = project.read("code/file-small.py").decode()
    assert [each["testLoss"] for each in runs] == values
    assert all(each["steps"] == list(range(1, 13)) and len(each["losses"]) == 12 for each in runs)
    assert f"units = {result['best']['settings']['units']}\n" in best
    code, _, err = run(capsys, "predict", "sweep-small/best.safetensors", "missing.npy")
    assert "missing.npy" in err, "the weights can be opened"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "nothing to try: add --grid NAME=VALUE,VALUE"),
        (["--random", "units=1..4"], "--random needs --trials N"),
        (["--grid", "units=1,2", "--trial-gpus", 1], "--trial-gpus has no effect without --ray"),
        (["--grid", "units=1,2", "--ray", "head"], "'head' is not the address of a Ray cluster"),
        (["--grid", "units=1,2", "--ray", "auto", "--trial-cpus", "1.5"], "above 1 is a whole"),
        (["--random", "units=4..1", "--trials", 2], "a range goes from a number to a larger one"),
        (["--random", "units=a..b", "--trials", 2], "is not NAME=NUMBER..NUMBER"),
        (["--grid", "units"], "'units' is not NAME=VALUE,VALUE"),
        (["--grid", "units=1", "--halving"], "--halving needs --epochs N"),
        (["--grid", "units=1", "--first-epochs", 2], "no effect without --halving"),
        (["--grid", "units=1", "units=2"], "a setting is given twice"),
        (["--grid", "width=1"], "small has no setting 'width'.*Its settings are: .*rate, units"),
        (["--grid", "units=1", "--metric", "auc"], "no metric 'auc'.*Choose one of loss"),
        (
            ["--grid", "units=-3"],
            "no trial of the sweep has a finite value.*units of a Dense layer must be",
        ),
    ],
)
def test_wrong_usage_is_explained(
    capsys: pytest.CaptureFixture[str], swept: Path, arguments: list[object], words: str
) -> None:
    code, out, err = run(capsys, "sweep", swept, *arguments)
    assert code in (1, 2) and not out
    assert re.search(words, err, re.DOTALL), err


SLOW = """
import time
import playgrad as pg
wait = 0
time.sleep(wait)
model = pg.Sequential([pg.nn.Dense(1)])
model.compile("sgd", "mse")
model.fit([[1.0]], [[1.0]], verbose=0)
"""


def test_a_sweep_that_is_stopped_ends_its_trials_and_keeps_those_that_ended(
    tmp_path: Path,
) -> None:
    program = tmp_path / "slow.py"
    program.write_text(SLOW)
    command = [sys.executable, "-m", "playgrad", "sweep", str(program), "--grid", "wait=0,987654"]
    process = subprocess.Popen(
        command, cwd=tmp_path, env=environment(), stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    assert "trial 1" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=300)
    assert (process.returncode, err) == (130, "playgrad: stopped\n")
    record = json.loads((tmp_path / "sweep-slow" / "sweep.json").read_text())
    first, *others = [trial["state"] for trial in record["trials"]]
    assert first == "done" and "done" not in others
    left = subprocess.run(["pgrep", "-f", str(tmp_path)], capture_output=True, text=True)
    assert left.stdout == "", "the trials have ended"
