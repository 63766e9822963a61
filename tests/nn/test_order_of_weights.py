"""The order of weights, which is Keras' order, so that lists of them can be exchanged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from tests.interchange.keras_side import keras, predicted

Array = np.ndarray[Any, Any]
Build = Callable[[Any, Any, Any], Any]
"""A function of the layers' module, of Input and of Model."""


def short_beside_long(layers: Any, new_input: Any, new_model: Any) -> Any:
    x = new_input((4,))
    long = x
    for name in ("l1", "l2", "l3"):
        long = layers.Dense(4, "tanh", name=name)(long)
    return new_model(x, layers.Add()([layers.Dense(4, name="s")(x), long]))


def two_inputs_and_outputs(layers: Any, new_input: Any, new_model: Any) -> Any:
    x, y = new_input((4,)), new_input((4,))
    a, b = layers.Dense(4, name="a")(x), layers.Dense(4, name="b")(y)
    c = layers.Add()([b, layers.Dense(4, name="c")(a)])
    return new_model([x, y], [c, layers.Dense(4, name="d")(y), layers.Dense(4, name="e")(a)])


def shared(layers: Any, new_input: Any, new_model: Any) -> Any:
    """A layer that is called at two distances from the outputs, beside later ones."""
    x = new_input((4,))
    layer = layers.Dense(4, "tanh", name="shared")
    again = layer(layers.Dense(4, name="q")(layer(x)))
    side = layers.Dense(4, name="u")(layers.Dense(4, name="v")(x))
    return new_model(x, [side, layers.Dense(4, name="t")(again), layer(side)])


def diamond(layers: Any, new_input: Any, new_model: Any) -> Any:
    x = new_input((4,))
    first = layers.Dense(4, name="first")(x)
    arms = [layers.Dense(4, name=f"arm{i}")(first) for i in range(3)]
    arms[1] = layers.BatchNormalization(name="norm")(arms[1])
    joined = layers.Concatenate()([arms[2], arms[0], arms[1]])
    return new_model(x, layers.Dense(2, name="last")(joined))


def stateful(layers: Any, new_input: Any, new_model: Any) -> Any:
    x = new_input((3, 4), batch_size=2)
    h = layers.Bidirectional(layers.GRU(2, stateful=True, return_sequences=True))(x)
    h = layers.Dropout(0.5)(layers.LSTM(2, stateful=True)(h))
    return new_model(x, layers.Dense(1)(h))


BUILDERS: list[Build] = [short_beside_long, two_inputs_and_outputs, shared, diamond, stateful]


@pytest.mark.parametrize("build", BUILDERS)
def test_lists_of_weights_go_from_one_to_the_other(build: Build) -> None:
    theirs = build(keras.layers, keras.Input, keras.Model)
    with pg.Graph(seed=1).as_default():
        ours = build(nn, pg.Input, pg.Model)
    ours.set_device("cpu")
    assert [tuple(w.shape) for w in theirs.weights] == [a.shape for a in ours.get_weights()]
    rng = np.random.default_rng(0)
    values = [rng.normal(size=w.shape).astype(np.float32) ** 2 for w in theirs.weights]
    theirs.set_weights(values)
    ours.set_weights(values)
    xs = [rng.normal(size=(2, *x.shape[1:])).astype(np.float32) for x in ours.inputs]
    one, two = predicted(theirs, xs), ours.predict(xs if len(xs) > 1 else xs[0])
    pairs = zip(one, two, strict=True) if isinstance(one, list) else [(one, two)]
    for a, b in pairs:
        np.testing.assert_allclose(b, a, rtol=1e-4, atol=1e-5)
    for a, b in zip(values, ours.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)
    # A plain loop over the trainable ones, as in training loops of a program's own.
    shapes = [tuple(w.shape) for w in theirs.trainable_weights]
    assert [tuple(v.shape) for v in ours.trainable_variables] == shapes
    assert ours.count_params() == theirs.count_params()
    ours.close()


def test_states_are_kept_in_files_and_left_alone_by_lists() -> None:
    with pg.Graph(seed=1).as_default():
        model = pg.Sequential([pg.Input((3, 2), batch_size=1), nn.LSTM(2, stateful=True)])
    model.set_device("cpu")
    model.predict(np.ones((1, 3, 2), np.float32))
    state = model.named_weights()["lstm_1/state_0"]
    assert np.any(state != 0)
    model.set_weights([array + 1 for array in model.get_weights()])
    np.testing.assert_array_equal(model.named_weights()["lstm_1/state_0"], state)
    assert len(model.get_weights()) == len(model.weights) == 3 < len(model.variables)
    with pytest.raises(pg.CheckpointError, match="has 3 weights, got 5 arrays"):
        model.set_weights(list(model.named_weights().values()))
    model.close()
