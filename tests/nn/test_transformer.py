"""Blocks of transformers compared with PyTorch, and text written by a trained one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import playgrad as pg
from playgrad import nn

Array = np.ndarray[Any, Any]
RNG = np.random.default_rng(8)
BATCH, STEPS, WIDTH, HEADS, HIDDEN = 3, 5, 8, 2, 12
X = RNG.normal(size=(BATCH, STEPS, WIDTH)).astype(np.float32)
PADDING = np.arange(STEPS)[None, :] < np.array([5, 3, 1])[:, None]


def torch_block(w: dict[str, Array], first: bool) -> torch.nn.Module:
    theirs = torch.nn.TransformerEncoderLayer(
        WIDTH, HEADS, HIDDEN, 0.0, "gelu", 1e-5, batch_first=True, norm_first=first
    ).eval()
    t = {name: torch.tensor(value) for name, value in w.items()}
    roles = ("query", "key", "value")
    state = {
        "self_attn.in_proj_weight": torch.cat([t[f"{role}_kernel"].T for role in roles]),
        "self_attn.in_proj_bias": torch.cat([t[f"{role}_bias"] for role in roles]),
        "self_attn.out_proj.weight": t["output_kernel"].T,
        "self_attn.out_proj.bias": t["output_bias"],
        "linear1.weight": t["hidden_kernel"].T,
        "linear1.bias": t["hidden_bias"],
        "linear2.weight": t["result_kernel"].T,
        "linear2.bias": t["result_bias"],
        "norm1.weight": t["attention_gamma"],
        "norm1.bias": t["attention_beta"],
        "norm2.weight": t["feed_forward_gamma"],
        "norm2.bias": t["feed_forward_beta"],
    }
    theirs.load_state_dict(state)
    return theirs


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("causal", [False, True])
def test_a_block_and_its_gradient_match_pytorch(first: bool, causal: bool) -> None:
    kind = nn.TransformerDecoder if causal else nn.TransformerEncoder
    layer = kind(HIDDEN, HEADS, activation="gelu", normalize_first=first)
    with pg.Graph().as_default() as graph:
        x, mask = pg.Input((STEPS, WIDTH)), pg.Input((STEPS,), dtype="bool")
        y = layer(x, **{"decoder_padding_mask" if causal else "padding_mask": mask})
        (grad,) = pg.gradients(pg.reduce_sum(pg.square(y)), [x])
    with pg.Session(graph, "cpu") as session:
        variables = layer.variables
        weights = {n: RNG.normal(0, 0.5, v.shape).astype("f4") for n, v in variables.items()}
        session.assign({variables[name]: value for name, value in weights.items()})
        result, by_x = session.run([y, grad], {x: X, mask: PADDING})
    tensor = torch.tensor(X, requires_grad=True)
    hidden = ~PADDING[:, None] | (~np.tri(STEPS, dtype=bool) if causal else False)
    # One mask for each sample and head.
    heads = torch.tensor(np.repeat(np.broadcast_to(hidden, (BATCH, STEPS, STEPS)), HEADS, axis=0))
    expected = torch_block(weights, first)(tensor, src_mask=heads)
    np.testing.assert_allclose(result, expected.detach().numpy(), rtol=1e-3, atol=1e-4)
    (expected**2).sum().backward()
    assert tensor.grad is not None
    np.testing.assert_allclose(by_x, tensor.grad.numpy(), rtol=1e-2, atol=1e-2)


def test_configuration_survives_cloning() -> None:
    with pg.Graph().as_default():
        x = pg.Input((STEPS, WIDTH))
        embedded = nn.Add()([x, nn.PositionEmbedding(STEPS + 2)(x)])
        model = pg.Model(x, nn.TransformerDecoder(HIDDEN, HEADS, normalize_first=True)(embedded))
    expected = model.predict(X)
    clone = model.clone()
    np.testing.assert_array_equal(clone.predict(X), expected)
    changed = X.copy()
    changed[:, 3:] += 100  # nothing later is seen
    np.testing.assert_allclose(clone.predict(changed)[:, :3], expected[:, :3], rtol=1e-5)
    clone.close()
    model.close()


def test_an_embedding_is_the_output_layer_too() -> None:
    """Tied weights: one variable, with the gradients of both uses."""
    with pg.Graph().as_default():
        tokens = pg.Input((4,), dtype="int32")
        embedding = nn.Embedding(6, 5, name="words")
        table_use = embedding(tokens)
        logits = pg.matmul(table_use, embedding.variables["embeddings"], transpose_b=True)
        model = pg.Model(tokens, logits)
    assert list(model.named_weights()) == ["words/embeddings"]
    table = torch.tensor(model.named_weights()["words/embeddings"], requires_grad=True)
    ids = RNG.integers(0, 6, (8, 4)).astype(np.int32)
    labels = RNG.integers(0, 6, (8, 4)).astype(np.int32)
    model.compile(pg.optim.SGD(0.5), nn.SparseCategoricalCrossentropy(True), device="cpu")
    model.fit(ids, labels, batch_size=8, epochs=1, shuffle=False, verbose=0)
    predicted = table[torch.tensor(ids).long()] @ table.T
    loss = torch.nn.functional.cross_entropy(
        predicted.reshape(-1, 6), torch.tensor(labels).long().reshape(-1)
    )
    loss.backward()
    assert table.grad is not None
    expected = (table - 0.5 * table.grad).detach().numpy()
    np.testing.assert_allclose(
        model.named_weights()["words/embeddings"], expected, rtol=1e-4, atol=1e-5
    )
    model.close()


def test_mistakes_raise_explaining_errors() -> None:
    with pg.Graph().as_default():
        x = pg.Input((5, 8))
        with pytest.raises(pg.UnsupportedOpError, match="'two' attends to its own sequence only"):
            nn.TransformerEncoder(4, 2, name="two")(x, x)
        with pytest.raises(pg.ShapeError, match="'short' has vectors for 3 positions, got 5"):
            nn.PositionEmbedding(3, name="short")(x)
