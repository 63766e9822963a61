"""Masks of sequences in every layer: no layer mixes masked steps into others without a word.

Results, masks, warnings and moving averages are compared with Keras' layer of the same name.
 The table in docs/layers.md is checked against what the layers do.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.nn.layer import _REGISTRY
from playgrad.nn.masks import mask_of, set_mask
from playgrad.training.layer_updates import assign_updates, collected_updates
from tests.interchange.keras_side import keras

Array = np.ndarray[Any, Any]
rng = np.random.default_rng(0)
# Inputs by the number of their dimensions, and masks.
INPUTS = {
    1: rng.integers(0, 5, (3, 4)).astype(np.float32),  # indices
    2: rng.normal(size=(3, 4)).astype(np.float32),
    3: rng.normal(size=(3, 4, 6)).astype(np.float32),
    4: rng.normal(size=(3, 4, 5, 6)).astype(np.float32),
}
STEPS = np.array([[1, 1, 1, 0], [1, 0, 0, 0], [1, 1, 0, 1]], bool)
PIXELS = rng.random((3, 4, 5)) > 0.4
OTHER_STEPS = STEPS[::-1].copy()
MASKS = {1: STEPS, 2: STEPS, 3: STEPS, 4: PIXELS}


@dataclass
class Case:
    """How a layer is made, and the dimensions of its inputs; ``own``: arguments of Keras' layer."""

    arguments: dict[str, Any]
    inputs: tuple[int, ...] = (3,)
    own: Any = None


def case(*inputs: int, **arguments: Any) -> Case:
    return Case(arguments, inputs or (3,))


LAYERS: dict[str, list[Case]] = {
    "Activation": [case(activation="tanh")],
    "Add": [case(3, 3)],
    "Average": [case(3, 3)],
    "AveragePooling1D": [case(pool_size=2)],
    "AveragePooling2D": [case(4, pool_size=2)],
    "BatchNormalization": [case(), case(axis=1), case(4)],
    "Bidirectional": [
        Case({"layer": nn.LSTM(2)}, (3,), {"layer": keras.layers.LSTM(2)}),
        Case(
            {"layer": nn.GRU(2, return_sequences=True)},
            (3,),
            {"layer": keras.layers.GRU(2, return_sequences=True)},
        ),
    ],
    "ColumnParallelDense": [case(units=2, devices=["cpu:0", "cpu:0"])],
    "Concatenate": [case(3, 3, axis=-1), case(3, 3, axis=1)],
    "Conv1D": [case(filters=2, kernel_size=2)],
    "Conv2D": [case(4, filters=2, kernel_size=2)],
    "Conv2DTranspose": [case(4, filters=2, kernel_size=2)],
    "Cropping1D": [case()],
    "Cropping2D": [case(4)],
    "Dense": [case(units=2), case(4, units=2)],
    "DepthwiseConv2D": [case(4, kernel_size=2)],
    "Dot": [case(3, 3, axes=2)],
    "Dropout": [case(rate=0.0)],
    "ELU": [case()],
    "Embedding": [case(1, input_dim=10, output_dim=2)],
    "Flatten": [case()],
    "GRU": [case(units=2), case(units=2, return_sequences=True)],
    "GaussianNoise": [case(stddev=0.0)],
    "GlobalAveragePooling1D": [case()],
    "GlobalAveragePooling2D": [case(4)],
    "GlobalMaxPooling1D": [case()],
    "GlobalMaxPooling2D": [case(4)],
    "GroupNormalization": [case(groups=2)],
    "LSTM": [case(units=2), case(units=2, return_sequences=True)],
    "Lambda": [case(function=lambda x: x * 2.0)],
    "LayerNormalization": [case(), case(axis=[1, 2])],
    "LeakyReLU": [case()],
    "Masking": [case()],
    "MaxPooling1D": [case(pool_size=2)],
    "MaxPooling2D": [case(4, pool_size=2)],
    "Maximum": [case(3, 3)],
    "Minimum": [case(3, 3)],
    "MultiHeadAttention": [case(num_heads=2, key_dim=3), case(3, 3, num_heads=2, key_dim=3)],
    "Multiply": [case(3, 3)],
    "Normalization": [case(mean=1.0, variance=2.0)],
    "PReLU": [case()],
    "ParallelMultiHeadAttention": [case(num_heads=2, devices=["cpu:0", "cpu:0"], key_dim=3)],
    "Permute": [case(dims=(2, 1))],
    "PositionEmbedding": [case(sequence_length=4)],
    "RMSNormalization": [case(), case(axis=[1, 2])],
    "RReLU": [case(lower=0.1, upper=0.1)],
    "RandomBrightness": [case(4, factor=0.0)],
    "RandomContrast": [case(4, factor=0.0)],
    "RandomFlip": [case(4)],
    "RandomRotation": [case(4, factor=0.0)],
    "RandomTranslation": [case(4, height_factor=0.0, width_factor=0.0)],
    "RandomZoom": [case(4, height_factor=0.0)],
    "ReLU": [case()],
    "RepeatVector": [case(2, n=2)],
    "Rescaling": [case(scale=2.0, offset=1.0)],
    "Reshape": [case(target_shape=(6, 4))],
    "RestrictedBoltzmannMachine": [case(2, units=2)],
    "RowParallelDense": [case(units=2, devices=["cpu:0", "cpu:0"])],
    "SeparableConv2D": [case(4, filters=2, kernel_size=2)],
    "SimpleRNN": [case(units=2), case(units=2, return_sequences=True)],
    "Softmax": [case(2), case(), case(axis=1)],
    "SpatialDropout1D": [case(rate=0.0)],
    "SpatialDropout2D": [case(4, rate=0.0)],
    "Subtract": [case(3, 3)],
    "TimeDistributed": [
        Case({"layer": nn.Dense(2)}, (3,), {"layer": keras.layers.Dense(2)}),
        Case({"layer": nn.LSTM(2)}, (4,), {"layer": keras.layers.LSTM(2)}),
    ],
    "TransformerDecoder": [case(intermediate_dim=4, num_heads=2)],
    "TransformerEncoder": [case(intermediate_dim=4, num_heads=2)],
    "UpSampling1D": [case()],
    "UpSampling2D": [case(4)],
    "ZeroPadding1D": [case()],
    "ZeroPadding2D": [case(4)],
}


