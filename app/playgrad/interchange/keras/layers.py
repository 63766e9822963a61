"""The layers that playgrad and Keras have in common, as Keras describes them."""

from __future__ import annotations

from typing import Any

from playgrad.errors import ExportError

CLASSES = {
    "activation": "Activation",
    "average_pool2d": "AveragePooling2D",
    "batch_normalization": "BatchNormalization",
    "conv1d": "Conv1D",
    "conv2d": "Conv2D",
    "dense": "Dense",
    "dropout": "Dropout",
    "flatten": "Flatten",
    "gru": "GRU",
    "lstm": "LSTM",
    "max_pool2d": "MaxPooling2D",
}
RECURRENT = ("GRU", "LSTM")  # Keras keeps their weights in a cell

_ACTIVATIONS = ("linear", "relu", "sigmoid", "softmax", "tanh", None)
_TRAINING_ONLY = ("regularizer", "constraint")


def keras_layer(kind: str, name: str, config: dict[str, Any]) -> dict[str, Any]:
    """Return the description of a layer in a Keras file.

    Initializers are left out: the file has the weights.

    Raises:
        ExportError: Keras has no equivalent of the layer or of an argument.
    """
    if kind not in CLASSES:
        raise ExportError(
            f"layer '{name}' of kind '{kind}' has no equivalent in the Keras files of playgrad.",
            hint=f"These kinds have one: {', '.join(CLASSES)}.",
        )
    kept: dict[str, Any] = {"name": name}
    for key, value in config.items():
        if key == "name" or key.endswith("_initializer"):
            continue
        if key.endswith(_TRAINING_ONLY) and value is not None:
            raise ExportError(f"the {key} of layer '{name}' has no equivalent in the Keras file.")
        if key.endswith("activation") and value not in _ACTIVATIONS:
            raise ExportError(
                f"the {key} {value!r} of layer '{name}' has no equivalent in the Keras file."
            )
        kept[key] = value
    return {
        "module": "keras.layers",
        "class_name": CLASSES[kind],
        "config": kept,
        "registered_name": None,
    }
