"""A new strategy needs only its own file and a line in the registry."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.cli.main import main
from playgrad.page.lab import Lab, choices, titled
from playgrad.runtime.options import Options, options_set
from playgrad.training.strategies.base import StrategyOption
from playgrad.training.strategies.overlap import Overlap
from playgrad.training.strategies.registry import STRATEGIES

PROGRAM = """
import numpy as np
import playgrad as pg

x = np.random.default_rng(0).normal(size=(64, 4)).astype(np.float32)
model = pg.Sequential([pg.nn.Dense(3, activation="tanh"), pg.nn.Dense(1)])
model.compile(pg.optim.SGD(0.05), "mse", device="cpu")
model.fit(x, x[:, :1], batch_size=8, verbose=0)
"""


@dataclass(frozen=True)
class InBursts(Overlap):
    """Overlapped steps with an additional option."""

    descriptor = replace(
        Overlap.descriptor,
        name="bursts",
        title="Steps in bursts",
        about="As many steps overlap as a burst has; then the next burst begins.",
        options=(StrategyOption("burst", "steps of a burst", "Burst", "Steps in a burst."),),
    )

    @classmethod
    def from_options(cls, devices: int, burst: int = 2, **options: Any) -> Self:
        return cls(burst, **options)

    def settings(self) -> list[str]:
        return [f"{self.steps} in a burst"]


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(STRATEGIES, "bursts", InBursts)


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return path


def trained(program: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main(["train", str(program), "--steps", "8", "--seed", "0", "--json", *arguments]) == 0
    result: dict[str, Any] = json.loads(capsys.readouterr().out.splitlines()[-1])
    return result


@pytest.mark.usefixtures("registered")
def test_the_command_line_trains_with_a_new_strategy(
    program: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["train", "--help"])
    text = capsys.readouterr().out
    assert "bursts" in text and "--burst N" in text and "steps of a burst" in text
    plain = trained(program, capsys)
    bursts = trained(program, capsys, "--parallel", "bursts", "--burst", "4")
    assert bursts["strategy"] == "bursts"
    assert bursts["train_loss"] == pytest.approx(plain["train_loss"], rel=1e-6)


@pytest.mark.usefixtures("registered")
def test_the_option_of_a_new_strategy_is_refused_with_others(
    program: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["train", str(program), "--parallel", "overlap", "--burst", "4"])
    words = "--burst has no effect with --parallel overlap, only with bursts"
    assert words in capsys.readouterr().err


@pytest.mark.usefixtures("registered")
def test_the_lab_offers_a_new_strategy_and_trains_with_it() -> None:
    offered = choices()
    (entry,) = [entry for entry in offered["strategies"] if entry["name"] == "bursts"]
    assert entry["title"] == "Steps in bursts" and entry["uses"] == ["burst", "steps"]
    assert {"name": "burst", "title": "Burst", "about": "Steps in a burst."} in offered["details"]
    lab = Lab.of({"strategy": "bursts", "burst": 3, "steps": 7})
    assert lab.strategy == InBursts(3)
    assert titled(lab.strategy) == "Steps in bursts, 3 in a burst"
    x = np.random.default_rng(0).normal(size=(64, 4)).astype(np.float32)
    losses = []
    for strategy in (None, lab.strategy):
        model = pg.Sequential([nn.Dense(1, name="line")])
        model.compile(pg.optim.SGD(0.05), "mse", device="cpu")
        with options_set(Options(strategy=strategy, steps=lab.steps, seed=0)):
            losses.append(model.fit(x, x[:, :1], batch_size=8, verbose=0).losses)
        model.close()
    np.testing.assert_allclose(*losses, rtol=1e-6)
