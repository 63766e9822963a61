"""Every layer: result, configuration, and errors for inputs that do not fit."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.nn.layer import layer_type

Array = np.ndarray[Any, Any]
X = np.random.default_rng(1).normal(size=(3, 4)).astype(np.float32)
IMAGE = np.random.default_rng(2).normal(size=(2, 4, 6, 3)).astype(np.float32)


def softmax(x: Array) -> Array:
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def windows(x: Array) -> Array:
    """Return the 2 x 2 windows of IMAGE, of shape (batch, 2, 3, channels, 4)."""
    return x.reshape(2, 2, 2, 3, 2, 3).transpose(0, 1, 3, 5, 2, 4).reshape(2, 2, 3, 3, 4)


Weights = dict[str, Array]
KERNELS = ("query_kernel", "key_kernel", "value_kernel", "output_kernel")


def attended(w: Weights, x: Array) -> Array:
    """Return attention with heads of 4 features, summed over the heads; biases are zero."""
    query, key, value, output = (w[name] for name in KERNELS)
    heads = [slice(first, first + 4) for first in range(0, query.shape[1], 4)]
    return sum(
        softmax(x @ query[:, head] @ (x @ key[:, head]).swapaxes(1, 2) / 2)
        @ (x @ value[:, head] @ output[head])
        for head in heads
    )


def block(w: Weights, x: Array, causal: bool) -> Array:
    """Return a transformer block of one head; biases are zero."""
    scores = x @ w["query_kernel"] @ (x @ w["key_kernel"]).swapaxes(1, 2) / np.sqrt(x.shape[-1])
    if causal:
        scores = np.where(np.tri(x.shape[1], dtype=bool), scores, -1e9)
    y = normal(x + softmax(scores) @ (x @ w["value_kernel"]) @ w["output_kernel"])
    return normal(y + np.maximum(y @ w["hidden_kernel"], 0) @ w["result_kernel"])


def normal(x: Array) -> Array:
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def remembered(w: Weights, x: Array, part: str = "") -> Array:
    """Return the last hidden state of an LSTM."""
    memory = h = np.zeros((len(x), 2))
    for step in x.swapaxes(0, 1):
        gates = step @ w[f"{part}kernel"] + h @ w[f"{part}recurrent_kernel"] + w[f"{part}bias"]
        i, f, g, o = np.split(gates, 4, axis=1)
        memory = sigmoid(f) * memory + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(memory)
    return h


def gated(w: Weights, x: Array) -> Array:
    """Return the states of a GRU."""
    states = [np.zeros((len(x), 2))]
    for step in x.swapaxes(0, 1):
        z, r, n = np.split(step @ w["kernel"] + w["bias"][0], 3, axis=1)
        hz, hr, hn = np.split(states[-1] @ w["recurrent_kernel"] + w["bias"][1], 3, axis=1)
        update = sigmoid(z + hz)
        candidate = np.tanh(n + sigmoid(r + hr) * hn)
        states.append(update * states[-1] + (1 - update) * candidate)
    return np.stack(states[1:], 1)


# Layer, inputs, and a function that computes the result from weights and inputs.
TABLE: dict[str, tuple[nn.Layer, list[Array], Callable[..., Array]]] = {
    "relu": (nn.ReLU(), [X], lambda w, x: np.maximum(x, 0)),
    "relu with a slope": (
        nn.ReLU(1.0, 0.1, 0.5),
        [X],
        lambda w, x: np.where(x >= 0.5, np.minimum(x, 1), 0.1 * (x - 0.5)),
    ),
    "leaky_relu": (nn.LeakyReLU(), [X], lambda w, x: np.where(x > 0, x, 0.3 * x)),
    # Outside of training; tests/nn/test_function_layers.py has the rest.
    "fake_quantize": (nn.FakeQuantize(4), [X], lambda w, x: x),  # before the first batch
    "rrelu": (nn.RReLU(0.1, 0.3, seed=1), [X], lambda w, x: np.where(x > 0, x, 0.2 * x)),
    "lambda": (
        nn.Lambda(pg.pad, (6,), arguments={"pad_width": [[0, 0], [1, 1]]}),
        [X],
        lambda w, x: np.pad(x, [(0, 0), (1, 1)]),
    ),
    "elu": (nn.ELU(0.5), [X], lambda w, x: np.where(x > 0, x, 0.5 * np.expm1(x))),
    "softmax": (nn.Softmax(), [IMAGE], lambda w, x: softmax(x)),
    "permute": (nn.Permute((3, 1, 2)), [IMAGE], lambda w, x: x.transpose(0, 3, 1, 2)),
    "repeat_vector": (nn.RepeatVector(2), [X], lambda w, x: np.stack([x, x], 1)),
    "average": (nn.Average(), [X, 2 * X, X**2], lambda w, *xs: sum(xs) / 3),
    "maximum": (nn.Maximum(), [X, 2 * X], lambda w, x, y: np.maximum(x, y)),
    "minimum": (nn.Minimum(), [X, 2 * X], lambda w, x, y: np.minimum(x, y)),
    "subtract": (nn.Subtract(), [X, 3 * X], lambda w, x, y: x - y),
    "dense": (nn.Dense(5), [X], lambda w, x: x @ w["kernel"] + w["bias"]),
    "dense relu no bias": (
        nn.Dense(5, activation="relu", use_bias=False),
        [X],
        lambda w, x: np.maximum(x @ w["kernel"], 0),
    ),
    "dense on images": (nn.Dense(2), [IMAGE], lambda w, x: x @ w["kernel"] + w["bias"]),
    "column_parallel_dense": (
        nn.ColumnParallelDense(5, ["cpu:0"] * 2, "tanh", use_bias=False),
        [X],
        lambda w, x: np.tanh(x @ np.hstack([w["kernel_0"], w["kernel_1"]])),
    ),
    "row_parallel_dense on images": (
        nn.RowParallelDense(2, ["cpu:0", "cpu:0"], bias_initializer="ones"),
        [IMAGE],
        lambda w, x: x @ np.vstack([w["kernel_0"], w["kernel_1"]]) + w["bias"],
    ),
    "conv2d 1x1": (
        nn.Conv2D(5, 1, bias_initializer="ones"),
        [IMAGE],
        lambda w, x: x @ w["kernel"][0, 0] + 1,
    ),
    "conv2d strides": (
        nn.Conv2D(2, 1, strides=2, activation="tanh", use_bias=False),
        [IMAGE],
        lambda w, x: np.tanh(x[:, ::2, ::2] @ w["kernel"][0, 0]),
    ),
    "conv2d dilated groups": (
        nn.Conv2D(4, (1, 2), dilation_rate=(1, 3), groups=2, use_bias=False),
        [IMAGE[..., :2]],
        lambda w, x: np.concatenate(
            [
                x[:, :, :-3, g : g + 1] @ w["kernel"][0, 0, :, 2 * g : 2 * g + 2]
                + x[:, :, 3:, g : g + 1] @ w["kernel"][0, 1, :, 2 * g : 2 * g + 2]
                for g in (0, 1)
            ],
            -1,
        ),
    ),
    "conv1d causal": (
        nn.Conv1D(5, 2, padding="causal", dilation_rate=2, bias_initializer="ones"),
        [IMAGE[0]],
        lambda w, x: (
            x @ w["kernel"][1] + np.pad(x, [(0, 0), (2, 0), (0, 0)])[:, :-2] @ w["kernel"][0] + 1
        ),
    ),
    "conv2d_transpose": (
        nn.Conv2DTranspose(5, 2, 2, "same", activation="tanh"),
        [IMAGE],
        lambda w, x: np.tanh(np.einsum("bhwi,yxoi->bhywxo", x, w["kernel"]).reshape(2, 8, 12, 5)),
    ),
    "depthwise_conv2d": (
        nn.DepthwiseConv2D((1, 2), strides=(1, 2), depth_multiplier=2, bias_initializer="ones"),
        [IMAGE],
        lambda w, x: (
            np.einsum("bhwxi,xim->bhwim", x.reshape(2, 4, 3, 2, 3), w["kernel"][0]) + 1
        ).reshape(2, 4, 3, 6),
    ),
    "separable_conv2d": (
        nn.SeparableConv2D(5, (1, 2), strides=(1, 2), depth_multiplier=2),
        [IMAGE],
        lambda w, x: (
            np.einsum(
                "bhwxi,xim->bhwim", x.reshape(2, 4, 3, 2, 3), w["depthwise_kernel"][0]
            ).reshape(2, 4, 3, 6)
            @ w["pointwise_kernel"][0, 0]
        ),
    ),
    "max_pool2d": (nn.MaxPool2D(), [IMAGE], lambda w, x: windows(x).max(-1)),
    "average_pool2d": (nn.AveragePool2D(), [IMAGE], lambda w, x: windows(x).mean(-1)),
    "max_pool1d": (
        nn.MaxPooling1D(3, strides=1),
        [IMAGE[:, 0]],
        lambda w, x: np.maximum(np.maximum(x[:, :-2], x[:, 1:-1]), x[:, 2:]),
    ),
    "average_pool1d": (
        nn.AveragePooling1D((4,), padding="same"),
        [IMAGE[:, 0]],
        lambda w, x: np.stack([x[:, :3].mean(1), x[:, 3:].mean(1)], 1),
    ),
    "global_average_pooling2d": (
        nn.GlobalAveragePooling2D(),
        [IMAGE],
        lambda w, x: x.mean((1, 2)),
    ),
    "global_max_pooling2d": (
        nn.GlobalMaxPooling2D(keepdims=True),
        [IMAGE],
        lambda w, x: x.max((1, 2), keepdims=True),
    ),
    "global_average_pooling1d": (
        nn.GlobalAveragePooling1D("channels_last", keepdims=True),
        [IMAGE[0]],
        lambda w, x: x.mean(1, keepdims=True),
    ),
    "global_max_pooling1d": (nn.GlobalMaxPooling1D(), [IMAGE[0]], lambda w, x: x.max(1)),
    "zero_padding2d": (
        nn.ZeroPadding2D(((1, 2), (0, 3))),
        [IMAGE],
        lambda w, x: np.pad(x, [(0, 0), (1, 2), (0, 3), (0, 0)]),
    ),
    "zero_padding1d": (
        nn.ZeroPadding1D((2, 0)),
        [IMAGE[0]],
        lambda w, x: np.pad(x, [(0, 0), (2, 0), (0, 0)]),
    ),
    "cropping2d": (nn.Cropping2D((1, 2)), [IMAGE], lambda w, x: x[:, 1:-1, 2:-2]),
    "cropping1d": (nn.Cropping1D((0, 2)), [IMAGE[0]], lambda w, x: x[:, :-2]),
    "flatten": (nn.Flatten(), [IMAGE], lambda w, x: x.reshape(2, -1)),
    "reshape": (nn.Reshape((12, 6)), [IMAGE], lambda w, x: x.reshape(2, 12, 6)),
    "reshape open": (nn.Reshape((-1, 9)), [IMAGE], lambda w, x: x.reshape(2, 8, 9)),
    "rescaling": (nn.Rescaling(2, offset=-1), [X], lambda w, x: x * 2 - 1),
    "activation": (nn.Activation("softmax"), [X], lambda w, x: softmax(x)),
    "dropout": (nn.Dropout(0.5), [X], lambda w, x: x),
    "batch_normalization": (
        nn.BatchNormalization(),
        [X],
        lambda w, x: (x - w["moving_mean"]) / np.sqrt(w["moving_variance"] + 1e-3),
    ),
    "batch_normalization of rows": (
        nn.BatchNormalization(axis=1, epsilon=3, center=False, scale=False),
        [IMAGE],
        lambda w, x: x / np.sqrt(w["moving_variance"] + 3)[:, None, None],
    ),
    "layer_normalization of columns": (
        nn.LayerNormalization(axis=2, epsilon=0.5, center=False),
        [IMAGE],
        lambda w, x: (x - x.mean(2, keepdims=True)) / np.sqrt(x.var(2, keepdims=True) + 0.5),
    ),
    "layer_normalization of images": (
        nn.LayerNormalization(axis=[-2, 3, 1], gamma_initializer="uniform"),
        [IMAGE],
        lambda w, x: (
            (x - x.mean((1, 2, 3), keepdims=True))
            / np.sqrt(x.var((1, 2, 3), keepdims=True) + 1e-3)
            * w["gamma"]
        ),
    ),
    "layer_normalization of each channel": (
        nn.LayerNormalization(axis=[1, 2], beta_initializer="uniform"),
        [IMAGE],
        lambda w, x: (
            (x - x.mean((1, 2), keepdims=True)) / np.sqrt(x.var((1, 2), keepdims=True) + 1e-3)
            + w["beta"][:, :, None]
        ),
    ),
    "group_normalization": (
        nn.GroupNormalization(3, axis=2, epsilon=0.5, beta_initializer="ones"),
        [IMAGE],
        lambda w, x: (
            ((y := x.reshape(2, 4, 3, 2, 3)) - y.mean((1, 3, 4), keepdims=True)).reshape(x.shape)
            / np.sqrt(y.var((1, 3, 4)) + 0.5).repeat(2, 1)[:, None, :, None]
            + 1
        ),
    ),
    "group_normalization of channels": (
        nn.GroupNormalization(-1, center=False),
        [IMAGE],
        lambda w, x: (
            (x - x.mean((1, 2), keepdims=True)) / np.sqrt(x.var((1, 2), keepdims=True) + 1e-3)
        ),
    ),
    "prelu": (
        nn.PReLU("normal", shared_axes=[1, -1]),
        [IMAGE],
        lambda w, x: np.where(x > 0, x, x * w["alpha"].reshape(6, 1)),
    ),
    "embedding": (
        nn.Embedding(5, 3),
        [np.array([[4, 0], [1, 4]], np.float32)],
        lambda w, x: w["embeddings"][x.astype(int)],
    ),
    "masking": (nn.Masking(7), [IMAGE[0]], lambda w, x: x),
    "simple_rnn": (
        nn.SimpleRNN(2, "relu"),
        [IMAGE[0, :, :2]],
        lambda w, x: np.maximum(
            np.maximum(x[:, 0] @ w["kernel"], 0) @ w["recurrent_kernel"] + x[:, 1] @ w["kernel"], 0
        ),
    ),
    "lstm": (nn.LSTM(2, bias_initializer="normal"), [IMAGE[0]], remembered),
    "gru": (nn.GRU(2, bias_initializer="normal", return_sequences=True), [IMAGE[0]], gated),
    "bidirectional": (
        nn.Bidirectional(nn.LSTM(2)),
        [IMAGE[0]],
        lambda w, x: np.hstack(
            [remembered(w, x, "forward/"), remembered(w, x[:, ::-1], "backward/")]
        ),
    ),
    "time_distributed": (
        nn.TimeDistributed(nn.Dense(2)),
        [IMAGE],
        lambda w, x: x @ w["layer/kernel"] + w["layer/bias"],
    ),
    "up_sampling2d": (
        nn.UpSampling2D((1, 3)),
        [IMAGE],
        lambda w, x: x.repeat(3, 2),
    ),
    "up_sampling2d bilinear": (
        nn.UpSampling2D(interpolation="bilinear"),
        [IMAGE[:, :1, :2]],
        lambda w, x: np.stack(
            [
                x[:, 0, 0],
                *(x[:, 0, 0] * (1 - t) + x[:, 0, 1] * t for t in (0.25, 0.75)),
                x[:, 0, 1],
            ],
            1,
        )[:, None].repeat(2, 1),
    ),
    "up_sampling1d": (nn.UpSampling1D(3), [IMAGE[0]], lambda w, x: x.repeat(3, 1)),
    "multi_head_attention": (
        nn.MultiHeadAttention(2, 4),
        [IMAGE[:, 0]],
        lambda w, x: attended(w, x),
    ),
    "parallel_multi_head_attention": (
        nn.ParallelMultiHeadAttention(2, ["cpu:0", "cpu:0"], 4, use_bias=False),
        [IMAGE[:, 0]],
        lambda w, x: (
            attended({n: w[f"{n}_0"] for n in KERNELS}, x)
            + attended({n: w[f"{n}_1"] for n in KERNELS}, x)
        ),
    ),
    "transformer_encoder": (
        nn.TransformerEncoder(5, 1),
        [IMAGE[:, 0]],
        lambda w, x: block(w, x, causal=False),
    ),
    "transformer_decoder": (
        nn.TransformerDecoder(5, 1),
        [IMAGE[:, 0]],
        lambda w, x: block(w, x, causal=True),
    ),
    "position_embedding": (
        nn.PositionEmbedding(9),
        [IMAGE[:, 0]],
        lambda w, x: np.broadcast_to(w["position_embeddings"][: x.shape[1]], x.shape),
    ),
    "add": (nn.Add(), [X, X * 2, X], lambda w, a, b, c: a + b + c),
    "dot": (nn.Dot(1), [X, X**2], lambda w, a, b: (a * b).sum(1, keepdims=True)),
    "dot of images": (
        nn.Dot((1, -1), normalize=True),
        [IMAGE[0], IMAGE[0, ..., :2].repeat(3, 2)],
        lambda w, a, b: np.einsum(
            "bij,bki->bjk",
            a / np.linalg.norm(a, axis=1, keepdims=True),
            b / np.linalg.norm(b, axis=2, keepdims=True),
        ),
    ),
    "multiply": (nn.Multiply(), [X, X + 1], lambda w, a, b: a * b),
    "concatenate": (nn.Concatenate(), [X, X[:, :2]], lambda w, a, b: np.concatenate([a, b], -1)),
    # Outside of training; tests/nn/test_augmentation.py has the rest.
    "random_flip": (nn.RandomFlip("vertical"), [IMAGE], lambda w, x: x),
    "random_translation": (nn.RandomTranslation(0.1, [0, 0.2], "wrap"), [IMAGE], lambda w, x: x),
    "random_rotation": (nn.RandomRotation(0.1, fill_value=1.0), [IMAGE], lambda w, x: x),
    "random_zoom": (nn.RandomZoom(0.1, 0.2, seed=3), [IMAGE], lambda w, x: x),
    "random_contrast": (nn.RandomContrast(0.1), [IMAGE], lambda w, x: x),
    "gaussian_noise": (nn.GaussianNoise(0.5, seed=3), [X], lambda w, x: x),
    "spatial_dropout1d": (nn.SpatialDropout1D(0.5), [IMAGE[:, 0]], lambda w, x: x),
    "spatial_dropout2d": (nn.SpatialDropout2D(0.5, seed=1), [IMAGE], lambda w, x: x),
    "normalization": (
        nn.Normalization(mean=[1.0, 2, 3, 4], variance=[4.0, 4, 1, 1]),
        [X],
        lambda w, x: (x - [1, 2, 3, 4]) / [2, 2, 1, 1],
    ),
    "rms_normalization": (
        nn.RMSNormalization(),
        [X],
        lambda w, x: w["scale"] * x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-6),
    ),
    "restricted_boltzmann_machine": (
        nn.RestrictedBoltzmannMachine(3, hidden_initializer="ones"),
        [X],
        lambda w, x: sigmoid(x @ w["kernel"] + 1),
    ),
    "random_brightness": (nn.RandomBrightness(0.1, [0, 1]), [IMAGE], lambda w, x: x),
}


@pytest.mark.parametrize("case", TABLE)
def test_results_and_configurations_match_the_table(case: str) -> None:
    template, arrays, reference = TABLE[case]
    # A configuration restored from JSON creates an equal layer.
    config = json.loads(json.dumps(template.get_config()))
    layer = layer_type(template.kind).from_config(config)
    assert layer.get_config() == template.get_config()
    with pg.Graph().as_default() as graph:
        inputs = [pg.Input(x.shape[1:]) for x in arrays]
        output = layer(inputs)
    assert layer.name == f"{layer.kind}_1"
    with pg.Session(graph, "cpu") as session:
        weights = {name: session.value(v) for name, v in layer.variables.items()}
        result = session.run(output, dict(zip(inputs, arrays, strict=True)))
    expected = reference(weights, *arrays)
    assert result.shape == expected.shape
    assert output.shape == (None, *expected.shape[1:])
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)
    assert {v.variable_name for v in layer.variables.values()} == {
        f"{layer.name}/{name}" for name in weights
    }


def test_every_layer_is_in_the_table() -> None:
    public = [item for item in vars(nn).values() if isinstance(item, type)]
    ours = {item.kind for item in public if issubclass(item, nn.Layer) and item.kind}
    # tests/nn/test_graph_layers.py compares these with PyTorch Geometric.
    ours -= {item.kind for item in public if issubclass(item, nn.MessagePassing)}
    ours -= {nn.GlobalGraphPooling.kind}
    assert ours == {layer.kind for layer, _, _ in TABLE.values()}


def test_dropout_drops_in_training_only() -> None:
    with pg.Graph().as_default() as graph:
        x = pg.Input((1000,))
        layer = nn.Dropout(0.25)
        plain, dropped = layer(x), layer(x, training=True)
    ones = np.ones((4, 1000), np.float32)
    with pg.Session(graph, "cpu") as session:
        assert (session.run(plain, {x: ones}) == 1).all()
        first = session.run(dropped, {x: ones})
        second = session.run(dropped, {x: ones})
    assert 0.7 < (first != 0).mean() < 0.8
    np.testing.assert_allclose(first[first != 0], 1 / 0.75, rtol=1e-6)
    assert (first != second).any()


def test_whole_numbers_become_floats_where_a_layer_needs_them() -> None:
    with pg.Graph().as_default() as graph:
        x = pg.Input((2, 2), dtype="uint8")
        flat = nn.Flatten()(x)
        y = nn.Dense(1, kernel_initializer="ones")(flat)
    assert (flat.dtype, y.dtype) == ("uint8", "float32")
    with pg.Session(graph, "cpu") as session:
        assert session.run(y, {x: np.full((1, 2, 2), 200, np.uint8)}).item() == 800


def test_custom_layers_can_be_trained_and_cloned() -> None:
    class Scale(nn.Layer):
        kind = "scale"

        def __init__(self, start: float = 1.0, name: str | None = None) -> None:
            super().__init__(name)
            self.start = start

        def build(self, *shapes: Any) -> None:
            size = self.known(shapes[0], -1)
            self.add_weight("factor", (size,), nn.Constant(self.start))

        def call(self, *inputs: pg.Tensor, training: bool = False) -> pg.Tensor:
            return inputs[0] * self.variables["factor"]

    model = pg.Sequential([Scale(3.0)])
    model.compile("sgd", "mse", device="cpu")
    np.testing.assert_allclose(model.predict(X), X * 3, rtol=1e-6)
    assert list(model.named_variables) == ["scale_1/factor"]
    clone = pg.Sequential.from_config(model.get_config())
    np.testing.assert_allclose(clone.predict(X), X * 3, rtol=1e-6)
    model.fit(X, X, verbose=0)
    assert model.named_weights()["scale_1/factor"].max() < 3


def call(layer: nn.Layer, *shapes: tuple[int | None, ...]) -> pg.Tensor:
    with pg.Graph().as_default():
        return layer([pg.Input(shape) for shape in shapes])


@pytest.mark.parametrize(
    ("build", "error", "words"),
    [
        (
            lambda: call(nn.Conv2D(2, 3), (28, 28)),
            pg.ShapeError,
            r"layer 'conv2d_1' takes inputs of 4 dimensions .* got shape \(\?, 28, 28\).*"
            r"nn\.Reshape\(\(28, 28, 1\)\)",
        ),
        (lambda: call(nn.MaxPool2D(), (7,)), pg.ShapeError, "layer 'max_pool2d_1'"),
        (
            lambda: nn.Conv2D(5, 3, groups=2),
            pg.ShapeError,
            "groups .* must divide filters=5, got 2",
        ),
        (
            lambda: call(nn.Conv1D(4, 3, groups=2), (9, 3)),
            pg.ShapeError,
            r"layer 'conv1d_1' cannot divide the 3 channels .* into 2 groups",
        ),
        (
            lambda: call(nn.GroupNormalization(), (4, 6)),
            pg.ShapeError,
            r"layer 'group_normalization_1' cannot divide the 6 channels .* into 32 groups",
        ),
        (lambda: nn.GroupNormalization(0), pg.ShapeError, "groups .* at least 1, got 0"),
        (lambda: call(nn.PReLU(shared_axes=0), (4,)), pg.ShapeError, "share alpha along axis 0"),
        (lambda: call(nn.PReLU(), (None,)), pg.ShapeError, "know dimension 1"),
        (
            lambda: nn.UpSampling2D(interpolation="bicubic"),
            pg.ShapeError,
            "must be 'nearest' or 'bilinear', got 'bicubic'",
        ),
        (lambda: nn.Conv1D(4, 3, padding="full"), pg.ShapeError, "or 'causal', got 'full'"),
        (lambda: nn.MaxPooling2D(padding="full"), pg.ShapeError, "'valid' or 'same', got 'full'"),
        (lambda: nn.MaxPooling1D((2, 2)), pg.ShapeError, "pool_size of a MaxPool1D .* got"),
        (
            lambda: nn.GlobalMaxPooling2D("channels"),
            pg.ShapeError,
            "must be 'channels_last' or 'channels_first', got 'channels'",
        ),
        (lambda: nn.ZeroPadding2D((1, -1)), pg.ShapeError, r"at least 0.* got \(1, -1\)"),
        (lambda: call(nn.Cropping2D(2), (4, 9, 1)), pg.ShapeError, "which leaves nothing"),
        (lambda: call(nn.Dense(3), (None,)), pg.ShapeError, "needs to know dimension -1"),
        (lambda: call(nn.Dense(0), (3,)), pg.ShapeError, "units of a Dense layer .* got 0"),
        (lambda: nn.Dense(None), pg.ShapeError, "units of a Dense layer .* got None"),
        (lambda: nn.Conv2D(2, "3"), pg.ShapeError, "kernel_size .* got '3'"),
        (lambda: nn.Conv2D(2, (3, 3, 3)), pg.ShapeError, "kernel_size .* one number or two"),
        (lambda: call(nn.Reshape((5,)), (2, 3)), pg.ShapeError, r"\(2, 3\) to \(5,\)"),
        (lambda: call(nn.Reshape((-1, 4)), (2, 3)), pg.ShapeError, "reshape_1"),
        (lambda: nn.Dropout(1.0), pg.ShapeError, "at least 0 and below 1, got 1.0"),
        (lambda: call(nn.BatchNormalization(), ()), pg.ShapeError, r"axis -1, .* shape \(\?,\)"),
        (lambda: call(nn.BatchNormalization(3), (3, 4)), pg.ShapeError, "along axis 3, but"),
        (lambda: call(nn.BatchNormalization(), (None,)), pg.ShapeError, "know dimension 1"),
        (lambda: nn.BatchNormalization(momentum=1.5), pg.ShapeError, "momentum .* 0 to 1, got 1.5"),
        (lambda: nn.BatchNormalization(epsilon=None), pg.ShapeError, "epsilon .* got None"),
        (lambda: call(nn.LayerNormalization(0), (3,)), pg.ShapeError, "along axis 0, but"),
        (
            lambda: call(nn.LayerNormalization((1, -2)), (3, 4)),
            pg.ShapeError,
            r"'layer_normalization_1' .* axes \(1, -2\), .* twice",
        ),
        (lambda: nn.LayerNormalization("all"), pg.ShapeError, "axis of LayerNormalization must be"),
        (lambda: call(nn.Add(), (3,)), pg.ShapeError, "takes two or more tensors"),
        (lambda: call(nn.Add(), (3,), (4,)), pg.ShapeError, "do not broadcast"),
        (lambda: call(nn.Conv2D(1, 9), (4, 4, 1)), pg.ShapeError, "conv2d_1/conv2d"),
        (lambda: nn.Dense(3, activation="prelu"), pg.GraphError, r"weights.*nn\.PReLU\(\) after"),
        (lambda: nn.Conv2D(3, 1, activation="rrelu"), pg.GraphError, r"nn\.RReLU\(\) after"),
        (lambda: nn.Dense(3, activation="rely"), pg.GraphError, "no activation 'rely'.*relu"),
        (lambda: nn.Dense(3, kernel_initializer="x"), pg.GraphError, "no initializer 'x'"),
        (lambda: nn.Dense(3, name="a/b"), pg.GraphError, "'a/b' cannot name a layer"),
        (lambda: nn.Dense(3)(3.0), pg.DTypeError, "takes tensors, got float"),
        (lambda: layer_type("dens"), pg.GraphError, "no layer 'dens'.*dense"),
    ],
)
def test_wrong_use_raises_explaining_errors(
    build: Callable[[], Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        build()


def test_a_layer_takes_arrays_as_a_model_does() -> None:
    layer = nn.Dense(3)
    result = layer(X)
    np.testing.assert_allclose(result.numpy(), X @ layer.get_weights()[0], rtol=1e-6)
    both = nn.Add()([X, pg.constant(X)])
    np.testing.assert_array_equal(both.numpy(), 2 * X)


def test_errors_name_the_line_that_made_the_layer() -> None:
    layer = nn.Conv2D(2, 3)
    with pytest.raises(pg.ShapeError) as caught:
        call(layer, (28, 28))
    assert caught.value.source is not None
    assert caught.value.source[0] == __file__
    assert caught.value.source == layer.source


def test_a_layer_keeps_to_its_width_and_graph() -> None:
    layer = nn.Dense(2)
    call(layer, (3,))
    with pytest.raises(pg.GraphError, match="'dense_1' belongs to another model's graph"):
        call(layer, (3,))
    with pg.Graph().as_default():
        layer = nn.Dense(2)
        layer(pg.Input((3,)))
        with pytest.raises(pg.ShapeError, match=r"last dimension of 3, but got shape \(\?, 4\)"):
            layer(pg.Input((4,)))


def test_functions_have_no_place_in_a_configuration() -> None:
    layer = nn.Dense(2, activation=lambda x: x * 2)
    with pytest.raises(pg.GraphError, match="holds the function '<lambda>'"):
        layer.get_config()


@pytest.mark.parametrize(
    ("name", "bound", "deviation"),
    [
        ("glorot_uniform", np.sqrt(6 / 500), np.sqrt(2 / 500)),
        ("he_uniform", np.sqrt(6 / 300), np.sqrt(2 / 300)),
        ("glorot_normal", 2 * np.sqrt(2 / 500) / 0.8796, np.sqrt(2 / 500)),
        ("he_normal", 2 * np.sqrt(2 / 300) / 0.8796, np.sqrt(2 / 300)),
        ("normal", 0.3, 0.05),
        ("uniform", 0.05, 0.05 / np.sqrt(3)),
    ],
)
def test_random_initializers_have_their_distribution(
    name: str, bound: float, deviation: float
) -> None:
    def draw(device: str, seed: int = 0) -> Array:
        with pg.Graph(seed).as_default() as graph:
            layer = nn.Dense(200, kernel_initializer=name)
            layer(pg.Input((300,)))
        with pg.Session(graph, device) as session:
            value: Array = session.value(layer.variables["kernel"])
        return value

    kernel = draw("cpu")
    assert np.abs(kernel).max() <= bound * 1.0001
    assert abs(kernel.mean()) < 0.01 * bound + 1e-3
    np.testing.assert_allclose(kernel.std(), deviation, rtol=0.02)
    np.testing.assert_array_equal(kernel, draw("cpu"))
    assert (kernel != draw("cpu", seed=1)).mean() > 0.99


@pytest.mark.gpu
def test_weights_begin_alike_on_every_device() -> None:
    values = []
    for device in ("cpu", "gpu"):
        model = pg.Sequential([nn.Dense(20, kernel_initializer="he_normal"), nn.Dense(7)])
        model.compile("sgd", "mse", device=device)
        model.build((30,))
        values.append(model.named_weights())
        model.close()
    for name in values[0]:
        np.testing.assert_array_equal(values[0][name], values[1][name])