def guide() -> dict[str, tuple[str, str]]:
    """Return what the guide says of the masked steps of each layer, and of its result's mask."""
    text = (Path(__file__).parents[2] / "docs" / "layers.md").read_text()
    table = text.split("\n## Masks\n")[1].split("\n## ")[0]
    rows = [row.split("|")[1:4] for row in table.splitlines() if row.startswith("| `")]
    names = [name for layers, _, _ in rows for name in re.findall(r"`(\w+)`", layers)]
    assert len({*names}) == len(names)
    return {
        name: (steps.strip(), mask.strip())
        for layers, steps, mask in rows
        for name in re.findall(r"`(\w+)`", layers)
    }


GUIDE = guide()
# Where playgrad differs from Keras 3.15 on purpose: the mask of the result, or the warning.
MASK_DIFFERS = {
    "RMSNormalization": "Keras loses the mask",
    "TimeDistributed": "Keras keeps a mask of inner steps that are gone",
}
WARNING_DIFFERS = {
    "Embedding": "Keras loses the mask of indices without a word",
    "Dot": "Keras loses the mask without a word",
    "GroupNormalization": "Keras counts masked steps without a word",
    "LayerNormalization": "Keras counts masked steps without a word",
    "RMSNormalization": "Keras loses the mask",
}
CASES = [(name, each) for name, cases in LAYERS.items() for each in cases]
IDS = [f"{name}-{i}" for name, cases in LAYERS.items() for i in range(len(cases))]
ALIASES = {"AveragePool1D", "AveragePool2D", "MaxPool1D", "MaxPool2D"}


