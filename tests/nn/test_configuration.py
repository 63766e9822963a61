"""Models as JSON, and back."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.errors import GraphError, ShapeError
from tests.nn.test_cloning import MODELS, X, Y, branches, data, nodes

SEQUENCES = np.random.default_rng(1).normal(size=(6, 5, 4)).astype(np.float32)


def recurrent() -> pg.Model:
    """Return a model with wrapped layers, a layer with several results, and options of calls."""
    with pg.Graph(4).as_default():
        x = pg.Input((5, 4))
        both = nn.Bidirectional(nn.LSTM(3, return_sequences=True))(x)
        _, h, _ = nn.LSTM(3, return_sequences=True, return_state=True)(x)
        attended = nn.MultiHeadAttention(2, 3)(both, both, use_causal_mask=True)
        pooled = nn.GlobalAveragePooling1D()(attended)
        return pg.Model(x, nn.Dense(2, kernel_regularizer="l2")(pooled - 0.5) * h[:, :2])


def frozen() -> pg.Model:
    with pg.Graph(2).as_default(), pg.device("cpu:0"):
        x = pg.Input((4,), batch_size=20)
        layer = nn.Dense(4, name="same")
        layer.trainable = False
        return pg.Model(x, layer(layer(pg.stop_gradient(x))) + x)


ALL: dict[str, Callable[[], pg.Model]] = {**MODELS, "recurrent": recurrent, "frozen": frozen}


def inputs(model: pg.Model) -> Any:
    if model.input_shape == (None, 5, 4):
        return SEQUENCES
    return X if len(model.inputs) == 1 else data(model)[0]


@pytest.mark.parametrize("name", ALL)
def test_a_model_comes_back(name: str) -> None:
    model = ALL[name]()
    text = model.to_json()
    copy = pg.model_from_json(text)
    assert type(copy) is type(model)
    assert copy.to_json() == text
    assert copy.graph is not model.graph
    assert copy.name == model.name and copy.output_names == model.output_names
    assert [x.spec for x in copy.inputs] == [x.spec for x in model.inputs]
    assert [layer.name for layer in copy.layers] == [layer.name for layer in model.layers]
    assert list(copy.named_variables) == list(model.named_variables)
    assert [v.trainable for v in copy.named_variables.values()] == [
        v.trainable for v in model.named_variables.values()
    ]
    assert [repr(loss.spec) for loss in copy.losses] == [repr(loss.spec) for loss in model.losses]
    x = inputs(model)
    copy.set_weights(model.named_weights())
    for one, other in zip(as_list(copy.predict(x)), as_list(model.predict(x)), strict=True):
        np.testing.assert_array_equal(one, other)
    model.close()
    copy.close()


def as_list(result: Any) -> list[Any]:
    return result if isinstance(result, list) else [result]


def test_restored_branches_equal_a_deep_clone() -> None:
    """The weights are the initial ones of the original, as its seed is kept."""
    model = branches()
    copy = pg.model_from_json(model.to_json())
    assert nodes(copy.graph) == nodes(model.clone().graph)
    history = []
    for each in (model, copy, copy.clone(), copy.clone(deep=False)):
        each.compile(pg.optim.SGD(0.05), "mse", device="cpu")
        if not history:
            start = model.named_weights()
        else:
            each.set_weights(start)
        losses = each.fit([X, X[::-1]], [Y, -Y], batch_size=10, epochs=2, verbose=0).losses
        history.append(losses)
    for losses in history[1:3]:
        np.testing.assert_array_equal(losses, history[0])
    np.testing.assert_allclose(history[3], history[0], rtol=0.5)  # shares the variable `scale`
    model.close()
    copy.close()


def test_an_unbuilt_chain_is_restored() -> None:
    model = pg.Sequential([nn.Dense(3), nn.Dropout(0.1)], "two")
    copy = pg.model_from_json(model.to_json())
    assert not copy.built and copy.name == "two" and len(copy.layers) == 2


def test_configurations_contain_no_local_paths() -> None:
    assert "source" not in branches().to_json() and __file__ not in branches().to_json()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "it is not JSON"),
        ("[]", "does not describe a model"),
        ('{"class_name": "Model"}', "does not describe a model"),
        ('{"class_name": "Model", "config": {}}', "is damaged: KeyError 'seed'"),
        ('{"class_name": "Sequential", "config": {"layers": [{}]}}', "is damaged: KeyError 'kind'"),
    ],
)
def test_damaged_texts_are_refused(text: str, words: str) -> None:
    with pytest.raises(GraphError, match=words):
        pg.model_from_json(text)


def test_damaged_structures_are_refused() -> None:
    config = json.loads(branches().to_json())
    for change, kind, words in [
        (("layers", 0, "kind", "magic"), GraphError, "no layer 'magic'"),
        (("steps", 0, "node", None), GraphError, "is damaged"),
        (("outputs", 0, "gone:0"), GraphError, "is damaged: KeyError 'gone:0'"),
        (("layers", 0, "config", "units", -1), (GraphError, ShapeError), "units|damaged"),
    ]:
        damaged = json.loads(json.dumps(config))
        *path, last, value = change
        part = damaged["config"]
        for key in path:
            part = part[key]
        part[last] = value
        with pytest.raises(kind, match=words):
            pg.model_from_json(json.dumps(damaged))


class Mixing(nn.Layer):
    """A layer with an array among its arguments."""

    kind = "mixing"

    def __init__(self, shares: np.ndarray[Any, Any]) -> None:
        super().__init__()
        self.shares = shares

    def call(self, *inputs: pg.Tensor, training: bool = False) -> pg.Tensor:
        return inputs[0] @ pg.constant(self.shares)


def test_arrays_are_refused_in_configurations_and_omitted_from_files() -> None:
    model = pg.Sequential([pg.Input((3,)), Mixing(np.eye(3, dtype=np.float32)), nn.Dense(1)])
    with pytest.raises(GraphError, match="argument of type ndarray, which cannot be saved"):
        model.to_json()
    assert model.file_metadata() == {}


def test_functions_cannot_be_written() -> None:
    x = pg.Input((4,))
    model = pg.Model(x, nn.Dense(2, activation=lambda y: y * 2)(x))
    with pytest.raises(GraphError, match="cannot be saved in a configuration"):
        model.to_json()
