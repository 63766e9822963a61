"""Attention to the sequence of an encoder, compared with PyTorch, and a model that needs it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import playgrad as pg
from playgrad import nn
from tests.nn.small_models import GPU_BY_NIGHT

Array = np.ndarray[Any, Any]
RNG = np.random.default_rng(8)
BATCH, STEPS, OTHERS, WIDTH, HEADS, HIDDEN = 3, 4, 5, 8, 2, 12
X = RNG.normal(size=(BATCH, STEPS, WIDTH)).astype(np.float32)
OTHER = RNG.normal(size=(BATCH, OTHERS, WIDTH)).astype(np.float32)
PADDING = np.arange(OTHERS)[None, :] < np.array([5, 3, 1])[:, None]


def torch_block(w: dict[str, Array], first: bool) -> torch.nn.Module:
    theirs = torch.nn.TransformerDecoderLayer(
        WIDTH, HEADS, HIDDEN, 0.0, "gelu", 1e-5, batch_first=True, norm_first=first
    ).eval()
    t = {name: torch.tensor(value) for name, value in w.items()}
    state = {
        "linear1.weight": t["hidden_kernel"].T,
        "linear1.bias": t["hidden_bias"],
        "linear2.weight": t["result_kernel"].T,
        "linear2.bias": t["result_bias"],
    }
    for part, prefix in (("self_attn", ""), ("multihead_attn", "cross_")):
        roles = [f"{prefix}{role}" for role in ("query", "key", "value")]
        state[f"{part}.in_proj_weight"] = torch.cat([t[f"{role}_kernel"].T for role in roles])
        state[f"{part}.in_proj_bias"] = torch.cat([t[f"{role}_bias"] for role in roles])
        state[f"{part}.out_proj.weight"] = t[f"{prefix}output_kernel"].T
        state[f"{part}.out_proj.bias"] = t[f"{prefix}output_bias"]
    for i, part in enumerate(("attention", "cross", "feed_forward"), 1):
        state[f"norm{i}.weight"] = t[f"{part}_gamma"]
        state[f"norm{i}.bias"] = t[f"{part}_beta"]
    theirs.load_state_dict(state)
    return theirs


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("device", GPU_BY_NIGHT)
def test_a_block_and_its_gradients_match_pytorch(first: bool, device: str) -> None:
    layer = nn.TransformerDecoder(HIDDEN, HEADS, activation="gelu", normalize_first=first)
    with pg.Graph().as_default() as graph:
        x, other = pg.Input((STEPS, WIDTH)), pg.Input((OTHERS, WIDTH))
        mask = pg.Input((OTHERS,), dtype="bool")
        y = layer(x, encoder_sequence=other, encoder_padding_mask=mask)
        grads = pg.gradients(pg.reduce_sum(pg.square(y)), [x, other])
    with pg.Session(graph, device) as session:
        variables = layer.variables
        weights = {n: RNG.normal(0, 0.5, v.shape).astype("f4") for n, v in variables.items()}
        session.assign({variables[name]: value for name, value in weights.items()})
        result, *by = session.run([y, *grads], {x: X, other: OTHER, mask: PADDING})
    tensors = [torch.tensor(array, requires_grad=True) for array in (X, OTHER)]
    expected = torch_block(weights, first)(
        *tensors,
        tgt_mask=torch.tensor(~np.tri(STEPS, dtype=bool)),
        memory_key_padding_mask=torch.tensor(~PADDING),
    )
    np.testing.assert_allclose(result, expected.detach().numpy(), rtol=1e-3, atol=1e-4)
    (expected**2).sum().backward()
    for grad, tensor in zip(by, tensors, strict=True):
        assert tensor.grad is not None
        np.testing.assert_allclose(grad, tensor.grad.numpy(), rtol=1e-2, atol=1e-2)


def test_a_model_learns_to_look_at_the_other_sequence() -> None:
    """The decoder writes the other sequence backwards; its own input says nothing about it."""
    tokens = RNG.integers(0, 5, (256, 4)).astype(np.int32)
    with pg.Graph(seed=3).as_default():
        source = pg.Input((4,), dtype="int32")
        encoded = nn.Embedding(5, 16)(source)
        encoded = nn.Add()([encoded, nn.PositionEmbedding(4)(encoded)])
        places = nn.PositionEmbedding(4)(encoded)
        decoder = nn.TransformerDecoder(16, 2, dropout=0.05)
        scores = nn.Dense(5)(decoder([places, encoded]))
        model = pg.Model(source, scores)
    loss = nn.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(pg.optim.Adam(0.02), loss, ["accuracy"], device="cpu")
    history = model.fit(tokens, tokens[:, ::-1].copy(), 32, 12, 0)
    assert history.history["accuracy"][-1] > 0.9
    clone = model.clone()
    np.testing.assert_array_equal(clone.predict(tokens[:5]), model.predict(tokens[:5]))
    clone.close()
    model.close()


def test_mistakes_raise_explaining_errors() -> None:
    with pg.Graph().as_default():
        x, other = pg.Input((4, 8)), pg.Input((5, 6))
        mask = pg.Input((5,), dtype="bool")
        alone, both = nn.TransformerDecoder(4, 2), nn.TransformerDecoder(4, 2)
        alone(x)
        assert both(x, other).shape == (None, 4, 8)
        with pytest.raises(pg.GraphError, match="was built without the sequence of an encoder"):
            alone(x, other)
        with pytest.raises(pg.GraphError, match="was built without the sequence of an encoder"):
            alone(x, encoder_padding_mask=mask)
        with pytest.raises(pg.GraphError, match="needs the sequence of an encoder"):
            both(x)
        with pytest.raises(pg.ShapeError, match="built for inputs with a last dimension of 6"):
            both(x, x)
        with pytest.raises(pg.UnsupportedOpError, match="got 3 sequences"):
            nn.TransformerDecoder(4, 2)(x, other, other)
        with pytest.raises(pg.UnsupportedOpError, match=r"is causal\. .*TransformerEncoder"):
            alone(x, use_causal_mask=False)
