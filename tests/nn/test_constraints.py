"""Constraints of weights: the formulas of Keras, after each update, on every device."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from tests.sweeps import sweep

Array = np.ndarray[Any, Any]
rng = np.random.default_rng(0)
X = rng.normal(size=(48, 6)).astype(np.float32)
Y = X[:, :3].argmax(1)


def norms_of(w: Array, axis: Any) -> Array:
    root: Array = np.sqrt((w**2).sum(axis=axis, keepdims=True))
    return root


def max_norm(w: Array, largest: float = 2.0, axis: Any = 0) -> Array:
    norms = norms_of(w, axis)
    return w * np.clip(norms, 0, largest) / (1e-7 + norms)


def unit_norm(w: Array, axis: Any = 0) -> Array:
    return w / (1e-7 + norms_of(w, axis))


def min_max_norm(
    w: Array, least: float = 0.0, most: float = 1.0, rate: float = 1.0, axis: Any = 0
) -> Array:
    norms = norms_of(w, axis)
    desired = rate * np.clip(norms, least, most) + (1 - rate) * norms
    return w * desired / (1e-7 + norms)


FORMULAS: list[tuple[Any, Callable[[Array], Array]]] = [
    ("non_neg", lambda w: w * (w >= 0)),
    ("max_norm", max_norm),
    ("UnitNorm", unit_norm),
    (nn.MinMaxNorm, min_max_norm),
    (nn.MaxNorm(0.5, axis=1), lambda w: max_norm(w, 0.5, 1)),
    (nn.UnitNorm(axis=[0, 1]), lambda w: unit_norm(w, (0, 1))),
    (nn.MinMaxNorm(0.5, 0.6, rate=0.3, axis=-1), lambda w: min_max_norm(w, 0.5, 0.6, 0.3, -1)),
    (lambda w: pg.clip(w, -0.1, 0.1), lambda w: np.clip(w, -0.1, 0.1)),
]


@pytest.mark.parametrize(("constraint", "formula"), FORMULAS)
@pytest.mark.parametrize("device", ["cpu", "gpu"])
def test_constraints_are_applied_after_the_update(
    constraint: Any, formula: Callable[[Array], Array], device: str
) -> None:
    """One step of SGD by hand; the initial weights themselves are not constrained."""
    w = rng.normal(size=(4, 3)).astype(np.float32)
    w[:, 1] = 0.0
    slope = rng.normal(size=(4, 3)).astype(np.float32)
    slope[:, 1] = 0.0
    with pg.Graph().as_default() as graph:
        weight = pg.Variable(w, "w", constraint=nn.constraints.get(constraint))
        update = pg.optim.SGD(0.25).minimize(pg.reduce_sum(weight * slope))
    with pg.Session(graph, device) as session:
        np.testing.assert_array_equal(session.value(weight), w)
        session.run(update)
        expected = formula(w - np.float32(0.25) * slope)
        np.testing.assert_allclose(session.value(weight), expected, rtol=2e-5, atol=1e-6)


def network(constraint: Any, strategy: Any = None, device: str = "cpu", **compiling: Any) -> Any:
    with pg.Graph(seed=1).as_default():
        model = pg.Sequential(
            [
                nn.Dense(8, "relu", kernel_constraint=constraint, bias_constraint="non_neg"),
                nn.Dense(3, kernel_constraint=constraint),
            ]
        )
    optimizer = compiling.get("optimizer", pg.optim.Adam(0.05))
    loss = nn.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer, loss, device=device, strategy=strategy)
    return model


STRATEGIES = [
    None,
    pg.parallel.DataParallel(2),
    pg.parallel.Pipeline(2, 2),
    pg.parallel.Pipeline(2, 4, schedule="bidirectional"),
    pg.parallel.Pipeline(2, 2, schedule="pipedream"),
    pg.parallel.Pipeline(4, 2, replicas=2),
    pg.parallel.LocalSGD(2, every=2),
    pg.parallel.AsynchronousDataParallel(1),
    pg.parallel.Overlap(2, always=True),
]


@pytest.mark.parametrize("strategy", STRATEGIES, ids=str)
def test_training_keeps_constraints_with_every_strategy(strategy: Any) -> None:
    model = network(nn.UnitNorm(), strategy)
    model.fit(X, Y, 16, 2, 0)
    weights = model.named_weights()
    for name in ("dense_1/kernel", "dense_2/kernel"):
        np.testing.assert_allclose(norms_of(weights[name], 0), 1.0, rtol=1e-5)
    assert weights["dense_1/bias"].min() == 0.0 < weights["dense_1/bias"].max()
    model.close()


@pytest.mark.parametrize(
    "strategy",
    [pg.parallel.DataParallel(2), pg.parallel.Pipeline(2, 2), pg.parallel.Overlap(2, always=True)],
    ids=str,
)
def test_strategies_give_the_result_of_one_device(strategy: Any) -> None:
    results = []
    for used in (None, strategy):
        model = network(nn.MaxNorm(0.7), used)
        losses = model.fit(X, Y, 16, 3, 0).losses
        results.append([losses, *model.get_weights()])
        model.close()
    for one, several in zip(*results, strict=True):
        np.testing.assert_allclose(several, one, rtol=1e-4, atol=1e-5)


@pytest.mark.slow
@pytest.mark.gpu
@pytest.mark.parametrize("strategy", [pg.parallel.DataParallel(2), pg.parallel.Pipeline(2, 2)])
def test_several_gpus_give_the_result_of_the_cpu(strategy: Any) -> None:
    pg.set_logical_devices(gpu=2)
    results = []
    for device, used in (("cpu", None), ("gpu", strategy)):
        model = network(nn.UnitNorm(), used, device)
        model.fit(X, Y, 16, 3, 0)
        results.append(model.get_weights())
        model.close()
    for cpu, gpu in zip(*results, strict=True):
        np.testing.assert_allclose(gpu, cpu, rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(norms_of(results[1][0], 0), 1.0, rtol=1e-5)


@pytest.mark.gpu
@pytest.mark.parametrize("optimizer", sweep(["sgd", "adam", "rmsprop", "lion"], often=["adam"]))
def test_the_gpu_gives_the_result_of_the_cpu(optimizer: str) -> None:
    results = []
    for device in ("cpu", "gpu"):
        made = {"sgd": pg.optim.SGD(0.1, 0.9), "adam": pg.optim.Adam(0.01, use_ema=True)}
        model = network(
            nn.MinMaxNorm(0.6, 0.7), None, device, optimizer=made.get(optimizer, optimizer)
        )
        model.fit(X, Y, 16, 3, 0)
        results.append(model.get_weights())
        model.close()
    for cpu, gpu in zip(*results, strict=True):
        np.testing.assert_allclose(gpu, cpu, rtol=1e-3, atol=1e-4)
    for kernel in (results[0][0], results[0][2]):
        norms = norms_of(kernel, 0)
        assert 0.59 < norms.min() <= norms.max() < 0.71


def test_a_loss_that_is_not_finite_changes_nothing() -> None:
    model = network(nn.UnitNorm())
    model.build((6,))
    before = model.get_weights()
    with pytest.raises(pg.NonFiniteError):  # the products overflow
        model.train_on_batch(np.full_like(X, 3e38), Y)
    for old, new in zip(before, model.get_weights(), strict=True):
        np.testing.assert_array_equal(new, old)
    model.train_on_batch(X, Y)
    np.testing.assert_allclose(norms_of(model.get_weights()[0], 0), 1.0, rtol=1e-5)
    model.close()


SEQUENCE, IMAGE = (5, 4), (6, 6, 2)
LAYERS: list[tuple[Any, tuple[int, ...], tuple[str, ...]]] = [
    (nn.Conv1D(3, 2), SEQUENCE, ("kernel", "bias")),
    (nn.Conv2D(3, 2), IMAGE, ("kernel", "bias")),
    (nn.Conv2DTranspose(3, 2), IMAGE, ("kernel", "bias")),
    (nn.DepthwiseConv2D(2), IMAGE, ("depthwise", "bias")),
    (nn.SeparableConv2D(3, 2), IMAGE, ("depthwise", "pointwise", "bias")),
    (nn.BatchNormalization(), SEQUENCE, ("gamma", "beta")),
    (nn.LayerNormalization(), SEQUENCE, ("gamma", "beta")),
    (nn.GroupNormalization(2), SEQUENCE, ("gamma", "beta")),
    (nn.PReLU("normal"), SEQUENCE, ("alpha",)),
    (nn.SimpleRNN(3), SEQUENCE, ("kernel", "recurrent", "bias")),
    (nn.LSTM(3), SEQUENCE, ("kernel", "recurrent", "bias")),
    (nn.GRU(3), SEQUENCE, ("kernel", "recurrent", "bias")),
    (nn.MultiHeadAttention(2), SEQUENCE, ("kernel", "bias")),
    (nn.TimeDistributed(nn.Dense(2)), SEQUENCE, ()),
    (nn.Bidirectional(nn.LSTM(2)), SEQUENCE, ()),
]


@pytest.mark.parametrize(("layer", "shape", "names"), LAYERS)
def test_every_weight_of_every_layer_can_be_constrained(
    layer: Any, shape: Any, names: tuple[str, ...]
) -> None:
    """The configuration as JSON, and then a step: no weight that is constrained is negative."""
    config = json.loads(json.dumps(layer.get_config()))
    inner = config["layer"]["config"] if "layer" in config else config
    for name in names or ("kernel", "bias"):
        assert inner[f"{name}_constraint"] is None
        inner[f"{name}_constraint"] = {"kind": "non_neg"}
    constrained = type(layer).from_config(config).clone()
    model = pg.Sequential([pg.Input(shape), constrained, nn.Flatten(), nn.Dense(1)])
    model.compile(pg.optim.SGD(0.5), "mse", device="cpu")
    batch = rng.normal(size=(8, *shape)).astype(np.float32)
    model.fit(batch, np.ones(8), 4, 1, 0)
    weights = {
        name: array
        for name, array in model.named_weights().items()
        if name.startswith(f"{constrained.name}/") and "moving" not in name
    }
    parts = [name.rpartition("/")[2] for name in weights]
    unconstrained = [n for n in parts if n == "recurrent_kernel" and "recurrent" not in names]
    assert len(weights) > len(unconstrained) or not names
    for name, array in weights.items():
        if name.rpartition("/")[2] not in unconstrained:
            assert array.min() >= 0.0, name
    model.close()


def test_embeddings_are_constrained_including_unused_rows() -> None:
    model = pg.Sequential(
        [nn.Embedding(5, 3, embeddings_constraint=nn.UnitNorm(axis=1)), nn.Flatten(), nn.Dense(1)]
    )
    model.compile("sgd", "mse", device="cpu")
    model.fit(np.array([[0, 4], [1, 2]]), np.ones(2), 2, 1, 0)
    np.testing.assert_allclose(norms_of(model.get_weights()[0], 1), 1.0, rtol=1e-5)  # unused too
    model.close()


def test_attention_weights_are_constrained_in_keras_shapes() -> None:
    """Keras keeps kernels as (features, heads, size), and the output's transposed."""
    layer = nn.MultiHeadAttention(2, 3, kernel_constraint="unit_norm", bias_constraint="max_norm")
    model = pg.Sequential([pg.Input(SEQUENCE), layer, nn.Flatten(), nn.Dense(1)])
    model.compile(pg.optim.SGD(0.1), "mse", device="cpu")
    model.fit(rng.normal(size=(8, *SEQUENCE)).astype(np.float32), np.ones(8), 4, 1, 0)
    weights = model.named_weights()
    prefix = layer.name
    for role in ("query", "key", "value"):
        kernel = weights[f"{prefix}/{role}_kernel"].reshape(4, 2, 3)
        np.testing.assert_allclose(norms_of(kernel, 0), 1.0, rtol=1e-5)
    output = weights[f"{prefix}/output_kernel"].reshape(2, 3, 4)
    np.testing.assert_allclose(norms_of(output, 0), 1.0, rtol=1e-5)
    model.close()


