"""The tokens of samples, in the words of the program's vocabulary."""

from __future__ import annotations

from typing import Any

import numpy as np

from playgrad.data.vocabulary import Vocabulary, newest_vocabulary

Array = np.ndarray[Any, Any]


def vocabulary_of(model: Any, x: Array) -> Vocabulary | None:
    """Return the vocabulary of the samples ``x`` if they are sequences of tokens.

    That is the newest one with as many tokens as the network embeds, or as the axis of one-hot
    tokens has.

    Args:
        x: the samples, tokens (samples, positions), or one-hot (samples, positions, tokens).
    """
    if x.ndim == 3:
        return newest_vocabulary(x.shape[2]) if _is_one_hot(x) else None
    if x.ndim != 2 or x.dtype.kind not in "iu":
        return None
    sizes = [layer.input_dim for layer in model.layers if hasattr(layer, "input_dim")]
    return newest_vocabulary(sizes[0]) if sizes else None


def tokens_of(model: Any, x: Array) -> list[str] | None:
    """Return the token at each position of the only sample in ``x``; None if it has none.

    Numbers that the vocabulary does not have, such as padding, stay numbers.
    """
    vocabulary = vocabulary_of(model, x)
    if vocabulary is None:
        return None
    codes = (x.argmax(axis=-1) if x.ndim == 3 else x)[0].tolist()
    known = vocabulary.tokens
    return [known[code] if 0 <= code < len(known) else str(code) for code in codes]


def _is_one_hot(x: Array) -> bool:
    return bool(((x == 0) | (x == 1)).all() and (x.sum(axis=-1) == 1).all())
