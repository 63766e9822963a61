"""Training that is resumed from a checkpoint continues as if nothing had happened."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.errors import CheckpointError, NonFiniteError
from playgrad.runtime.options import get_options, options_set
from playgrad.training.checkpoints import run_record
from playgrad.training.checkpoints.record import Checkpoint
from playgrad.training.training_loop import TrainingLoop
from tests.nn.resumed_runs import Outcome, Program, Trained, expect_same, often, run
from tests.sweeps import budget, dice

Array = np.ndarray[Any, Any]
X = np.random.default_rng(0).normal(size=(44, 6)).astype(np.float32)
LABELS = (X.sum(1) > 0).astype(np.int32)
WAYS = {
    "one device": None,
    "data parallel": pg.parallel.DataParallel(2),
    "local SGD": pg.parallel.LocalSGD(2, every=5),
    "pipeline": pg.parallel.Pipeline(2, micro_batches=2),
    "pipedream": pg.parallel.Pipeline(2, micro_batches=2, schedule="pipedream"),
    "overlap": pg.parallel.Overlap(3),
}


def classifier(optimizer: Any = None, **more: Any) -> pg.Sequential:
    """A network with everything that has a state: momentum, moving averages, random numbers."""
    model = pg.Sequential(
        [
            nn.Dense(8, activation="relu"),
            nn.BatchNormalization(),
            nn.Dropout(0.3),
            nn.Dense(2),
        ]
    )
    model.compile(
        optimizer or pg.optim.Adam(pg.optim.ExponentialDecay(0.05, 7, 0.8)),
        nn.SparseCategoricalCrossentropy(from_logits=True),
        ["accuracy"],
        **{"device": "cpu"} | more,
    )
    return model


def simple(epochs: int = 5, **more: Any) -> Trained:
    model = classifier(**more)
    return Trained([model], [model.fit(X, LABELS, batch_size=8, epochs=epochs, verbose=0)])


def with_callbacks() -> Trained:
    model = classifier(pg.optim.Adam(0.1))
    stopping = nn.EarlyStopping(patience=1, restore_best_weights=True)
    halving = nn.LearningRateScheduler(lambda epoch, rate: rate * 0.8)
    history = model.fit(
        X, LABELS, 8, 12, 0, [halving, stopping], validation_data=(X[:20], 1 - LABELS[:20])
    )
    assert stopping.stopped_epoch is not None
    return Trained([model], [history])


def several() -> Trained:
    """Two models in one graph, which share a layer, and one in a graph of its own."""
    inputs = pg.Input((6,))
    hidden = nn.Dense(8, activation="tanh")(inputs)
    one = pg.Model(inputs, nn.Dense(2)(nn.Dropout(0.2)(hidden)))
    two = pg.Model(inputs, nn.Dense(1)(hidden))
    one.compile("adam", nn.SparseCategoricalCrossentropy(from_logits=True), device="cpu")
    two.compile("sgd", "mse", device="cpu")
    other = classifier()
    histories = []
    for _ in range(2):
        histories.append(one.fit(X, LABELS, 16, 2, 0))
        histories.append(two.fit(X, X[:, :1], 16, 2, 0, shuffle=False))
        histories.append(other.fit(X, LABELS, 8, 1, 0, seed=3))
    return Trained([one, two, other], histories)


def recovering() -> Trained:
    """A program that catches an error of training and continues with a lower rate."""
    model = classifier(pg.optim.SGD(1e30))
    histories = []
    try:
        histories.append(model.fit(X, LABELS, 8, 3, 0))
    except NonFiniteError:
        model = classifier(pg.optim.SGD(0.1))
        histories.append(model.fit(X, LABELS, 8, 3, 0))
    return Trained([model], histories)


PROGRAMS: dict[str, Program] = {
    **{name: lambda way=way: simple(strategy=way) for name, way in WAYS.items()},  # type: ignore[misc]
    "callbacks": with_callbacks,
    "several models": several,
    "a caught error": recovering,
}


@pytest.mark.survival("Resumed trainings")
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_resumed_training_equals_an_undisturbed_one(
    name: str, monkeypatch: pytest.MonkeyPatch, record_property: Callable[[str, object], None]
) -> None:
    undisturbed = run(PROGRAMS[name])
    often(monkeypatch)
    recorded = run(PROGRAMS[name])
    expect_same(recorded, undisturbed)
    sent = recorded.checkpoints
    draw = dice("resume", name)
    chosen = draw.sample(range(len(sent)), min(budget(2, night=9), len(sent)))
    for each in chosen:
        expect_same(run(PROGRAMS[name], sent[each]), undisturbed)
    record_property("tried", len(chosen))


@pytest.mark.survival("Resumed trainings")
@pytest.mark.parametrize("name", ["one device", "local SGD", "callbacks", "several models"])
def test_a_stopped_training_resumes_where_it_stopped(
    name: str, record_property: Callable[[str, object], None]
) -> None:
    undisturbed = run(PROGRAMS[name])
    steps = dice("stop", name).sample((1, 5, 6, 9), budget(2, night=4))
    for step in steps:
        stopped = run(PROGRAMS[name], stop_at=step)
        assert not stopped.histories
        assert not Checkpoint.decode(stopped.checkpoints[-1]).info()["finished"]
        expect_same(run(PROGRAMS[name], stopped.checkpoints[-1]), undisturbed)
    record_property("tried", len(steps))


def test_a_run_that_was_resumed_can_be_resumed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    undisturbed = run(simple)
    checkpoint = None
    for step in (3, 8, 6, 9):
        checkpoint = run(simple, checkpoint, stop_at=step).checkpoints[-1]
    expect_same(run(simple, checkpoint), undisturbed)


def test_completed_fits_return_at_once_and_without_events() -> None:
    undisturbed = run(several)
    resumed = run(several, undisturbed.checkpoints[-1])
    expect_same(resumed, undisturbed)
    assert not resumed.events
    for one, other in zip(resumed.histories, undisturbed.histories, strict=True):
        assert one.seconds == pytest.approx(other.seconds, abs=0.1)


def test_events_continue_the_steps_epochs_and_seconds_of_the_run_before() -> None:
    first = run(simple, stop_at=8)
    info = Checkpoint.decode(first.checkpoints[-1]).info()
    assert info["epoch"] == info["step"] // 6 + 1
    assert (info["epochs"], info["total_steps"], info["parameters"]) == (5, 30, 106)
    second = run(simple, first.checkpoints[-1])
    begin = next(event for event in second.events if event["kind"] == "fit_begin")
    assert (begin["done"], begin["total_steps"], begin["epochs"]) == (info["step"], 30, 5)
    points = [p[0] for e in second.events if e["kind"] == "progress" for p in e["points"]]
    assert points == list(range(info["step"] + 1, 31))
    ends = [event for event in second.events if event["kind"] == "epoch_end"]
    assert [event["epoch"] for event in ends] == list(range(info["epoch"], 6))

    def seconds(played: Outcome) -> list[float]:
        """Since the fit began; an epoch's are its own."""
        events = [event for event in played.events if event["kind"] != "epoch_end"]
        return [event["seconds"] for event in events if "seconds" in event]

    assert min(seconds(second)) >= seconds(first)[-2]
    assert Checkpoint.decode(second.checkpoints[-1]).info()["finished"]


