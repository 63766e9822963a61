"""Parity of the two runners: one Plan gives the same results with wgpu-py and in Chromium."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import assume, given

import playgrad as pg
from playgrad import nn, ops
from playgrad.devices import _wgpu
from playgrad.graph.graph import Graph
from playgrad.runtime.options import Options, options_set
from playgrad.runtime.session import Session
from tests.browser.replay import (
    GPU,
    Outcome,
    Recording,
    in_page,
    on_desktop,
    record,
)
from tests.compiler.random_programs import Sampled, sampled_programs
from tests.sweeps import examples

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.gpu]

Array = np.ndarray[Any, Any]
STEPS = 6
BATCH = 32


@pytest.fixture(scope="module")
def host() -> Iterator[_wgpu.WgpuHost]:
    host = _wgpu.open()
    yield host
    assert (host.stats()["buffers"], host.stats()["programs"]) == (0, 0)
    host.destroy()


def both(host: _wgpu.WgpuHost, page: Page, recording: Recording, steps: int = 1) -> list[Outcome]:
    """Compare the runners; quick steps may share a submit."""
    outcomes = [on_desktop(host, recording, steps), in_page(page, recording, steps)]
    dispatches = len(recording.plan["commands"])
    for outcome in outcomes:
        assert 1 <= outcome.counts["submits"] <= steps
        assert outcome.counts["dispatches"] == steps * dispatches
    if outcomes[0].counts["submits"] == outcomes[1].counts["submits"]:
        assert outcomes[0].counts["passes"] == outcomes[1].counts["passes"]
    return outcomes


def assert_same(desktop: dict[str, Array], browser: dict[str, Array], **tolerance: float) -> None:
    assert desktop.keys() == browser.keys()
    for name, wanted in desktop.items():
        if wanted.dtype.kind == "f":
            np.testing.assert_allclose(browser[name], wanted, err_msg=name, **tolerance)
        else:
            np.testing.assert_array_equal(browser[name], wanted, err_msg=name)


def mlp() -> list[nn.Layer]:
    return [nn.Flatten(), nn.Dense(128, activation="relu"), nn.Dropout(0.2), nn.Dense(10)]


def cnn() -> list[nn.Layer]:
    return [
        nn.Reshape((28, 28, 1)),
        nn.Conv2D(8, 5, activation="relu"),
        nn.MaxPool2D(2),
        nn.Conv2D(16, 3, padding="same", activation="tanh"),
        nn.AveragePool2D(2),
        nn.Flatten(),
        nn.Dense(10),
    ]


@pytest.mark.parametrize("layers", [mlp, cnn])
def test_training_agrees_between_desktop_and_browser(
    host: _wgpu.WgpuHost, page: Page, layers: Any
) -> None:
    """Batches, forward, gradients and Adam's updates, all in one Plan."""
    (x, y), _ = pg.data.mnist()
    model = pg.Sequential([nn.Rescaling(1 / 255), *layers()])
    model.compile(
        optimizer=pg.optim.Adam(learning_rate=0.002),
        loss=nn.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    with options_set(Options(device="gpu", steps=1)):
        model.fit(x[:400], y[:400], batch_size=BATCH, verbose=0)
    runnable = model.session.compiled(model.training_targets)
    assert runnable is not None
    recording = record(runnable)
    model.session.close()
    desktop, browser = both(host, page, recording, STEPS)

    history = next(name for name in desktop.variables if name.endswith("history"))
    losses = [outcome.variables[history][1 : STEPS + 1, 0] for outcome in (desktop, browser)]
    print(f"{layers.__name__}: {runnable.dispatches} dispatches a step; losses", *losses)
    assert losses[0][0] > 1 and (losses[0] > 0).all()
    np.testing.assert_allclose(losses[1], losses[0], rtol=1e-3)
    # Adam may divide by almost zero, so single weights may differ by a whole step.
    assert_same(desktop.variables, browser.variables, rtol=1e-2, atol=2e-3)
    kernels = [name for name in desktop.variables if name.endswith("kernel")]
    for name in kernels:
        apart = np.abs(desktop.variables[name] - browser.variables[name])
        assert apart.mean() < 1e-5


@examples(40)
@given(sampled=sampled_programs())
def test_random_programs_agree_between_desktop_and_browser(
    host: _wgpu.WgpuHost, page: Page, sampled: Sampled
) -> None:
    program = sampled.program
    with Session(program.graph, device="gpu") as session:
        runnable = session.compiled([*program.fetches, *program.targets], sampled.feed_dict())
        assert runnable is not None
        # If everything was folded, there is nothing to replay.
        assume(GPU in runnable.plans and runnable.plans[GPU].plan["commands"])
        assume(len(runnable.compiled.segments[GPU]) == 1)
        feeds = {program.feeds[name].node.name: array for name, array in sampled.feeds.items()}
        recording = record(runnable, feeds)
    desktop, browser = both(host, page, recording, steps=2)
    assert_same(desktop.fetches, browser.fetches, rtol=1e-4, atol=1e-5)
    assert_same(desktop.variables, browser.variables, rtol=1e-4, atol=1e-5)


def test_random_numbers_are_the_same_bits_everywhere(host: _wgpu.WgpuHost, page: Page) -> None:
    """Threefry on NumPy, wgpu-py and Chromium; normals use log and cos, which differ."""
    graph = Graph()
    with graph.as_default():
        step = ops.Variable(0, dtype="uint32", name="step")
        exact = {
            "uniform": ops.random_uniform((777,), seed=3),
            "mask": ops.cast(ops.dropout(ops.fill((65, 9), 1.0), 0.3, seed=4) > 0, "int32"),
            "batch": ops.batch_indices(step.assign_add(1), 60_000, 64, seed=5),
            "odd batch": ops.batch_indices(step, 1000, 17, shuffle=True, seed=6),
            "in order": ops.batch_indices(step, 10, 4, shuffle=False, seed=7),
        }
        near = {"normal": ops.random_normal((513,), seed=8)}
    with Session(graph, device="cpu") as session:
        for _ in range(3):
            reference = session.run({**exact, **near})
    with Session(graph, device="gpu") as session:
        runnable = session.compiled([*exact.values(), *near.values()])
        assert runnable is not None
        recording = record(runnable)
    for outcome in both(host, page, recording, steps=3):
        for name, tensor in exact.items():
            assert outcome.fetches[tensor.name].tobytes() == reference[name].tobytes(), name
        normal = outcome.fetches[near["normal"].name]
        # WGSL's cosine may have an error of 2^-11, and is multiplied by a radius of up to 6.
        np.testing.assert_allclose(normal, reference["normal"], rtol=0, atol=3e-3)
