"""How the files beside this program were made, with TensorFlow 2.21.0, Keras 3 and tf_keras 2.21.

python make.py FOLDER writes them. Of SavedModels, only the variables are kept.
"""

# mypy: ignore-errors

import sys
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf
import tf_keras

X = np.sin(np.arange(3 * 72)).reshape(3, 6, 6, 2).astype("f")
WORDS = (np.arange(15) * 5 % 9).reshape(3, 5).astype("i4")


def net(library):
    layers = library.layers
    return library.Sequential([
        layers.Input((6, 6, 2)), layers.Conv2D(3, 3, activation="relu"),
        layers.BatchNormalization(), layers.Flatten(), layers.Dense(4, activation="tanh"),
        layers.Dense(4), layers.Dense(3),
    ])  # fmt: skip


def seq(library):
    layers = library.layers
    return library.Sequential([
        layers.Input((5,)), layers.Embedding(9, 4), layers.LSTM(3, return_sequences=True),
        layers.Bidirectional(layers.GRU(3)), layers.Dense(2),
    ])  # fmt: skip


def main(folder):
    expected = {}
    for name, library in (("keras3", keras), ("keras2", tf_keras)):
        for build, x in ((net, X), (seq, WORDS)):
            model, label = build(library), f"{name}_{build.__name__}"
            model.compile("adam", "mse")
            model.fit(x, np.zeros_like(model.predict(x, verbose=0)), verbose=0)
            random = np.random.default_rng(0)
            shapes = [weight.shape for weight in model.get_weights()]
            model.set_weights(
                [np.abs(random.normal(size=s) * 0.3).astype("f") + 0.05 for s in shapes]
            )
            (model.export if library is keras else model.save)(f"{folder}/{label}")
            tf.train.Checkpoint(model=model).write(f"{folder}/ckpt_{label}/ckpt")
            expected[label] = model.predict(x, verbose=0)
    np.savez(folder / "inputs.npz", net=X, seq=WORDS)
    np.savez(folder / "expected.npz", **expected)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
