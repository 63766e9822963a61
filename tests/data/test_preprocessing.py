"""Keras' preprocessing on the host, with the examples of its documentation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn


def check(result: Any, expected: Any) -> None:
    assert isinstance(result, np.ndarray)
    np.testing.assert_allclose(result, expected, rtol=1e-6)


def test_texts_become_numbers() -> None:
    layer = nn.TextVectorization(max_tokens=5000, output_sequence_length=4)
    layer.adapt(["foo", "bar", "baz"])
    check(layer(["foo qux bar", "qux baz"]), [[2, 1, 4, 0], [1, 3, 0, 0]])
    assert layer.get_vocabulary() == ["", "[UNK]", "foo", "baz", "bar"]
    given = nn.TextVectorization(vocabulary=["earth", "wind", "and", "fire"])
    check(given(["Wind, and FIRE!", "and moon"]), [[3, 4, 5], [4, 1, 0]])
    pairs = nn.TextVectorization(ngrams=2, split="character", standardize=None)
    assert pairs.words_of("aBc") == ["a", "B", "c", "a B", "B c"]
    counted = nn.TextVectorization(output_mode="count", vocabulary=["a", "b"])
    check(counted(["a b a", "c"]), [[0, 2, 1], [1, 0, 0]])
    weighted = nn.TextVectorization(output_mode="tf_idf")
    weighted.adapt(["a b", "a"])
    b, a = np.log(1 + 2 / 2), np.log(1 + 2 / 3)
    check(weighted(["a b b z"]), [[(a + b) / 2, a, 2 * b]])


def test_texts_of_a_data_set_train_a_model() -> None:
    texts = np.array(["good film", "bad film", "very good", "very bad"] * 8)
    labels = np.array([1.0, 0.0, 1.0, 0.0] * 8, np.float32)
    data = pg.data.Dataset.from_tensor_slices((texts, labels)).batch(8)
    layer = nn.TextVectorization(output_sequence_length=3)
    layer.adapt(data)
    with pg.Graph(seed=3).as_default():
        model = pg.Sequential(
            [nn.Embedding(layer.vocabulary_size(), 4), nn.GlobalAveragePooling1D(), nn.Dense(1)]
        )
        loss = nn.BinaryCrossentropy(from_logits=True)
        model.compile(pg.optim.Adam(0.1), loss, device="cpu")
        history = model.fit(data.map(lambda x, y: (layer(x), y)), epochs=20, verbose=0)
    assert history.history["loss"][-1] < 0.2
    with pytest.raises(pg.DataError, match=r"works on the host.*data\.map"):
        pg.Sequential([layer, nn.Dense(1)])
    with pytest.raises(pg.DataError, match="cannot be a part of a model"):
        layer(pg.Input((1,)))


def test_lookups() -> None:
    layer = nn.StringLookup()
    data = [["a", "c", "d"], ["d", "z", "b"]]
    layer.adapt(data)
    assert layer.get_vocabulary() == ["[UNK]", "d", "z", "c", "b", "a"]
    check(layer(data), [[5, 3, 1], [1, 2, 4]])
    vocabulary = ["a", "b", "c", "d"]
    check(nn.StringLookup(vocabulary=vocabulary)([["a", "m", "d"]]), [[1, 0, 4]])
    masked = nn.StringLookup(vocabulary=vocabulary, mask_token="")
    check(masked(["", "b", "x"]), [0, 3, 1])
    back = nn.StringLookup(vocabulary=vocabulary, invert=True)
    assert back(np.array([[1, 3, 4], [4, 0, 2]])).tolist() == [["a", "c", "d"], ["d", "[UNK]", "b"]]
    hot = nn.StringLookup(vocabulary=vocabulary, output_mode="one_hot")
    check(hot(["b", "x"]), np.eye(5)[[2, 0]])
    several = nn.StringLookup(vocabulary=vocabulary, output_mode="multi_hot")
    check(several([["a", "c"], ["d", "d"]]), [[0, 1, 0, 1, 0], [0, 0, 0, 0, 1]])
    hashed = nn.StringLookup(vocabulary=vocabulary, num_oov_indices=3)(["m", "n", "a"])
    assert hashed[2] == 3 and (hashed[:2] < 3).all()
    check(nn.IntegerLookup(vocabulary=[12, 36, 1138])([[12, 1138, 42]]), [[1, 3, 0]])


def test_categories_ranges_and_hashes() -> None:
    check(nn.CategoryEncoding(4, output_mode="one_hot")([3, 2, 0, 1]), np.eye(4)[[3, 2, 0, 1]])
    rows = [[0, 1], [0, 0], [1, 2], [3, 1]]
    check(nn.CategoryEncoding(4)(rows), [[1, 1, 0, 0], [1, 0, 0, 0], [0, 1, 1, 0], [0, 1, 0, 1]])
    check(nn.CategoryEncoding(4, output_mode="count")(rows)[1], [2, 0, 0, 0])
    ranges = nn.Discretization(bin_boundaries=[0.0, 1.0, 2.0])
    check(ranges([[-1.5, 1.0, 3.4, 0.5], [0.0, 3.0, 1.3, 0.0]]), [[0, 2, 3, 1], [1, 3, 2, 1]])
    learned = nn.Discretization(num_bins=4)
    learned.adapt(np.arange(100))
    assert np.bincount(learned(np.arange(100))).tolist() == [25, 25, 25, 25]
    letters = [["A"], ["B"], ["C"], ["D"], ["E"]]
    check(nn.Hashing(num_bins=3)(letters), [[1], [0], [1], [1], [2]])
    masked = nn.Hashing(num_bins=3, mask_value="")([["A"], ["B"], [""], ["C"], ["D"]])
    check(masked, [[1], [1], [0], [2], [2]])
    lengths = nn.Hashing(num_bins=1000)(["x" * n for n in range(0, 200, 7)])
    assert len(set(lengths.tolist())) > 25
    salted = [nn.Hashing(num_bins=1000, salt=salt)(letters).tolist() for salt in (1, 1, 2)]
    assert salted[0] == salted[1] != salted[2]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: nn.StringLookup(max_tokens=1), "max_tokens must be more than 1"),
        (lambda: nn.StringLookup(vocabulary=["a", "a"]), "has 'a' twice"),
        (lambda: nn.StringLookup(output_mode="hot"), "output_mode must be"),
        (lambda: nn.StringLookup()(["a"]), "no vocabulary"),
        (lambda: nn.StringLookup(vocabulary=["a"], num_oov_indices=0)(["b"]), "'b' is not in"),
        (lambda: nn.TextVectorization()(["a"]), "no vocabulary"),
        (lambda: nn.TextVectorization(split="words"), "split must be"),
        (lambda: nn.CategoryEncoding(), "num_tokens must be at least 1"),
        (lambda: nn.CategoryEncoding(3)([3]), "takes numbers from 0 to 2, got 3 to 3"),
        (lambda: nn.Discretization(), "either bin_boundaries or num_bins"),
        (lambda: nn.Discretization([2.0, 1.0]), "ascending order"),
        (lambda: nn.Hashing(0), "num_bins must be at least 1"),
    ],
)
def test_wrong_arguments_are_refused(make: Callable[[], Any], words: str) -> None:
    with pytest.raises(pg.DataError, match=words):
        make()
