"""Sequences written by a model, one token after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from playgrad.errors import DataError, ShapeError, shape_text
from playgrad.models.model import Model
from playgrad.models.next_position import stored_positions

Array = np.ndarray[Any, Any]


def generate(
    model: Model,
    prompt: Any,
    count: int,
    temperature: float = 1.0,
    top_k: int | None = None,
    seed: int = 0,
) -> Array:
    """Return ``prompt`` and ``count`` more tokens, each chosen by the model's scores for it.

    The model must be causal, as of `nn.TransformerDecoder`: its scores at a position may depend
    only on tokens up to there. Once the sequence is longer than the model's input, the model sees
    the last tokens.

    Keys and values of attention are stored, so that each position is computed once, while the
    sequence fits the model's input and the model consists of `nn.Embedding`,
    `nn.PositionEmbedding`, causal `nn.MultiHeadAttention`, `nn.TransformerEncoder` or
    `nn.TransformerDecoder`, `nn.LayerNormalization`, `nn.Dense`, `nn.Dropout`, `nn.Add`,
    activations and elementwise operations. Otherwise all positions are computed again for each
    token.

    Args:
        model: maps tokens (batch, positions), whole numbers, to scores before softmax (batch,
            positions, tokens).
        prompt: the first tokens, at least one.
        count: the number of tokens to add.
        temperature: scores are divided by it. 0 chooses the token with the highest score.
        top_k: choose among this many tokens with the highest scores; None for all.
        seed: the same seed chooses the same tokens for the same scores.

    Returns:
        An int32 array.

    Raises:
        ShapeError: the prompt, or the model's input or output, has another shape.
        DataError: the prompt is empty, or a number is out of range.
    """
    shape = model.outputs[0].shape
    length = model.input_shape[1] if len(model.input_shape) == 2 else None
    if length is None or len(shape) != 3 or len(model.outputs) != 1:
        raise ShapeError(
            "generate() needs a model from (batch, positions) to (batch, positions, tokens), got "
            f"{shape_text(model.input_shape)} to {shape_text(shape)}."
        )
    array = np.atleast_1d(np.asarray(prompt))
    if array.ndim != 1:
        raise ShapeError(
            f"the prompt must be one sequence of tokens, but has shape {shape_text(array.shape)}.",
            hint="Call generate() for each row.",
        )
    tokens = [int(token) for token in array]
    if not tokens:
        raise DataError("the prompt is empty.", hint="Give at least one token.")
    if temperature < 0:
        raise DataError(f"temperature must be at least 0, got {temperature}.")
    if top_k is not None and top_k < 1:
        raise DataError(f"top_k must be at least 1, got {top_k}.")
    random = np.random.default_rng(seed)
    stored = stored_positions(model) if len(tokens) <= length else None
    for _ in range(count):
        if stored is not None and len(tokens) <= length:
            scores = stored.scores(tokens)
        else:
            scores = _computed_again(model, tokens[-length:], length)
        tokens.append(_chosen(scores.astype(np.float64), temperature, top_k, random))
    return np.asarray(tokens, np.int32)


def _computed_again(model: Model, tokens: Sequence[int], length: int) -> Array:
    """Return the scores after ``tokens``, computing all positions."""
    padded = np.zeros((1, length), np.int32)
    padded[0, : len(tokens)] = tokens
    scores: Array = model.predict(padded)[0, len(tokens) - 1]
    return scores


def _chosen(
    scores: Array, temperature: float, top_k: int | None, random: np.random.Generator
) -> int:
    if temperature == 0:
        return int(scores.argmax())
    if top_k is not None and top_k < len(scores):
        order = np.argsort(-scores, kind="stable")
        scores = scores.copy()
        scores[order[top_k:]] = -np.inf
    powers = np.exp((scores - scores.max()) / temperature)
    return int(random.choice(len(scores), p=powers / powers.sum()))
