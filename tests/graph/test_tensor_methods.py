"""Methods of tensors that NumPy's arrays have, too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import playgrad as pg

ARRAY = np.random.default_rng(0).random((2, 3, 4), np.float32)


@pytest.mark.parametrize(
    "use",
    [
        lambda a: a.sum(),
        lambda a: a.sum(1),
        lambda a: a.mean(axis=-1, keepdims=True),
        lambda a: a.max(0),
        lambda a: a.min(axis=2),
        lambda a: a.argmax(2),
        lambda a: a.argmin(),
        lambda a: a.reshape(6, 4),
        lambda a: a.reshape((3, -1)),
        lambda a: a.reshape(-1),
        lambda a: a.transpose(0, 2, 1),
        lambda a: a.transpose(),
        lambda a: a.astype("int32"),
        lambda a: a[:1].squeeze(0),
        lambda a: (a > 0.5).sum(),
        lambda a: (a > 0.5).mean(),
    ],
)
def test_methods_give_the_results_of_numpy(use: Callable[[Any], Any]) -> None:
    result, expected = use(pg.constant(ARRAY)), use(ARRAY)
    assert result.shape == expected.shape
    np.testing.assert_allclose(result.numpy(), expected, rtol=1e-5)
