"""Every strategy on several processes gives the numbers of one process, to the last bit."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cluster.conftest import PATIENCE, Launcher

PROGRAM = Path(__file__).with_name("every_strategy.py").read_text()
SETTINGS = "DEVICES, EPOCHS, CHOSEN = 4, 6, ()"


@pytest.fixture(params=["compiled", "NumPy"])
def processor(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """What computes on the processor: here, and in the processes that are started."""
    if request.param == "compiled":
        monkeypatch.delenv("PLAYGRAD_SIMD")
    return str(request.param)


@pytest.fixture
def is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PLAYGRAD_SIMD")


def compare(
    launcher: Launcher,
    devices: int,
    epochs: int,
    chosen: tuple[str, ...],
    python: str = sys.executable,
) -> None:
    """Compare trainings on ``devices`` processes with the same ones in one process.

    Args:
        python: starts the processes.
    """
    assert PROGRAM.count(SETTINGS) == 1
    settings = f"DEVICES, EPOCHS, CHOSEN = {devices}, {epochs}, {chosen}"
    program = launcher.program(PROGRAM.replace(SETTINGS, settings))
    run = launcher.start(program, f"localhost:{devices}", python=python)
    command = [sys.executable, str(program)]
    alone = subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE)
    assert run.wait() == 0, run.err
    results = json.loads(run.out.splitlines()[0])
    assert len(results) == (len(chosen) or 17)
    assert results == json.loads(alone.stdout)


@pytest.mark.parametrize(
    ("devices", "chosen"),
    [
        (2, ("sync ring", "sync tree", "sync in buckets", "local")),
        (2, ("pipeline 1f1b", "pipeline gpipe", "pipeline interleaved", "pipeline pipedream")),
        (2, ("pipeline bidirectional", "pipeline zero_bubble", "pipeline dualpipe")),
        (4, ("data and model",)),
        (4, ("replicated pipelines",)),
    ],
)
@pytest.mark.usefixtures("is_compiled")
def test_several_processes_give_the_bits_of_one(
    launcher: Launcher, devices: int, chosen: tuple[str, ...]
) -> None:
    compare(launcher, devices, 2, chosen)


@pytest.mark.slow
@pytest.mark.usefixtures("processor")
def test_every_strategy_gives_the_same_bits_on_four_processes(launcher: Launcher) -> None:
    compare(launcher, 4, 6, ())


@pytest.mark.slow
@pytest.mark.usefixtures("processor")
def test_data_model_and_pipeline_parallelism_work_together_on_eight(launcher: Launcher) -> None:
    compare(launcher, 8, 6, ("data, model and pipeline",))
