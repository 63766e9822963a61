"""Looking back at a run along its checkpoints, and branching off from them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from playgrad.io import decode
from playgrad.training.checkpoints import schedule as checkpoint_schedule
from playgrad.training.checkpoints.record import Checkpoint
from tests.page.python_side import Message, PythonSide, python_side

PROGRAM = """
import numpy as np
import playgrad as pg
from playgrad import nn

random = np.random.default_rng(0)
x = random.normal(size=(64, 2)).astype(np.float32)
y = (x[:, 0] > 0).astype(np.int32)
layers = [nn.Dense(8, activation="tanh"), nn.BatchNormalization(), nn.Dropout(0.2), nn.Dense(2)]
model = pg.Sequential(layers)
model.compile(pg.optim.Adam(0.01), nn.SparseCategoricalCrossentropy(from_logits=True))
history = model.fit(x, y, batch_size=16, epochs=10, verbose=0)
print(history.losses.tobytes().hex())
"""


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a checkpoint made before each chunk of steps."""
    monkeypatch.setattr(checkpoint_schedule, "SHORTEST_SECONDS", 0.0)
    monkeypatch.setattr(checkpoint_schedule, "PART_OF_AGE", 0.0)
    monkeypatch.setattr(checkpoint_schedule, "LARGEST_SHARE", 1e9)


@pytest.fixture
def side() -> Iterator[PythonSide]:
    with python_side() as side:
        yield side


@pytest.fixture(scope="module")
def trained() -> tuple[list[Message], str]:
    """The checkpoints of an undisturbed run, and its output."""
    with pytest.MonkeyPatch.context() as patch, python_side() as side:
        patch.setattr(checkpoint_schedule, "PART_OF_AGE", 0.0)
        patch.setattr(checkpoint_schedule, "SHORTEST_SECONDS", 0.0)
        patch.setattr(checkpoint_schedule, "LARGEST_SHARE", 1e9)
        assert side.run(PROGRAM) == "done"
        return side.of("checkpoint"), side.output


def steps(side: PythonSide) -> list[int]:
    return [event["step"] for event in side.of("checkpoint")]


def losses(output: str) -> np.ndarray[Any, Any]:
    return np.frombuffer(bytes.fromhex(output.splitlines()[-1]), np.float32)


def answers(side: PythonSide, payload: bytes | None = None) -> tuple[bytes, bytes]:
    """The weights and the outputs over the plane, at a checkpoint or now."""
    view = side.ask("task_view", known=0, payload=payload)["answer"]
    assert view["shows"] == "plane"
    exported = side.ask("export", format="safetensors", payload=payload)["answer"]["bytes"]
    return bytes(exported), view["outputs"]


def test_an_earlier_model_answers_from_its_checkpoint(side: PythonSide) -> None:
    """After each answer it is as it is now, to the bit."""
    assert side.run(PROGRAM) == "done"
    assert steps(side)[0] == 0
    assert steps(side)[-1] == 40
    now = answers(side)
    sent = [bytes(event["bytes"]) for event in side.of("checkpoint")]
    seen = [answers(side, content) for content in sent]
    assert answers(side) == now
    assert seen[-1] == now
    assert len({outputs for _, outputs in seen}) == len(set(steps(side)))
    for content, (exported, _) in zip(sent, seen, strict=True):
        checkpoint = Checkpoint.decode(content)
        for name, array in decode(exported).items():
            (variable,) = checkpoint.model.weights[name].variables
            assert np.array_equal(array, checkpoint.state[variable])


def inspected(side: PythonSide, payload: bytes | None = None) -> list[Message]:
    """The views of Inspect, at a checkpoint or now, without the time that they took."""
    layers = {"layer": None, "sample": 3, "pixels": None, "edits": []}
    layers["scaled"] = [{"layer": "dense_1", "unit": 2, "factor": 0}]
    views = [
        side.ask("inspect_layers", payload=payload, **layers)["answer"],
        side.ask("samples", known=0, payload=payload)["answer"],
        side.ask("projection", known=0, layer="", dimensions=2, payload=payload)["answer"],
    ]
    return [{key: each[key] for key in each if key != "seconds"} for each in views]


