"""Whole networks as ONNX files: onnxruntime predicts what playgrad does."""

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
from playgrad.errors import CheckpointError, ExportError

Array = np.ndarray[Any, Any]


def randoms(*shape: int) -> Array:
    return np.random.default_rng(len(shape)).normal(size=shape).astype(np.float32)


def lenet() -> pg.Model:
    return pg.Sequential([
        pg.Input((28, 28)), nn.Rescaling(1 / 255), nn.Reshape((28, 28, 1)),
        nn.Conv2D(6, 5, padding="same", activation="relu"), nn.MaxPooling2D(),
        nn.Conv2D(16, 5, activation="relu"), nn.AveragePooling2D(), nn.Flatten(),
        nn.Dense(120, activation="tanh"), nn.Dropout(0.5), nn.Dense(10, activation="softmax"),
    ])  # fmt: skip


def residual() -> pg.Model:
    inputs = pg.Input((8, 8, 3))
    x = nn.Conv2D(4, 3, padding="same", use_bias=False)(inputs)
    x = nn.ReLU()(nn.BatchNormalization()(x))
    x = nn.Add()([x, nn.Conv2D(4, 1)(inputs)])
    x = nn.SeparableConv2D(6, 3, strides=2, padding="same")(x)
    x = nn.GroupNormalization(groups=2)(x)
    return pg.Model(inputs, nn.Dense(3)(nn.GlobalAveragePooling2D()(x)))


def encoder_decoder() -> pg.Model:
    return pg.Sequential([
        pg.Input((8, 8, 2)), nn.Conv2D(4, 3, strides=2, padding="same", activation="gelu"),
        nn.Conv2DTranspose(3, 3, strides=2, padding="same", activation="elu"),
        nn.UpSampling2D(2, interpolation="bilinear"), nn.ZeroPadding2D(1),
        nn.DepthwiseConv2D(3, dilation_rate=2), nn.PReLU(shared_axes=[1, 2]),
    ])  # fmt: skip


def reader() -> pg.Model:
    return pg.Sequential([
        pg.Input((6,), dtype="int32"), nn.Embedding(20, 8), nn.LSTM(5, return_sequences=True),
        nn.Bidirectional(nn.GRU(4, return_sequences=True)), nn.LayerNormalization(),
        nn.Conv1D(3, 2, padding="causal"), nn.SimpleRNN(4), nn.Dense(3),
    ])  # fmt: skip


def attention() -> pg.Model:
    inputs = pg.Input((5, 8))
    x = nn.MultiHeadAttention(num_heads=2, key_dim=4)(inputs, inputs, use_causal_mask=True)
    x = nn.LayerNormalization()(nn.Add()([x, inputs]))
    return pg.Model(inputs, [nn.Dense(4, activation="silu")(x), nn.GlobalMaxPooling1D()(x)])


MODELS: dict[str, tuple[Callable[[], pg.Model], Array]] = {
    "lenet": (lenet, 100 * np.abs(randoms(3, 28, 28))),
    "residual": (residual, randoms(3, 8, 8, 3)),
    "encoder_decoder": (encoder_decoder, randoms(3, 8, 8, 2)),
    "reader": (reader, np.arange(18, dtype=np.int32).reshape(3, 6)),
    "attention": (attention, randoms(3, 5, 8)),
}


@pytest.mark.parametrize("name", MODELS)
def test_onnxruntime_predicts_the_same(name: str, tmp_path: Path) -> None:
    build, x = MODELS[name]
    model = build()
    rng = np.random.default_rng(0)
    model.set_weights([w + 0.1 * np.abs(rng.normal(size=w.shape)) for w in model.get_weights()])
    path = tmp_path / "model.onnx"
    model.export(path)
    onnx.checker.check_model(str(path), full_check=True)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    (source,) = session.get_inputs()
    for batch in (x, x[:1], np.concatenate([x, x])):  # the size of a batch is free
        expected = model.predict(batch)
        expected = expected if isinstance(expected, list) else [expected]
        for result, wanted in zip(session.run(None, {source.name: batch}), expected, strict=True):
            np.testing.assert_allclose(result, wanted, rtol=1e-5, atol=1e-5)


def test_names_of_weights_and_layers_are_kept(tmp_path: Path) -> None:
    model = lenet()
    model.export(tmp_path / "lenet.onnx")
    graph = onnx.load(tmp_path / "lenet.onnx").graph
    stored = {each.name: onnx.numpy_helper.to_array(each) for each in graph.initializer}
    for name, array in model.named_weights().items():
        np.testing.assert_array_equal(stored[name], array)
    assert "conv2d_1/conv2d" in {output for node in graph.node for output in node.output}
    assert graph.input[0].type.tensor_type.shape.dim[0].dim_param == "batch"
    assert graph.name == model.name


def test_an_operation_without_an_equivalent_is_named(tmp_path: Path) -> None:
    scattered = nn.Lambda(lambda x: pg.scatter_add(x, [0], np.ones((1, 3), np.float32)))
    model = pg.Sequential([pg.Input((3,)), scattered, nn.Dense(2)])
    path = tmp_path / "scattered.onnx"
    path.write_bytes(b"before")
    with pytest.raises(ExportError, match=r"layer 'lambda_1', operation '.*' .*: ONNX has no"):
        model.export(path)
    assert path.read_bytes() == b"before"


def test_a_file_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="cannot write"):
        lenet().export(tmp_path / "none" / "model.onnx")
    with pytest.raises(CheckpointError, match="no format has the ending"):
        lenet().export(tmp_path / "model.tflite")
