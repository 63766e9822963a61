"""Bad feeds: a FeedError names the feed, the place and the cause before anything runs."""

from __future__ import annotations

import numpy as np
import pytest

from playgrad import ops
from playgrad.errors import FeedError, ShapeError
from playgrad.graph.graph import Graph
from playgrad.runtime.session import Session


@pytest.fixture
def session(graph):
    with Session(graph, device="cpu") as session:
        yield session


def refused(session, fetch, feeds, words, op=None):
    with pytest.raises(FeedError) as caught:
        session.run(fetch, feeds)
    assert words in str(caught.value)
    assert caught.value.op == op
    if op:
        assert f"(created at {__file__}, line " in str(caught.value)


@pytest.fixture
def image(graph):
    return ops.placeholder("float32", [None, 4], name="image")


class TestShapes:
    @pytest.mark.parametrize(
        ("shape", "text"),
        [((3, 5), "(3, 5)"), ((4,), "(4,)"), ((), "()"), ((1, 3, 4), "(1, 3, 4)")],
    )
    def test_mismatched_shapes_are_refused(self, session, image, shape, text):
        words = f"'image' has shape (?, 4), but was given a value of shape {text}."
        refused(session, ops.exp(image), {image: np.ones(shape)}, words, "image")

    def test_empty_batches_are_accepted(self, session, image):
        result = session.run(ops.exp(image), {image: np.ones((0, 4))})
        assert (result.shape, result.dtype) == ((0, 4), np.float32)

    def test_ragged_lists_are_refused(self, session, image):
        words = "the value for 'image' is not an array"
        refused(session, ops.exp(image), {image: [[1, 2, 3, 4], [1]]}, words, "image")

    def test_inconsistent_batch_sizes_are_refused(self, session, image):
        other = ops.placeholder("float32", [None, 4], name="other")
        total = ops.add(image, other, name="total")
        with pytest.raises(ShapeError) as caught:
            session.run(total, {image: np.ones((2, 4)), other: np.ones((3, 4))})
        assert "total: shapes (2, 4) and (3, 4) do not broadcast together." in str(caught.value)
        assert __file__ in str(caught.value)


class TestTypes:
    @pytest.mark.parametrize(
        ("dtype", "value", "words"),
        [
            ("int32", [1.5, 2.0], "takes int32 values, but was given float64."),
            ("int32", [1.0, 2.0], "Convert them with .astype('int32')."),
            ("float32", ["a", "b"], "takes float32 values, but was given <U1."),
            ("float32", [None, 1.0], "takes float32 values, but was given object."),
            ("float32", [1j, 2], "takes float32 values, but was given complex128."),
            ("uint8", [1, 256], "takes uint8 values, but some do not fit in it."),
            ("int8", [1, 128], "takes int8 values, but some do not fit in it."),
            ("uint32", [1, -1], "takes uint32 values, but some do not fit in it."),
            ("int32", [0, 2**40], "takes int32 values, but some do not fit in it."),
            ("bool", [0, 2], "takes bool values, but some do not fit in it."),
            ("float32", [1e300, 0.0], "takes float32 values, but some do not fit in it."),
        ],
    )
    def test_unsuitable_types_are_refused(self, session, dtype, value, words):
        x = ops.placeholder(dtype, [2], name="x")
        refused(session, x, {x: value}, words, "x")

    @pytest.mark.parametrize(
        ("dtype", "value"),
        [
            ("float32", [1, 2]),
            ("float32", [True, False]),
            ("float32", [np.inf, np.nan]),
            ("float64", np.array([1, 2], np.float32)),
            ("uint8", [0, 255]),
            ("int8", [-128, 127]),
            ("bool", [0, 1]),
        ],
    )
    def test_suitable_types_are_converted(self, session, dtype, value):
        x = ops.placeholder(dtype, [2], name="x")
        result = session.run(x, {x: value})
        assert result.dtype == dtype
        np.testing.assert_array_equal(result, np.asarray(value))


class TestNames:
    def test_a_missing_feed_is_refused(self, session, image):
        words = "the placeholder 'image' is needed, but no value was fed for it."
        refused(session, ops.exp(image), {}, words, "image")

    def test_an_unknown_name_is_refused(self, session, image):
        words = "cannot feed 'picture': the graph has no node named 'picture'."
        refused(session, ops.exp(image), {"picture": 1}, words)

    def test_a_nonexistent_output_is_refused(self, session, image):
        refused(
            session, ops.exp(image), {"image:1": 1}, "no tensor 'image:1': 'image' has 1 outputs"
        )

    def test_a_tensor_of_another_graph_is_refused(self, session, image):
        with Graph().as_default():
            other = ops.placeholder("float32", [1], name="other")
        words = "<Tensor other:0 float32(1,)>: not a tensor in this graph."
        refused(session, ops.exp(image), {other: [1]}, words)

    def test_keys_other_than_tensors_are_refused(self, session, image):
        refused(session, ops.exp(image), {3: [1]}, "cannot feed 3: not a tensor in this graph.")
        node = image.node
        refused(session, ops.exp(image), {node: [1]}, "not a tensor in this graph.")


def test_values_invalid_for_an_operation_are_refused(session):
    labels = ops.placeholder("int32", [None], name="labels")
    logits = ops.constant(np.zeros((2, 3)))
    loss = ops.sparse_softmax_cross_entropy(logits, labels, name="loss")
    with pytest.raises(FeedError) as caught:
        session.run(loss, {labels: [0, 3]})
    assert caught.value.op == "loss" and "3" in str(caught.value)


def test_bad_feeds_change_nothing(graph, device):
    x = ops.placeholder("float32", [1], name="x")
    w = ops.Variable([1.0], name="w")
    update = w.assign_add(x)
    with Session(graph, device=device) as session:
        session.run(update, {x: [1.0]})
        for bad in ({x: [1.0, 2.0]}, {x: ["a"]}, {}, {"y": [1.0]}):
            with pytest.raises(FeedError):
                session.run(update, bad)
            with pytest.raises(FeedError):
                session.repeat(update, 3, bad)
        assert session.value(w) == 2
        assert session.run(update, {x: [1.0]}) == 3
