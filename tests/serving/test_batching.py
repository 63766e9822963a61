"""Batching: requests that wait together are one run, each answered on its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.serving import batching
from playgrad.serving.batching import VersionRunner
from playgrad.serving.errors import AnswerError
from playgrad.serving.manager import ModelManager
from playgrad.serving.metrics import ServingMetrics
from playgrad.serving.servable import Servable
from playgrad.serving.settings import ServingSettings
from playgrad.serving.store import ModelStore
from tests.serving.serving import Array, awaited, content, model, put, samples


class Gate:
    """Stops the runs of a model until it is opened, and notes their inputs."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.entered, self.opened = threading.Event(), threading.Event()
        self.rows: list[int] = []
        run = Servable.run

        def gated(servable: Servable, arrays: Sequence[Array]) -> list[Array]:
            self.entered.set()
            assert self.opened.wait(60)
            self.rows.append(len(arrays[0]))
            return run(servable, arrays)

        monkeypatch.setattr(Servable, "run", gated)


@pytest.fixture(autouse=True)
def in_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have models compute in their threads, as slow ones do: a test can stop those."""
    monkeypatch.setattr(batching, "_IN_LOOP_SECONDS", 0.0)


def started(store: ModelStore, **settings: Any) -> ModelManager:
    manager = ModelManager(store, ServingSettings(**settings), ServingMetrics())
    manager.update()
    return manager


@pytest.fixture
def managers() -> Iterator[list[ModelManager]]:
    managers: list[ModelManager] = []
    yield managers
    for manager in managers:
        manager.close()


async def entered(gate: Gate) -> None:
    """Wait until the thread of the version is in a run."""
    assert await asyncio.to_thread(gate.entered.wait, 60)


async def all_waiting(runner: VersionRunner, count: int) -> None:
    while runner.waiting < count:
        await asyncio.sleep(0)


def test_requests_that_wait_together_are_one_padded_run(
    store: ModelStore, managers: list[ModelManager], monkeypatch: pytest.MonkeyPatch
) -> None:
    put(store, "digits", content(model(1)))
    managers.append(started(store, max_batch=8))
    runner = managers[0].held("digits")
    inputs = [samples(rows, seed) for seed, rows in enumerate((1, 1, 3, 2, 4, 1))]
    alone = [awaited(runner.outputs([each]))[0] for each in inputs]
    gate = Gate(monkeypatch)

    async def together() -> list[list[Array]]:
        first = asyncio.ensure_future(runner.outputs([inputs[0]]))
        await entered(gate)
        others = [asyncio.ensure_future(runner.outputs([each])) for each in inputs[1:]]
        await all_waiting(runner, 5)
        gate.opened.set()
        return [await first, *[await each for each in others]]

    answers = awaited(together())
    runner.release()
    # 1 alone; then 1 + 3 + 2 are padded to 8, since 4 more would be too many; then 4 + 1.
    assert gate.rows == [1, 8, 8]
    for (answer,), reference in zip(answers, alone, strict=True):
        np.testing.assert_allclose(answer, reference, rtol=1e-5, atol=1e-6)
    text = managers[0].metrics.text().decode()
    assert 'playgrad_batch_samples_sum{model="digits",version="1"} 24.0' in text
    assert 'playgrad_queue_requests{model="digits",version="1"} 0.0' in text


def test_a_request_larger_than_a_batch_is_computed_in_pieces(
    store: ModelStore, managers: list[ModelManager]
) -> None:
    put(store, "digits", content(model(1)))
    managers.append(started(store, max_batch=4))
    runner = managers[0].held("digits")
    x = samples(11)
    (whole,) = awaited(runner.outputs([x]))
    parts = [awaited(runner.outputs([x[i : i + 4]]))[0] for i in (0, 4, 8)]
    runner.release()
    np.testing.assert_array_equal(whole, np.concatenate(parts))


def test_the_first_request_waits_for_others_no_longer_than_the_batch_needs(
    store: ModelStore, managers: list[ModelManager], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time is far beyond that of the test: it is the full batch that starts the run."""
    put(store, "digits", content(model(1)))
    managers.append(started(store, max_batch=2, batch_timeout=3000.0))
    runner = managers[0].held("digits")
    gate = Gate(monkeypatch)
    gate.opened.set()

    async def together() -> None:
        await asyncio.gather(runner.outputs([samples(1)]), runner.outputs([samples(1)]))

    awaited(together())
    runner.release()
    assert gate.rows == [2]


def embedding() -> bytes:
    with pg.Graph().as_default():
        x = pg.Input((2,), dtype="int32")
        return content(pg.Model(x, nn.Embedding(5, 3)(x)))