@dataclass
class Outcome:
    """The result of a layer in a training step, its mask, its variables after it, a warning."""

    result: Array
    mask: Array | None
    weights: list[Array]
    warns: bool


def arrays_of(each: Case) -> tuple[list[Array], list[Array]]:
    """Return the inputs and their masks; the second input has another mask."""
    xs = [INPUTS[rank] * (1 - 2 * i) for i, rank in enumerate(each.inputs)]
    return xs, [MASKS[rank] if i == 0 else OTHER_STEPS for i, rank in enumerate(each.inputs)]


def of_playgrad(
    name: str, each: Case, xs: Sequence[Array], masks: Sequence[Array], weights: Sequence[Array]
) -> Outcome:
    with pg.Graph(seed=1).as_default() as graph, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        layer: nn.Layer = getattr(nn, name)(**each.arguments)
        layer = layer.clone() if name != "Lambda" else layer
        inputs = [pg.placeholder("float32", (None, *x.shape[1:])) for x in xs]
        kept = [pg.placeholder("bool", (None, *m.shape[1:])) for m in masks]
        for x, mask in zip(inputs, kept, strict=True):
            set_mask(x, mask)
        with collected_updates(graph) as updates:
            result = layer(*inputs, training=not name.startswith("Random"))
        found = mask_of(result)
        changes = assign_updates(updates)
    feeds = dict(zip([*inputs, *kept], [*xs, *masks], strict=True))
    with pg.Session(graph=graph, device="cpu") as session:
        for variable, value in zip(layer.weights, weights, strict=False):
            shape = tuple(n or 0 for n in variable.shape)
            session.assign({variable: value.reshape(shape)})
        value, *rest = session.run([result, *([] if found is None else [found]), *changes], feeds)
        after = session.values(layer.weights) if layer.weights else []
    warns = any("mask" in str(warning.message) for warning in caught)
    return Outcome(value, None if found is None else rest[0], after, warns)


def of_keras(name: str, each: Case) -> tuple[Outcome, list[Array]]:
    """Return the outcome of Keras, and the weights before it."""
    xs, masks = arrays_of(each)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        layer = getattr(keras.layers, name)(**(each.own or each.arguments))
        tensors = [keras.ops.convert_to_tensor(x) for x in xs]
        first: Any = tensors if name in MERGING else tensors[0]
        others = [] if name in MERGING else tensors[1:]
        attends = name == "MultiHeadAttention" and not others
        inputs = [first, *others, *([first] if attends else [])]
        layer(*inputs)  # builds it
        numbers = np.random.default_rng(1)
        before = [(0.3 * numbers.normal(size=w.shape) + 0.5).astype("f") for w in layer.weights]
        layer.set_weights(before)
        for tensor, mask in zip(tensors, masks, strict=True):
            keras.src.backend.set_keras_mask(tensor, keras.ops.convert_to_tensor(mask))
        trains = {"training": True} if layer._call_has_training_arg else {}
        result = layer(*inputs, **({} if name.startswith("Random") else trains))
        found = keras.src.backend.get_keras_mask(result)
        value = keras.ops.convert_to_numpy(result)
        kept = None if found is None else keras.ops.convert_to_numpy(found)
        after = layer.get_weights()
    warns = any("mask" in str(warning.message) for warning in caught)
    return Outcome(value, kept, after, warns), before


MERGING = {"Add", "Average", "Concatenate", "Dot", "Maximum", "Minimum", "Multiply", "Subtract"}


def kept_parts(outcome: Outcome) -> Array:
    """Return the result without the steps that its mask skips."""
    mask = outcome.mask
    return outcome.result if mask is None else outcome.result[mask]


