"""Indices and labels: their dtypes and their range."""

from __future__ import annotations

import numpy as np
import pytest

from playgrad.contract.interpreter import value
from playgrad.errors import DataError, FeedError, PlaygradError
from playgrad.ops import constant, gather, one_hot, placeholder, sparse_softmax_cross_entropy
from playgrad.runtime.session import Session


@pytest.mark.parametrize("kind", ["uint8", "int32", "uint32"])
def test_labels_may_have_any_integer_dtype(kind: str) -> None:
    labels = constant([1, 0, 2], kind)
    logits = constant(np.eye(3, dtype=np.float32))
    assert value(sparse_softmax_cross_entropy(logits, labels)).shape == (3,)
    assert value(one_hot(labels, 3)).tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 1]]
    assert value(gather(logits, labels)).tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 1]]


def test_labels_outside_the_classes_are_refused() -> None:
    logits = constant(np.zeros((3, 10), np.float32))
    words = r"labels must lie in \[0, 10\), but there is 12 at position 1"
    with pytest.raises(DataError, match=words):
        value(sparse_softmax_cross_entropy(logits, constant([1, 12, 3])))
    with pytest.raises(DataError, match=r"indices must lie in \[0, 3\), but there is -1"):
        value(gather(logits, constant(-1)))


def test_fed_labels_are_checked_on_every_device() -> None:
    labels = placeholder("int32", [None])
    loss = sparse_softmax_cross_entropy(constant(np.zeros((2, 10), np.float32)), labels)
    with Session() as session:
        with pytest.raises(PlaygradError, match=r"labels must lie in \[0, 10\)") as caught:
            session.run(loss, {labels: np.array([3, 10], np.int32)})
        assert isinstance(caught.value, (FeedError, DataError))
        assert session.run(loss, {labels: np.array([3, 9], np.int32)}).shape == (2,)
