"""Takes excerpts of the data that a model is trained with."""

from __future__ import annotations

import numpy as np

from playgrad.data.excerpt import Excerpt
from playgrad.training.sample_weights import Samples

MOST_SAMPLES = 1000
MOST_BYTES = 4 << 20
FEWEST_SAMPLES = 24
"""Even if they take more than `MOST_BYTES`."""


def excerpt(samples: Samples) -> Excerpt | None:
    """Return an excerpt of ``samples``; None if they have several inputs or outputs."""
    if len(samples.xs) != 1 or len(samples.ys) != 1 or not samples.count:
        return None
    x, y = samples.xs[0], samples.ys[0]
    size = max(1, x[:1].nbytes + y[:1].nbytes)
    most = min(samples.count, MOST_SAMPLES, max(MOST_BYTES // size, FEWEST_SAMPLES))
    rows = np.arange(most) * samples.count // most
    return Excerpt(x[rows], y[rows], samples.count)
