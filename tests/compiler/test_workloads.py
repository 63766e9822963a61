"""Dispatches and memory of the benchmark's training steps, on software and hardware adapters."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.peers.playgrad_program import PlaygradTrainer
from bench.workload_files import write
from playgrad.devices import registry
from playgrad.devices.null import NullHost


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("workloads")
    write(folder)
    return folder


@pytest.fixture
def trainer(request: pytest.FixtureRequest, data: Path) -> Iterator[PlaygradTrainer]:
    """The training step of a workload, compiled for an adapter of one kind."""
    workload, is_software = request.param
    with registry.attached(NullHost(is_software=is_software)) as device:
        trainer = PlaygradTrainer(lambda name: (data / name).read_bytes(), workload, device)
        yield trainer
        trainer.session.close()


SOFTWARE = {"w0": 4, "w1": 5, "w1b": 15, "w2": 21, "w3": 18, "w4": 68, "w5": 320}
GPU = {"w0": 4, "w1": 7, "w1b": 10, "w2": 18, "w3": 16, "w4": 52, "w5": 35}
MOST = [((name, True), count) for name, count in SOFTWARE.items()]
MOST += [((name, False), count) for name, count in GPU.items()]


@pytest.mark.parametrize(("trainer", "most"), MOST, indirect=["trainer"])
def test_a_step_is_few_dispatches(trainer: PlaygradTrainer, most: int) -> None:
    assert trainer.dispatches <= most


# W2 has scratch of its convolutions' gradients beside its small images.
RATIO = {"w1": 1.1, "w1b": 1.1, "w2": 1.35, "w3": 1.2}
MEMORY = [((name, soft), most) for name, most in RATIO.items() for soft in (True, False)]


@pytest.mark.parametrize(("trainer", "most"), MEMORY, indirect=["trainer"])
def test_training_takes_little_more_than_the_least_memory(
    trainer: PlaygradTrainer, most: float
) -> None:
    assert 1 <= trainer.device_bytes / trainer.least_bytes <= most
