"""Checkpoints between the page and Python: when they are sent, and what comes back from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from playgrad.io import decode, encode
from playgrad.training.checkpoints.record import Checkpoint
from tests.page.python_side import PythonSide, python_side

PROGRAM = """
import numpy as np
import playgrad as pg
from playgrad import nn

x = np.random.default_rng(0).normal(size=(64, 784)).astype(np.float32)
y = (x[:, 0] > 0).astype(np.int32)
model = pg.Sequential([nn.Dense(8, activation="relu"), nn.Dropout(0.2), nn.Dense(2)])
model.compile("adam", nn.SparseCategoricalCrossentropy(from_logits=True))
history = model.fit(x, y, batch_size=16, epochs=EPOCHS, verbose=0)
print(history.losses.tobytes().hex())
"""
SHORT, LONG = PROGRAM.replace("EPOCHS", "2"), PROGRAM.replace("EPOCHS", "100")
PIXELS = [0.25] * 784


@pytest.fixture
def side() -> Iterator[PythonSide]:
    with python_side() as side:
        yield side


@pytest.fixture(scope="module")
def trained() -> tuple[bytes, bytes, list[float]]:
    """The checkpoint of a run, the weights that it exported, and a prediction."""
    with python_side() as side:
        assert side.run(SHORT) == "done"
        exported = side.ask("export", format="safetensors")["answer"]["bytes"]
        return (
            side.checkpoint,
            exported,
            side.ask("predict", pixels=PIXELS)["answer"]["probabilities"],
        )


def test_a_short_run_sends_checkpoints_of_its_beginning_and_its_end(side: PythonSide) -> None:
    side.run(SHORT)
    first, *_, event = side.of("checkpoint")
    assert (first["step"], first["finished"]) == (0, False)
    info = {key: value for key, value in event.items() if key not in ("kind", "bytes")}
    parameters = 784 * 8 + 8 + 8 * 2 + 2
    assert info == {
        "step": 8,
        "total_steps": 8,
        "epoch": 2,
        "epochs": 2,
        "parameters": parameters,
        "finished": True,
    }
    kinds = [each["kind"] for each in side.events]
    assert kinds.index("checkpoint") < len(kinds) - 1  # the run's end is reported after it


@pytest.mark.survival("Models without their programs")
def test_a_new_interpreter_answers_from_a_checkpoint(
    side: PythonSide, trained: tuple[bytes, bytes, list[float]]
) -> None:
    checkpoint, exported, probabilities = trained
    restored = side.ask("restore", payload=checkpoint)
    assert restored["ok"]
    assert restored["answer"]["names"] == sorted(decode(exported))
    assert side.ask("export", format="safetensors")["answer"]["bytes"] == exported
    predicted = side.ask("predict", pixels=PIXELS)["answer"]["probabilities"]
    assert predicted == pytest.approx(probabilities, rel=1e-5)
    for kind in ("graph", "placement"):
        error = side.ask(kind)["error"]
        assert "restored without its program" in error["message"]


@pytest.mark.survival("Models without their programs")
@pytest.mark.parametrize("program", ["def f(", "undefined_name", "1 / 0", "print('hello')", ""])
def test_a_run_without_training_keeps_the_restored_model(
    side: PythonSide, trained: tuple[bytes, bytes, list[float]], program: str
) -> None:
    side.ask("restore", payload=trained[0])
    side.run(program)
    assert side.ask("export", format="safetensors")["answer"]["bytes"] == trained[1]
    assert not side.of("checkpoint")


def test_a_run_that_trains_replaces_the_restored_model(
    side: PythonSide, trained: tuple[bytes, bytes, list[float]]
) -> None:
    side.ask("restore", payload=trained[0])
    side.run(SHORT.replace("Dense(8", "Dense(5"))
    assert decode(side.ask("export")["answer"]["bytes"])["dense_1/kernel"].shape == (784, 5)


def test_a_reset_forgets_the_restored_model(
    side: PythonSide, trained: tuple[bytes, bytes, list[float]]
) -> None:
    side.ask("restore", payload=trained[0])
    side.requests.append({"kind": "reset"})
    assert "no trained model yet" in side.ask("export")["error"]["message"]


def test_imports_are_in_the_next_checkpoint(
    side: PythonSide, trained: tuple[bytes, bytes, list[float]]
) -> None:
    weights = {name: array + np.float32(1) for name, array in decode(trained[1]).items()}
    content = encode(weights, "safetensors")
    # Into a restored model, then into one that is trained.
    side.ask("restore", payload=trained[0])
    for _ in range(2):
        before = len(side.of("checkpoint"))
        assert side.ask("import", name="a.safetensors", payload=content)["ok"]
        assert len(side.of("checkpoint")) == before + 1
        state = Checkpoint.decode(side.checkpoint).state
        assert np.array_equal(state["dense_1/kernel"], weights["dense_1/kernel"])
        side.events.clear()
        side.run(SHORT)


def test_an_import_while_training_is_in_a_checkpoint(side: PythonSide) -> None:
    side.run(SHORT)
    exported = side.ask("export", format="npz")["answer"]["bytes"]
    side.events.clear()
    request = {"kind": "import", "name": "weights.npz", "payload": exported, "id": 99}
    side.run(LONG, request)
    kinds = [event["kind"] for event in side.events]
    assert kinds.index("checkpoint") < kinds.index("reply") < kinds.index("fit_end")
    assert side.of("checkpoint")[0]["finished"] is False


@pytest.mark.survival("Resumed trainings")
def test_a_stopped_run_is_resumed_by_a_new_interpreter(
    record_property: Callable[[str, object], None],
) -> None:
    with python_side() as side:
        side.run(LONG)
        undisturbed = side.output
        points = [point for event in side.of("progress") for point in event["points"]]
    for limit in (3, 20, 100):
        with python_side() as side:
            side.stop_at = limit
            assert side.run(LONG) == "stopped"
            checkpoint = side.checkpoint
            done = side.of("checkpoint")[-1]["step"]
        with python_side() as side:
            assert side.run(LONG, payload=checkpoint, resume=True) == "done"
            begin = side.of("fit_begin")[0]
            assert begin["done"] == done
            assert begin["points"] == points[:done], "a page may have missed the last ones"
            assert side.output == undisturbed
    record_property("tried", 3)


def test_a_checkpoint_that_cannot_be_resumed_is_kept(
    side: PythonSide, trained: tuple[bytes, bytes, list[float]]
) -> None:
    changed = SHORT.replace("Dense(8", "Dense(5")
    assert side.run(changed, payload=trained[0], resume=True) == "error"
    (error,) = side.of("error")
    assert error["type"] == "CheckpointError"
    assert "(784, 5), but (784, 8) in the checkpoint" in error["message"]
    assert error["line"] == 10
    assert side.ask("export", format="safetensors")["answer"]["bytes"] == trained[1]
    assert not side.of("checkpoint")


@pytest.mark.parametrize("payload", [None, b"", b"not a checkpoint, but bytes"])
def test_resuming_without_a_checkpoint_raises_an_error(
    side: PythonSide, payload: bytes | None
) -> None:
    assert side.run(SHORT, payload=payload, resume=True) == "error"
    (error,) = side.of("error")
    assert error["type"] == "CheckpointError"
    assert side.ask("restore", payload=payload)["error"]["type"] == "CheckpointError"


def test_a_resumed_run_without_fit_warns(
    side: PythonSide, trained: tuple[bytes, bytes, list[float]]
) -> None:
    assert side.run("print('hello')", payload=trained[0], resume=True) == "done"
    assert "calls no fit" in "".join(event["text"] for event in side.of("stderr"))


def test_a_closed_model_stays_in_the_last_checkpoint(side: PythonSide) -> None:
    side.run(SHORT + "\nmodel.close()\n")
    checkpoint = Checkpoint.decode(side.checkpoint)
    assert checkpoint.info()["finished"]


def test_checkpoints_of_a_failed_training_have_the_last_healthy_state(side: PythonSide) -> None:
    program = SHORT.replace('"adam"', "pg.optim.SGD(1e30)").replace("epochs=2", "epochs=9")
    assert side.run(program) == "error"
    checkpoint = Checkpoint.decode(side.checkpoint)
    assert checkpoint.fits[-1].outcome == "failed"
    assert checkpoint.fits[-1].step < 36
    assert all(np.isfinite(array).all() for array in checkpoint.state.values())
