"""Takes excerpts of the data that a model is trained with."""

from __future__ import annotations

from playgrad.data.excerpt import Excerpt, excerpt_of
from playgrad.data.graph_excerpt import GraphExcerpt
from playgrad.runtime.options import get_options
from playgrad.training.sample_weights import Samples


def excerpt(samples: Samples) -> Excerpt | None:
    """Return an excerpt of ``samples``; None if they have several inputs or outputs."""
    if len(samples.xs) != 1 or len(samples.ys) != 1 or not samples.count:
        return None
    return excerpt_of(samples.xs[0], samples.ys[0])


def graph_excerpt(samples: Samples) -> GraphExcerpt | None:
    """Return the only sample of ``samples`` if it may be a graph whose nodes have targets, and the
    option ``keeps_data`` is set; else None."""
    xs, ys = samples.xs, samples.ys
    may_be = len(xs) > 1 and len(ys) == 1 and samples.count == 1 and ys[0].ndim > 1
    if not may_be or not get_options().keeps_data:
        return None
    return GraphExcerpt(tuple(xs), ys[0], samples.weights[0] if samples.weights else None)


def to_keep(train: Excerpt | None, test: Excerpt | None) -> tuple[Excerpt | None, Excerpt | None]:
    """Return the excerpts as a model keeps them after `fit`.

    The arrays themselves stay only with the option ``keeps_data``, and only the test data, or the
    training data if there is no test data.
    """
    keeps = get_options().keeps_data
    if train is not None and not (keeps and test is None):
        train = train.without_whole()
    if test is not None and not keeps:
        test = test.without_whole()
    return train, test
