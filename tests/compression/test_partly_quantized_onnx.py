"""ONNX files of networks of which some layers stayed float32."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.errors import ExportError

Array = np.ndarray[Any, Any]
random = np.random.default_rng(5)


def between() -> tuple[pg.Model, Array]:
    """A normalization between products, which has no integer form."""
    layers = [
        pg.Input((12,)), nn.Dense(16, activation="relu"), nn.LayerNormalization(), nn.Dense(5),
    ]  # fmt: skip
    return pg.Sequential(layers), random.normal(size=(64, 12)).astype(np.float32)


def first() -> tuple[pg.Model, Array]:
    """A recurrent layer before convolutions."""
    x = pg.Input((9, 4))
    y = nn.GRU(6, return_sequences=True)(x)
    y = nn.Conv1D(8, 3, activation="relu")(y)
    return pg.Model(x, nn.Dense(3)(nn.Flatten()(y))), random.normal(size=(64, 9, 4)).astype(
        np.float32
    )


def images() -> tuple[pg.Model, Array]:
    """Pixels of uint8, and branches of which one stays float32."""
    x = pg.Input((8, 8, 3), dtype="uint8")
    y = nn.Conv2D(6, 3, activation="relu")(nn.Rescaling(1 / 255)(x))
    pooled = nn.MaxPool2D(2)(y)
    spread = nn.GroupNormalization(2)(pooled)
    y = nn.Conv2D(6, 2, activation="relu")(spread)
    both = nn.Concatenate()([nn.GlobalAveragePooling2D()(y), nn.GlobalMaxPooling2D()(pooled)])
    return pg.Model(x, nn.Dense(4)(both)), random.integers(0, 256, (64, 8, 8, 3)).astype(np.uint8)


def last() -> tuple[pg.Model, Array]:
    """Operations of the user after a layer, and a second output."""
    x = pg.Input((10,))
    hidden = nn.Dense(8, activation="relu")(x)
    y = nn.Dense(4)(hidden)
    return pg.Model(x, [y * 2.0 + pg.reduce_sum(y, axis=-1, keepdims=True), hidden]), random.normal(
        size=(64, 10)
    ).astype(np.float32)


@pytest.mark.parametrize("build", [between, first, images, last], ids=lambda each: each.__name__)
def test_onnx_runtime_computes_the_same(
    build: Callable[[], tuple[pg.Model, Array]], tmp_path: Path
) -> None:
    pg.reset_default_graph(7)
    model, x = build()
    small = pg.quantize(model, x)
    path = tmp_path / "partly.onnx"
    small.export(path)
    onnx.checker.check_model(onnx.load(path), full_check=True)
    operators = [node.op_type for node in onnx.load(path).graph.node]
    assert "QuantizeLinear" in operators and "DequantizeLinear" in operators
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    (entry,) = session.get_inputs()
    fed = x.astype(np.float32) if entry.type == "tensor(float)" else x
    results = session.run(None, {entry.name: fed})
    expected = small.predict(x)
    for one, other in zip(
        results, expected if isinstance(expected, list) else [expected], strict=True
    ):
        close = np.abs(one - other) / np.ptp(other)
        assert close.max() < 0.05 and np.mean(close > 0.004) < 0.05
    for ending in ("c", "tflite"):
        with pytest.raises(ExportError, match="is not a network of integers alone"):
            small.export(tmp_path / f"partly.{ending}")
