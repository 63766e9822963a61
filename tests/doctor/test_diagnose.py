"""`pg.diagnose` on demand, and the words of its findings."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.doctor.examination import Examination
from playgrad.runtime.options import Options, options_set
from tests.cli.running import run
from tests.doctor.programs import ILL


def trained(rate: float) -> pg.Model:
    x, y = pg.data.moons(300, noise=0.1, seed=0)
    pg.reset_default_graph(0)
    model = pg.Sequential([nn.Dense(16, activation="relu"), nn.Dense(2)])
    loss = nn.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(pg.optim.Adam(rate), loss, device="cpu")
    model.fit(x, y, epochs=30, verbose=0, seed=1)
    return model


def test_diagnose_finds_a_low_rate_and_keeps_the_weights() -> None:
    model = trained(0.00001)
    before = model.get_weights()
    (finding,) = diagnosis = pg.diagnose(model)
    assert finding.code == "rate-low"
    assert "is too small" in str(diagnosis)
    assert finding.place.node == "adam"
    assert finding.edit is None  # the rate is an argument: no constant of this file
    x, y = pg.data.moons(300, noise=0.1, seed=0)
    assert [each.code for each in pg.diagnose(model, x, y)] == ["rate-low"]
    for one, other in zip(before, model.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)
    model.close()


def test_a_healthy_model_has_an_empty_diagnosis() -> None:
    model = trained(0.02)
    diagnosis = pg.diagnose(model)
    assert len(diagnosis) == 0
    assert str(diagnosis) == "Nothing is wrong that the doctor knows."
    model.close()


def test_an_untrained_model_cannot_be_diagnosed() -> None:
    model = pg.Sequential([pg.Input((2,)), nn.Dense(2)])
    with pytest.raises(pg.GraphError, match=r"has not been trained. Call model.fit\(x, y\) first"):
        pg.diagnose(model)


def test_the_command_line_prints_findings(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    program = tmp_path / "ill.py"
    program.write_text(ILL["rate-high"].text)
    code, _, err = run(capsys, "train", program, "--device", "cpu", "--doctor")
    assert code == 0
    assert "doctor: line 14, adam: The learning rate 1 is too large" in err
    assert "Try: learning rate 1 → 0.01." in err
    program.write_text(ILL["not-finite"].text)
    code, _, err = run(capsys, "train", program, "--device", "cpu", "--doctor")
    assert code == 1
    assert "doctor: line 11, lambda_1: The loss became NaN or infinite at step" in err
    code, _, err = run(capsys, "train", program, "--device", "cpu")
    assert "doctor" not in err


def test_the_command_line_reports_a_failed_diagnosis(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: Examination, evidence: object) -> None:
        raise ZeroDivisionError("float division by zero")

    monkeypatch.setattr(Examination, "findings", fail)
    program = tmp_path / "ill.py"
    program.write_text(ILL["rate-high"].text)
    code, _, err = run(capsys, "train", program, "--device", "cpu", "--doctor")
    assert code == 0
    words = "could not check everything (ZeroDivisionError: float division by zero)."
    assert err.count(f"doctor: The doctor {words}") == 1
    assert "nothing is wrong" not in err


def test_the_guide_shows_the_printed_diagnosis(capsys: pytest.CaptureFixture[str]) -> None:
    guide = Path(__file__).parents[2] / "docs" / "doctor.md"
    (block,) = re.findall(r"```python\n(.*?)```", guide.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, pg.Model] = {}
    with options_set(Options(device="cpu")):
        exec(block, names)
    assert "The learning rate 1e−05 is too small" in capsys.readouterr().out
    names["model"].close()
