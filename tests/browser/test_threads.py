"""Threads of a page without a GPU: the same bits for any number, stops, and errors in one."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import pytest

from tests.browser.test_devices import finish

if TYPE_CHECKING:
    from tests.browser.conftest import Engine

pytestmark = [pytest.mark.browser, pytest.mark.pyodide]

# Everything is shared, however small it is, and threads take part in every second step.
COMMON = """
import json, time
import numpy as np
import playgrad as pg
from playgrad import nn
from playgrad.runtime.step_host import PageHost, page_host, using_step_host
from playgrad.wasm import step as step_code, threads

step_code.WORTH, step_code.SHORTEST = 0.0, 1e-12

def model_of(layers, seed=1):
    with pg.Graph(seed=seed).as_default():
        model = pg.Sequential(layers)
    loss = nn.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer=pg.optim.Adam(0.003), loss=loss, device="cpu")
    return model

def data(count, *shape):
    random = np.random.default_rng(0)
    x = random.normal(size=(count, *shape)).astype(np.float32)
    return x, (x.reshape(count, -1).mean(1) > 0).astype(np.int32)

def steps_of(model):
    programs = [p.host_program for p in model.session._programs._runnables.values()]
    return [p.compiled.step for p in programs if p is not None and p.compiled is not None]

def asleep(host, count):
    '''Wait until other threads have come and, as there is no work, sleep.'''
    end = time.monotonic() + 60
    while host.control[threads.SLEEPING // 4] < count and time.monotonic() < end:
        time.sleep(0.01)
    return int(host.control[threads.SLEEPING // 4])
"""

TRAINING = """
def segment_sums(x):
    numbers = pg.argmax(x, 1)
    return x + pg.take(pg.segment_sum(x, numbers, 70), numbers, 0)

NETWORKS = {
    "dense": (lambda: [
        nn.Flatten(), nn.Dense(70, "relu"), nn.Dropout(0.2), nn.Lambda(segment_sums), nn.Dense(2),
    ]),
    "images": (lambda: [
        nn.Conv2D(16, 3, padding="same", activation="relu"), nn.MaxPool2D(2),
        nn.DepthwiseConv2D(3, padding="same"), nn.Conv2D(8, 3, strides=2), nn.Flatten(),
        nn.LayerNormalization(), nn.Dense(2),
    ]),
    "rows": (lambda: [nn.Reshape((12, 12)), nn.LSTM(20), nn.Dense(2)]),
}
RANDOM = np.random.default_rng()
def random_network():
    '''Layers of random sizes.'''
    layers = []
    for _ in range(RANDOM.integers(1, 3)):
        layers.append(nn.Conv2D(int(RANDOM.integers(1, 20)), int(RANDOM.integers(1, 5)),
                                activation="relu", padding=str(RANDOM.choice(["same", "valid"]))))
    return [*layers, nn.Flatten(), nn.Dense(int(RANDOM.integers(1, 90)), "tanh"), nn.Dense(2)]
x, y = data(93, 12, 12, 1)
results = {}
for number in range(2):
    state = RANDOM.bit_generator.state
    def again(state=state):
        RANDOM.bit_generator.state = state
        return random_network()
    NETWORKS[f"random {number}: {state['state']['state']}"] = again
    random_network()
for name, layers in NETWORKS.items():
    weights = []
    for count in (1, 2, 3):
        host = PageHost(page_host().relaxed, count)
        with using_step_host(host):
            model = model_of(layers())
            model.fit(x, y, batch_size=31, epochs=1, verbose=0)
            there = asleep(host, count - 1) if count > 1 else 0
            model.fit(x, y, batch_size=31, epochs=3, verbose=0)
        weights.append([np.asarray(value).tobytes() for value in model.get_weights()])
        assert there == count - 1, (name, there)
        if count > 1:
            assert max(step.jobs for step in steps_of(model)) > 5
    results[name] = weights[0] == weights[1] == weights[2]
print(json.dumps([page_host().threads, results]))
"""


def test_threads_change_no_bit(engine: Engine) -> None:
    """Of the weights that a training ends with; threads have come to every one."""
    cores = engine.page.evaluate("navigator.hardwareConcurrency")
    threads, results = json.loads(finish(engine, COMMON + TRAINING))
    assert threads == cores
    assert len(results) == 5 and all(results.values()), results


def test_threads_end_with_the_python_that_they_help(engine: Engine) -> None:
    asked = f"{COMMON}{SMALL}"
    assert finish(engine, asked) == "1"
    before = engine.workers("thread-worker")
    assert before
    assert finish(engine, asked) == "1"  # by another Python
    end = time.monotonic() + 60
    while set(before) & set(engine.workers("thread-worker")) and time.monotonic() < end:
        engine.page.wait_for_timeout(50)
    assert not set(before) & set(engine.workers("thread-worker"))


SMALL = """
x, y = data(64, 30)
host = PageHost(page_host().relaxed, 2)
with using_step_host(host):
    model_of([nn.Dense(40, "relu"), nn.Dense(2)]).fit(x, y, batch_size=32, epochs=2, verbose=0)
    print(asleep(host, 1))
"""

EARLY = (
    """
load = PageHost.load
def slow(self, *arguments):
    runs = load(self, *arguments)
    time.sleep(2)
    return runs
PageHost.load = slow
"""
    + SMALL
)


def test_threads_that_are_up_before_the_first_run_take_part(engine: Engine) -> None:
    assert finish(engine, COMMON + EARLY) == "1"


ERRORS = """
x, y = data(64, 30)
host = PageHost(page_host().relaxed, 2)
before, after, kinds = [], [], []
with using_step_host(host):
    model = model_of([nn.Dense(40, "relu"), nn.Dense(2)])
    model.fit(x, y, batch_size=32, epochs=2, verbose=0)
    asleep(host, 1)
    weights = [value.copy() for value in model.get_weights()]
    wrong = y.copy()
    wrong[40] = 7
    try:
        model.train_on_batch(x, wrong)
    except pg.errors.PlaygradError as error:
        kinds.append(type(error).__name__ + ": " + str(error).splitlines()[0])
    same = all((a == b).all() for a, b in zip(weights, model.get_weights()))

    split = step_code.StepCode.split
    def failing(self, key, chunks, arguments, write, private=0):
        def trapped(job):
            with job.f.when(job.chunk.equals(chunks - 1)):
                job.f.trap()
            write(job)
        split(self, key, chunks, arguments, trapped, private)
    step_code.StepCode.split = failing
    for _ in range(4):  # in one thread or the other
        broken = model_of([nn.Dense(40, "relu"), nn.Dense(2)])
        broken.build(x.shape[1:])
        kept = [value.copy() for value in broken.get_weights()]
        try:
            broken.train_on_batch(x, y)
        except Exception as error:
            kinds.append(type(error).__name__)
        same = same and all((a == b).all() for a, b in zip(kept, broken.get_weights()))
    step_code.StepCode.split = split
    loss = model.fit(x, y, batch_size=32, epochs=3, verbose=0).history["loss"]
print(json.dumps([kinds, same, loss[-1] < loss[0]]))
"""


def test_errors_in_threads_change_no_variable(engine: Engine) -> None:
    """An index outside, and a trap: the step ends with its error, and the next one works."""
    (outside, *traps), same, learns = json.loads(finish(engine, COMMON + ERRORS))
    assert "7" in outside and outside.startswith("DataError")
    assert len(traps) == 4
    assert same and learns


ENDLESS = """
x, y = data(256, 24, 24, 1)
model = model_of([nn.Conv2D(16, 3, activation="relu"), nn.Flatten(), nn.Dense(2)])
print("begun")
model.fit(x, y, batch_size=64, epochs=100_000, verbose=0)
"""


def test_a_stop_ends_a_training_on_threads(engine: Engine) -> None:
    outcome = engine.run(COMMON + ENDLESS, stop_after_ms=4000)
    assert outcome["state"] == "stopped", outcome
    assert finish(engine, "print(1 + 1)") == "2"
