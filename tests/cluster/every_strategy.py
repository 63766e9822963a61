"""Trains three kinds of networks with every strategy; prints a digest of the weights after each of
three fits, so that a run on several processes can be compared with one."""

import json
from zlib import crc32

import numpy as np

import playgrad as pg
from playgrad import nn
from playgrad.parallel import DataParallel, LocalSGD, Pipeline

DEVICES, EPOCHS, CHOSEN = 4, 6, ()  # replaced by the tests
rng = np.random.default_rng(0)
X = rng.normal(size=(96, 12)).astype(np.float32)
Y = X[:, :4].argmax(1).astype(np.int32)
IMAGES = rng.integers(0, 256, (96, 8, 8, 1)).astype(np.uint8)
WORDS = rng.integers(0, 20, (96, 6)).astype(np.int32)


def mlp():
    widths = [24, 20, 16, 16, 12]
    hidden = [nn.Dense(width, activation="tanh") for width in widths]
    return pg.Sequential([*hidden, nn.Dropout(0.2), nn.Dense(4)]), X


def cnn():
    layers = [
        nn.Rescaling(1 / 255),
        nn.Conv2D(4, 3),
        nn.BatchNormalization(synchronized=True),
        nn.ReLU(),
        nn.Flatten(),
        nn.Dense(16, activation="relu"),
        nn.Dense(4),
    ]
    return pg.Sequential(layers), IMAGES


def attention():
    layers = [
        nn.Embedding(20, 8),
        nn.MultiHeadAttention(2, 4),
        nn.GlobalAveragePooling1D(),
        nn.Dense(8, activation="relu"),
        nn.Dense(4),
    ]
    return pg.Sequential(layers), WORDS


def divided():
    """Layers divided between two devices, of which each replica has two."""
    pair = ("cpu:0", "cpu:1")
    layers = [
        nn.ColumnParallelDense(16, pair, "relu"),
        nn.RowParallelDense(8, pair),
        nn.Dense(4),
    ]
    return pg.Sequential(layers), X


def divided_stages():
    """Two stages, of which each is divided between two devices."""
    first, second = ("cpu:0", "cpu:1"), ("cpu:2", "cpu:3")
    layers = [
        nn.ParallelMultiHeadAttention(2, first, 4),
        nn.Flatten(),
        nn.ColumnParallelDense(10, second, "relu"),
        nn.RowParallelDense(4, second),
    ]
    return pg.Sequential(layers), X.reshape(96, 2, 6)


CASES = {
    **{f"sync {name}": (mlp, DataParallel(DEVICES, name)) for name in ("ring", "tree", "central")},
    "sync in buckets": (cnn, DataParallel(DEVICES, "tree", 256)),
    "sync attention": (attention, DataParallel(DEVICES, "central")),
    "local": (mlp, LocalSGD(DEVICES, collective="ring")),
    **{
        f"pipeline {name}": (mlp, Pipeline(2, micro_batches=4, schedule=name))
        for name in ("gpipe", "1f1b", "interleaved", "bidirectional", "zero_bubble", "dualpipe")
    },
    "pipeline pipedream": (mlp, Pipeline(DEVICES, micro_batches=4, schedule="pipedream")),
    "pipeline cnn": (cnn, Pipeline(DEVICES, micro_batches=2)),
    "data and model": (divided, DataParallel(DEVICES)),
    "model and pipeline": (divided_stages, Pipeline(DEVICES, 2, devices_per_stage=2)),
    "replicated pipelines": (attention, Pipeline(DEVICES, micro_batches=2, replicas=2)),
}
if DEVICES == 8:
    strategy = Pipeline(8, 2, devices_per_stage=2, replicas=2)
    CASES["data, model and pipeline"] = divided_stages, strategy


def digests(build, strategy, fits=3):
    model, inputs = build()
    model.compile(
        pg.optim.Adam(0.01),
        loss=nn.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
        strategy=strategy,
    )
    result = []
    for _ in range(fits):
        history = model.fit(
            inputs,
            Y,
            batch_size=32,
            epochs=EPOCHS,
            verbose=0,
            validation_data=(inputs[:32], Y[:32]),
        )
        weights = b"".join(array.tobytes() for array in model.get_weights())
        values = [history.losses[-1], history.history["val_loss"][-1]]
        result.append([crc32(weights), *(f"{value:.9g}" for value in values)])
    model.close()
    return result


print(json.dumps({name: digests(*CASES[name]) for name in CHOSEN or CASES}))
