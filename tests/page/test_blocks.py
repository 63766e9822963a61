"""Blocks, compared with the library: signatures, shapes and numbers of parameters."""

from __future__ import annotations

import inspect
import json
import math
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.data import source
from playgrad.errors import PlaygradError
from tools import records

SIDE = Path(__file__).parent / "programs" / "blocks_side.mjs"
HEAD = "import playgrad as pg\nfrom playgrad import nn\n\n"

FOLDER = Path(__file__).parents[2] / "static" / "examples"
EXAMPLES = {
    name: (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    for name in ("first-program", "spiral", "mnist-mlp", "mnist-cnn")
}

POINTS, DIGITS, STEPS = (4,), (28, 28, 1), (12, 8)
CHAINS: list[tuple[tuple[int, ...], str]] = [
    (POINTS, 'nn.Dense(3, activation="relu"), nn.Dropout(0.5), nn.Dense(2, use_bias=False)'),
    (DIGITS, "nn.Rescaling(1 / 255), nn.Flatten(), nn.Dense(10)"),
    (DIGITS, 'nn.Conv2D(8, 5), nn.MaxPool2D(2), nn.Conv2D(16, (3, 2), strides=2, padding="same")'),
    (DIGITS, "nn.Conv2D(4, 3, dilation_rate=3, groups=1), nn.Conv2D(4, 3, groups=2)"),
    (DIGITS, 'nn.Conv2D(4, 3, use_bias=False), nn.AveragePooling2D(3, 2, "same"), nn.Flatten()'),
    (DIGITS, "nn.ZeroPadding2D(((1, 2), (0, 3))), nn.Cropping2D((2, 1)), nn.ZeroPadding2D(2)"),
    (DIGITS, "nn.Conv2DTranspose(4, 3, 2), nn.Conv2DTranspose(2, 2, 3), nn.UpSampling2D((2, 1))"),
    (DIGITS, 'nn.Conv2DTranspose(4, 5, (1, 2), "same"), nn.GlobalAveragePooling2D()'),
    (DIGITS, "nn.Conv2D(6, 3), nn.DepthwiseConv2D(3, depth_multiplier=2), nn.BatchNormalization()"),
    (DIGITS, "nn.SeparableConv2D(8, 3, depth_multiplier=3), nn.GlobalMaxPooling2D(keepdims=True)"),
    (DIGITS, "nn.Conv2D(8, 3), nn.GroupNormalization(4), nn.LayerNormalization(scale=False)"),
    (DIGITS, "nn.Reshape((14, -1)), nn.Permute((2, 1)), nn.RMSNormalization(), nn.PReLU()"),
    (DIGITS, "nn.RandomFlip(), nn.SpatialDropout2D(0.1), nn.MaxPooling2D((3, 2)), nn.ReLU()"),
    (DIGITS, 'nn.Conv2D(8, 3, activation="relu"), nn.BatchNormalization(center=False), nn.ELU()'),
    (STEPS, 'nn.Conv1D(16, 3, padding="causal", dilation_rate=2), nn.MaxPool1D(), nn.LSTM(5)'),
    (STEPS, "nn.Conv1D(4, 3, 2), nn.AveragePool1D(2), nn.UpSampling1D(3), nn.GlobalMaxPooling1D()"),
    (STEPS, "nn.SimpleRNN(5, return_sequences=True), nn.GRU(6, return_sequences=True), nn.LSTM(7)"),
    (STEPS, "nn.GRU(6, reset_after=False, use_bias=False), nn.RepeatVector(4), nn.LSTM(3)"),
    (STEPS, "nn.Bidirectional(nn.LSTM(5, return_sequences=True)), nn.Bidirectional(nn.GRU(3))"),
    (STEPS, 'nn.Bidirectional(nn.SimpleRNN(5), merge_mode="sum"), nn.Dense(1), nn.Softmax()'),
    (STEPS, "nn.Dense(4), nn.LeakyReLU(), nn.ZeroPadding1D(2), nn.Cropping1D(1), nn.Masking()"),
    (STEPS, "nn.MultiHeadAttention(2, key_dim=5), nn.GaussianNoise(0.1), nn.Activation('gelu')"),
    (STEPS, "nn.PositionEmbedding(12), nn.TransformerEncoder(16, 2), nn.GlobalAveragePooling1D()"),
    ((9,), "nn.Embedding(50, 6), nn.SpatialDropout1D(0.2), nn.MultiHeadAttention(2), nn.Flatten()"),
]

FUNCTIONAL = """\
image = pg.Input((16, 16, 3))
a = nn.Conv2D(4, 3, padding="same")(image)
b = nn.Conv2D(4, 1)(image)
c = nn.Add()([a, b])
d = nn.Concatenate()([c, a, image])
e = c + a
f = nn.Multiply()([e, nn.Average()([a, b])])
g = nn.GlobalAveragePooling2D()(nn.Concatenate(axis=1)([d, d]))
h = nn.Concatenate()([g, nn.Flatten()(f)])
model = pg.Model(image, nn.Dense(3)(h))
"""

IMPOSSIBLE = [
    (POINTS, "nn.Conv2D(8, 3)", "takes images"),
    (POINTS, "nn.LSTM(8)", "takes sequences"),
    (DIGITS, "nn.Conv2D(8, 30)", "window"),
    (DIGITS, "nn.MaxPool2D(9), nn.MaxPool2D(4)", "window"),
    (DIGITS, "nn.Reshape((10, 10))", "784 numbers"),
    (DIGITS, "nn.Reshape((10, -1))", "784 numbers"),
    (DIGITS, "nn.Cropping2D(14)", "Nothing is left"),
    (DIGITS, "nn.Conv2D(9, 3), nn.GroupNormalization(2)", "divide"),
    (DIGITS, "nn.Conv2D(9, 3, groups=2)", "divide"),
    (DIGITS, "nn.Permute((1, 2, 2))", "Permute"),
    (STEPS, "nn.PositionEmbedding(5)", "12"),
    (STEPS, "nn.MultiHeadAttention(3)", "divide"),
    (STEPS, "nn.RepeatVector(3)", "one row"),
    (STEPS, "nn.LayerNormalization(axis=4)", "axis"),
    (POINTS, "nn.Dense(0)", "at least 1"),
    (POINTS, "nn.Dense(2.5)", "whole number"),
]


def chain(shape: tuple[int, ...], layers: str) -> str:
    dtype = ', dtype="int32"' if "Embedding(50" in layers else ""
    return f"{HEAD}model = pg.Sequential([pg.Input({shape}{dtype}), {layers}])\n"


@pytest.fixture(scope="module")
def blocks() -> dict[str, Any]:
    """The answers of Blocks about all programs of this file."""
    node = shutil.which("node")
    assert node, "these tests need Node.js 20 or newer"
    texts = [chain(*each) for each in CHAINS]
    texts += [HEAD + FUNCTIONAL, *(chain(*each[:2]) for each in IMPOSSIBLE), *EXAMPLES.values()]
    result = subprocess.run(
        [node, SIDE],
        input=json.dumps(texts),
        capture_output=True,
        text=True,
        timeout=500,
        check=True,
    )
    answer: dict[str, Any] = json.loads(result.stdout)
    answer["switched"] = dict(zip(texts, answer["switched"], strict=True))
    answer["by_text"] = dict(zip(texts, answer["programs"], strict=True))
    return answer


def measured(layer: nn.Layer) -> tuple[str, list[int | None], int]:
    assert layer.output_shape is not None
    count = sum(math.prod(each.spec.static_shape) for each in layer.variables.values())
    return type(layer).__name__, list(layer.output_shape[1:]), count


def execute(text: str) -> nn.Model:
    pg.reset_default_graph()
    names: dict[str, Any] = {}
    exec(compile(text, "program.py", "exec"), names)
    model: nn.Model = names["model"]
    return model


@pytest.mark.parametrize("text", [chain(*each) for each in CHAINS] + [HEAD + FUNCTIONAL])
def test_shapes_and_parameters_are_the_librarys(blocks: dict[str, Any], text: str) -> None:
    (items,) = blocks["by_text"][text]
    assert [item["problem"] for item in items if item["problem"]] == []
    shown = [(each["kind"], each["shape"], each["parameters"]) for each in items]
    layers = [each for each in shown if each[0] not in ("Input", "code")]
    aliases = {"MaxPooling2D": "MaxPool2D", "AveragePooling2D": "AveragePool2D"}
    known = sorted((aliases.get(kind, kind), shape, count) for kind, shape, count in layers)
    expected = sorted(measured(layer) for layer in execute(text).layers)
    assert [each for each in expected if each[0] != "Lambda"] == known


@pytest.mark.parametrize(("shape", "layers", "words"), IMPOSSIBLE)
def test_impossible_layers_are_marked(
    blocks: dict[str, Any], shape: tuple[int, ...], layers: str, words: str
) -> None:
    """The library refuses it, too."""
    text = chain(shape, layers)
    (items,) = blocks["by_text"][text]
    problems = [item["problem"] for item in items if item["problem"]]
    assert len(problems) == 1, problems
    assert words in problems[0]
    with pytest.raises((PlaygradError, ValueError)):
        execute(text)


def test_the_records_of_the_page_are_the_librarys() -> None:
    """Other texts are old ones: `make setup`, or ``python -m tools.records``, writes the files."""
    for name, text in records.modules().items():
        assert records.written(name) == text, name


def test_signatures_are_the_librarys(blocks: dict[str, Any]) -> None:
    assert blocks["signatures"]["nn.GaussianNoise"] == [
        {"name": "stddev", "default": None},
        {"name": "seed", "default": "None"},
        {"name": "name", "default": "None"},
    ]
    layers = {f"nn.{n}" for n, each in vars(nn).items() if is_layer(each)}
    assert layers - blocks["signatures"].keys() == {"nn.Layer"}
    lion = {each["name"]: each["default"] for each in blocks["signatures"]["optim.Lion"]}
    assert (lion["beta_2"], lion["ema_momentum"]) == ("0.99", "0.99"), "options are spelled out"


def is_layer(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, nn.Layer)


def test_the_data_sets_and_metrics_are_the_librarys(blocks: dict[str, Any]) -> None:
    for kind, each in blocks["sets"].items():
        assert kind in pg.data.available(), kind
        assert list(inspect.signature(getattr(pg.data, kind)).parameters) == [
            name["name"] for name in blocks["signatures"][f"data.{kind}"]
        ]
        if each["sort"] == "points":
            x, y = pg.data.load(kind)
            assert (list(x.shape[1:]), x.dtype.name) == (each["shape"], each["dtype"])
            assert len(np.unique(y)) == each["classes"]
    for name in blocks["metrics"]:
        assert pg.nn.metrics.get(name).name == name


def test_a_program_with_other_data_runs(blocks: dict[str, Any], tiny_digits: None) -> None:
    assert set(blocks["switched"][EXAMPLES["mnist-cnn"]]) >= {"mnist"}
    for name in ("first-program", "spiral", "mnist-mlp"):
        switched = blocks["switched"][EXAMPLES[name]]
        assert set(switched) == set(blocks["sets"]), name
        for kind in ("mnist", "xor"):
            text = re.sub(r"epochs=\d+", "epochs=1", switched[kind])
            model = execute(text)
            assert model.output_shape == (None, blocks["sets"][kind]["classes"])
            assert model.history is not None and len(model.history.history["loss"]) == 1


@pytest.fixture
def tiny_digits() -> Iterator[None]:
    """A small data set in place of MNIST, in its format."""
    rng = np.random.default_rng(0)

    def read(name: str) -> bytes:
        shape = (64, 28, 28) if name.endswith("images") else (64,)
        array = rng.integers(0, 10 if len(shape) == 1 else 256, shape).astype(np.uint8)
        sizes = b"".join(size.to_bytes(4, "big") for size in shape)
        return bytes([0, 0, 8, len(shape)]) + sizes + array.tobytes()

    before = source.set_source(read)
    yield
    source.set_source(before)
