"""The weights of attention: softmax(QKᵀ / √size) by NumPy, from the weights of the layers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.graph.graph import reset_default_graph
from playgrad.inspection.activations import BATCH

Array = np.ndarray[Any, Any]
RNG = np.random.default_rng(5)
POSITIONS, WIDTH, HEADS = 6, 8, 2
X = RNG.normal(size=(5, POSITIONS, WIDTH)).astype(np.float32)


@pytest.fixture(autouse=True)
def new_graph() -> Iterator[None]:
    yield
    reset_default_graph()


def by_hand(
    weights: dict[str, Array], query: Array, key: Array, seen: Any = True, part: str = ""
) -> Array:
    """Return the weights of attention of the layer whose weights these are."""

    def heads(x: Array, role: str) -> Array:
        kernel = weights[f"{part}{role}_kernel"].astype(np.float64)
        product = x @ kernel + weights[f"{part}{role}_bias"]
        return product.reshape(len(x), -1, HEADS, kernel.shape[1] // HEADS).swapaxes(1, 2)

    queries, keys = heads(query, "query"), heads(key, "key")
    scores = queries @ keys.swapaxes(2, 3) / np.sqrt(queries.shape[-1])
    powers = np.exp(scores) * np.broadcast_to(seen, scores.shape)
    total = powers.sum(axis=-1, keepdims=True)
    return np.divide(powers, total, out=np.zeros_like(powers), where=total > 0)


def of_layer(model: Any, name: str) -> dict[str, Array]:
    """Return the weights of a layer, with random biases instead of zeros, by their names."""
    every = model.named_weights()
    model.set_weights(
        {
            k: RNG.normal(size=v.shape).astype(v.dtype) * 0.5 if k.endswith("bias") else v
            for k, v in every.items()
        }
    )
    prefix = f"{name}/"
    return {k.removeprefix(prefix): v for k, v in model.named_weights().items() if prefix in k}


def check(actual: Array, expected: Array) -> None:
    assert actual.shape == expected.shape
    np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("flash", [None, False], ids=["streamed", "composed"])
@pytest.mark.parametrize("causal", [False, True], ids=["all", "causal"])
def test_weights_of_a_layer_are_a_softmax_of_its_queries_and_keys(
    flash: bool | None, causal: bool
) -> None:
    x = pg.Input((POSITIONS, WIDTH))
    layer = nn.MultiHeadAttention(HEADS, key_dim=3, flash_attention=flash, dropout=0.3)
    model = pg.Model(x, layer(x, x, use_causal_mask=causal))
    weights = of_layer(model, "multi_head_attention_1")
    before = model.named_weights()
    nodes = len(model.graph.nodes)
    samples = np.tile(X, (BATCH // 4, 1, 1))  # more than a batch
    maps = pg.inspect(model).attention(samples)
    assert list(maps) == ["multi_head_attention_1"]
    seen = np.tri(POSITIONS, dtype=bool) if causal else True
    check(maps["multi_head_attention_1"], by_hand(weights, samples, samples, seen))
    assert np.allclose(maps["multi_head_attention_1"].sum(axis=-1), 1, atol=1e-6)
    assert len(model.graph.nodes) == nodes
    assert all(np.array_equal(before[k], v) for k, v in model.named_weights().items())


@pytest.mark.parametrize("flash", [None, False], ids=["streamed", "composed"])
def test_masks_hide_keys_and_a_query_without_keys_sees_all_equally(flash: bool | None) -> None:
    x, mask = pg.Input((POSITIONS, WIDTH)), pg.Input((POSITIONS, POSITIONS), dtype="bool")
    layer = nn.MultiHeadAttention(HEADS, flash_attention=flash)
    model = pg.Model([x, mask], layer(x, x, attention_mask=mask))
    weights = of_layer(model, "multi_head_attention_1")
    seen = RNG.random((len(X), POSITIONS, POSITIONS)) < 0.6
    seen[0, 2] = False
    (maps,) = pg.inspect(model).attention([X, seen]).values()
    assert np.allclose(maps[0, :, 2], 1 / POSITIONS)
    maps[0, :, 2] = 0
    check(maps, by_hand(weights, X, X, seen[:, None]))
    assert (maps[~np.repeat(seen[:, None], HEADS, 1)] == 0).all()


def test_a_constant_mask_applies_to_all_samples_and_batches() -> None:
    x = pg.Input((POSITIONS, WIDTH))
    seen = np.eye(POSITIONS, dtype=bool)[None] | (np.arange(POSITIONS) < 2)
    model = pg.Model(x, nn.MultiHeadAttention(HEADS)(x, x, attention_mask=pg.constant(seen)))
    weights = of_layer(model, "multi_head_attention_1")
    samples = np.tile(X, (BATCH // 4, 1, 1))
    (maps,) = pg.inspect(model).attention(samples).values()
    check(maps, by_hand(weights, samples, samples, seen))


def test_a_decoder_attends_to_itself_and_to_another_sequence() -> None:
    own, other = pg.Input((POSITIONS, WIDTH)), pg.Input((4, WIDTH))
    layer = nn.TransformerDecoder(16, HEADS)
    model = pg.Model([own, other], layer(layer(own, other), other))
    weights = of_layer(model, "transformer_decoder_1")
    there = RNG.normal(size=(len(X), 4, WIDTH)).astype(np.float32)
    look = pg.inspect(model)
    maps = look.attention([X, there])
    names = ["transformer_decoder_1", "transformer_decoder_1/cross"]
    names += [f"transformer_decoder_1:2{end}" for end in ("", "/cross")]
    assert list(maps) == names
    causal = np.tri(POSITIONS, dtype=bool)
    check(maps[names[0]], by_hand(weights, X, X, causal))
    second = look.activations([X, there])["transformer_decoder_1"]
    check(maps[names[2]], by_hand(weights, second, second, causal))
    for name in names:
        assert np.allclose(maps[name].sum(axis=-1), 1, atol=1e-6)
    assert maps[names[1]].shape == (len(X), HEADS, POSITIONS, 4)


def test_the_padding_of_an_embedding_is_hidden_in_an_encoder() -> None:
    tokens = pg.Input((POSITIONS,), dtype="int32")
    h = nn.Embedding(7, WIDTH, mask_zero=True)(tokens)
    model = pg.Model(tokens, nn.TransformerEncoder(16, HEADS)(h))
    codes = np.array([[1, 2, 3, 0, 0, 0], [4, 5, 6, 1, 2, 0]], np.int32)
    weights = of_layer(model, "transformer_encoder_1")
    table = model.named_weights()["embedding_1/embeddings"][codes]
    (maps,) = pg.inspect(model).attention(codes).values()
    check(maps, by_hand(weights, table, table, (codes != 0)[:, None, None, :]))


def test_the_heads_of_all_shards_are_joined() -> None:
    x = pg.Input((POSITIONS, WIDTH))
    devices = ["cpu:0", "cpu:0"]
    parallel = pg.Model(x, nn.ParallelMultiHeadAttention(HEADS, devices, causal=True)(x))
    y = pg.Input((POSITIONS, WIDTH))
    whole = pg.Model(y, nn.MultiHeadAttention(HEADS, causal=True)(y, y))
    whole.set_weights(
        dict(zip(whole.named_weights(), parallel.named_weights().values(), strict=True))
    )
    (joined,) = pg.inspect(parallel).attention(X).values()
    (expected,) = pg.inspect(whole).attention(X).values()
    check(joined, expected)


def test_attention_is_found_outside_layers_and_with_silenced_units() -> None:
    x = pg.Input((POSITIONS, WIDTH))
    h = nn.Dense(WIDTH)(x)
    split = pg.reshape(h, (-1, POSITIONS, HEADS, WIDTH // HEADS))
    attended = pg.dot_product_attention(split, split, split)
    model = pg.Model(x, pg.reshape(attended, (-1, POSITIONS, WIDTH)))
    quiet = pg.inspect(model).silenced({"dense_1": list(range(WIDTH // 2))})
    (name,) = quiet.attention(X)
    assert name.startswith("dot_product_attention")
    check(quiet.attention(X)[name][:, 0], np.full((5, POSITIONS, POSITIONS), 1 / POSITIONS))
    assert not np.allclose(quiet.attention(X)[name][:, 1], 1 / POSITIONS, atol=1e-3)


def test_a_network_without_attention_has_no_maps() -> None:
    x = pg.Input((4,))
    model = pg.Model(x, nn.Dense(2)(x))
    assert pg.inspect(model).attention(np.zeros((3, 4), np.float32)) == {}
    with pytest.raises(pg.ShapeError):
        pg.inspect(model).attention(np.zeros((3, 5), np.float32))
