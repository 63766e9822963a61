"""The canonical form of a network: other layers, the same predictions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.compression.canonical import canonical
from playgrad.compression.rewriting import draft_of, opened

IMAGE = np.random.default_rng(1).normal(size=(6, 7, 7, 3)).astype(np.float32)
SEQUENCE = np.random.default_rng(2).normal(size=(6, 9, 3)).astype(np.float32)
ROW = np.random.default_rng(3).normal(size=(6, 5)).astype(np.float32)
CASES: dict[str, tuple[Callable[[], list[Any]], Any, list[str]]] = {
    "after dense": (lambda: [nn.Dense(4), nn.BatchNormalization()], ROW, ["dense"]),
    "before dense": (
        lambda: [nn.ReLU(), nn.BatchNormalization(), nn.Dense(4, use_bias=False)],
        ROW,
        ["re_lu", "dense"],
    ),
    "on both sides": (
        lambda: [nn.BatchNormalization(), nn.Conv2D(4, 3), nn.BatchNormalization(scale=False)],
        IMAGE,
        ["conv2d"],
    ),
    "before padding": (
        lambda: [nn.BatchNormalization(center=False), nn.Conv2D(4, 3, padding="same")],
        IMAGE,
        ["depthwise_conv2d", "conv2d"],
    ),
    "sequence": (
        lambda: [nn.BatchNormalization(), nn.Conv1D(4, 3), nn.BatchNormalization()],
        SEQUENCE,
        ["conv1d"],
    ),
    "depthwise": (
        lambda: [
            nn.BatchNormalization(),
            nn.DepthwiseConv2D(3, depth_multiplier=2),
            nn.BatchNormalization(),
        ],
        IMAGE,
        ["depthwise_conv2d"],
    ),
    "groups": (
        lambda: [nn.BatchNormalization(), nn.Conv2D(6, 2, groups=3), nn.BatchNormalization()],
        IMAGE,
        ["depthwise_conv2d", "conv2d"],
    ),
    "transposed": (
        lambda: [nn.Conv2DTranspose(4, 3, strides=2), nn.BatchNormalization()],
        IMAGE,
        ["conv2d_transpose"],
    ),
    "separable": (
        lambda: [nn.SeparableConv2D(4, 3, activation="swish")],
        IMAGE,
        ["depthwise_conv2d", "conv2d", "activation"],
    ),
    "after an activation": (
        lambda: [nn.Dense(4, activation="relu"), nn.BatchNormalization()],
        ROW,
        ["dense", "reshape", "conv1d", "reshape"],
    ),
    "sequence with padding": (
        lambda: [nn.BatchNormalization(), nn.Conv1D(4, 3, padding="causal")],
        SEQUENCE,
        ["conv1d", "conv1d"],
    ),
    "another axis": (
        lambda: [nn.Conv2D(4, 3), nn.BatchNormalization(axis=1)],
        IMAGE,
        ["conv2d", "batch_normalization"],
    ),
    "training only": (
        lambda: [
            nn.RandomFlip(),
            nn.GaussianNoise(0.5),
            nn.SpatialDropout2D(0.5),
            nn.Conv2D(2, 1),
        ],
        IMAGE,
        ["conv2d"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_predictions_are_the_same(name: str) -> None:
    make, x, kinds = CASES[name]
    model = pg.Sequential(make())
    model.compile("sgd", "mse", device="cpu")
    model.build(x.shape[1:])
    random = np.random.default_rng(4)
    model.set_weights(
        {
            key: (0.5 + np.abs(random.normal(size=value.shape))).astype(np.float32)
            if key.endswith(("variance", "gamma"))
            else random.normal(size=value.shape).astype(np.float32)
            for key, value in model.named_weights().items()
        }
    )
    form = canonical(draft_of(model))
    assert [layer.kind for layer in form.draft.structure.layers] == kinds
    with opened(form.draft, model) as network:
        (result,) = network.session.run(list(network.outputs), {network.inputs[0]: x})
    assert np.allclose(result, model.predict(x), rtol=1e-4, atol=1e-4)


def test_a_normalization_that_others_need_stays() -> None:
    entry = pg.Input((7, 7, 3))
    x = nn.Conv2D(4, 3)(entry)
    model = pg.Model(entry, [nn.BatchNormalization()(x), nn.ReLU()(x)])
    form = canonical(draft_of(model))
    kinds = {layer.kind for layer in form.draft.structure.layers}
    assert kinds == {"conv2d", "depthwise_conv2d", "re_lu"}
