"""Replicas of pipelines whose stages are divided inside of layers train as one device does."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.data import Dataset
from playgrad.errors import GraphError
from playgrad.parallel import Pipeline, Strategy
from playgrad.runtime.options import Options, options_set
from playgrad.runtime.timeline import timeline
from playgrad.runtime.trace import Trace

Array = np.ndarray[Any, Any]
rng = np.random.default_rng(7)
X = rng.normal(size=(48, 4, 6)).astype(np.float32)
Y = X[:, 0, :3].argmax(1)
FIRST, SECOND = ("cpu:0", "cpu:1"), ("cpu:2", "cpu:3")


def model(first: Any = FIRST, second: Any = SECOND) -> pg.Model:
    """Build attention, then dense layers, divided among two groups of devices or not at all."""
    pg.set_logical_devices(cpu=8)
    with pg.Graph(seed=1).as_default():
        x = pg.Input((4, 6))
        if first is None:
            attention: nn.Layer = nn.MultiHeadAttention(3, 4, dropout=0.1, name="attention")
            up, down = nn.Dense(10, "relu", name="up"), nn.Dense(6, name="down")
        else:
            attention = nn.ParallelMultiHeadAttention(3, first, 4, 0.1, name="attention")
            up = nn.ColumnParallelDense(10, second, "relu", name="up")
            down = nn.RowParallelDense(6, second, name="down")
        y = nn.Dropout(0.2, name="drop")(attention(x))
        y = nn.Flatten(name="flat")(down(up(y)))
        return pg.Model(x, nn.Dense(3, name="head")(y))


def trained(network: pg.Model, strategy: Strategy | None, x: Any = X, y: Any = Y) -> Array:
    network.compile(
        pg.optim.Adam(0.01, epsilon=1e-3),
        nn.SparseCategoricalCrossentropy(from_logits=True),
        device="cpu",
        strategy=strategy,
    )
    options = {} if y is None else {"batch_size": 12, "shuffle": False}
    return network.fit(x, y, epochs=4, verbose=0, **options).losses


@cache
def on_one_device() -> tuple[Array, dict[str, Array]]:
    network = model(None, None)
    losses = trained(network, None)
    weights = network.named_weights()
    network.close()
    return losses, weights


STAGES = (("attention", "drop"), ("up", "down", "flat", "head"))


@pytest.mark.parametrize(
    "strategy",
    [
        Pipeline(8, 3, "1f1b", replicas=2, devices_per_stage=2),
        Pipeline(8, 2, "gpipe", replicas=2, devices_per_stage=2, stages=STAGES),
        Pipeline(8, 2, "dualpipe", replicas=2, devices_per_stage=2, collective="ring"),
        Pipeline(4, 4, devices_per_stage=2),
    ],
    ids=str,
)
def test_three_dimensional_parallelism_matches_one_device(strategy: Pipeline) -> None:
    network = model()
    losses = trained(network, strategy)
    expected, expected_weights = on_one_device()
    np.testing.assert_allclose(losses, expected, rtol=1e-4)
    assert expected[-4:].mean() < 0.95 * expected[:4].mean()
    weights = network.named_weights()
    assert list(weights) == list(expected_weights)
    for name, value in expected_weights.items():
        np.testing.assert_allclose(weights[name], value, rtol=2e-3, atol=2e-4, err_msg=name)
    for layer, devices in (("attention/query_kernel", FIRST), ("up/kernel", SECOND)):
        for number, device in enumerate(devices):
            assert network.named_variables[f"{layer}_{number}"].device == device
    network.close()


def test_all_devices_are_in_the_timeline() -> None:
    """Each device runs the passes of its stage and its share of the layers."""
    network, trace = model(), Trace()
    with options_set(Options(trace=trace)):
        trained(network, Pipeline(8, 2, replicas=2, devices_per_stage=2))
    network.close()
    tracks = {track.device for track in timeline(trace).devices}
    assert tracks == {f"cpu:{number}" for number in range(8)}
    for number in range(8):
        kinds = {event.kind for event in trace.events if event.device == f"cpu:{number}"}
        assert {"forward", "gradient", "update"} <= kinds


def test_data_sets_with_a_smaller_last_batch_match_one_device() -> None:
    """With a smaller last batch."""
    strategy = Pipeline(8, 2, replicas=2, devices_per_stage=2)
    dataset = Dataset.from_tensor_slices((X[:42], Y[:42])).batch(12)
    network, single = model(), model(None, None)
    losses = trained(network, strategy, dataset, None)
    np.testing.assert_allclose(losses, trained(single, None, dataset, None), rtol=1e-4)
    network.close()
    single.close()


@pytest.mark.parametrize(
    ("strategy", "devices", "words"),
    [
        (Pipeline(8, 2, replicas=2), FIRST, "is placed on cpu:[0-3], but a pipeline places"),
        (
            Pipeline(4, 2, devices_per_stage=2),
            ("cpu:1", "cpu:2"),
            "'attention' is placed on cpu:1, cpu:2, but the stages .* cpu:0, cpu:1; cpu:2, cpu:3",
        ),
        (
            Pipeline(4, 2, devices_per_stage=2, stages=(1, 5)),
            SECOND,
            "'attention' is placed on cpu:2, cpu:3, devices of stage 1, but it is in stage 0",
        ),
        (Pipeline(4, 2, devices_per_stage=2), SECOND, "do not follow the order of the stages"),
    ],
)
def test_unsuitable_devices_are_refused(strategy: Pipeline, devices: Any, words: str) -> None:
    network = model(devices)
    with pytest.raises(GraphError, match=words):
        trained(network, strategy)
    network.close()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"devices": 6, "devices_per_stage": 4}, "a pipeline of 6 devices cannot be divided into"),
        ({"devices": 4, "devices_per_stage": 2, "schedule": "interleaved"}, "neither be interl"),
        ({"devices": 4, "devices_per_stage": 2, "stages": "balanced"}, "neither be interl"),
        ({"devices": 4, "devices_per_stage": 2, "schedule": "pipedream"}, "neither be interl"),
    ],
)
def test_impossible_pipelines_are_refused(options: Any, words: str) -> None:
    with pytest.raises(GraphError, match=words):
        Pipeline(**options)