def test_a_stop_before_losses_are_read_shows_them_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Otherwise a page would end its curve before the step from which it offers to continue."""
    read = TrainingLoop._collect

    def interrupted(loop: TrainingLoop, steps: int) -> None:
        if loop.done >= 5:
            raise KeyboardInterrupt  # as Python raises it, at any moment
        read(loop, steps)

    undisturbed = run(simple)
    with monkeypatch.context() as patch:
        patch.setattr(TrainingLoop, "_collect", interrupted)
        stopped = run(simple)
    step = Checkpoint.decode(stopped.checkpoints[-1]).info()["step"]
    assert step > 5
    points = [p for e in stopped.events if e["kind"] == "progress" for p in e["points"]]
    assert [point[0] for point in points] == list(range(1, step + 1))
    losses = undisturbed.histories[0].losses[:step]
    np.testing.assert_array_equal([point[1] for point in points], losses)
    expect_same(run(simple, stopped.checkpoints[-1]), undisturbed)


def test_asynchronous_training_continues_at_its_step() -> None:
    way = pg.parallel.AsynchronousDataParallel(2)
    stopped = run(lambda: simple(strategy=way), stop_at=9)
    done = Checkpoint.decode(stopped.checkpoints[-1]).info()["step"]
    resumed = run(lambda: simple(strategy=way), stopped.checkpoints[-1])
    (history,) = resumed.histories
    assert len(history.losses) == 30
    assert sum(history.parallel["updates"].values()) == 30 - done


CHANGES: dict[str, tuple[Callable[[], Trained], str]] = {
    "more units": (
        lambda: _other([nn.Dense(9, activation="relu"), nn.Dense(2)]),
        r"'dense_1/kernel' has shape \(6, 9\), but \(6, 8\) in the checkpoint",
    ),
    "another layer": (
        lambda: _other([nn.Dense(8), nn.Dense(8), nn.Dense(2)]),
        "'dense_3/kernel' is new",
    ),
    "a layer less": (lambda: _other([nn.Dense(2)]), "it has no 'dense_2/kernel' any more"),
    "another optimizer": (
        lambda: _other([nn.Dense(8), nn.Dense(2)], pg.optim.SGD(0.1)),
        "it has no 'adam/iterations' any more",
    ),
    "fewer samples": (lambda: _other(count=40), "samples 44 before, 40 now"),
    "larger batches": (lambda: _other(batch=16), "batch_size 8 before, 16 now"),
}


def _other(layers: Any = (), optimizer: Any = "adam", count: int = 44, batch: int = 8) -> Trained:
    model = pg.Sequential(layers or [nn.Dense(8), nn.Dense(2)])
    model.compile(optimizer, nn.SparseCategoricalCrossentropy(from_logits=True), device="cpu")
    return Trained([model], [model.fit(X[:count], LABELS[:count], batch, 5, 0)])


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_program_is_refused_with_the_difference(name: str) -> None:
    stopped = run(_other, stop_at=8)
    program, message = CHANGES[name]
    with pytest.raises(CheckpointError, match=message) as caught:
        run(program, stopped.checkpoints[-1])
    assert "train from the start" in str(caught.value)


def test_changes_outside_the_network_are_allowed() -> None:
    stopped = run(_other, stop_at=8)
    resumed = run(lambda: _other([nn.Dense(8, "tanh"), nn.Dense(2)]), stopped.checkpoints[-1])
    assert len(resumed.histories[0].losses) == 30


@pytest.mark.parametrize("callbacks", [None, [nn.LambdaCallback()]])  # chunks span epochs or not
def test_a_completed_training_resumes_with_more_epochs(callbacks: Any) -> None:
    def program(epochs: int) -> Trained:
        model = classifier()
        return Trained([model], [model.fit(X, LABELS, 8, epochs, 0, callbacks)])

    undisturbed = run(lambda: program(5))
    completed = run(lambda: program(2)).checkpoints[-1]
    expect_same(run(lambda: program(5), completed), undisturbed)
    with pytest.raises(CheckpointError, match=r"2 epochs \(12 steps\) .* than the 1 epoch \(6 st"):
        run(lambda: program(1), completed)


@pytest.mark.parametrize("way", ["arrays", "callbacks", "data set"])
def test_an_epoch_that_was_cut_short_is_completed(way: str) -> None:
    def program(**length: int) -> Trained:
        model = classifier()
        data = (X, LABELS)
        if way == "data set":  # whose length is not known
            data = (pg.data.Dataset.from_tensor_slices(data).filter(lambda *_: True).batch(8),)  # type: ignore[assignment]
        callbacks = [nn.LambdaCallback()] if way == "callbacks" else None
        size = {} if way == "data set" else {"batch_size": 8}
        with options_set(replace(get_options(), **length)):
            history = model.fit(*data, **size, epochs=3, verbose=0, callbacks=callbacks)  # type: ignore[arg-type]
        return Trained([model], [history])

    undisturbed = run(lambda: program(epochs=3))
    for steps in (6, 9, 12, 17):
        completed = run(lambda steps=steps: program(steps=steps)).checkpoints[-1]  # type: ignore[misc]
        assert Checkpoint.decode(completed).info()["finished"]
        expect_same(run(lambda: program(epochs=3), completed), undisturbed)


def test_a_training_that_others_followed_keeps_its_length() -> None:
    def program(first: int, second: int) -> Trained:
        model = classifier()
        return Trained([model], [model.fit(X, LABELS, 8, n, 0) for n in (first, second)])

    recorded = run(lambda: program(2, 2)).checkpoints[-1]
    expect_same(run(lambda: program(2, 3), recorded), run(lambda: program(2, 3)))
    for epochs in (1, 3):
        with pytest.raises(CheckpointError, match=r"training number 1 of .* had 2 epochs \(12 st"):
            run(lambda epochs=epochs: program(epochs, 2), recorded)  # type: ignore[misc]


def test_a_training_that_a_callback_ended_cannot_be_longer() -> None:
    def program(epochs: int) -> Trained:
        model = classifier()
        stopping = nn.EarlyStopping(monitor="loss", patience=1, min_delta=100.0)
        return Trained([model], [model.fit(X, LABELS, 8, epochs, 0, stopping)])

    recorded = run(lambda: program(8))
    assert recorded.histories[0].epoch == [0, 1]
    expect_same(run(lambda: program(8), recorded.checkpoints[-1]), recorded)
    with pytest.raises(CheckpointError, match=r"a callback ended .* after 2 epochs .*d to 9"):
        run(lambda: program(9), recorded.checkpoints[-1])


def test_models_in_another_order_are_refused() -> None:
    def program(order: tuple[int, int]) -> Trained:
        models = [classifier(), classifier()]
        return Trained(models, [models[i].fit(X, LABELS, 8, 1, 0) for i in (0, *order)])

    recorded = run(lambda: program((1, 0)))
    with pytest.raises(CheckpointError, match="another order"):
        run(lambda: program((0, 1)), recorded.checkpoints[-1])


def test_a_program_without_fit_runs_from_the_start() -> None:
    checkpoint = run(simple).checkpoints[-1]

    def program() -> Trained:
        model = classifier()
        for start in range(0, 40, 8):
            model.train_on_batch(X[start : start + 8], LABELS[start : start + 8])
        return Trained([model], [])

    expect_same(run(program, checkpoint), run(program))
    assert not run(program).checkpoints


def test_expensive_checkpoints_are_rare() -> None:
    def program() -> Trained:
        model = classifier()
        return Trained([model], [model.fit(X, LABELS, 8, 1, 0) for _ in range(40)])

    undisturbed = run(program)
    assert len(undisturbed.checkpoints) < 40
    last = Checkpoint.decode(undisturbed.checkpoints[-1])
    assert len(last.fits) == 40 and last.info()["finished"]
    expect_same(run(program, undisturbed.checkpoints[-1]), undisturbed)


def test_models_that_would_make_checkpoints_too_large_are_trained_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def program() -> Trained:
        models = [classifier() for _ in range(4)]
        return Trained(models, [model.fit(X, LABELS, 8, 2, 0) for model in models])

    undisturbed = run(program)
    size = sum(
        array.nbytes for array in Checkpoint.decode(undisturbed.checkpoints[-1]).state.values()
    )
    monkeypatch.setattr(run_record, "LARGEST_BYTES", 2 * size)
    recorded = run(program)
    states = Checkpoint.decode(recorded.checkpoints[-1]).states
    assert [state is None for state in states] == [True, True, False, False]
    expect_same(run(program, recorded.checkpoints[-1]), undisturbed)


def test_changes_after_the_last_fit_are_in_the_last_checkpoint() -> None:
    def program() -> Trained:
        trained = simple()
        (model,) = trained.models
        model.set_weights({name: array + 1 for name, array in model.named_weights().items()})
        return trained

    outcome = run(program)
    state = Checkpoint.decode(outcome.checkpoints[-1]).state
    assert np.array_equal(state["dense_1/kernel"], outcome.weights[0]["dense_1/kernel"])


def test_fits_within_callbacks_are_not_recorded() -> None:
    def program() -> Trained:
        inner = classifier()
        callback = nn.LambdaCallback(on_epoch_end=lambda e, logs: inner.fit(X, LABELS, 8, 1, 0))
        model = classifier()
        return Trained([model], [model.fit(X, LABELS, 8, 2, 0, callback)])

    outcome = run(program)
    assert [fit.total_steps for fit in Checkpoint.decode(outcome.checkpoints[-1]).fits] == [12]


@pytest.mark.gpu
def test_training_on_a_gpu_resumes_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    def program() -> Trained:
        return simple(device="gpu")

    often(monkeypatch)
    undisturbed = run(program)
    expect_same(run(program, undisturbed.checkpoints[2]), undisturbed)
