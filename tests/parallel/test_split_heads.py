"""Attention whose heads are divided among devices trains like attention on one."""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.errors import GraphError, ShapeError

STEPS, BATCH = 50, 8
RNG = np.random.default_rng(11)
X = RNG.normal(size=(40, 5, 6)).astype(np.float32)
Y = RNG.integers(0, 3, 40).astype(np.int32)
CPUS = ["cpu:0", "cpu:1", "cpu:2", "cpu:3"]
PLACES = [
    pytest.param(CPUS[:2], id="2 cpus"),
    pytest.param(CPUS[:3], id="3 cpus"),
]
GPUS = pytest.param(
    0.3, ["gpu:0", "gpu:1"], id="0.3-2 gpus", marks=[pytest.mark.gpu, pytest.mark.slow]
)
CASES = [pytest.param(d, *p.values, id=f"{d}-{p.id}") for d in (0.0, 0.3) for p in PLACES]


@pytest.fixture(autouse=True)
def logical_devices(request: pytest.FixtureRequest) -> None:
    gpu = request.node.get_closest_marker("gpu")
    pg.set_logical_devices(cpu=4, gpu=2 if gpu else None)


def transformer(devices: Sequence[str] | None, dropout: float = 0.0, heads: int = 5) -> pg.Model:
    """Build a pre-normalized block as in Vaswani et al. 2017, with an output layer."""
    with pg.Graph().as_default():
        x = pg.Input((5, 6))
        normal = nn.LayerNormalization(name="normal_1")(x)
        if devices is None:
            attention: nn.Layer = nn.MultiHeadAttention(
                heads, 4, dropout=dropout, causal=True, name="attention"
            )
            up, down = nn.Dense(13, "gelu", name="up"), nn.Dense(6, name="down")
        else:
            attention = nn.ParallelMultiHeadAttention(
                heads, devices, 4, dropout, True, name="attention"
            )
            up = nn.ColumnParallelDense(13, devices, "gelu", name="up")
            down = nn.RowParallelDense(6, devices, name="down")
        y = nn.Add()([x, attention(normal)])
        y = nn.Add()([y, down(up(nn.LayerNormalization(name="normal_2")(y)))])
        return pg.Model(x, nn.Dense(3, name="head")(nn.Flatten()(y)))


def trained(
    model: pg.Model, device: str = "cpu", strategy: pg.parallel.Strategy | None = None
) -> pg.Model:
    model.compile(
        # Not Adam: the gradient of the key's bias is only rounding, as softmax cancels the bias.
        pg.optim.SGD(0.05, momentum=0.9),
        nn.SparseCategoricalCrossentropy(from_logits=True),
        device=device,
        strategy=strategy,
    )
    model.fit(X, Y, batch_size=BATCH, epochs=STEPS * BATCH // len(Y), verbose=0)
    return model


class Result(NamedTuple):
    """The result of a training: the loss of each epoch, the weights, and predictions."""

    losses: np.ndarray[Any, Any]
    weights: dict[str, np.ndarray[Any, Any]]
    predictions: np.ndarray[Any, Any]


def result_of(model: pg.Model) -> Result:
    assert model.history is not None
    return Result(np.array(model.history.history["loss"]), model.named_weights(), model.predict(X))


@cache
def on_one_device(dropout: float) -> Result:
    return result_of(trained(transformer(None, dropout)))


def check_equal(model: pg.Model, dropout: float) -> None:
    result, expected = result_of(model), on_one_device(dropout)
    np.testing.assert_allclose(result.losses, expected.losses, rtol=2e-3)
    assert expected.losses[-1] < 0.9 * expected.losses[0]
    assert list(result.weights) == list(expected.weights)
    for name, value in expected.weights.items():
        np.testing.assert_allclose(result.weights[name], value, rtol=2e-2, atol=2e-3, err_msg=name)
    np.testing.assert_allclose(result.predictions, expected.predictions, rtol=2e-2, atol=1e-2)


@pytest.mark.parametrize(("dropout", "devices"), [*CASES, GPUS])
def test_a_block_trains_like_one_device(dropout: float, devices: list[str]) -> None:
    """Five heads, in unequal shares; with dropout the masks are the same too."""
    kind = devices[0].partition(":")[0]
    model = trained(transformer(devices, dropout), kind)
    check_equal(model, dropout)
    for number, device in enumerate(devices):
        for role in ("query", "key", "value", "output"):
            assert model.named_variables[f"attention/{role}_kernel_{number}"].device == device


@pytest.mark.parametrize("dropout", [0.0, 0.3])
def test_data_and_model_parallelism_can_be_combined(dropout: float) -> None:
    strategy = pg.parallel.DataParallel(CPUS)
    model = trained(transformer(CPUS[:2], dropout), strategy=strategy)
    check_equal(model, dropout)


def test_attention_trains_in_a_pipeline() -> None:
    strategy = pg.parallel.Pipeline(2, micro_batches=3)
    model = trained(transformer(None, 0.3), strategy=strategy)
    check_equal(model, 0.3)


def test_a_block_sends_only_its_inputs_and_its_product(graph: pg.Graph) -> None:
    devices = ["cpu:1", "cpu:2"]
    x, memory = pg.Input((5, 6)), pg.Input((7, 3))
    y = nn.ParallelMultiHeadAttention(4, devices, 8)(x, memory)
    feeds = {x: X[:4], memory: np.ones((4, 7, 3))}
    with pg.Session(graph, device="cpu") as session:
        session.initialize()
        session.run(y, feeds)
        runnable = session.compiled(y, feeds)
    assert runnable is not None
    sent = [n.inputs[0].spec.size for n in runnable.compiled.order if n.op.name == "send"]
    # Query and memory to the second device, its product back.
    assert sorted(sent) == sorted([4 * 5 * 6, 4 * 7 * 3, 4 * 5 * 6])


def test_weights_match_one_device() -> None:
    model, single = transformer(CPUS[:2]), transformer(None)
    start = single.named_weights()
    for name, value in model.named_weights().items():
        np.testing.assert_array_equal(value, start[name], err_msg=name)
    changed = {name: value + 1 for name, value in start.items()}
    single.set_weights(changed)
    file = io.BytesIO()
    single.save_weights(file, "safetensors")
    model.load_weights(file.getvalue())
    for name, value in model.named_weights().items():
        np.testing.assert_array_equal(value, changed[name], err_msg=name)
    part = model.session.value(model.named_variables["attention/query_kernel_1"])
    np.testing.assert_array_equal(part, changed["attention/query_kernel"][:, 2 * 4 :])
    np.testing.assert_allclose(model.predict(X), single.predict(X), rtol=1e-3, atol=1e-2)
    copy = model.clone()
    np.testing.assert_array_equal(copy.predict(X), model.predict(X))


def test_mistakes_raise_explaining_errors(graph: pg.Graph) -> None:
    x = pg.Input((5, 6))
    with pytest.raises(ShapeError, match="layer 'few' cannot divide 3 heads among 4 devices"):
        nn.ParallelMultiHeadAttention(3, CPUS, name="few")(x)
    with pytest.raises(GraphError, match="needs at least one device"):
        nn.ParallelMultiHeadAttention(3, [])
    layer = nn.ParallelMultiHeadAttention(2, CPUS[:2], name="seer")
    layer(x)
    with pytest.raises(ShapeError, match=r"'seer' was built for .* last dimension of 6"):
        layer(x, pg.Input((5, 7)))
