"""Networks for exported programs of PyTorch: the layers' table, and cases beyond it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import playgrad as pg
from playgrad import nn
from playgrad.nn.layer import layer_type
from tests.interchange.networks import MODELS, lenet, randoms
from tests.nn.test_layers import TABLE

Array = np.ndarray[Any, Any]


def of_layer(case: str) -> tuple[pg.Model, list[Array]]:
    """Return a model of one layer of the table."""
    template, arrays, _ = TABLE[case]
    with pg.Graph().as_default():
        layer = layer_type(template.kind).from_config(template.get_config())
        inputs = [pg.Input(x.shape[1:]) for x in arrays]
        return pg.Model(inputs, layer(inputs)), arrays


def images() -> pg.Model:
    """Padding that PyTorch has no argument for, and layers that are called twice."""
    inputs = pg.Input((7, 9, 3))
    x = nn.MaxPool2D(2, padding="same")(inputs)
    x = nn.AveragePool2D(3, strides=2, padding="same")(x)
    shared = nn.Conv2D(3, 3, padding="same", activation="silu")
    x = shared(nn.Add()([shared(x), x, x]))
    return pg.Model(inputs, nn.Dense(2)(nn.Flatten()(x)))


def branches() -> pg.Model:
    """Several inputs and outputs, operations between layers, and names that Python reserves."""
    left, right = pg.Input((4,), name="input"), pg.Input((5,), name="lambda")
    x = nn.Dense(3, name="forward")(left) * 2.0 + nn.Dense(3, name="train")(right)
    y = nn.Concatenate()([x, nn.Dense(6, activation="softplus", name="class")(right)])
    return pg.Model([left, right], [pg.exp(-x), nn.BatchNormalization(center=False)(y)])


def sequences() -> pg.Model:
    """States that are returned, directions that are merged, sequences that are flattened."""
    inputs = pg.Input((6, 3))
    x, hidden, cell = nn.LSTM(4, return_sequences=True, return_state=True)(inputs)
    both = nn.Bidirectional(nn.GRU(4), merge_mode="ave")(x)
    back = nn.SimpleRNN(4, go_backwards=True)(x)
    flat = nn.Dropout(0.1)(nn.Flatten()(nn.Conv1D(2, 3, activation="relu")(x)))
    merged = nn.Concatenate()([hidden, cell, both, back])
    return pg.Model(inputs, [nn.Dense(2)(merged), nn.Dense(2)(flat)])


def flattened() -> pg.Model:
    """Flattened images whose order others than dense layers see."""
    inputs = pg.Input((5, 5, 2))
    x = nn.Flatten()(nn.Conv2D(3, 2)(inputs))
    return pg.Model(inputs, [nn.Dense(4)(x), nn.LayerNormalization()(x)])


def transformer() -> pg.Model:
    inputs = pg.Input((6,), dtype="int32")
    x = nn.Embedding(9, 8)(inputs)
    x = nn.Add()([x, nn.PositionEmbedding(6)(x)])
    x = nn.TransformerDecoder(16, 2, activation="gelu", normalize_first=True)(x)
    x = nn.TransformerEncoder(12, 4, dropout=0.1)(x)
    return pg.Model(inputs, nn.Dense(9)(x), name="tiny reader")


OTHERS: dict[str, tuple[Callable[[], pg.Model], list[Array]]] = {
    "images": (images, [randoms(3, 7, 9, 3)]),
    "branches": (branches, [randoms(3, 4), randoms(3, 5)]),
    "sequences": (sequences, [randoms(3, 6, 3)]),
    "flattened": (flattened, [randoms(3, 5, 5, 2)]),
    "transformer": (transformer, [np.arange(18, dtype=np.int32).reshape(3, 6) % 9]),
}
NETWORKS = (*TABLE, *MODELS, *OTHERS)


def network(name: str) -> tuple[pg.Model, list[Array]]:
    """Return a network with weights unlike those at the start, and arrays for its inputs."""
    if name in TABLE:
        model, arrays = of_layer(name)
    else:
        build, data = {**MODELS, **OTHERS}[name]
        model, arrays = build(), data if isinstance(data, list) else [data]
    rng = np.random.default_rng(0)
    model.set_weights([w + 0.1 * np.abs(rng.normal(size=w.shape)) for w in model.get_weights()])
    return model, arrays


__all__ = ["NETWORKS", "lenet", "network"]
