"""Networks of every kind of layer that integers replace, with random weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import playgrad as pg
from playgrad import nn

Array = np.ndarray[Any, Any]
random = np.random.default_rng(3)
SEQUENCE = random.normal(size=(24, 12, 3)).astype(np.float32)
IMAGE = random.normal(size=(24, 8, 7, 3)).astype(np.float32)
PIXELS = random.integers(0, 256, (24, 8, 8, 1)).astype(np.uint8)
TOKENS = random.integers(0, 20, (24, 9)).astype(np.int32)


def dense() -> pg.Model:
    return pg.Sequential(
        [
            pg.Input((12, 3)),
            nn.Dense(8, activation="relu6"),
            nn.Dropout(0.2),
            nn.Flatten(),
            nn.Dense(6, activation="tanh"),
            nn.Dense(4, use_bias=False),
        ]
    )


def images() -> pg.Model:
    return pg.Sequential(
        [
            pg.Input((8, 8, 1), dtype="uint8"),
            nn.Rescaling(1 / 255),
            nn.Conv2D(6, 3, padding="same", strides=2),
            nn.BatchNormalization(),
            nn.ReLU(),
            nn.DepthwiseConv2D(3, depth_multiplier=2, padding="same", activation="relu"),
            nn.MaxPool2D(2),
            nn.BatchNormalization(),
            nn.Conv2D(8, 1, groups=2),
            nn.GlobalAveragePooling2D(),
            nn.Dense(5, activation="softmax"),
        ]
    )


def sequences() -> pg.Model:
    return pg.Sequential(
        [
            pg.Input((12, 3)),
            nn.Conv1D(6, 3, padding="causal", dilation_rate=2, activation="relu"),
            nn.AveragePool1D(3, strides=2, padding="same"),
            nn.Conv1D(5, 2, activation="gelu"),
            nn.MaxPool1D(2),
            nn.GlobalMaxPooling1D(),
            nn.Dense(3, activation="sigmoid"),
        ]
    )


def branches() -> pg.Model:
    x = pg.Input((8, 7, 3))
    first = nn.SeparableConv2D(4, 3, padding="same", activation="elu")(x)
    second = nn.Conv2D(4, 3, dilation_rate=2, padding="same")(x)
    third = nn.LeakyReLU(0.1)(nn.Conv2D(4, 1)(x))
    total = nn.Activation("relu")(nn.Add()([first, second, third]))
    both = nn.Concatenate()([total, nn.AveragePool2D(3, 1, "same")(first)])
    larger = nn.Conv2DTranspose(3, 3, strides=2, padding="same")(both)
    wide = nn.Conv2DTranspose(2, (2, 4), strides=(3, 1), dilation_rate=(1, 2))(total)
    pooled = [nn.GlobalAveragePooling2D()(larger), nn.GlobalMaxPooling2D()(wide)]
    return pg.Model(x, nn.Dense(4)(nn.Concatenate()(pooled)))


def words() -> pg.Model:
    return pg.Sequential(
        [
            pg.Input((9,), dtype="int32"),
            nn.Embedding(20, 6),
            nn.Permute((2, 1)),
            nn.Reshape((9, 6)),
            nn.Conv1D(4, 3, activation="swish"),
            nn.GlobalAveragePooling1D(),
            nn.Dense(3),
            nn.Softmax(),
        ]
    )


NETWORKS: dict[str, tuple[Callable[[], pg.Model], Array]] = {
    "dense": (dense, SEQUENCE),
    "images": (images, PIXELS),
    "sequences": (sequences, SEQUENCE),
    "branches": (branches, IMAGE),
    "words": (words, TOKENS),
}


def network(name: str, device: str = "cpu") -> tuple[pg.Model, Array]:
    """Return a compiled network with random weights, and inputs for it."""
    make, x = NETWORKS[name]
    model = make()
    model.compile(pg.optim.Adam(1e-3), "mse", device=device)
    numbers = np.random.default_rng(5)
    model.set_weights(
        {
            key: (
                numbers.uniform(0.5, 2, value.shape)
                if key.endswith("variance")
                else numbers.normal(0, 0.4, value.shape)
            ).astype(np.float32)
            for key, value in model.named_weights().items()
        }
    )
    return model, x