def test_a_bad_value_of_one_does_not_spoil_the_others(
    store: ModelStore, managers: list[ModelManager], monkeypatch: pytest.MonkeyPatch
) -> None:
    put(store, "words", embedding())
    managers.append(started(store, max_batch=8))
    runner = managers[0].held("words")
    gate = Gate(monkeypatch)

    async def together() -> list[Any]:
        first = asyncio.ensure_future(runner.outputs([np.zeros((1, 2), np.int32)]))
        await entered(gate)
        rows = ([[0, 1]], [[0, 99]], [[4, 4]])
        others = [runner.outputs([np.array(row, np.int32)]) for row in rows]
        gathered = asyncio.gather(first, *others, return_exceptions=True)
        await asyncio.sleep(0)
        await all_waiting(runner, 3)
        gate.opened.set()
        return await gathered

    _, good, bad, other = awaited(together())
    runner.release()
    assert good[0].shape == other[0].shape == (1, 2, 3)
    assert isinstance(bad, AnswerError)
    assert bad.status == 422
    assert "99" in str(bad)


def test_a_full_queue_refuses_and_the_rest_is_answered(
    store: ModelStore, managers: list[ModelManager], monkeypatch: pytest.MonkeyPatch
) -> None:
    put(store, "digits", content(model(1)))
    managers.append(started(store, max_queue=2))
    runner = managers[0].held("digits")
    gate = Gate(monkeypatch)

    async def crowd() -> list[Any]:
        first = asyncio.ensure_future(runner.outputs([samples(1)]))
        await entered(gate)
        waiting = [asyncio.ensure_future(runner.outputs([samples(1)])) for _ in range(2)]
        await all_waiting(runner, 2)
        with pytest.raises(AnswerError, match="2 requests wait") as error:
            await runner.outputs([samples(1)])
        assert (error.value.status, error.value.retry_after) == (503, 1)
        gate.opened.set()
        return await asyncio.gather(first, *waiting)

    assert len(awaited(crowd())) == 3
    runner.release()


def test_waiting_requests_have_a_limit_of_bytes(
    store: ModelStore, managers: list[ModelManager], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batching, "_MOST_WAITING_BYTES", samples(3).nbytes)
    put(store, "digits", content(model(1)))
    managers.append(started(store))
    runner = managers[0].held("digits")
    gate = Gate(monkeypatch)

    async def crowd() -> list[Any]:
        first = asyncio.ensure_future(runner.outputs([samples(1)]))
        await entered(gate)
        large = asyncio.ensure_future(runner.outputs([samples(9)]))  # alone, it may wait
        await all_waiting(runner, 1)
        with pytest.raises(AnswerError, match="1 requests wait"):
            await runner.outputs([samples(1)])
        gate.opened.set()
        answers = [await first, await large]
        return [*answers, await runner.outputs([samples(3)])]

    assert [len(outputs[0]) for outputs in awaited(crowd())] == [1, 9, 3]
    runner.release()


def test_a_request_that_was_given_up_is_not_computed(
    store: ModelStore, managers: list[ModelManager], monkeypatch: pytest.MonkeyPatch
) -> None:
    put(store, "digits", content(model(1)))
    managers.append(started(store))
    runner = managers[0].held("digits")
    gate = Gate(monkeypatch)

    async def give_up() -> None:
        first = asyncio.ensure_future(runner.outputs([samples(1)]))
        await entered(gate)
        other = asyncio.ensure_future(runner.outputs([samples(5)]))
        await all_waiting(runner, 1)
        other.cancel()
        await asyncio.sleep(0)
        gate.opened.set()
        await first

    awaited(give_up())
    awaited(runner.outputs([samples(1)]))
    runner.release()
    assert gate.rows == [1, 1]


@pytest.mark.parametrize("in_loop", [True, False])
def test_fast_models_are_batched_by_the_event_loop(
    store: ModelStore,
    managers: list[ModelManager],
    monkeypatch: pytest.MonkeyPatch,
    in_loop: bool,
) -> None:
    """All requests of one turn of the loop, up to the largest batch, are one run."""
    monkeypatch.setattr(batching, "_IN_LOOP_SECONDS", 1e9 if in_loop else 0.0)
    put(store, "digits", content(model(1)))
    managers.append(started(store, max_batch=4))
    runner = managers[0].held("digits")
    inputs = [samples(1, seed) for seed in range(10)]
    runs: list[tuple[int, str]] = []
    run = Servable.run

    def noted(servable: Servable, arrays: Sequence[Array]) -> list[Array]:
        runs.append((len(arrays[0]), threading.current_thread().name))
        return run(servable, arrays)

    alone = [awaited(runner.outputs([each]))[0] for each in inputs]
    monkeypatch.setattr(Servable, "run", noted)

    async def together() -> list[list[Array]]:
        return await asyncio.gather(*(runner.outputs([each]) for each in inputs))

    answers = awaited(together())
    runner.release()
    for (answer,), reference in zip(answers, alone, strict=True):
        np.testing.assert_allclose(answer, reference, rtol=1e-5, atol=1e-6)
    if in_loop:
        assert [rows for rows, _ in runs] == [4, 4, 2]
        assert "digits-1" not in {name for _, name in runs}
    else:
        assert {name for _, name in runs} == {"digits-1"}
