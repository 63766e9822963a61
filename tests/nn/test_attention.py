"""Attention and layer normalization compared with PyTorch, with the same weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import playgrad as pg
from playgrad import nn
from tests.interchange.keras_side import keras
from tests.nn.small_models import DEVICES
from tests.sweeps import slow

Array = np.ndarray[Any, Any]
RNG = np.random.default_rng(3)
BATCH, STEPS, WIDTH, HEADS = 3, 5, 12, 4
X = RNG.normal(size=(BATCH, STEPS, WIDTH)).astype(np.float32)
MEMORY = RNG.normal(size=(BATCH, 7, 6)).astype(np.float32)
KEYS = RNG.normal(size=(BATCH, 7, 8)).astype(np.float32)


def with_gradients(
    layer: nn.Layer, arrays: list[Array], device: str, training: bool = False
) -> tuple[Array, list[Array], dict[str, Array]]:
    """Return the layer's result, the gradients of the sum of its squares (for the inputs, then the
    weights) and the weights."""
    with pg.Graph().as_default() as graph:
        inputs = [pg.Input(x.shape[1:]) for x in arrays]
        y = layer(inputs, training=training)
        xs = [*inputs, *layer.variables.values()]
        grads = pg.gradients(pg.reduce_sum(pg.square(y)), xs)
    with pg.Session(graph, device) as session:
        weights = {name: session.value(v) for name, v in layer.variables.items()}
        for name in weights:  # zeros would hide a bias that is not added
            weights[name] = weights[name] + RNG.normal(0, 0.1, weights[name].shape).astype("f4")
        session.assign({layer.variables[name]: value for name, value in weights.items()})
        result, *gradients = session.run([y, *grads], dict(zip(inputs, arrays, strict=True)))
    return result, gradients, weights


def torch_attention(weights: dict[str, Array], arrays: list[Array]) -> torch.nn.Module:
    value, key = arrays[min(1, len(arrays) - 1)], arrays[-1]
    theirs = torch.nn.MultiheadAttention(
        WIDTH, HEADS, batch_first=True, kdim=key.shape[-1], vdim=value.shape[-1]
    )
    tensors = {name: torch.tensor(array) for name, array in weights.items()}
    with torch.no_grad():
        kernels = [tensors[f"{role}_kernel"].T for role in ("query", "key", "value")]
        if theirs.in_proj_weight is not None:
            theirs.in_proj_weight.copy_(torch.cat(kernels))
        else:
            theirs.q_proj_weight.copy_(kernels[0])
            theirs.k_proj_weight.copy_(kernels[1])
            theirs.v_proj_weight.copy_(kernels[2])
        theirs.in_proj_bias.copy_(
            torch.cat([tensors[f"{role}_bias"] for role in ("query", "key", "value")])
        )
        theirs.out_proj.weight.copy_(tensors["output_kernel"].T)
        theirs.out_proj.bias.copy_(tensors["output_bias"])
    return theirs


ARRAYS = ([X], [X, MEMORY], [X, MEMORY, KEYS])


@pytest.mark.parametrize(
    ("device", "causal", "arrays"),
    [
        *(("cpu", causal, arrays) for causal in (False, True) for arrays in ARRAYS),
        pytest.param("gpu", True, ARRAYS[2], marks=pytest.mark.gpu),
        *slow(*(("gpu", False, arrays) for arrays in ARRAYS)),
    ],
)
def test_attention_and_its_gradients_match_pytorch(
    device: str, causal: bool, arrays: list[Array]
) -> None:
    layer = nn.MultiHeadAttention(HEADS, causal=causal)
    result, gradients, weights = with_gradients(layer, arrays, device)
    theirs = torch_attention(weights, arrays)
    inputs = [torch.tensor(x, requires_grad=True) for x in arrays]
    value, key = inputs[min(1, len(inputs) - 1)], inputs[-1]
    mask = None
    if causal:
        mask = ~torch.tensor(np.tri(STEPS, key.shape[1], dtype=bool))
    expected, _ = theirs(inputs[0], key, value, attn_mask=mask, need_weights=False)
    np.testing.assert_allclose(result, expected.detach().numpy(), rtol=1e-4, atol=1e-5)
    (expected**2).sum().backward()
    for ours, tensor in zip(gradients, inputs, strict=False):
        assert tensor.grad is not None
        np.testing.assert_allclose(ours, tensor.grad.numpy(), rtol=1e-3, atol=1e-4)
    by_name = dict(zip(layer.variables, gradients[len(inputs) :], strict=True))
    np.testing.assert_allclose(
        by_name["output_kernel"], theirs.out_proj.weight.grad.T, rtol=1e-3, atol=1e-4
    )
    if theirs.in_proj_weight is not None:
        kernels = np.split(theirs.in_proj_weight.grad.numpy(), 3)
    else:
        kernels = [
            part.grad.numpy()
            for part in (theirs.q_proj_weight, theirs.k_proj_weight, theirs.v_proj_weight)
        ]
    biases = np.split(theirs.in_proj_bias.grad.numpy(), 3)
    for role, kernel, bias in zip(("query", "key", "value"), kernels, biases, strict=True):
        np.testing.assert_allclose(by_name[f"{role}_kernel"], kernel.T, rtol=1e-3, atol=1e-4)
        np.testing.assert_allclose(by_name[f"{role}_bias"], bias, rtol=1e-3, atol=1e-4)


def test_attention_masks_match_pytorch() -> None:
    """Padding and attention masks, in a replayed and in a cloned model, against PyTorch."""
    padding = np.arange(7)[None, :] < np.array([7, 4, 2])[:, None]
    seen = RNG.random((BATCH, STEPS, 7)) < 0.7
    seen[..., 0] = True
    layer = nn.MultiHeadAttention(HEADS, WIDTH // HEADS)
    with pg.Graph().as_default():
        query, memory = pg.Input((STEPS, WIDTH)), pg.Input((7, 6))
        valid, chosen = pg.Input((7,), dtype="int32"), pg.Input((STEPS, 7), dtype="int32")
        y = layer(query, memory, value_mask=valid, attention_mask=chosen, use_causal_mask=True)
        scores = layer.attention_scores(
            query, memory, value_mask=valid, attention_mask=chosen, use_causal_mask=True
        )
        model = pg.Model([query, memory, valid, chosen], [y, scores])
    arrays = [X, MEMORY, padding.astype(np.int32), seen.astype(np.int32)]
    result, weights = model.predict(arrays)
    every = padding[:, None] & seen & np.tri(STEPS, 7, dtype=bool)
    # PyTorch has no batch of masks for each sample: one for each sample and head.
    mask = torch.tensor(~np.repeat(every, HEADS, axis=0))
    values = {n.rpartition("/")[2]: v for n, v in model.named_weights().items()}
    theirs = torch_attention(values, [X, MEMORY])
    memory_ = torch.tensor(MEMORY)
    expected, averages = theirs(torch.tensor(X), memory_, memory_, attn_mask=mask)
    np.testing.assert_allclose(result, expected.detach().numpy(), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(weights.mean(1), averages.detach().numpy(), rtol=1e-4, atol=1e-5)
    clone = model.clone()
    np.testing.assert_array_equal(clone.predict(arrays)[0], result)
    clone.close()
    model.close()


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("dropout", [0.0, 0.5])
def test_a_query_that_sees_nothing_gets_what_keras_gives_it(dropout: float, causal: bool) -> None:
    """The mean of all values; with dropout Keras computes in another way, and it gets zeros."""
    sees = np.arange(STEPS)[None, :] >= np.array([0, 2, STEPS])[:, None]
    with pg.Graph().as_default():
        x, mask = pg.Input((STEPS, WIDTH)), pg.Input((STEPS,), dtype="bool")
        layer = nn.MultiHeadAttention(2, 3, 5, output_shape=8, dropout=dropout)
        masks = {"query_mask": mask, "value_mask": mask}
        y = layer(x, use_causal_mask=causal, **masks)
        scores = layer.attention_scores(x, use_causal_mask=causal, **masks)
        model = pg.Model([x, mask], [y, scores])
    theirs = keras.layers.MultiHeadAttention(2, 3, 5, output_shape=8, dropout=dropout)
    theirs.build(X.shape, X.shape)
    values = {n.rpartition("/")[2]: v for n, v in model.named_weights().items()}
    roles = ("query", "key", "value", "output")
    names = [f"{role}_{part}" for role in roles for part in ("kernel", "bias")]
    theirs.set_weights(
        [values[n].reshape(w.shape) for n, w in zip(names, theirs.weights, strict=True)]
    )

    def call(**options: bool) -> Any:
        sequence = keras.ops.convert_to_tensor(X)
        sequence._keras_mask = keras.ops.convert_to_tensor(sees)  # as an `Embedding` does
        return theirs(sequence, sequence, use_causal_mask=causal, **options)

    expected, (_, expected_scores) = call(), call(return_attention_scores=True)
    result, weights = model.predict([X, sees])
    model.close()
    for ours, tensor in ((result, expected), (weights, expected_scores)):
        np.testing.assert_allclose(ours, tensor.detach().numpy(), rtol=1e-4, atol=1e-5)
    assert (result[2] == 0).all() == bool(dropout)


def test_causal_attention_ignores_later_positions() -> None:
    with pg.Graph().as_default() as graph:
        x = pg.Input((STEPS, WIDTH))
        y = nn.MultiHeadAttention(2, causal=True)(x)
    changed = X.copy()
    changed[:, 3:] += 100
    with pg.Session(graph, "cpu") as session:
        before, after = session.run(y, {x: X}), session.run(y, {x: changed})
    np.testing.assert_array_equal(before[:, :3], after[:, :3])
    assert (before[:, 3:] != after[:, 3:]).all()


@pytest.mark.parametrize("device", DEVICES)
def test_dropout_applies_to_attention_weights(device: str) -> None:
    """With values of ones, each result is the sum of a position's attention weights: dropout
    changes the sum, but not its mean."""
    layer = nn.MultiHeadAttention(1, 1, dropout=0.25, use_bias=False, kernel_initializer="ones")
    with pg.Graph().as_default() as graph:
        x, ones = pg.Input((40, 1)), pg.Input((40, 1))
        outs = [layer(x, ones, training=training) for training in (True, False)]
    feeds = {x: np.zeros((20, 40, 1)), ones: np.ones((20, 40, 1))}
    with pg.Session(graph, device) as session:
        dropped, kept = session.run(outs, feeds)
    np.testing.assert_allclose(kept, 1, rtol=1e-5)
    # The number of remaining weights, of 40 weights of 1/40 each; dropout divides by 0.75.
    counts = dropped * 40 * 0.75
    np.testing.assert_allclose(counts, counts.round(), atol=1e-3)
    assert abs(dropped.mean() - 1) < 0.02
    assert dropped.std() > 0.03


@pytest.mark.parametrize("device", DEVICES)
def test_layer_normalization_matches_pytorch(device: str) -> None:
    layer = nn.LayerNormalization(epsilon=1e-5)
    result, gradients, weights = with_gradients(layer, [X * 3 + 5], device, training=True)
    theirs = torch.nn.LayerNorm(WIDTH, eps=1e-5)
    with torch.no_grad():
        theirs.weight.copy_(torch.tensor(weights["gamma"]))
        theirs.bias.copy_(torch.tensor(weights["beta"]))
    x = torch.tensor(X * 3 + 5, requires_grad=True)
    expected = theirs(x)
    (expected**2).sum().backward()
    np.testing.assert_allclose(result, expected.detach().numpy(), rtol=1e-4, atol=1e-5)
    for ours, tensor in zip(gradients, (x, theirs.weight, theirs.bias), strict=True):
        assert tensor.grad is not None
        np.testing.assert_allclose(ours, tensor.grad.numpy(), rtol=1e-3, atol=2e-4)


def test_mistakes_raise_explaining_errors() -> None:
    def call(layer: nn.Layer, *shapes: tuple[int | None, ...]) -> None:
        with pg.Graph().as_default():
            layer([pg.Input(shape) for shape in shapes])

    attention = nn.MultiHeadAttention
    with pytest.raises(pg.ShapeError, match=r"'seer' cannot divide 10 features among 4 heads.*key"):
        call(attention(4, name="seer"), (5, 10))
    with pytest.raises(pg.ShapeError, match=r"'seer' takes inputs of 3 dimensions \(batch, posi"):
        call(attention(4, name="seer"), (8,))
    with pytest.raises(pg.ShapeError, match="'seer' needs to know dimension -1"):
        call(attention(4, name="seer"), (5, None))
    with pytest.raises(pg.ShapeError, match="'seer' needs as many keys as values, got 4 and 3"):
        call(attention(4, name="seer"), (5, 8), (3, 8), (4, 8))
    with pytest.raises(pg.ShapeError, match="'seer' takes a query, a value and a key, got 4"):
        call(attention(4, name="seer"), (5, 8), (5, 8), (5, 8), (5, 8))
    with pytest.raises(pg.UnsupportedOpError, match=r"attention_axes=\(2, 3\).*along axis 1"):
        attention(2, 4, attention_axes=(2, 3))
    with pytest.raises(pg.UnsupportedOpError, match="flash_attention=True stores no weights"):
        attention(2, 4, dropout=0.5, flash_attention=True)
    with pg.Graph().as_default():
        x = pg.Input((5, 8))
        with pytest.raises(pg.UnsupportedOpError, match=r"Use scores = layer.attention_scores"):
            attention(2)(x, return_attention_scores=True)
        with pytest.raises(pg.ShapeError, match=r"value_mask of layer 'seer' must have the shape"):
            attention(2, name="seer")(x, value_mask=x)
    with pytest.raises(pg.ShapeError, match=r"dropout must be at least 0 and below 1"):
        attention(4, dropout=1.0)
    with pytest.raises(pg.ShapeError, match="heads of a MultiHeadAttention layer"):
        attention(0)
    with pg.Graph().as_default():
        layer = attention(2, name="seer")
        layer(pg.Input((5, 8)))
        with pytest.raises(pg.ShapeError, match=r"'seer' was built for .* last dimension of 8"):
            layer(pg.Input((5, 8)), pg.Input((5, 6)))