def test_shards_are_constrained_as_the_whole() -> None:
    devices = ("cpu:0", "cpu:1")
    pg.set_logical_devices(cpu=2)

    def trained(*layers: nn.Layer) -> list[Array]:
        with pg.Graph(seed=1).as_default():
            model = pg.Sequential(
                [
                    pg.Input((4, 6)),
                    *layers,
                    nn.Flatten(),
                    nn.Dense(3),
                ]
            )
        loss = nn.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(pg.optim.SGD(0.1), loss, device="cpu")
        model.fit(np.repeat(X[:, None], 4, 1), Y, 16, 2, 0)
        weights: list[Array] = model.get_weights()
        model.close()
        return weights

    down, across = nn.MaxNorm(0.5), nn.MaxNorm(0.4, axis=1)
    whole = trained(
        nn.Dense(8, "relu", kernel_constraint=down, bias_constraint="non_neg", name="a"),
        nn.Dense(6, kernel_constraint=across, bias_constraint="unit_norm", name="b"),
        nn.MultiHeadAttention(2, kernel_constraint="non_neg", name="c"),
    )
    shards = trained(
        nn.ColumnParallelDense(
            8, devices, "relu", kernel_constraint=down, bias_constraint="non_neg", name="a"
        ),
        nn.RowParallelDense(
            6, devices, kernel_constraint=across, bias_constraint="unit_norm", name="b"
        ),
        nn.ParallelMultiHeadAttention(2, devices, kernel_constraint="non_neg", name="c"),
    )
    for expected, actual in zip(whole, shards, strict=True):
        np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-6)
    assert shards[4].min() == 0.0
    for layer in (
        nn.RowParallelDense(4, devices, kernel_constraint="max_norm", name="d"),
        nn.ColumnParallelDense(4, devices, bias_constraint=nn.UnitNorm(axis=-1), name="d"),
        nn.ParallelMultiHeadAttention(
            2, devices, kernel_constraint=lambda w: pg.clip(w, 0, 1), name="d"
        ),
    ):
        with pytest.raises(pg.GraphError, match=r"layer 'd' is divided among devices along axis"):
            pg.Sequential([pg.Input((4, 6)), layer])


