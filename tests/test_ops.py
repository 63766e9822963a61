"""The constructors of operations: what they accept beyond their records, and what they refuse."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from playgrad.errors import (
    DataError,
    DTypeError,
    FeedError,
    PlaygradError,
    ShapeError,
    UnsupportedOpError,
)
from playgrad.graph.autodiff import gradients
from playgrad.graph.graph import Graph
from playgrad.graph.opdef import OpDef
from playgrad.graph.tensor import Tensor
from playgrad.ops import (
    Variable,
    argmax,
    avg_pool2d,
    batch_indices,
    concat,
    constant,
    conv2d,
    dropout,
    expand_dims,
    flatten,
    gather,
    matmul,
    max_pool2d,
    one_hot,
    ones_like,
    pad,
    placeholder,
    random_normal,
    random_uniform,
    record,
    reduce_max,
    reduce_mean,
    reduce_sum,
    relu,
    reshape,
    size,
    slice_,
    sparse_softmax_cross_entropy,
    square,
    squeeze,
    stop_gradient,
    transpose,
    truncated_normal,
)
from playgrad.runtime.session import Session
from tests.contract.interpreter import evaluate

Array = np.ndarray[Any, Any]
X = np.arange(60, dtype=np.float32).reshape(3, 4, 5)


@pytest.fixture(autouse=True)
def graph() -> Iterator[Graph]:
    with (graph := Graph(seed=1)).as_default():
        yield graph


def value(tensor: Tensor, given: dict[Tensor, Array] | None = None) -> Array:
    return evaluate([tensor], given or {})[0]


# Indexing


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
    ],
    ids=str,
)
def test_indexing_is_numpys(key: Any) -> None:
    np.testing.assert_array_equal(value(constant(X)[key]), X[key])


@pytest.mark.parametrize(
    ("key", "words"),
    [
        (np.s_[3], r"index 3 lies outside .* of shape \(3, 4, 5\)"),
        (np.s_[0, 0, 0, 0], "too many indices"),
        (np.s_[..., 0, ...], "too many indices"),
        (np.s_[::2], "step 1 only"),
        (np.s_["a"], "cannot be indexed with 'a'"),
    ],
    ids=str,
)
def test_wrong_indices(key: Any, words: str) -> None:
    with pytest.raises(ShapeError, match=words):
        constant(X)[key]


def test_indexing_an_unknown_batch() -> None:
    x = placeholder("float32", [None, 4])
    assert x[1:].shape == (None, 4)
    assert x[:2].shape == (2, 4)
    assert x[0].shape == (4,)
    np.testing.assert_array_equal(value(x[1:, 2], {x: X[0]}), X[0][1:, 2])
    with pytest.raises(ShapeError, match="from the end of a dimension that is not known"):
        x[-1]


# Shapes


def test_reshape_with_an_unknown_batch() -> None:
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
    assert argmax(x).shape == (3, 4)
    assert value(size(x)) == 60
    with pytest.raises(ShapeError, match="axis 3 does not exist in a tensor of 3 dimensions"):
        reduce_max(x, 3)
    with pytest.raises(ShapeError, match="at least one tensor"):
        concat([], 0)


@pytest.mark.parametrize("axis", ["a", 1.5, [0, None]])
def test_axes_are_whole_numbers(axis: Any) -> None:
    with pytest.raises(ShapeError, match="an axis must be a whole number"):
        reduce_sum(np.zeros((2, 3), np.float32), axis=axis)


def test_one_dimension_may_stand_alone() -> None:
    assert reshape(np.zeros((2, 3), np.float32), -1).shape == (6,)
    assert expand_dims(np.zeros(3, np.float32), np.int64(0)).shape == (1, 3)
    with pytest.raises(ShapeError, match=r"a dimension must be a whole number, not 2\.5"):
        reshape(np.zeros((2, 3), np.float32), [2.5, -1])


def test_reducing_a_scalar_gives_it_back() -> None:
    assert value(reduce_sum(constant(2.5))) == 2.5


# Windows


def test_same_padding_has_its_larger_half_below() -> None:
    image, filters = constant(np.ones((1, 4, 4, 1), np.float32)), np.ones((2, 2, 1, 1), np.float32)
    result = conv2d(image, filters, padding="same")
    assert result.node.attrs["padding"] == [[0, 1], [0, 1]]
    assert value(result)[0, :, :, 0].tolist()[3] == [2, 2, 2, 1]
    assert max_pool2d(image, 3, 2, "same").shape == (1, 2, 2, 1)
    assert avg_pool2d(image, (2, 1)).shape == (1, 2, 4, 1)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"padding": "full"}, 'padding must be "valid", "same" or'),
        ({"padding": ((1, 1),)}, 'padding must be "valid", "same" or'),
        ({"strides": 0}, "strides must be one or two positive numbers, not 0"),
        ({"strides": (1, 2, 3)}, "strides must be one or two positive numbers"),
    ],
)
def test_wrong_windows(arguments: dict[str, Any], words: str) -> None:
    image, filters = placeholder("float32", [None, 8, 8, 3]), np.ones((2, 2, 3, 1), np.float32)
    with pytest.raises(ShapeError, match=words):
        conv2d(image, filters, **arguments)


def test_same_padding_needs_the_size_of_the_image() -> None:
    image = placeholder("float32", [None, None, None, 1])
    with pytest.raises(ShapeError, match="needs the height and width"):
        max_pool2d(image, padding="same")
    assert max_pool2d(image).shape == (None, None, None, 1)


def test_an_image_that_became_too_small_is_explained() -> None:
    image = placeholder("float32", [None, 2, 2, 1])
    with pytest.raises(ShapeError, match="Use a smaller window, less pooling before it"):
        conv2d(image, np.ones((3, 3, 1, 1), np.float32))


def test_maxima_of_nan_and_of_nothing_but_padding() -> None:
    image = np.full((1, 2, 2, 1), -np.inf, np.float32)
    pooled, positions = evaluate(max_pool2d(image, 2, 1, ((1, 1), (1, 1))).node.outputs, {})
    assert np.all(pooled == -np.inf)
    assert positions[0, :, :, 0].tolist() == [[0, 0, 1], [0, 0, 1], [2, 2, 3]]
    image[0, 1, 0, 0] = np.nan
    pooled, positions = evaluate(max_pool2d(image).node.outputs, {})
    assert np.isnan(pooled).all()
    assert positions.item() == 2


# Unknown sizes all the way: gradients that need shapes get them when the graph runs


@pytest.mark.parametrize("device", ["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])
def test_gradients_through_unknown_sizes(device: str) -> None:
    image = placeholder("float32", [None, None, None, 2])
    filters = Variable(np.linspace(-1, 1, 36, dtype=np.float32).reshape(3, 3, 2, 2))
    hidden = relu(conv2d(image, filters))
    pooled = concat([max_pool2d(hidden), avg_pool2d(hidden)], 3)
    rows = reshape(pooled, [-1, 4])[1:]
    loss = reduce_mean(square(rows)) + reduce_sum(pad(rows, [[1, 0], [0, 2]])) * 0.1
    grads = gradients(loss, [image, filters])
    assert grads[0] is not None and grads[1] is not None
    second = gradients(reduce_sum(square(grads[1])), [image])[0]
    assert second is not None
    values = np.random.default_rng(0).normal(size=(2, 8, 9, 2)).astype(np.float32)
    wanted = evaluate(
        [loss, grads[0], grads[1], second], {image: values, filters: value(filters.initial_value)}
    )
    with Session(device=device) as session:
        results = session.run([loss, *grads, second], {image: values})
    for actual, expected in zip(results, wanted, strict=True):
        scale = float(np.abs(expected).max())
        np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-5 * scale)


def test_no_gradient_passes_stop_gradient() -> None:
    x = constant([1.0, 2.0])
    assert gradients(stop_gradient(x) * 3.0, x) == [None]
    (grad,) = gradients(stop_gradient(x) * x, x)
    assert grad is not None
    assert value(grad).tolist() == [1.0, 2.0]


def test_equal_maxima_share_the_gradient() -> None:
    x = constant([[3.0, 3.0, 1.0]])
    (grad,) = gradients(reduce_max(x, 1), x)
    assert grad is not None
    assert value(grad).tolist() == [[0.5, 0.5, 0.0]]


# Indices and labels


@pytest.mark.parametrize("kind", ["uint8", "int32", "uint32"])
def test_labels_of_any_whole_dtype(kind: str) -> None:
    labels = constant([1, 0, 2], kind)
    logits = constant(np.eye(3, dtype=np.float32))
    assert value(sparse_softmax_cross_entropy(logits, labels)).shape == (3,)
    assert value(one_hot(labels, 3)).tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 1]]
    assert value(gather(logits, labels)).tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 1]]


def test_labels_outside_the_classes() -> None:
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


# Random numbers


def test_normal_numbers_and_their_bounds() -> None:
    plain = value(random_normal([50, 200], mean=3.0, stddev=2.0, counter=0))
    assert abs(plain.mean() - 3.0) < 0.06 and abs(plain.std() - 2.0) < 0.06
    assert plain.dtype == np.float32
    bounded = value(truncated_normal([50, 200], mean=3.0, stddev=2.0, counter=0))
    assert np.abs(bounded - 3.0).max() <= 4.0
    assert abs(bounded.std() - 2.0 * 0.8796) < 0.03  # of a normal cut at two deviations
    assert np.count_nonzero(np.abs(bounded - 3.0) == 4.0) == 0
    flat = value(random_uniform([10_000], -2.0, 6.0, counter=0))
    assert -2.0 <= flat.min() < -1.9 and 5.9 < flat.max() < 6.0


def test_seeds_and_counters_decide() -> None:
    first = random_normal([4], counter=0)
    second = random_normal([4], counter=0)
    assert not np.array_equal(value(first), value(second))
    again = random_normal([4], seed=first.node.attrs["seed"][1], counter=0)
    np.testing.assert_array_equal(value(first), value(again))
    with Graph(seed=2).as_default():
        assert not np.array_equal(value(random_normal([4], counter=0)), value(first))


def test_every_run_draws_anew_and_the_same_in_a_new_session() -> None:
    x = constant(np.ones(1000, np.float32))
    y = dropout(x, 0.25)
    runs = []
    for _ in range(2):
        with Session(device="cpu") as session:
            runs.append([session.run(y) for _ in range(3)])
    np.testing.assert_array_equal(runs[0], runs[1])
    assert not np.array_equal(runs[0][0], runs[0][1])
    kept = runs[0][0][runs[0][0] != 0]
    assert abs(len(kept) - 750) < 60
    np.testing.assert_allclose(kept, 1 / 0.75, rtol=1e-6)


def test_the_mask_of_dropout_is_the_same_backward() -> None:
    x = placeholder("float32", [500])
    y = dropout(x, 0.5)
    (grad,) = gradients(y, x)
    with Session(device="cpu") as session:
        forward, backward = session.run([y, grad], {x: np.ones(500, np.float32)})
    np.testing.assert_array_equal(forward, backward)


def test_an_epoch_holds_every_example_once() -> None:
    step = placeholder("uint32", [])
    indices = batch_indices(step, count=100, batch=25)
    epochs = [
        np.concatenate([value(indices, {step: np.uint32(s)}) for s in range(e, e + 4)])
        for e in (0, 4)
    ]
    for epoch in epochs:
        assert sorted(epoch.tolist()) == list(range(100))
    assert epochs[0].tolist() != epochs[1].tolist()
    with pytest.raises(ShapeError, match="batches of 0 out of 100 examples"):
        batch_indices(step, 100, 0)


# In-place operations, and devices


@pytest.mark.parametrize("device", ["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])
def test_record_is_a_ring(device: str) -> None:
    history = Variable(np.zeros((3, 2), np.float32), trainable=False)
    position = placeholder("uint32", [])
    node = record(history, position, [constant(5.0), reduce_sum(constant([1.0, 2.0]))]).node
    with Session(device=device) as session:
        session.run(node, {position: np.uint32(4)})
        assert session.value(history).tolist() == [[0, 0], [5, 3], [0, 0]]


def test_record_refuses_too_many_values() -> None:
    history = Variable(np.zeros((3, 7), np.float32))
    with pytest.raises(ShapeError, match="at most 6 values, not 7"):
        record(history, 0, [1.0] * 7)


def test_operators_make_nodes() -> None:
    a, b = constant([[1.0, 2.0]]), constant([[3.0], [4.0]])
    assert (a @ b).node.op.name == "matmul"
    assert value(a @ b).tolist() == [[11.0]]
    with pytest.raises(DTypeError, match="not int32"):
        matmul(constant([[1]]), constant([[1]]))
    assert value(slice_(a, [0, 1], [1, -1])).tolist() == [[2.0]]
    assert value(ones_like(a)).tolist() == [[1.0, 1.0]]


@pytest.mark.gpu
def test_an_op_without_a_kernel_says_so_on_a_gpu(graph: Graph) -> None:
    double = OpDef(
        name="double",
        infer=lambda inputs, attrs: list(inputs),
        reference=lambda inputs, attrs: [inputs[0] * 2],
    )
    x = placeholder("float32", [2])
    anywhere = graph.add(double, [x]).output
    with graph.device("gpu:0"):
        there = graph.add(double, [x], name="twice").output
    two = np.ones(2, np.float32)
    with Session(device="gpu:0") as session:
        with pytest.raises(UnsupportedOpError, match="'double' cannot run on gpu:0") as caught:
            session.run(there, {x: two})
        assert caught.value.op == "twice"
        assert session.run(anywhere, {x: two}).tolist() == [2.0, 2.0]