@pytest.mark.parametrize(("name", "each"), CASES, ids=IDS)
def test_masked_steps_change_nothing_else_or_there_is_a_warning(name: str, each: Case) -> None:
    xs, masks = arrays_of(each)
    masks = masks[:1] * len(masks)  # a merged step counts if it does in any input
    one = of_playgrad(name, each, xs, masks, [])
    others = [np.where(m.reshape(*m.shape, *[1] * (x.ndim - m.ndim)), x, 9 - x)
              for x, m in zip(xs, masks, strict=True)]  # fmt: skip
    two = of_playgrad(name, each, others, masks, [])
    assert one.warns == two.warns
    a, b = kept_parts(one), kept_parts(two)
    is_same = a.shape == b.shape and np.allclose(a, b, atol=1e-5)
    is_same &= all(
        np.allclose(x, y, atol=1e-5) for x, y in zip(one.weights, two.weights, strict=True)
    )
    assert is_same or one.warns or name == "Masking"  # which makes a mask of its own
    steps, mask = GUIDE[name]
    if mask == "none":
        assert one.mask is None
        assert one.warns == ("with a warning" in steps)
    elif mask == "that of the input":
        assert one.mask is not None
        np.testing.assert_array_equal(one.mask, masks[0])
    elif "else none" not in mask:
        assert one.mask is not None


@pytest.mark.parametrize(
    ("name", "each"), [c for c in CASES if hasattr(keras.layers, c[0])],
    ids=[i for i, c in zip(IDS, CASES, strict=True) if hasattr(keras.layers, c[0])],
)  # fmt: skip
def test_every_layer_treats_masks_as_keras_does(name: str, each: Case) -> None:
    if name == "Softmax" and each.inputs != (2,):
        with pytest.raises(ValueError, match="must be broadcastable"):
            of_keras(name, each)
        return
    theirs, before = of_keras(name, each)
    xs, masks = arrays_of(each)
    ours = of_playgrad(name, each, xs, masks, before)
    if name not in MASK_DIFFERS:
        assert (ours.mask is None) == (theirs.mask is None)
        if ours.mask is not None and theirs.mask is not None:
            np.testing.assert_array_equal(ours.mask, theirs.mask)
    assert ours.warns == theirs.warns or name in WARNING_DIFFERS
    if name in ("MultiHeadAttention", "Maximum", "Minimum"):  # others put something else in gaps
        np.testing.assert_allclose(kept_parts(ours), kept_parts(theirs), atol=1e-5)
    elif not name.startswith("Random"):
        np.testing.assert_allclose(ours.result, theirs.result, atol=1e-5)
    for a, b in zip(ours.weights, theirs.weights, strict=False):
        np.testing.assert_allclose(a.reshape(b.shape), b, atol=1e-5)


def test_every_layer_is_compared_and_in_the_table_of_the_guide() -> None:
    # An imported graph has a layer of its own, registered once some test has read a file.
    library = {
        c.__name__
        for c in _REGISTRY.values()
        if c.__module__.startswith("playgrad.") and "interchange" not in c.__module__
        if not issubclass(c, (nn.MessagePassing, nn.GlobalGraphPooling))  # graphs have no steps
        # Rounding depends on the range of the whole batch; integers are made from layers.
        and c is not nn.FakeQuantize
        and "compression" not in c.__module__
    }
    assert {getattr(nn, name).__name__ for name in LAYERS} == library
    assert GUIDE.keys() == LAYERS.keys()


def test_replicas_share_the_moments_of_the_kept_steps() -> None:
    """Each has another number of them."""
    words = np.array([[1, 2, 3, 0], [2, 1, 3, 3], [3, 0, 0, 0], [1, 0, 0, 0]], np.int32)

    def weights(strategy: Any) -> list[Array]:
        with pg.Graph(seed=1).as_default():
            model = pg.Sequential([
                nn.Embedding(4, 3, mask_zero=True),
                nn.BatchNormalization(synchronized=True),
                nn.GlobalAveragePooling1D(),
                nn.Dense(1),
            ])  # fmt: skip
        model.compile(pg.optim.SGD(0.1), "mse", device="cpu", strategy=strategy)
        model.fit(words, words[:, :1], 4, 2, 0, shuffle=False)
        values = model.get_weights()
        model.close()
        return values

    for one, two in zip(weights(None), weights(pg.parallel.DataParallel(2)), strict=True):
        np.testing.assert_allclose(one, two, atol=1e-6)
