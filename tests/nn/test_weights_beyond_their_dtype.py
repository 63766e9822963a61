"""Weights that the dtype of a network cannot hold are refused, wherever they come from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.errors import CheckpointError
from playgrad.io.weights import encode

Array = np.ndarray[Any, Any]
Give = Callable[[pg.Model, Array], None]


def by_list(model: pg.Model, kernel: Array) -> None:
    model.set_weights([kernel, np.zeros(2)])


def by_list_of_lists(model: pg.Model, kernel: Array) -> None:
    model.set_weights({"dense_1/kernel": kernel.tolist(), "dense_1/bias": [0, 0]})  # type: ignore[dict-item]


def by_layer(model: pg.Model, kernel: Array) -> None:
    model.layers[0].set_weights([kernel, np.zeros(2)])


def by_matching(model: pg.Model, kernel: Array) -> None:
    tensors = {"dense_1/kernel": np.float64(kernel), "dense_1/bias": np.zeros(2)}
    pg.match_weights(model, encode(tensors, "safetensors")).apply()


WAYS: list[Give] = [by_list, by_list_of_lists, by_layer, by_matching]


@pytest.mark.parametrize("give", WAYS)
def test_a_value_beyond_float32_changes_no_weight(give: Give) -> None:
    model = pg.Sequential([pg.Input((1,)), nn.Dense(2)])
    before = model.get_weights()
    with pytest.raises(CheckpointError, match=r"has the value 1e\+39, which float32 cannot"):
        give(model, np.array([[1.0, 1e39]]))
    for one, other in zip(model.get_weights(), before, strict=True):
        np.testing.assert_array_equal(one, other)
    give(model, np.array([[0.1, -np.inf]]))  # rounded, and infinite from the beginning
    np.testing.assert_array_equal(model.get_weights()[0], np.float32([[0.1, -np.inf]]))
