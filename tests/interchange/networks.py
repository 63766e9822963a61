"""Networks of many layers, which formats must carry."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import playgrad as pg
from playgrad import nn

Array = np.ndarray[Any, Any]


def randoms(*shape: int) -> Array:
    return np.random.default_rng(len(shape)).normal(size=shape).astype(np.float32)


def lenet() -> pg.Model:
    return pg.Sequential([
        pg.Input((28, 28)), nn.Rescaling(1 / 255), nn.Reshape((28, 28, 1)),
        nn.Conv2D(6, 5, padding="same", activation="relu"), nn.MaxPooling2D(),
        nn.Conv2D(16, 5, activation="relu"), nn.AveragePooling2D(), nn.Flatten(),
        nn.Dense(120, activation="tanh"), nn.Dropout(0.5), nn.Dense(10, activation="softmax"),
    ])  # fmt: skip


def residual() -> pg.Model:
    inputs = pg.Input((8, 8, 3))
    x = nn.Conv2D(4, 3, padding="same", use_bias=False)(inputs)
    x = nn.ReLU()(nn.BatchNormalization()(x))
    x = nn.Add()([x, nn.Conv2D(4, 1)(inputs)])
    x = nn.SeparableConv2D(6, 3, strides=2, padding="same")(x)
    x = nn.GroupNormalization(groups=2)(x)
    return pg.Model(inputs, nn.Dense(3)(nn.GlobalAveragePooling2D()(x)))


def encoder_decoder() -> pg.Model:
    return pg.Sequential([
        pg.Input((8, 8, 2)), nn.Conv2D(4, 3, strides=2, padding="same", activation="gelu"),
        nn.Conv2DTranspose(3, 3, strides=2, padding="same", activation="elu"),
        nn.UpSampling2D(2, interpolation="bilinear"), nn.ZeroPadding2D(1),
        nn.DepthwiseConv2D(3, dilation_rate=2), nn.PReLU(shared_axes=[1, 2]),
    ])  # fmt: skip


def reader() -> pg.Model:
    return pg.Sequential([
        pg.Input((6,), dtype="int32"), nn.Embedding(20, 8), nn.LSTM(5, return_sequences=True),
        nn.Bidirectional(nn.GRU(4, return_sequences=True)), nn.LayerNormalization(),
        nn.Conv1D(3, 2, padding="causal"), nn.SimpleRNN(4), nn.Dense(3),
    ])  # fmt: skip


def attention() -> pg.Model:
    inputs = pg.Input((5, 8))
    x = nn.MultiHeadAttention(num_heads=2, key_dim=4)(inputs, inputs, use_causal_mask=True)
    x = nn.LayerNormalization()(nn.Add()([x, inputs]))
    return pg.Model(inputs, [nn.Dense(4, activation="silu")(x), nn.GlobalMaxPooling1D()(x)])


MODELS: dict[str, tuple[Callable[[], pg.Model], Array]] = {
    "lenet": (lenet, 100 * np.abs(randoms(3, 28, 28))),
    "residual": (residual, randoms(3, 8, 8, 3)),
    "encoder_decoder": (encoder_decoder, randoms(3, 8, 8, 2)),
    "reader": (reader, np.arange(18, dtype=np.int32).reshape(3, 6)),
    "attention": (attention, randoms(3, 5, 8)),
}


def built(name: str) -> tuple[pg.Model, Array]:
    """Return a network with weights unlike those at the start, and samples for it."""
    build, x = MODELS[name]
    model = build()
    rng = np.random.default_rng(0)
    model.set_weights([w + 0.1 * np.abs(rng.normal(size=w.shape)) for w in model.get_weights()])
    return model, x


def predictions(model: pg.Model, x: Array) -> list[Array]:
    """Return what each output predicts."""
    results = model.predict(x)
    return results if isinstance(results, list) else [results]
