"""How the files beside this program were made, with TensorFlow 2.21.0, Keras 3 and tf_keras 2.21.

python make.py FOLDER writes them. Of SavedModels, only the variables are kept.
"""

# mypy: ignore-errors

import json
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


def convolutions():
    layers = tf_keras.layers
    return tf_keras.Sequential([
        layers.Input((6, 6, 2)), layers.Conv2D(3, 3, activation="relu", kernel_regularizer="l2"),
        layers.BatchNormalization(), layers.SeparableConv2D(4, 2), layers.Flatten(),
        layers.Dense(4, activation="tanh", kernel_constraint="max_norm"),
        layers.LeakyReLU(alpha=0.2), layers.Dense(3, activation="swish"),
    ])  # fmt: skip


def models_in_a_model():
    layers = tf_keras.layers
    images, inside = tf_keras.Input((6, 6, 2)), tf_keras.Input((4,))
    added = layers.Add()([inside, layers.Dense(4, name="in_d")(inside)])
    block = tf_keras.Model(inside, added, name="blk")
    chain = tf_keras.Sequential([layers.Dense(4, input_shape=(4,), name="c_d")], name="ch")
    x = layers.GlobalAveragePooling2D()(layers.Conv2D(4, 3)(images))
    shared = layers.Dense(4)
    y = layers.Concatenate()([block(shared(x)), block(shared(chain(x))), chain(x)])
    return tf_keras.Model(images, [layers.Dense(2)(y), chain(block(x))])


def convert(model, folder):
    """Write a model as tensorflowjs_converter writes those of Keras 2."""
    random = np.random.default_rng(0)
    shapes = [weight.shape for weight in model.get_weights()]
    model.set_weights([np.abs(random.normal(size=s) * 0.3).astype("f") + 0.05 for s in shapes])
    weights = [(each.name.split(":")[0], each.numpy()) for each in model.weights]
    folder.mkdir()
    file = "group1-shard1of1.bin"
    (folder / file).write_bytes(b"".join(array.tobytes() for _, array in weights))
    config = json.loads(model.to_json())
    entries = [{"name": n, "shape": list(a.shape), "dtype": "float32"} for n, a in weights]
    content = {
        "format": "layers-model",
        "generatedBy": "keras v2",
        "convertedBy": "TensorFlow.js Converter",
        "modelTopology": {
            "keras_version": "2.21.0",
            "backend": "tensorflow",
            "model_config": {key: config[key] for key in ("class_name", "config")},
        },
        "weightsManifest": [{"paths": [file], "weights": entries}],
    }
    (folder / "model.json").write_text(json.dumps(content))
    results = model.predict(X, verbose=0)
    np.savez(
        folder / "predictions.npz", *(results if isinstance(results, list) else [results]), x=X
    )


def main(folder):
    convert(convolutions(), folder / "converted_net")
    convert(models_in_a_model(), folder / "converted_fun")
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
