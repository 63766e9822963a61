"""Sequences written by a model, one token after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from playgrad.errors import DataError, ShapeError, shape_text
from playgrad.models.model import Model
from playgrad.models.next_position import stored_positions
from playgrad.models.text_form import TextForm, checked_text_form, text_form

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

    A model with scores at each position must be causal, as of `nn.TransformerDecoder`: they may
    depend only on tokens up to there. Once the sequence is longer than the model's input, the
    model sees the last tokens.

    Keys and values of attention are stored, so that each position is computed once, while the
    sequence fits the model's input and the model consists of `nn.Embedding`,
    `nn.PositionEmbedding`, causal `nn.MultiHeadAttention`, `nn.TransformerEncoder` or
    `nn.TransformerDecoder`, `nn.LayerNormalization`, `nn.Dense`, `nn.Dropout`, `nn.Add`,
    activations and elementwise operations. Otherwise all positions are computed again for each
    token.

    Args:
        model: maps tokens to scores before softmax, or to the probabilities of a softmax. The
            tokens are whole numbers (batch, positions), or one-hot (batch, positions, tokens). The
            scores are (batch, positions, tokens), or (batch, tokens) for the next one only.
        prompt: the first tokens, at least one, as whole numbers; for scores of the next token
            only, as many as the model has positions.
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
    array = np.atleast_1d(np.asarray(prompt))
    if text_form(model) is not None and array.ndim != 1:
        raise ShapeError(
            f"the prompt must be one sequence of tokens, but has shape {shape_text(array.shape)}.",
            hint="Call generate() for each row.",
        )
    tokens = [int(token) for token in array.reshape(-1)]
    written = [
        token for token, _ in islice(writing(model, tokens, temperature, top_k, seed), count)
    ]
    return np.asarray(tokens + written, np.int32)


def writing(
    model: Model,
    prompt: Sequence[int],
    temperature: float = 1.0,
    top_k: int | None = None,
    seed: int = 0,
) -> Iterator[tuple[int, Array]]:
    """Return the tokens with which `generate` continues ``prompt``, without an end.

    Returns:
        Each token, with the scores before softmax that it was chosen by, float64 (tokens,).

    Raises:
        ShapeError, DataError: as `generate` does.
    """
    form = checked_text_form(model, "generate()")
    form.check_length(len(prompt))
    strange = [token for token in prompt if not 0 <= token < form.tokens]
    if form.one_hot and strange:
        raise DataError(f"tokens are from 0 to {form.tokens - 1}, but the prompt has {strange[0]}.")
    if temperature < 0:
        raise DataError(f"temperature must be at least 0, got {temperature}.")
    if top_k is not None and top_k < 1:
        raise DataError(f"top_k must be at least 1, got {top_k}.")
    return _written(model, form, list(prompt), temperature, top_k, np.random.default_rng(seed))


def _written(
    model: Model,
    form: TextForm,
    tokens: list[int],
    temperature: float,
    top_k: int | None,
    random: np.random.Generator,
) -> Iterator[tuple[int, Array]]:
    by_position = form.each and not form.one_hot and len(tokens) <= form.length
    stored = stored_positions(model) if by_position else None
    while True:
        if stored is not None and len(tokens) <= form.length:
            scores = stored.scores(tokens)
        else:
            scores = _computed_again(model, form, tokens[-form.length :])
        scores = form.scores(scores)
        token = _chosen(scores, temperature, top_k, random)
        tokens.append(token)
        yield token, scores


def _computed_again(model: Model, form: TextForm, tokens: Sequence[int]) -> Array:
    """Return the outputs after ``tokens``, computing all positions."""
    padded = np.zeros((1, form.length), np.int32)
    padded[0, : len(tokens)] = tokens
    outputs: Array = model.predict(form.inputs(padded))[0]
    return outputs[len(tokens) - 1] if form.each else outputs


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
