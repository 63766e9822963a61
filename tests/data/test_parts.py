"""Batches of the rows of several parts, in one process."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import playgrad as pg
from playgrad.data.pipeline.base import Round
from playgrad.data.pipeline.shares import Share

LENGTHS = (9, 12, 40)


def rows_of(part: int) -> Iterator[np.int32]:
    return (np.int32(100 * part + row) for row in range(LENGTHS[part]))


def test_each_part_gives_its_rows_of_every_batch_until_one_has_ended() -> None:
    batches = list(pg.data.Dataset.from_parts(rows_of, parts=3, batch_size=8))
    np.testing.assert_array_equal(batches[0], [0, 1, 100, 101, 102, 200, 201, 202])
    np.testing.assert_array_equal(batches[3], [6, 7, 109, 110, 111, 209, 210, 211])
    assert len(batches) == 4  # of part 1 there is nothing left


def test_a_share_opens_only_its_parts() -> None:
    opened = []

    def open_part(part: int) -> Iterator[np.int32]:
        opened.append(part)
        return rows_of(part)

    parted = pg.data.Dataset.from_parts(open_part, parts=3, batch_size=8).prefetch(1)
    batch = next(parted.open_round(Round(share=Share(1, 2, 3))))
    np.testing.assert_array_equal(batch, [0, 0, 100, 101, 102, 0, 0, 0])
    assert opened == [1]


def test_each_round_shuffles_a_part_anew() -> None:
    def open_part(part: int) -> pg.data.Dataset:
        return pg.data.Dataset.range(40).shuffle(40, seed=part)

    parted = pg.data.Dataset.from_parts(open_part, parts=2, batch_size=8, length=10)
    first, second = list(parted), list(parted)
    assert len(parted) == len(first) == len(second) == 10
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(np.sort(np.concatenate(first)), np.sort(np.concatenate(second)))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((rows_of, 9, 8), "a batch of 8 cannot have rows of 9 parts"),
        ((rows_of, 0, 8), "parts must be a whole number of at least 1, got 0"),
        ((rows_of(0), 2, 8), "from_parts takes a function of the number of a part, got generator"),
        ((rows_of, 2, 8, -1), "length must be"),
    ],
)
def test_arguments_that_are_not_valid_are_refused(arguments: tuple, words: str) -> None:
    with pytest.raises(pg.DataError, match=words):
        pg.data.Dataset.from_parts(*arguments)
