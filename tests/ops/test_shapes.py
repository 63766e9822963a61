"""Indexing, reshaping and axes: arguments that constructors accept, and their errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from playgrad.contract.interpreter import value
from playgrad.errors import ShapeError
from playgrad.ops import (
    argmax,
    concat,
    constant,
    expand_dims,
    flatten,
    placeholder,
    reduce_max,
    reduce_mean,
    reduce_sum,
    reshape,
    size,
    squeeze,
    transpose,
)
from playgrad.runtime.session import Session

X = np.arange(60, dtype=np.float32).reshape(3, 4, 5)


@pytest.mark.parametrize(
    "key",
    [
        np.s_[0],
        np.s_[-1],
        np.s_[1:],
        np.s_[:, 2],
        np.s_[..., 1],
        np.s_[1, ..., -2:],
        np.s_[:, None, 1:3],
        np.s_[None, 0, :, None],
        np.s_[1:1],
        np.s_[:],
        np.s_[-2:, :-1, 3],
        np.s_[0, 1, 2],
        np.s_[5:9],
        np.s_[:9],
        np.s_[::2, ::-1],
        np.s_[9:0:-2, -9:3],
        np.s_[-1::-1, 1, 4:1],
    ],
    ids=str,
)
def test_indexing_matches_numpy(key: Any) -> None:
    np.testing.assert_array_equal(value(constant(X)[key]), X[key])


@pytest.mark.parametrize(
    ("key", "words"),
    [
        (np.s_[3], r"index 3 lies outside .* of shape \(3, 4, 5\)"),
        (np.s_[0, 0, 0, 0], "too many indices"),
        (np.s_[..., 0, ...], "too many indices"),
        (np.s_[::0], "must not be 0"),
        (np.s_[:2.5], "must be a whole number"),
        (np.s_["a"], "cannot be indexed with 'a'"),
    ],
    ids=str,
)
def test_wrong_indices_are_refused(key: Any, words: str) -> None:
    with pytest.raises(ShapeError, match=words):
        constant(X)[key]


def test_indexing_an_unknown_batch_matches_numpy() -> None:
    x = placeholder("float32", [None, 4])
    assert x[1:].shape == (None, 4)
    assert x[:2].shape == (None, 4)
    assert x[0].shape == (4,)
    for key in [np.s_[1:, 2], np.s_[:9], np.s_[-1], np.s_[-3:-1, ::2], np.s_[::-1], np.s_[6:, 1]]:
        np.testing.assert_array_equal(value(x[key], {x: X[0]}), X[0][key], err_msg=str(key))


@pytest.mark.parametrize("index", [3, -4])
def test_an_index_outside_an_unknown_batch_is_refused(index: int) -> None:
    x = placeholder("float32", [None, 4])
    with Session() as session, pytest.raises(ShapeError, match=r"outside|other than 1"):
        session.run(x[index], {x: X[0, :3, :4]})


def test_reshape_keeps_an_unknown_batch() -> None:
    x = placeholder("float32", [None, 4, 5])
    assert reshape(x, [-1, 20]).shape == (None, 20)
    assert reshape(x, [None, 20]).shape == (None, 20)
    assert flatten(x).shape == (None, 20)
    assert value(flatten(x), {x: X}).shape == (3, 20)
    with pytest.raises(ShapeError, match="all others known"):
        flatten(placeholder("float32", [None, None]))
    with pytest.raises(ShapeError, match=r"cannot reshape \(3, 4, 5\) to \(7, -1\)"):
        reshape(constant(X), [7, -1])


def test_axes_may_count_from_the_end() -> None:
    x = constant(X)
    assert expand_dims(x, -1).shape == (3, 4, 5, 1)
    assert expand_dims(x, [0, -1]).shape == (1, 3, 4, 5, 1)
    assert squeeze(expand_dims(x, [0, -1])).shape == (3, 4, 5)
    assert transpose(x).shape == (5, 4, 3)
    assert concat([x, x], -1).shape == (3, 4, 10)
    assert reduce_sum(x, (-1, 0), keepdims=True).shape == (1, 4, 1)
    assert reduce_mean(x).shape == ()
    assert argmax(x, -1).shape == (3, 4)
    assert value(size(x)) == 60
    with pytest.raises(ShapeError, match="axis 3 does not exist in a tensor of 3 dimensions"):
        reduce_max(x, 3)
    with pytest.raises(ShapeError, match="at least one tensor"):
        concat([], 0)


@pytest.mark.parametrize("axis", ["a", 1.5, [0, None]])
def test_axes_are_whole_numbers(axis: Any) -> None:
    with pytest.raises(ShapeError, match="an axis must be a whole number"):
        reduce_sum(np.zeros((2, 3), np.float32), axis=axis)


def test_a_single_dimension_may_be_given_without_a_list() -> None:
    assert reshape(np.zeros((2, 3), np.float32), -1).shape == (6,)
    assert expand_dims(np.zeros(3, np.float32), np.int64(0)).shape == (1, 3)
    with pytest.raises(ShapeError, match=r"a dimension must be a whole number, not 2\.5"):
        reshape(np.zeros((2, 3), np.float32), [2.5, -1])


def test_reducing_a_scalar_returns_it() -> None:
    assert value(reduce_sum(constant(2.5))) == 2.5
