"""Random networks of all layers that have an integer form: the model, its program and its training
with rounding agree."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.compression.integer_program import integer_program
from tests.compression.test_integer_program import interpreted
from tests.sweeps import budget, dice

ACTIVATIONS = (None, "relu", "relu6", "tanh", "gelu", "elu", "hard_sigmoid", "softplus", "mish")


def image_layer(x: Any, random: Random) -> Any:
    activation, padding = random.choice(ACTIVATIONS), random.choice(["same", "valid"])
    strides, size, filters = random.randint(1, 2), random.randint(1, 3), random.randint(1, 6)
    dilation = 1 if strides > 1 else random.randint(1, 2)
    channels = x.shape[-1]
    windows = {"padding": padding, "dilation_rate": dilation, "activation": activation}
    return random.choice(
        [
            lambda: nn.Conv2D(filters, size, strides, **windows)(x),
            lambda: nn.Conv2D(2 * channels, size, groups=channels, padding=padding)(x),
            lambda: nn.DepthwiseConv2D(size, strides, depth_multiplier=2, **windows)(x),
            lambda: nn.SeparableConv2D(filters, size, **windows)(x),
            lambda: nn.Conv2DTranspose(filters, size, strides, **windows)(x),
            lambda: nn.BatchNormalization()(x),
            lambda: nn.MaxPool2D(2, strides, padding)(x),
            lambda: nn.AveragePool2D((2, 3), strides, padding)(x),
            lambda: nn.Add()([x, nn.Conv2D(channels, 3, padding="same")(x)]),
            lambda: nn.Concatenate(axis=random.randint(1, 3))([x, nn.ReLU(max_value=2.0)(x)]),
        ]
    )()


def sequence_layer(x: Any, random: Random) -> Any:
    activation, padding = random.choice(ACTIVATIONS), random.choice(["same", "valid", "causal"])
    size, filters = random.randint(1, 3), random.randint(1, 6)
    return random.choice(
        [
            lambda: nn.Conv1D(filters, size, padding=padding, activation=activation)(x),
            lambda: nn.Dense(filters, activation=activation)(x),
            lambda: nn.BatchNormalization()(x),
            lambda: nn.MaxPool1D(2, 1)(x),
            lambda: nn.AveragePool1D(3, 2, "same")(x),
            lambda: nn.Activation(activation or "sigmoid")(x),
            lambda: nn.Add()([x, x, nn.Dense(x.shape[-1])(x)]),
        ]
    )()


def random_network(random: Random) -> pg.Model:
    is_image = random.random() < 0.6
    sizes = [random.randint(6, 11) for _ in range(2 if is_image else 1)]
    entry = x = pg.Input((*sizes, random.randint(1, 4)))
    for _ in range(random.randint(2, 6)):
        try:
            x = (image_layer if is_image else sequence_layer)(x, random)
        except pg.ShapeError as error:  # a window may have become larger than the image
            assert "window" in str(error) or "filter" in str(error)
    pool = nn.GlobalAveragePooling2D() if is_image else nn.GlobalMaxPooling1D()
    x = random.choice([nn.Flatten(), pool])(x)
    return pg.Model(entry, nn.Dense(4, activation=random.choice([None, "softmax"]))(x))


@pytest.mark.parametrize("case", range(budget(4, 60)))
def test_model_program_and_training_agree(case: int) -> None:
    random, numbers = dice("integers", case), np.random.default_rng(case)
    with pg.Graph().as_default():
        model = random_network(random)
    model.compile("adam", "mse", device="cpu")
    model.set_weights(
        {
            name: (
                numbers.uniform(0.5, 2, value.shape)
                if name.endswith("variance")
                else numbers.normal(0, 0.5, value.shape)
            ).astype(np.float32)
            for name, value in model.named_weights().items()
        }
    )
    x = numbers.normal(size=(12, *model.input_shape[1:])).astype(np.float32)
    bits = random.choice([8, 4])
    small = pg.quantize(model, x, weights=f"int{bits}")
    assert np.array_equal(interpreted(integer_program(small), x), small.predict(x))
    aware = pg.quantization_aware(model, x, bits=bits)
    difference = np.abs(pg.quantize(aware).predict(x) - aware.predict(x))
    assert difference.max() <= 1.01 * small.layers[-1].scale