def test_constraints_are_known_by_name_and_configurable() -> None:
    layer = nn.Dense(2, kernel_constraint="MaxNorm", bias_constraint="nonneg")
    config = layer.get_config()
    assert config["kernel_constraint"] == {"kind": "max_norm", "max_value": 2.0, "axis": 0}
    assert config["bias_constraint"] == {"kind": "non_neg"}
    again = nn.Conv2D(2, 3, kernel_constraint=nn.MinMaxNorm(0.1, 2, 0.5, axis=(0, 1, 2)))
    config = json.loads(json.dumps(again.get_config()))
    assert nn.Conv2D.from_config(config).kernel_constraint == again.kernel_constraint
    with pytest.raises(pg.GraphError, match=r"no constraint 'max'.*non_neg, max_norm, unit_norm"):
        nn.Dense(2, kernel_constraint="max")
    with pytest.raises(pg.GraphError, match="is a function, which cannot be saved"):
        nn.Dense(2, kernel_constraint=pg.relu).get_config()


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: nn.MaxNorm(-1), "max_value of MaxNorm must be a number of at least 0, got -1"),
        (lambda: nn.MaxNorm(axis=0.5), "axis of MaxNorm must be a whole number or several"),
        (lambda: nn.MinMaxNorm(2, 1), "min_value of MinMaxNorm must be at most max_value=1, got 2"),
        (lambda: nn.MinMaxNorm(rate=2), "rate of MinMaxNorm must be a number from 0 to 1, got 2"),
    ],
)
def test_invalid_values_are_refused(build: Callable[[], Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        build()


def test_an_axis_that_the_weight_lacks_is_refused() -> None:
    model = pg.Sequential([nn.Dense(1, bias_constraint=nn.MaxNorm(axis=1))])
    model.compile("sgd", "mse", device="cpu")
    with pytest.raises(pg.PlaygradError, match="dense_1/bias"):
        model.fit(X, Y, verbose=0)


def test_custom_constraints_are_applied() -> None:
    @dataclass(frozen=True)
    class Ternary(nn.Constraint):
        kind = "ternary_for_a_test"
        step: float = 0.5

        def __call__(self, weight: pg.Tensor) -> pg.Tensor:
            return pg.clip(pg.round(weight / self.step), -1.0, 1.0) * self.step

    model = pg.Sequential([nn.Dense(4, kernel_constraint="ternary_for_a_test"), nn.Dense(1)])
    model.compile("sgd", "mse", device="cpu")
    model.fit(X, Y, 16, 1, 0)
    assert set(np.unique(model.get_weights()[0])) <= {-0.5, 0.0, 0.5}
    model.close()