def test_inspect_shows_an_earlier_model_from_its_checkpoint(side: PythonSide) -> None:
    """It shows what it shows of a model that has the weights of the checkpoint."""
    assert side.run(PROGRAM) == "done"
    past = bytes(side.of("checkpoint")[1]["bytes"])
    now, then = inspected(side), inspected(side, past)
    assert now == inspected(side)
    assert all(before != after for before, after in zip(then, now, strict=True))
    weights = side.ask("export", format="npz", payload=past)["answer"]["bytes"]
    side.ask("import", name="then.npz", payload=bytes(weights))
    assert inspected(side) == then


def test_looking_back_does_not_disturb_the_training(
    side: PythonSide, trained: tuple[list[Message], str]
) -> None:
    checkpoints, undisturbed = trained
    past = bytes(checkpoints[1]["bytes"])
    asked = [
        {"kind": "task_view", "known": 0, "payload": past, "id": 101},
        {"kind": "export", "format": "npz", "payload": past, "id": 102},
    ]
    requests = [{"kind": "step", "unit": "batch"}, *asked, {"kind": "resume"}, *asked]
    assert side.run(PROGRAM, *requests, paused=True) == "done"
    assert [reply["ok"] for reply in side.of("reply")] == [True] * 4
    assert side.output == undisturbed


@pytest.mark.parametrize("at", [0, 1, -2])
def test_a_branch_without_a_change_reproduces_the_curve(
    side: PythonSide, trained: tuple[list[Message], str], at: int
) -> None:
    checkpoints, undisturbed = trained
    content = bytes(checkpoints[at]["bytes"])
    assert side.run(PROGRAM, payload=content, resume=True) == "done"
    assert side.of("fit_begin")[0]["done"] == checkpoints[at]["step"] < 40
    assert side.output == undisturbed


def test_a_branch_takes_the_learning_rate_of_the_changed_program(
    side: PythonSide, trained: tuple[list[Message], str]
) -> None:
    checkpoints, undisturbed = trained
    event = next(event for event in checkpoints if event["step"] > 0)
    step, content = event["step"], bytes(event["bytes"])
    changed = PROGRAM.replace("Adam(0.01)", "Adam(0.0)")
    assert side.run(changed, payload=content, resume=True) == "done"
    before, after = losses(undisturbed), losses(side.output)
    assert np.array_equal(after[: step + 1], before[: step + 1])
    assert not np.array_equal(after[step + 1 :], before[step + 1 :])
    first = Checkpoint.decode(content)
    (variable,) = first.model.weights["dense_1/kernel"].variables
    last = decode(side.ask("export")["answer"]["bytes"])["dense_1/kernel"]
    assert np.array_equal(last, first.state[variable]), "with a rate of 0 nothing is learned"


def test_a_rate_that_was_set_by_hand_is_kept_by_a_branch(side: PythonSide) -> None:
    faster: list[Message] = [
        {"kind": "step", "unit": "epoch"},
        {"kind": "set_learning_rate", "value": 0.5},
        {"kind": "step", "unit": "epoch"},
        {"kind": "resume"},
    ]
    side.run(PROGRAM, *faster, paused=True)
    expected = side.output
    event = next(event for event in side.of("checkpoint") if event["step"] > 4)
    assert event["step"] < 40
    side.events.clear()
    side.run(PROGRAM, payload=bytes(event["bytes"]), resume=True)
    state = Checkpoint.decode(side.checkpoint).state
    (rate,) = [value for name, value in state.items() if name.endswith("learning_rate")]
    assert rate == np.float32(0.5)
    assert side.output == expected


def test_a_checkpoint_answers_for_a_replaced_model(side: PythonSide) -> None:
    side.run(PROGRAM)
    content, now = side.checkpoint, answers(side)
    side.run(PROGRAM.replace("Dense(8", "Dense(5"))
    exported = side.ask("export", format="safetensors", payload=content)["answer"]["bytes"]
    assert bytes(exported) == now[0]
    view = side.ask("task_view", known=0, payload=content)["answer"]
    assert view["shows"] == "unknown"


def test_a_damaged_checkpoint_changes_nothing(side: PythonSide) -> None:
    side.run(PROGRAM)
    now = answers(side)
    reply = side.ask("predict", pixels=[0, 0], payload=side.checkpoint[:-1])
    assert reply["error"]["type"] == "CheckpointError"
    assert answers(side) == now


def test_the_lab_makes_no_more_checkpoints_than_before(side: PythonSide) -> None:
    side.run(PROGRAM, lab={"strategy": "single", "steps": 8})
    assert 0 not in steps(side)
    assert steps(side)
