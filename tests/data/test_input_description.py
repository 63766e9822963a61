"""The description of pictures: ranges of data, and texts that make no sense."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from playgrad.data.input_description import InputDescription, describe_input
from playgrad.data.picture import fitted

RANDOM = np.random.default_rng(3).random((50, 4, 5, 3))
RIGHT = {"shape": [4, 5, 3], "low": [0.0], "high": [1.0]}


@pytest.mark.parametrize(
    ("data", "low", "high"),
    [
        (RANDOM, (0,), (1,)),
        (0.97 * RANDOM, (0,), (1,)),
        (2 * RANDOM - 1, (-1,), (1,)),
        (RANDOM - 0.5, (-0.5,), (0.5,)),
        (np.round(255 * RANDOM), (0,), (255,)),
        (np.round(255 * RANDOM) - 128, (-128,), (127,)),
        (np.full((2, 4, 5, 3), 7, np.uint8), (0,), (255,)),
        (np.round(16 * RANDOM[..., 0]), (0,), (16,)),
    ],
)
def test_a_range_that_the_data_almost_fill_is_theirs(data: Any, low: Any, high: Any) -> None:
    assert describe_input([data]) == InputDescription(data.shape[1:], low, high)


def test_normalized_channels_have_ranges_of_their_own() -> None:
    described = describe_input([(RANDOM - [0.5, 0.4, 0.3]) / [0.2, 0.25, 0.3]])
    assert described is not None
    np.testing.assert_allclose(described.low, [-2.5, -1.6, -1], atol=0.05)
    np.testing.assert_allclose(described.high, [2.5, 2.4, 7 / 3], atol=0.05)
    grey = described.scaled(np.full((4, 5, 3), 0.5))
    np.testing.assert_allclose(grey[0, 0], [0, 0.4, 2 / 3], atol=0.05)


def test_several_inputs_and_sequences_of_volumes_are_not_described() -> None:
    assert describe_input([RANDOM, RANDOM]) is None
    assert describe_input([RANDOM[None, None]]) is None


def test_a_description_survives_its_text() -> None:
    described = InputDescription((4, 5, 3), (-1.5, 0.0, 2.0), (1.0, 1.0, 3.0))
    assert InputDescription.from_json(described.to_json()) == described


@pytest.mark.parametrize(
    "changed",
    [
        {"shape": [4, 5, 0]},
        {"shape": [4, 5.5, 3]},
        {"shape": [1 << 30, 1 << 30, 3]},
        {"shape": [1, 2, 3, 4]},
        {"shape": "28"},
        {"low": [0, 0], "high": [1, 1]},
        {"low": [1.0]},
        {"low": [True]},
        {"high": ["1"]},
        {"high": [10**400]},
        {"high": []},
        {"low": None},
    ],
)
def test_a_description_without_sense_is_none(changed: dict[str, Any]) -> None:
    assert InputDescription.from_json(json.dumps(RIGHT)) is not None
    assert InputDescription.from_json(json.dumps({**RIGHT, **changed})) is None


@pytest.mark.parametrize("text", [None, "", "{", "[]", "1", b"\xff", "[" * 100_000])
def test_a_text_that_describes_nothing_is_none(text: Any) -> None:
    assert InputDescription.from_json(text) is None


def test_a_picture_of_the_right_size_stays_as_it_is() -> None:
    pixels = np.round(255 * RANDOM[0]).astype(np.uint8)
    np.testing.assert_array_equal(fitted(pixels, 4, 5, 3), pixels)
    np.testing.assert_array_equal(fitted(pixels[:, :, :1], 4, 5, 3)[:, :, 2], pixels[:, :, 0])
    larger = fitted(np.kron(pixels, np.ones((3, 3, 1), np.uint8)), 4, 5, 3)
    np.testing.assert_array_equal(larger, pixels)
