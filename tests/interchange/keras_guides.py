"""Models as the guides and tutorials of Keras build them, small, with inputs for each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.interchange.keras_side import keras
from tests.interchange.networks import randoms

Array = np.ndarray[Any, Any]
layers = keras.layers
TOKENS = np.asarray([[3, 4, 0, 0, 0, 0], [1, 2, 5, 6, 0, 0], [7, 8, 9, 1, 2, 3]], np.int32)
IMAGES, TABLE, SERIES = np.abs(randoms(3, 12, 12, 3)), 3 * randoms(6, 5) + 1, randoms(3, 8, 2)

GUIDES: dict[str, tuple[Callable[[], Any], list[Array]]] = {}


def guide(*inputs: Array) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    """Register a function that builds a model for ``inputs``."""

    def register(build: Callable[[], Any]) -> Callable[[], Any]:
        GUIDES[build.__name__] = (build, list(inputs))
        return build

    return register


def _tokens() -> tuple[Any, Any]:
    inputs = keras.Input((6,), dtype="int32")
    return inputs, layers.Embedding(20, 4, mask_zero=True)(inputs)


@guide(TABLE)
def mlp_without_an_input() -> Any:
    model = keras.Sequential([layers.Dense(8, activation="relu"), layers.Dense(3)])
    model.build((None, 5))
    return model


@guide(TABLE)
def adapted_normalization() -> Any:
    normalization = layers.Normalization()
    normalization.adapt(TABLE)
    return keras.Sequential([normalization, layers.Dense(4, "relu"), layers.Dense(1)])


@guide(TABLE)
def adapted_normalization_in_a_graph() -> Any:
    normalization = layers.Normalization(axis=-1, name="features")
    normalization.adapt(TABLE)
    inputs = keras.Input((5,))
    return keras.Model(inputs, layers.Dense(2)(normalization(inputs)))


@guide(TABLE)
def adapted_normalization_of_all_values() -> Any:
    normalization = layers.Normalization(axis=None)
    normalization.adapt(TABLE)
    return keras.Sequential([keras.Input((5,)), normalization, layers.Dense(2)])


@guide(IMAGES)
def adapted_normalization_of_images() -> Any:
    normalization = layers.Normalization()
    normalization.adapt(IMAGES)
    denormalization = layers.Normalization(invert=True)
    denormalization.adapt(IMAGES)
    return keras.Sequential([
        keras.Input((12, 12, 3)), normalization, layers.Conv2D(3, 3), denormalization,
        layers.Flatten(), layers.Dense(2),
    ])  # fmt: skip


@guide(IMAGES)
def images_with_augmentation() -> Any:
    augmentation = keras.Sequential([layers.RandomFlip("horizontal"), layers.RandomRotation(0.1)])
    inputs = keras.Input((12, 12, 3))
    x = layers.Rescaling(1.0 / 255)(augmentation(inputs))
    for filters in (4, 8):
        x = layers.MaxPooling2D(2)(layers.Conv2D(filters, 3, activation="relu")(x))
    return keras.Model(inputs, layers.Dense(3, activation="softmax")(layers.Flatten()(x)))


@guide(IMAGES)
def transfer_learning() -> Any:
    base = keras.Sequential([
        keras.Input((12, 12, 3)), layers.Conv2D(4, 3, use_bias=False),
        layers.BatchNormalization(), layers.ReLU(6.0), layers.DepthwiseConv2D(3),
    ], name="base")  # fmt: skip
    base.trainable = False
    inputs = keras.Input((12, 12, 3))
    x = layers.GlobalAveragePooling2D()(base(inputs, training=False))
    return keras.Model(inputs, layers.Dense(1)(layers.Dropout(0.2)(x)))


@guide(IMAGES)
def xception_like() -> Any:
    inputs = keras.Input((12, 12, 3))
    x = previous = layers.Activation("relu")(
        layers.BatchNormalization()(layers.Conv2D(4, 3)(inputs))
    )
    x = layers.SeparableConv2D(6, 3, padding="same")(x)
    x = layers.MaxPooling2D(3, strides=2, padding="same")(layers.BatchNormalization()(x))
    residual = layers.Conv2D(6, 1, strides=2, padding="same")(previous)
    x = layers.add([x, residual])
    return keras.Model(inputs, layers.Dense(2)(layers.GlobalMaxPooling2D()(x)))


@guide(IMAGES)
def residual_with_operators() -> Any:
    inputs = keras.Input((12, 12, 3))
    x = layers.Conv2D(3, 3, padding="same")(inputs)
    x = keras.ops.relu(x + inputs) * 0.5 - inputs
    return keras.Model(inputs, layers.Dense(2)(layers.Flatten()(x / 2.0)))


@guide(IMAGES)
def autoencoder() -> Any:
    encoder_input = keras.Input((12, 12, 3), name="img")
    x = layers.Conv2D(4, 3, activation="relu", padding="same", strides=2)(encoder_input)
    encoder = keras.Model(encoder_input, layers.Flatten()(x), name="encoder")
    decoder_input = keras.Input((144,), name="encoded_img")
    x = layers.Reshape((6, 6, 4))(decoder_input)
    x = layers.Conv2DTranspose(3, 3, strides=2, padding="same", activation="sigmoid")(x)
    decoder = keras.Model(decoder_input, x, name="decoder")
    whole = keras.Input((12, 12, 3), name="whole")
    return keras.Model(whole, decoder(encoder(whole)), name="autoencoder")


@guide(TABLE)
def ensemble() -> Any:
    def member() -> Any:
        inputs = keras.Input((5,))
        return keras.Model(inputs, layers.Dense(1)(inputs))

    inputs = keras.Input((5,))
    return keras.Model(inputs, layers.average([member()(inputs) for _ in range(3)]))


@guide(TOKENS, TOKENS, TABLE[:3])
def several_inputs_and_outputs() -> Any:
    title, body = (keras.Input((6,), name=name, dtype="int32") for name in ("title", "body"))
    tags = keras.Input((5,), name="tags")
    texts = [layers.LSTM(4)(layers.Embedding(20, 4)(each)) for each in (title, body)]
    x = layers.concatenate([*texts, tags])
    outputs = {
        "priority": layers.Dense(1, name="priority")(x),
        "department": layers.Dense(4, name="department")(x),
    }
    return keras.Model([title, body, tags], list(outputs.values()))


@guide(TOKENS)
def masked_lstm() -> Any:
    inputs, x = _tokens()
    return keras.Model(inputs, layers.Dense(1, "sigmoid")(layers.LSTM(4)(x)))


@guide(TOKENS)
def masked_mean() -> Any:
    inputs, x = _tokens()
    x = layers.Dropout(0.2)(layers.GlobalAveragePooling1D()(x))
    return keras.Model(inputs, layers.Dense(1, "sigmoid")(x))


@guide(TOKENS)
def masked_two_ways() -> Any:
    inputs, x = _tokens()
    x = layers.Bidirectional(layers.LSTM(4, return_sequences=True))(x)
    x = layers.Bidirectional(layers.GRU(4))(layers.LayerNormalization()(x))
    return keras.Model(inputs, layers.Dense(2)(x))


@guide(TOKENS)
def masked_sequential() -> Any:
    return keras.Sequential([
        layers.Embedding(20, 4, mask_zero=True), layers.Bidirectional(layers.LSTM(4)),
        layers.Dense(4, activation="relu"), layers.Dense(1),
    ])  # fmt: skip


@guide(TOKENS)
def masked_attention() -> Any:
    inputs, x = _tokens()
    x = layers.Add()([x, layers.MultiHeadAttention(2, 3)(x, x)])
    return keras.Model(inputs, layers.GlobalAveragePooling1D()(layers.LayerNormalization()(x)))


@guide(TOKENS, TOKENS[::-1].copy())
def masked_and_merged() -> Any:
    (one, x), (two, y) = _tokens(), _tokens()
    return keras.Model([one, two], layers.LSTM(3)(layers.Concatenate()([x, y])))


@guide(TOKENS)
def masked_inside_a_model() -> Any:
    inner = keras.Sequential([
        keras.Input((6,), dtype="int32"), layers.Embedding(20, 4, mask_zero=True),
        layers.LSTM(4),
    ], name="reader")  # fmt: skip
    inputs = keras.Input((6,), dtype="int32")
    return keras.Model(inputs, layers.Dense(2)(inner(inputs)))


@guide(SERIES)
def masked_series() -> Any:
    inputs = keras.Input((8, 2))
    x = layers.Masking(0.0)(inputs)
    return keras.Model(inputs, layers.Dense(1)(layers.SimpleRNN(3)(x)))


@guide(TOKENS)
def convolution_of_texts() -> Any:
    inputs = keras.Input((6,), dtype="int64")
    x = layers.Dropout(0.5)(layers.Embedding(20, 4)(inputs))
    x = layers.Conv1D(4, 3, padding="valid", activation="relu", strides=3)(x)
    return keras.Model(inputs, layers.Dense(1)(layers.GlobalMaxPooling1D()(x)))


@guide(SERIES)
def convolutional_autoencoder_of_series() -> Any:
    return keras.Sequential([
        layers.Input((8, 2)), layers.Conv1D(4, 3, padding="same", strides=2, activation="relu"),
        layers.Dropout(0.2), layers.UpSampling1D(2), layers.Conv1D(2, 3, padding="same"),
    ])  # fmt: skip


@guide(SERIES)
def forecast() -> Any:
    return keras.Sequential([
        layers.Input((8, 2)), layers.LSTM(4, return_sequences=True), layers.LSTM(3),
        layers.Dense(6), layers.Reshape([3, 2]),
    ])  # fmt: skip


@guide(SERIES)
def series_classified_by_convolutions() -> Any:
    inputs = keras.Input((8, 2))
    x = inputs
    for _ in range(2):
        x = layers.ReLU()(layers.BatchNormalization()(layers.Conv1D(4, 3, padding="same")(x)))
    return keras.Model(inputs, layers.Dense(2, "softmax")(layers.GlobalAveragePooling1D()(x)))


@guide(TABLE, TABLE[::-1].copy())
def twins() -> Any:
    inner = keras.Sequential([keras.Input((5,)), layers.Dense(3), layers.Dense(3)], name="twin")
    inputs = [keras.Input((5,)), keras.Input((5,))]
    return keras.Model(inputs, layers.Dot(1, normalize=True)([inner(x) for x in inputs]))


@guide(TABLE)
def models_in_models() -> Any:
    core = keras.Sequential([layers.Dense(4), keras.Sequential([layers.Dense(3)])])
    model = keras.Sequential([keras.Input((5,)), core, layers.Dense(2)])
    model.compile("adam", "mse")
    return model
