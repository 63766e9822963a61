"""A training step built for an unknown batch size compiles like one built for a known size."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.devices import registry
from playgrad.devices.null import NullHost
from playgrad.devices.target import Limits, Target
from playgrad.runtime.options import Options, options_set
from playgrad.training import step_graphs
from tests.sweeps import sweep

Array = np.ndarray[Any, Any]
IMAGES = np.random.default_rng(0).integers(0, 256, (40, 12, 12)).astype(np.uint8)
LABELS = np.random.default_rng(1).integers(0, 10, 40)
STEPS = 4


def sequential(layers: list[nn.Layer]) -> pg.Model:
    model = pg.Sequential(layers)
    model.build((12, 12), "uint8")
    return model


def mlp() -> pg.Model:
    return sequential(
        [
            nn.Rescaling(1 / 255),
            nn.Flatten(),
            nn.Dense(16, activation="relu"),
            nn.Dropout(0.25),
            nn.Dense(10),
        ]
    )


def cnn() -> pg.Model:
    return sequential(
        [
            nn.Rescaling(1 / 255),
            nn.Reshape((12, 12, 1)),
            nn.Conv2D(4, 3, activation="relu", padding="same"),
            nn.BatchNormalization(),
            nn.MaxPool2D(2),
            nn.Conv2D(6, 3, activation="gelu", strides=2),
            nn.AveragePool2D(2),
            nn.Flatten(),
            nn.Dense(12, activation="softmax"),
            nn.BatchNormalization(synchronized=True),
            nn.Dense(10),
        ]
    )


def several_outputs() -> pg.Model:
    """Return a model with one output for each loss, over layers that merge."""
    with pg.Graph().as_default():
        x = pg.Input((12, 12), dtype="uint8")
        pixels = nn.Flatten()(nn.Rescaling(1 / 255)(x))
        left, right = nn.Dense(8, activation="tanh")(pixels), nn.Dense(8)(pixels)
        merged = [nn.Add()(left, right), nn.Multiply()(left, right), left * right - right]
        hidden = nn.Concatenate()(merged)
        kinds = ("softmax", "softmax", "sigmoid", None, "elu")
        return pg.Model(x, [nn.Dense(10, activation=kind)(hidden) for kind in kinds])


ONE_HOT = np.eye(10, dtype=np.float32)[LABELS]
SPARSE = nn.SparseCategoricalCrossentropy(from_logits=True)
LOSSES = [
    nn.SparseCategoricalCrossentropy(),
    nn.CategoricalCrossentropy(),
    nn.BinaryCrossentropy(),
    nn.MeanSquaredError(),
    nn.MeanAbsoluteError(),
]
# Model, targets, losses and metrics.
NETWORKS: dict[str, tuple[Callable[[], pg.Model], Any, Any, Any]] = {
    "mlp": (mlp, LABELS, SPARSE, ["accuracy", "top_k_accuracy"]),
    "cnn": (cnn, LABELS, SPARSE, ["accuracy"]),
    "losses": (several_outputs, [LABELS, *[ONE_HOT] * 4], LOSSES, [[], [], [], ["mae"], ["mse"]]),
}
FAMILIES = {"registers": True, "shared": False}
ON_GPU = [
    (family, network)
    for network, families in {
        "mlp": FAMILIES,
        "cnn": FAMILIES,
        "losses": ["registers"],  # the kernels of losses are the same in both families
    }.items()
    for family in families
]


@pytest.fixture
def open_batches(monkeypatch: pytest.MonkeyPatch) -> Callable[[bool], None]:
    """Return a function that chooses whether training steps are built for an unknown batch size,
    which is the default."""

    def choose(unknown: bool) -> None:
        monkeypatch.setattr(step_graphs, "split_batch", pg.split_batch if unknown else lambda x: x)

    return choose


@contextmanager
def family_of(device: str, family: str) -> Iterator[None]:
    """Within the block, a GPU has the kernels of ``family``."""
    opened = registry.opened(device)
    original = opened.target
    opened.target = Target(FAMILIES[family], Limits())
    yield
    opened.target = original


def train(network: str, device: str) -> tuple[Array, int, set[int | None]]:
    """Return the numbers of every step, the dispatches of a step, and the batch sizes in its
    graph."""
    make, y, loss, metrics = NETWORKS[network]
    model = make()
    model.compile(pg.optim.Adam(0.01), loss, metrics, device=device)
    with options_set(Options(steps=STEPS)):
        history = model.fit(IMAGES, y, batch_size=8, verbose=0)
    count = model.session.dispatches(model.training_targets)
    model.close()
    gathered = {
        node.outputs[0].shape[0]
        for node in model.graph.nodes
        if node.op.name == "gather" and node.name.startswith("train/")
    }
    return history.steps, count, gathered


def check(network: str, device: str, open_batches: Callable[[bool], None]) -> int:
    """Check that both steps give the same numbers with as many dispatches; return how many."""
    open_batches(False)
    fixed, few, known = train(network, device)
    open_batches(True)
    opened, many, unknown = train(network, device)
    assert (known, unknown) == ({8}, {None})
    np.testing.assert_array_equal(opened, fixed)
    assert many == few
    return few


@pytest.mark.parametrize("network", NETWORKS)
def test_same_numbers(network: str, open_batches: Callable[[bool], None]) -> None:
    check(network, "cpu", open_batches)


@pytest.mark.gpu
@pytest.mark.parametrize(("family", "network"), sweep(ON_GPU, often=ON_GPU[:1]))
def test_same_numbers_on_a_gpu(
    family: str, network: str, open_batches: Callable[[bool], None]
) -> None:
    with family_of("gpu:0", family):
        assert check(network, "gpu", open_batches) > 0


@pytest.mark.parametrize(
    ("family", "network"),
    sweep(ON_GPU, often=[case for case in ON_GPU if case != ("shared", "cnn")]),
)
def test_same_dispatches(family: str, network: str, open_batches: Callable[[bool], None]) -> None:
    """On a device that compiles, but computes nothing."""
    with registry.attached(NullHost()) as name, family_of(name, family):
        assert check(network, name, open_batches) > 0
