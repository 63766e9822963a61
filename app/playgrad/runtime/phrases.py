"""The words that training and summaries print, in the language of the host."""

from __future__ import annotations

from typing import Any

from playgrad.runtime.options import get_options

PHRASES = {
    "epoch": "epoch {epoch}/{epochs}: {numbers} ({seconds} s)",
    "stoppedEarly": "epoch {epoch}: training stopped early",
    "bestWeights": "weights restored from epoch {epoch}, the best",
    "rate": "epoch {epoch}: learning rate {rate}",
    "reducedRate": "epoch {epoch}: learning rate reduced to {rate}",
    "saved": "epoch {epoch}: saved {path}",
    "ended": "training ended: {error}",
    "mixed": "mixed precision: products of float16 (f16), everything else float32",
    "layer": "layer",
    "outputShape": "output shape",
    "parameters": "parameters",
    "notBuilt": "not built",
    "total": "{total} parameters, {trainable} of them trainable",
}
"""In English, by the names under which the page has them in its languages.

Other languages have the same fields; the error that ``ended`` names is in English, so they may say
the ``step`` instead.
"""


def phrase(name: str, **fields: Any) -> str:
    """Return the phrase called ``name`` with its fields filled in."""
    return get_options().phrases.get(name, PHRASES[name]).format(**fields)
