"""Vocabularies: numbers for the characters or words of a text."""

from __future__ import annotations

import numpy as np
import pytest

import playgrad as pg


def test_characters_are_numbered_in_order_and_decoded() -> None:
    vocabulary = pg.data.Vocabulary("banana!")
    assert (len(vocabulary), "".join(vocabulary.tokens)) == (4, "!abn")
    codes = vocabulary.encode("nab!")
    assert codes.dtype == np.int32 and codes.tolist() == [3, 1, 2, 0]
    assert vocabulary.decode(codes) == "nab!"
    assert repr(vocabulary) == "<Vocabulary of 4 characters>"


def test_words_are_separated_by_white_space() -> None:
    vocabulary = pg.data.Vocabulary("to be or\n not to be", words=True)
    assert vocabulary.tokens == ("be", "not", "or", "to")
    assert vocabulary.decode(vocabulary.encode("be  not\nto")) == "be not to"


def test_windows_have_the_next_token_of_each() -> None:
    vocabulary = pg.data.Vocabulary("abcde")
    x, y = vocabulary.windows("abcde", 3)
    assert x.tolist() == [[0, 1, 2], [1, 2, 3]]
    assert y.tolist() == [[1, 2, 3], [2, 3, 4]]


def test_mistakes_raise_explaining_errors() -> None:
    vocabulary = pg.data.Vocabulary("abc")
    with pytest.raises(pg.DataError, match=r"does not have the character 'x'.[\s\S]*It has 'abc'"):
        vocabulary.encode("axa")
    with pytest.raises(
        pg.DataError, match="3 is not a token: this vocabulary has the numbers 0 to 2"
    ):
        vocabulary.decode([0, 3])
    with pytest.raises(pg.ShapeError, match="windows of 3 characters need a text of at least 4"):
        vocabulary.windows("abc", 3)
    with pytest.raises(pg.DataError, match="the text of the vocabulary is empty"):
        pg.data.Vocabulary("")
    with pytest.raises(pg.DataError, match="takes text, got list"):
        pg.data.Vocabulary(["a", "b"])  # type: ignore[arg-type]
