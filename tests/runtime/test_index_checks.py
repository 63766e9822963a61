"""Indices and labels out of range are the same error on every device, and change no variable."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.compiler.bounds import range_of
from playgrad.compiler.compile import Compiled, run_passes
from playgrad.compiler.place import Policy
from playgrad.compiler.program import Program
from playgrad.graph.opdef import _REGISTRY

Array = np.ndarray[Any, Any]
Shapes = dict[str, tuple[int, ...]]
DEVICES = ["cpu", pytest.param("gpu", marks=pytest.mark.gpu)]
TABLE = np.arange(12, dtype=np.float32).reshape(4, 3)
GOOD = np.array([[0, 3, 1]], np.int32)
BAD = np.array([[0, 4, 1]], np.int32)
WORDS_OF_ERRORS = r"must (lie|be classes) in \[0, (4|12)\)"
USES: dict[str, Callable[[Any], Any]] = {
    "gather": lambda i: pg.gather(pg.constant(TABLE), i),
    "gather of integers": lambda i: pg.gather(pg.constant(TABLE.astype(np.int32)), i),
    "gather_sum": lambda i: pg.sparse_dense_matmul(
        pg.stack([pg.reshape(i, (-1,))] * 2), None, pg.ones((4, 3)), 4
    ),
    "segment_max": lambda i: pg.segment_max(pg.ones((1, 3, 3)), i, 4),
    "scatter_add": lambda i: pg.scatter_add(pg.zeros((4, 3)), i, pg.ones((1, 3, 3))),
    "take": lambda i: pg.take(pg.constant(TABLE), i, axis=0),
    "gather_nd": lambda i: pg.gather_nd(pg.constant(TABLE), pg.stack([i, i * 0], axis=-1)),
    "take_along_axis": lambda i: pg.take_along_axis(pg.constant(TABLE), i, axis=0),
    "sparse_softmax_cross_entropy": lambda i: pg.sparse_softmax_cross_entropy(
        pg.zeros((3, 4)), pg.reshape(i, (-1,))
    ),
    "a loss of probabilities": lambda i: nn.SparseCategoricalCrossentropy()(
        pg.reshape(i, (-1,)), pg.constant(np.full((3, 4), 0.25, np.float32))
    ),
    "ctc_loss": lambda i: pg.ctc_loss(i[:, 1:2], pg.zeros((1, 2, 4))),
}  # fmt: skip
ROUTES: dict[str, Callable[[Any], Any]] = {
    "as they are": lambda i: i,
    "moved": lambda i: pg.flip(pg.expand_dims(pg.squeeze(i, 0), 0), 1),
    "computed": lambda i: pg.cast((pg.cast(i, "float32") + 1.0) * 0.5 * 2.0 - 1.0, "int32"),
}


def on_a_gpu(program: Program, shapes: Shapes | None = None) -> Compiled:
    """Return what a session on a GPU would run; it takes no GPU to compile it."""
    return run_passes(program, shapes or {}, Policy("gpu:0", ["cpu:0", "gpu:0"]))


def checks_of(compiled: Compiled) -> tuple[int, int]:
    """Return the numbers of checks on the host before a run, and in it."""
    inside = [node for node in compiled.order if node.op.name == "check_inputs"]
    return len(compiled.program.checks), len(inside)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("use", USES)
def test_what_is_fed(use: str, route: str, device: str) -> None:
    with pg.Graph().as_default() as graph:
        counter = pg.Variable(0.0, "counter")
        fed = pg.placeholder("int32", (1, 3), "fed")
        result = USES[use](ROUTES[route](fed))
        change = counter.assign_add(pg.reduce_sum(pg.cast(result, "float32")) * 0.0 + 1.0)
    assert checks_of(on_a_gpu(Program(graph, [result], feeds={"fed": fed}), {"fed": (1, 3)})) == (
        1, 0,
    )  # fmt: skip
    with pg.Session(graph, device) as session:
        with pytest.raises((pg.DataError, pg.FeedError), match=WORDS_OF_ERRORS):
            session.run([result, change], {fed: BAD})
        assert session.value(counter) == 0


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("use", USES)
def test_what_only_the_device_knows(use: str, device: str) -> None:
    """An index in a variable: no variable is written, whether before or after it is used."""
    with pg.Graph().as_default() as graph:
        early = pg.Variable(0.0, "early")
        first = early.assign_add(1.0)
        index = pg.Variable(BAD, "index", trainable=False)
        late = pg.Variable(0.0, "late")
        result = USES[use](index)
        last = late.assign_add(pg.reduce_sum(pg.cast(result, "float32")) * 0.0 + 1.0)
    assert checks_of(on_a_gpu(Program(graph, [result], [last.node])))[1] >= 1
    with pg.Session(graph, device) as session:
        with pytest.raises(pg.DataError, match=WORDS_OF_ERRORS):
            session.run([result, first, last])
        assert session.value(early) == 0 and session.value(late) == 0
        session.assign({index: GOOD})
        session.run([result, first, last])
        assert session.value(early) == 1 and session.value(late) == 1


def test_every_operation_that_checks_numbers_says_which() -> None:
    names = {name for name, op in _REGISTRY.items() if op.check is not None}
    assert names == {
        "ctc_loss", "ctc_loss_gradient", "gather", "gather_sum", "scatter_add",
        "scatter_along_axis",
        "segment_max", "segment_min", "sparse_softmax_cross_entropy", "take_along_axis",
        "weighted_gather_sum",
    }  # fmt: skip
    assert all(bool(op.checked) == (op.check is not None) for op in _REGISTRY.values())


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("use", USES)
def test_constants_are_checked(use: str, device: str) -> None:
    with pg.Graph().as_default():
        x = pg.placeholder("float32", ())
        fetches = [pg.cast(USES[use](pg.constant(values)), "float32") * x for values in (GOOD, BAD)]
        with pg.Session(device=device) as session:
            session.run(fetches[0], {x: np.float32(1)})
            with pytest.raises(pg.DataError, match=WORDS_OF_ERRORS):
                session.run(fetches[1], {x: np.float32(1)})


def words_model() -> pg.Sequential:
    with pg.Graph(seed=1).as_default():
        return pg.Sequential(
            [pg.Input((3,)), nn.Embedding(5, 2), nn.PositionEmbedding(3), nn.Flatten()]
        )


@pytest.mark.parametrize("device", DEVICES)
def test_models_say_so_before_anything_runs(device: str) -> None:
    model = words_model()
    model.compile("sgd", "mse", device=device)
    before = model.get_weights()
    words = np.array([[0, 4, 1], [2, 9, 3]], np.float32)  # the layer casts them
    y = np.zeros((2, 6), np.float32)
    stream = pg.data.Dataset.from_tensor_slices((words, y)).batch(2)
    uses: list[Callable[[], Any]] = [
        lambda: model.fit(words, y, verbose=0),
        lambda: model.fit(words[:1], y[:1], verbose=0, validation_data=(words, y)),
        lambda: model.fit(stream, verbose=0),
        lambda: model.train_on_batch(words, y),
        lambda: model.evaluate(words, y),
        lambda: model.evaluate(stream),
        lambda: model.predict(words),
        lambda: model.predict(stream),
    ]
    for use in uses:
        with pytest.raises(
            pg.DataError,
            match=r" does not fit 'embedding_1/gather': indices must lie in \[0, 5\), but there "
            "is 9 at position 4",
        ):
            use()
    for a, b in zip(before, model.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)
    model.close()


@pytest.mark.parametrize("device", DEVICES)
def test_a_loop_of_ones_own_keeps_its_weights(device: str) -> None:
    with pg.Graph(seed=1).as_default():
        model = pg.Sequential([pg.Input((2,)), nn.Dense(3)])
    model.set_device(device)
    optimizer = pg.optim.Adam(0.1)

    @pg.function(model)
    def step(x: Any, y: Any) -> Any:
        of_samples = nn.SparseCategoricalCrossentropy(from_logits=True).per_sample
        each = of_samples(y, model(x, training=True))
        optimizer.minimize(pg.reduce_mean(each))
        return pg.reduce_mean(each)

    before = model.get_weights()
    with pytest.raises(pg.DataError, match=r"labels must lie in \[0, 3\), but there is 3"):
        step(np.ones((2, 2), np.float32), np.array([[0], [3]], np.int32))
    for a, b in zip(before, model.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)
    model.close()


IMAGES = np.zeros((8, 4, 4, 1), np.float32)
WORDS = np.arange(24).reshape(8, 3).astype(np.int32) % 5
STEPS: list[tuple[list[nn.Layer], Array, str]] = [
    ([nn.Embedding(5, 4), nn.PositionEmbedding(3), nn.Flatten()], WORDS, "scores"),
    ([nn.Embedding(5, 4, mask_zero=True), nn.LSTM(4)], WORDS, "scores"),
    ([nn.Embedding(5, 4), nn.MultiHeadAttention(2), nn.Flatten()], WORDS, "scores"),
    ([nn.RandomRotation(0.1), nn.RandomTranslation(0.1, 0.1), nn.Flatten()], IMAGES, "shares"),
    ([nn.RandomFlip(), nn.RandomZoom(0.1), nn.MaxPooling2D(), nn.Flatten()], IMAGES, "shares"),
]


@pytest.mark.parametrize(("layers", "x", "output"), STEPS)
def test_steps_of_fit_wait_for_no_check(layers: list[nn.Layer], x: Array, output: str) -> None:
    """Data sets are checked once: on a GPU a step remains one piece of work."""
    with pg.Graph(seed=1).as_default():
        model = pg.Sequential([*layers, nn.Dense(3), *[nn.ReLU()] * (output == "shares")])
    loss = nn.SparseCategoricalCrossentropy(from_logits=output == "scores")
    model.compile("adam", loss, ["accuracy", nn.TopKAccuracy(2)], device="cpu")
    y = np.arange(8, dtype=np.int32) % 3
    model.fit(x, y, batch_size=3, verbose=0, validation_data=(x, y))
    steps = [model.training_step, *(s.run for s in model.recipe.eval_steps.values())]
    for step in steps:
        assert step is not None
        compiled = on_a_gpu(Program(model.graph, targets=[step]))
        assert checks_of(compiled) == (0, 0)
        assert {node.device for node in compiled.order} == {"gpu:0"}
    model.close()


def test_targets_that_a_loss_of_the_program_uses_as_indices() -> None:
    """They are not checked where they enter, so a step on a GPU waits for a check."""
    with pg.Graph(seed=1).as_default():
        model = pg.Sequential([pg.Input((2,)), nn.Dense(1)])

    def loss(y: Any, p: Any) -> Any:
        return pg.gather(pg.constant(np.ones(3, np.float32)), pg.cast(y, "int32")) * p

    model.compile("sgd", loss, device="cpu")
    x, y = np.ones((4, 2), np.float32), np.array([0, 1, 2, 3], np.float32)
    with pytest.raises(pg.DataError, match=r"indices must lie in \[0, 3\), but there is 3"):
        model.fit(x, y, shuffle=False, verbose=0)
    step = model.training_step
    assert step is not None
    assert checks_of(on_a_gpu(Program(model.graph, targets=[step]))) == (0, 1)
    model.close()


def computed() -> Iterator[pg.Tensor]:
    """Yield tensors whose range is known."""
    x = pg.Variable(np.random.default_rng(0).normal(size=(4, 5)).astype(np.float32) * 9, "x")
    number = pg.Variable(np.arange(-10, 10, dtype=np.int32).reshape(4, 5), "number")
    place = pg.argmax(x, axis=1)
    yield from (place, pg.argsort(x, axis=0), pg.argmin(x))
    yield from (number % 7, pg.clip(number, -3, 2) * 5, pg.maximum(pg.minimum(number, 4), 1) - 2)
    yield pg.cast(pg.clip(x, -1.7, 2.6), "int32")
    yield pg.cast(pg.floor(pg.clip(x, -1.7, 2.6)), "int32")
    yield pg.cumsum(pg.cast(pg.greater(x, 0.0), "float32"), axis=1)
    yield pg.cumsum(pg.clip(x, -1.0, 1.0), axis=0, exclusive=True)
    yield pg.where(pg.greater(x, 0.0), pg.expand_dims(place, 1), -1)
    yield pg.one_hot(place, 5)
    yield pg.gather(pg.constant([3, 8, 5, 1, 2]), place)
    yield -pg.concat([place, place + 2], axis=0)


def test_ranges_hold() -> None:
    with pg.Graph().as_default() as graph:
        tensors = list(computed())
    with pg.Session(graph, "cpu") as session:
        for tensor, value in zip(tensors, session.run(tensors), strict=True):
            low, high = range_of(tensor)
            assert -np.inf < low <= value.min() and value.max() <= high < np.inf, tensor.name


def test_ranges_are_not_promised_where_numbers_wrap_around() -> None:
    with pg.Graph().as_default():
        x = pg.clip(pg.Variable(np.zeros(3, np.int32), "x"), 0, 2**20)
        assert range_of(x * 1000)[0] == 0
        assert range_of(x * 3000) == (-np.inf, np.inf)
        assert range_of(pg.sqrt(pg.cast(x, "float32"))) == (-np.inf, np.inf)
        for kind, most in (("int8", 127), ("uint8", 255), ("uint32", 2**20)):
            assert range_of(pg.cast(pg.clip(x, 0, most), kind)) == (0, most)
        for kind, most in (("int8", 128), ("uint8", 256)):
            assert range_of(pg.cast(pg.clip(x, 0, most), kind)) == (-np.inf, np.inf)
        assert range_of(pg.cast(pg.clip(x, 0, 9) - 10, "uint32")) == (-np.inf, np.inf)
