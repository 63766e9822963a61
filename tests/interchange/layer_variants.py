"""Small networks of a layer with the arguments that change its results, and layers behind it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import playgrad as pg
from playgrad import nn
from tests.interchange.networks import randoms

Array = np.ndarray[Any, Any]

IMAGES, SEQUENCES, VECTORS = randoms(2, 7, 6, 3), randoms(3, 5, 6), randoms(4, 6)
TOKENS = np.asarray([[1, 4, 0, 0, 0], [2, 3, 5, 0, 0], [1, 2, 3, 4, 5]], np.int32)

OF_IMAGES: list[Callable[[], nn.Layer]] = [
    lambda: nn.Reshape((-1,)),
    lambda: nn.Reshape((-1, 3)),
    lambda: nn.Reshape((3, -1)),
    lambda: nn.Reshape((3, 7, 6)),
    lambda: nn.Flatten(),
    lambda: nn.Permute((2, 3, 1)),
    lambda: nn.Conv2D(4, 3, padding="same"),
    lambda: nn.Conv2D(4, 3, strides=2, padding="same", activation="relu"),
    lambda: nn.Conv2D(4, 2, strides=3, use_bias=False),
    lambda: nn.Conv2D(4, (3, 2), strides=(2, 1)),
    lambda: nn.Conv2D(4, 2, dilation_rate=2),
    lambda: nn.Conv2D(6, 3, groups=3, padding="same"),
    lambda: nn.Conv2DTranspose(4, 3),
    lambda: nn.Conv2DTranspose(4, 3, strides=2, padding="same"),
    lambda: nn.Conv2DTranspose(4, 2, strides=3),
    lambda: nn.Conv2DTranspose(4, 2, strides=3, padding="same"),
    lambda: nn.Conv2DTranspose(4, 4, strides=2, padding="same", use_bias=False),
    lambda: nn.Conv2DTranspose(4, 3, dilation_rate=2),
    lambda: nn.DepthwiseConv2D(3, depth_multiplier=2),
    lambda: nn.DepthwiseConv2D(3, strides=2, padding="same"),
    lambda: nn.DepthwiseConv2D(2, dilation_rate=2),
    lambda: nn.SeparableConv2D(4, 3, depth_multiplier=2, activation="tanh"),
    lambda: nn.SeparableConv2D(4, 3, strides=2, padding="same"),
    lambda: nn.SeparableConv2D(4, 2, dilation_rate=2, use_bias=False),
    lambda: nn.MaxPooling2D(3, strides=2),
    lambda: nn.MaxPooling2D(3, strides=2, padding="same"),
    lambda: nn.MaxPooling2D((2, 3)),
    lambda: nn.AveragePooling2D(3, strides=2),
    lambda: nn.AveragePooling2D(3, strides=2, padding="same"),
    lambda: nn.GlobalAveragePooling2D(),
    lambda: nn.GlobalAveragePooling2D(keepdims=True),
    lambda: nn.GlobalMaxPooling2D(),
    lambda: nn.ZeroPadding2D(((1, 2), (0, 3))),
    lambda: nn.Cropping2D(((1, 0), (0, 2))),
    lambda: nn.UpSampling2D((2, 3)),
    lambda: nn.UpSampling2D(2, interpolation="bilinear"),
    lambda: nn.BatchNormalization(),
    lambda: nn.BatchNormalization(center=False, epsilon=0.1),
    lambda: nn.BatchNormalization(scale=False),
    lambda: nn.BatchNormalization(axis=1),
    lambda: nn.LayerNormalization(),
    lambda: nn.LayerNormalization(axis=(1, 2, 3)),
    lambda: nn.LayerNormalization(scale=False, epsilon=0.1),
    lambda: nn.GroupNormalization(groups=3),
    lambda: nn.PReLU(),
    lambda: nn.PReLU(shared_axes=[1, 2]),
    lambda: nn.Dropout(0.3),
    lambda: nn.SpatialDropout2D(0.3),
    lambda: nn.Softmax(axis=1),
    lambda: nn.Softmax(),
    lambda: nn.Rescaling(1 / 127.5, offset=-1),
    lambda: nn.Normalization(mean=[0.1, 0.2, 0.3], variance=[1.0, 2.0, 3.0]),
    lambda: nn.TimeDistributed(nn.Conv1D(2, 3)),
    lambda: nn.TimeDistributed(nn.LSTM(2)),
    lambda: nn.TimeDistributed(nn.Flatten()),
    lambda: nn.TimeDistributed(nn.Reshape((-1,))),
    lambda: nn.Dense(4),
]
OF_SEQUENCES: list[Callable[[], nn.Layer]] = [
    lambda: nn.Reshape((-1,)),
    lambda: nn.Reshape((-1, 2)),
    lambda: nn.Conv1D(4, 3, padding="same", activation="silu"),
    lambda: nn.Conv1D(4, 3, strides=2, padding="same"),
    lambda: nn.Conv1D(4, 2, dilation_rate=2),
    lambda: nn.Conv1D(4, 2, padding="causal"),
    lambda: nn.Conv1D(4, 2, padding="causal", dilation_rate=2),
    lambda: nn.MaxPooling1D(3, strides=2, padding="same"),
    lambda: nn.AveragePooling1D(2),
    lambda: nn.AveragePooling1D(3, strides=2, padding="same"),
    lambda: nn.GlobalAveragePooling1D(),
    lambda: nn.GlobalMaxPooling1D(keepdims=True),
    lambda: nn.ZeroPadding1D((1, 2)),
    lambda: nn.Cropping1D((1, 2)),
    lambda: nn.UpSampling1D(2),
    lambda: nn.SpatialDropout1D(0.3),
    lambda: nn.Permute((2, 1)),
    lambda: nn.LSTM(4),
    lambda: nn.LSTM(4, return_sequences=True, go_backwards=True),
    lambda: nn.LSTM(4, use_bias=False, activation="relu", recurrent_activation="hard_sigmoid"),
    lambda: nn.LSTM(4, dropout=0.2, recurrent_dropout=0.2),
    lambda: nn.GRU(4),
    lambda: nn.GRU(4, reset_after=False),
    lambda: nn.GRU(4, reset_after=False, return_sequences=True, use_bias=False),
    lambda: nn.GRU(4, use_bias=False, go_backwards=True),
    lambda: nn.SimpleRNN(4, return_sequences=True),
    lambda: nn.SimpleRNN(4, activation="relu", go_backwards=True),
    lambda: nn.Bidirectional(nn.LSTM(3)),
    lambda: nn.Bidirectional(nn.LSTM(3, return_sequences=True), merge_mode="sum"),
    lambda: nn.Bidirectional(nn.SimpleRNN(3, return_sequences=True), merge_mode="ave"),
    lambda: nn.Bidirectional(nn.GRU(3, reset_after=False), merge_mode="mul"),
    lambda: nn.Masking(0.0),
    lambda: nn.MultiHeadAttention(2, 3),
    lambda: nn.MultiHeadAttention(2, 3, use_bias=False, causal=True),
    lambda: nn.TimeDistributed(nn.Dense(4, activation="tanh")),
    lambda: nn.BatchNormalization(),
    lambda: nn.LayerNormalization(axis=(1, 2)),
    lambda: nn.RMSNormalization(),
]
OF_VECTORS: list[Callable[[], nn.Layer]] = [
    lambda: nn.Reshape((-1,)),
    lambda: nn.Reshape((2, -1)),
    lambda: nn.Reshape((1, 6)),
    lambda: nn.Flatten(),
    lambda: nn.RepeatVector(3),
    lambda: nn.Dense(5, use_bias=False),
    lambda: nn.ReLU(),
    lambda: nn.ReLU(max_value=1.0),
    lambda: nn.ReLU(negative_slope=0.2),
    lambda: nn.ReLU(max_value=1.0, negative_slope=0.2, threshold=0.3),
    lambda: nn.LeakyReLU(),
    lambda: nn.LeakyReLU(0.1),
    lambda: nn.ELU(),
    lambda: nn.ELU(0.5),
    lambda: nn.PReLU(),
    lambda: nn.Softmax(),
    lambda: nn.GaussianNoise(0.2),
    lambda: nn.BatchNormalization(momentum=0.9, epsilon=1e-5),
]


def _behind(layer: nn.Layer, x: Array, dtype: str = "float32") -> pg.Model:
    """Return a network of ``layer``, and of layers that need the shape of its result."""
    source = pg.Input(x.shape[1:], dtype=dtype)
    y = nn.Dense(3)(layer(source))
    return pg.Model(source, nn.Dense(2)(nn.Flatten()(y)) if y.spec.rank > 2 else y)


def _pair(merge: nn.Layer, *shapes: tuple[int, ...]) -> tuple[pg.Model, list[Array]]:
    inputs = [pg.Input(shape) for shape in shapes]
    y = nn.Dense(2)(merge(inputs))
    return pg.Model(inputs, y), [randoms(3, *shape) for shape in shapes]


def _text(*layers: nn.Layer) -> tuple[pg.Model, list[Array]]:
    chain = [pg.Input((5,), dtype="int32"), nn.Embedding(20, 4, mask_zero=True), *layers]
    return pg.Sequential([*chain, nn.Dense(2)]), [TOKENS]


def _added(merge: nn.Layer) -> tuple[pg.Model, list[Array]]:
    """Return a network that reads two masked sequences together."""
    inputs = [pg.Input((5,), dtype="int32") for _ in range(2)]
    sequences = [nn.Embedding(20, 4, mask_zero=True)(x) for x in inputs]
    return pg.Model(inputs, nn.LSTM(3)(merge(sequences))), [TOKENS, TOKENS[::-1].copy()]


OTHERS: dict[str, Callable[[], tuple[pg.Model, list[Array]]]] = {
    "dot of vectors": lambda: _pair(nn.Dot(1), (4,), (4,)),
    "dot, normalized": lambda: _pair(nn.Dot(1, normalize=True), (4,), (4,)),
    "dot of two axes": lambda: _pair(nn.Dot((2, 1)), (3, 4), (4, 2)),
    "dot of the last axes": lambda: _pair(nn.Dot(-1), (3, 4), (2, 4)),
    "concatenated": lambda: _pair(nn.Concatenate(), (3, 4), (3, 2)),
    "concatenated rows": lambda: _pair(nn.Concatenate(axis=1), (3, 4), (2, 4)),
    "broadcast sum": lambda: _pair(nn.Add(), (3, 4), (1, 4)),
    "subtracted": lambda: _pair(nn.Subtract(), (4,), (4,)),
    "multiplied": lambda: _pair(nn.Multiply(), (4,), (4,), (4,)),
    "tokens, LSTM": lambda: _text(nn.LSTM(3)),
    "tokens, GRU": lambda: _text(nn.GRU(3, reset_after=False)),
    "tokens, two ways": lambda: _text(nn.Bidirectional(nn.LSTM(3))),
    "tokens, mean": lambda: _text(nn.GlobalAveragePooling1D()),
    "tokens, largest": lambda: _text(nn.GlobalMaxPooling1D()),
    "tokens, flat": lambda: _text(nn.Flatten()),
    "tokens, attention": lambda: _text(nn.MultiHeadAttention(2, 3), nn.GlobalAveragePooling1D()),
    "tokens, two LSTMs": lambda: _text(nn.LSTM(3, return_sequences=True), nn.LSTM(2)),
    "tokens, dense steps": lambda: _text(nn.TimeDistributed(nn.Dense(3)), nn.LSTM(2)),
    "tokens, dropped": lambda: _text(nn.SpatialDropout1D(0.2), nn.LayerNormalization(), nn.GRU(3)),
    "tokens, normalized": lambda: _text(nn.BatchNormalization(), nn.LSTM(3)),
    "tokens, permuted": lambda: _text(nn.Permute((2, 1)), nn.SimpleRNN(3)),
    "tokens, added": lambda: _added(nn.Add()),
    "tokens, concatenated": lambda: _added(nn.Concatenate()),
    "tokens, convolution": lambda: _text(nn.Conv1D(3, 2), nn.GlobalMaxPooling1D()),
}


def _named(layers: list[Callable[[], nn.Layer]], x: Array) -> dict[str, Any]:
    """Return the networks by a name of the layer and its arguments."""

    def network(build: Callable[[], nn.Layer]) -> Callable[[], tuple[pg.Model, list[Array]]]:
        return lambda: (_behind(build(), x), [x])

    return {
        f"{build().kind} of rank {x.ndim}, {i}": network(build) for i, build in enumerate(layers)
    }


VARIANTS: dict[str, Callable[[], tuple[pg.Model, list[Array]]]] = {
    **_named(OF_IMAGES, IMAGES),
    **_named(OF_SEQUENCES, SEQUENCES),
    **_named(OF_VECTORS, VECTORS),
    **OTHERS,
}


def variant(name: str) -> tuple[pg.Model, list[Array]]:
    """Return a network with weights unlike those at the start, and its inputs."""
    model, xs = VARIANTS[name]()
    random = np.random.default_rng(0)
    weights = model.get_weights()
    model.set_weights([w + np.abs(random.normal(0, 0.1, w.shape)).astype(w.dtype) for w in weights])
    return model, xs
