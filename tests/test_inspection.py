"""Values and gradients of nodes: taken from the training step, which they leave alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.devices import registry
from playgrad.devices.null import NullHost
from playgrad.graph.traversal import ancestors, topological
from playgrad.inspection.node_kernel import node_kernel
from playgrad.inspection.node_pictures import node_pictures
from playgrad.inspection.node_time import measure
from playgrad.inspection.node_values import NodeValues
from playgrad.inspection.problem import Unavailable
from playgrad.inspection.summary import grid, histogram, statistics, summary
from playgrad.ops.state import RANDOM_STEP, global_variables
from playgrad.runtime.options import Options, options_set
from playgrad.runtime.session import Session

COUNT, BATCH = 64, 16


def _trained(shuffle: bool = False) -> Any:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(COUNT, 5)).astype(np.float32)
    y = (x[:, 0] > 0).astype(np.int32)
    model = pg.Sequential(
        [nn.Dense(8, activation="relu"), nn.BatchNormalization(), nn.Dropout(0.5), nn.Dense(2)]
    )
    loss = nn.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer=pg.optim.Adam(0.01), loss=loss, metrics=["accuracy"])
    model.fit(x, y, batch_size=BATCH, epochs=2, shuffle=shuffle, verbose=0)
    model.data = x, y
    return model


@pytest.fixture(scope="module")
def model() -> Iterator[Any]:
    graph = pg.Graph()
    with graph.as_default():
        yield _trained()


@pytest.fixture
def looked(model: Any) -> Iterator[NodeValues]:
    values = NodeValues(model.session, model.training_targets)
    yield values
    values.close()


def _node(model: Any, op: str, phase: str = "forward", nth: int = 0) -> Any:
    """Return the nth node of the training step with this op and phase."""
    nodes = topological(ancestors(model.training_targets))
    return [node for node in nodes if node.op.name == op and node.phase == phase][nth]


def _state(model: Any) -> dict[str, Any]:
    variables = global_variables(model.graph)
    return dict(zip([v.name for v in variables], model.session.values(variables), strict=True))


def test_values_match_the_session(model: Any, looked: NodeValues) -> None:
    x, _ = model.data
    gathered = _node(model, "gather", "input")
    relu = _node(model, "relu").output
    (batch,) = looked.values([gathered.output])
    np.testing.assert_array_equal(batch, x[:BATCH])
    (value,) = looked.values([looked.tensor(relu.node.name)])
    expected = model.session.run(relu, {gathered.output: x[:BATCH]})
    np.testing.assert_allclose(value, expected, rtol=1e-6)
    assert value.any()


def test_the_last_batch_belongs_to_the_last_step() -> None:
    with pg.Graph().as_default():
        model = _trained(shuffle=True)
        x, _ = model.data
        gathered = _node(model, "gather", "input")
        values = NodeValues(model.session, model.training_targets)

        def last() -> Any:
            return values.values([gathered.output], "last")[0]

        def drawn(step: int) -> Any:
            """Return the batch that the graph itself draws in a step."""
            order = _node(model, "batch_indices", "input")
            return x[model.session.run(order.output, {order.inputs[0]: step})]

        np.testing.assert_array_equal(last(), drawn(7))  # of the steps 0 to 7
        assert not np.array_equal(last(), values.values([gathered.output])[0])
        assert not np.array_equal(drawn(7), drawn(8))
        model.fit(*model.data, batch_size=BATCH, epochs=1, verbose=0)
        np.testing.assert_array_equal(last(), drawn(11))
        values.close()


def test_one_sample_takes_all_places_of_the_batch(model: Any, looked: NodeValues) -> None:
    gathered = _node(model, "gather", "input")
    assert looked.samples == COUNT
    (batch,) = looked.values([gathered.output], sample=37)
    np.testing.assert_array_equal(batch, np.repeat(model.data[0][37:38], BATCH, axis=0))
    with pytest.raises(Unavailable) as problem:
        looked.values([gathered.output], sample=COUNT)
    assert problem.value.as_dict() == {
        "code": "no_sample", "values": {"sample": COUNT, "count": COUNT}
    }  # fmt: skip


def test_the_gradient_of_a_weight_matches_the_step(model: Any, looked: NodeValues) -> None:
    """The optimizer's gradient of the last kernel, which the step computes, is the same."""
    kernel = model.layers[-1].variables["kernel"]
    adam = next(
        node
        for node in model.graph.nodes
        if node.op.writes and kernel.node.name in node.attrs["variables"]
    )
    slope = next(t for t in adam.inputs if t.node.phase == "gradient" and t.shape == kernel.shape)
    (gradient,) = looked.gradients([kernel])
    (expected,) = looked.values([slope])
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-7)
    assert gradient.any()


def test_the_gradient_of_logits_matches_numpy(model: Any, looked: NodeValues) -> None:
    loss = _node(model, "sparse_softmax_cross_entropy")
    logits = loss.inputs[0]
    value, labels = looked.values([logits, _node(model, "gather", "input", 1).output])
    exponents = np.exp(value - value.max(axis=1, keepdims=True))
    probabilities = exponents / exponents.sum(axis=1, keepdims=True)
    expected = (probabilities - np.eye(2)[labels]) / BATCH
    (gradient,) = looked.gradients([logits])
    np.testing.assert_allclose(gradient, expected, rtol=1e-4, atol=1e-6)


def test_looking_at_every_node_changes_nothing(model: Any, looked: NodeValues) -> None:
    before, size = _state(model), len(model.graph.nodes)
    assert before[f"{RANDOM_STEP}:0"] > 0
    nodes = [node for node in ancestors(model.training_targets) if node.outputs]
    assert any(node.op.writes for node in nodes)
    for node in nodes:
        looked.values(list(node.outputs))
        for tensor in node.outputs:
            try:
                looked.gradients([tensor])
            except Unavailable as problem:
                assert problem.code in ("not_floating", "independent")
    after = _state(model)
    assert len(model.graph.nodes) == size
    assert before.keys() == after.keys()
    for name, value in before.items():
        np.testing.assert_array_equal(value, after[name], err_msg=name)


def test_an_update_shows_the_value_it_would_write(model: Any, looked: NodeValues) -> None:
    kernel = model.layers[0].variables["kernel"]
    update = next(
        n for n in model.graph.nodes if n.op.writes and kernel.node.name in n.attrs["variables"]
    )
    (value,) = looked.values([update.outputs[update.attrs["variables"].index(kernel.node.name)]])
    now = model.session.value(kernel)
    assert value.shape == now.shape
    assert 0 < np.abs(value - now).max() < 0.1


def test_problems_are_named(model: Any, looked: NodeValues) -> None:
    labels = _node(model, "gather", "input", 1).output
    for call, code in (
        (lambda: looked.tensor("nowhere"), "unknown"),
        (lambda: looked.tensor(model.training_targets[0].name), "no_output"),
        (lambda: looked.gradients([labels]), "not_floating"),
    ):
        with pytest.raises(Unavailable) as problem:
            call()
        assert problem.value.code == code


def test_a_graph_without_a_model_can_be_inspected() -> None:
    graph = pg.Graph()
    with graph.as_default(), Session(graph, "cpu") as session:
        weight = pg.Variable([[1.0, -2.0]], "weight")
        fed = pg.placeholder("float32", (None, 2), "fed")
        product = pg.multiply(weight, fed)
        session.run(product, {fed: [[3.0, 4.0]]})
        looked = NodeValues(session, [product.node])
        (value,) = looked.values([weight])
        np.testing.assert_array_equal(value, [[1, -2]])
        with pytest.raises(Unavailable) as problem:
            looked.values([product])
        assert problem.value.as_dict() == {"code": "needs_feed", "values": {"name": "fed"}}
        with pytest.raises(Unavailable, match="no_loss"):
            looked.gradients([weight])
        looked.close()
        closed = NodeValues(None, [product.node])
        with pytest.raises(Unavailable, match="no_session"):
            closed.values([weight])
        closed.close()
        fed_too = NodeValues(session, [product.node], [{fed: np.ones((2, 2), np.float32)}])
        np.testing.assert_array_equal(fed_too.values([product])[0], [[1, -2], [1, -2]])
        fed_too.close()


def test_numpy_computes_a_node_on_the_processor() -> None:
    graph = pg.Graph()
    with graph.as_default(), Session(graph, "cpu") as session:
        variable = pg.Variable(np.ones((3, 4), np.float32), "variable")
        step = variable.assign(pg.matmul(variable, np.eye(4, dtype=np.float32), name="product"))
        kernel = node_kernel(session, [step.node], graph.node("product"))
        assert kernel.device == "cpu:0" and not kernel.commands
        with pytest.raises(Unavailable, match="stored"):
            node_kernel(session, [step.node], variable.node)


def test_the_kernel_of_a_node_matches_the_dispatched_one() -> None:
    graph = pg.Graph()
    with registry.attached(NullHost()) as device, graph.as_default():
        session = Session(graph, device)
        weight = pg.Variable(np.ones((4, 3), np.float32), "weight")
        copy = pg.Variable(np.zeros((8, 3), np.float32), "copy")
        x_now = pg.Variable(np.ones((8, 4), np.float32), "x_now")
        step = copy.assign(pg.relu(pg.matmul(x_now, weight, name="fused_product"), name="late"))
        kernel = node_kernel(session, [step.node], graph.node("fused_product"))
        assert kernel.device == device and kernel.total == len(kernel.commands) == 1
        assert kernel.within == step.node.name
        assert set(kernel.fused) >= {"late", step.node.name}
        (command,) = kernel.commands
        runnable = session.compiled([step.node])
        assert runnable is not None
        (plan,) = runnable.plans.values()
        assert command.wgsl == plan.plan["kernels"][0]["wgsl"] and "fn main" in command.wgsl
        assert command.workgroups == plan.plan["commands"][0]["workgroups"]
        session.close()


def test_a_product_is_computed_in_the_kernel_of_its_bias_and_activation() -> None:
    """Its gradient reads its shape, too, but not its value."""
    graph = pg.Graph()
    rng = np.random.default_rng(0)
    x = rng.normal(size=(32, 5)).astype(np.float32)
    with registry.attached(NullHost()) as device, graph.as_default():
        model: Any = pg.Sequential([nn.Dense(8, activation="relu"), nn.Dense(2)])
        loss = nn.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(pg.optim.SGD(0.1), loss)
        with options_set(Options(device=device)):
            model.fit(x, (x[:, 0] > 0).astype(np.int32), batch_size=8, epochs=1, verbose=0)
        product = _node(model, "matmul")
        relu = _node(model, "relu")
        bias = relu.inputs[0].node
        shown = node_kernel(model.session, model.training_targets, product)
        assert shown.device == device and shown.within == relu.name
        assert shown.fused == [bias.name, relu.name]
        (command,) = shown.commands
        assert relu.name in command.nodes
        of_relu = node_kernel(model.session, model.training_targets, relu)
        assert (of_relu.within, of_relu.fused) == (None, [product.name, bias.name])
        assert of_relu.commands == shown.commands
        model.close()


def test_a_node_is_measured_alone(model: Any, looked: NodeValues) -> None:
    before = _state(model)
    for op, phase in (("relu", "forward"), ("matmul", "forward"), ("matmul", "gradient")):
        timed = measure(looked, _node(model, op, phase), "cpu:0")
        assert timed.seconds > 0 and timed.runs >= 1
    with pytest.raises(Unavailable, match="stored"):
        measure(looked, model.layers[0].variables["kernel"].node, "cpu:0")
    for name, value in _state(model).items():
        np.testing.assert_array_equal(value, before[name])


ARRAYS = [
    np.linspace(-3, 5, 1000, dtype=np.float32).reshape(10, 100),
    np.array([[1.0, np.nan, np.inf], [0.0, -2.0, -np.inf]], np.float32),
    np.array([0, 3, -7, 0], np.int32),
    np.array([True, False, False]),
    np.float32(4.0).reshape(()),
    np.full((3, 3), np.nan, np.float32),
    np.zeros((0, 4), np.float32),
    np.random.default_rng(0).normal(size=(700, 900)).astype(np.float16),
    np.array([1 << 40, 5], np.int64),
]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda a: f"{a.dtype}{a.shape}")
def test_statistics_match_numpy(array: Any) -> None:
    values = array.astype(np.float64)
    known, finite = values[~np.isnan(values)], values[np.isfinite(values)]
    numbers = statistics(array)
    assert numbers["nan"] == np.isnan(values).sum()
    assert numbers["inf"] == np.isinf(values).sum()
    assert numbers["min"] == (known.min() if known.size else None)
    assert numbers["max"] == (known.max() if known.size else None)
    assert numbers["|max|"] == (np.abs(known).max() if known.size else None)
    assert numbers["zeros"] == (np.mean(values == 0) if values.size else None)
    if finite.size:
        assert numbers["mean"] == pytest.approx(finite.mean(), abs=1e-12)
        assert numbers["std"] == pytest.approx(finite.std(), abs=1e-12)
    else:
        assert numbers["mean"] is None and numbers["std"] is None


@pytest.mark.parametrize("array", ARRAYS, ids=lambda a: f"{a.dtype}{a.shape}")
def test_summaries_are_small(array: Any) -> None:
    shown = summary(array)["grid"]
    sent = np.frombuffer(shown["values"], "<f4").reshape(len(shown["rows"]), len(shown["columns"]))
    assert sent.size <= 48 * 48
    table = array.reshape(shown["total_rows"], shown["total_columns"])
    expected = table[np.ix_(shown["rows"], shown["columns"])] if sent.size else sent
    np.testing.assert_array_equal(sent, expected.astype(np.float32))


def test_a_histogram_counts_finite_values() -> None:
    shown = histogram(ARRAYS[0])
    assert shown is not None and not shown["sampled"]
    counts, _ = np.histogram(ARRAYS[0], 32)
    np.testing.assert_array_equal(shown["counts"], counts)
    assert histogram(ARRAYS[5]) is None
    large = histogram(np.arange(1 << 20, dtype=np.float32))
    assert large is not None and large["sampled"] and sum(large["counts"]) == 1 << 18


def _drawn(pictures: Any) -> Any:
    """Return the bytes of pictures as (count, height, width, channels)."""
    shape = [pictures[key] for key in ("count", "height", "width", "channels")]
    return np.frombuffer(pictures["pixels"], np.uint8).reshape(shape)


def test_images_maps_and_filters_are_pictures() -> None:
    rng = np.random.default_rng(1)
    images = rng.integers(0, 256, (64, 28, 28, 1)).astype(np.uint8)
    pictures = node_pictures(images, False, False)
    assert pictures and (pictures["of"], pictures["total"]) == ("samples", 64)
    np.testing.assert_array_equal(_drawn(pictures), images[:24])
    alone = node_pictures(images.reshape(64, 784), False, True)
    assert alone and (alone["count"], alone["height"]) == (1, 28)
    np.testing.assert_array_equal(_drawn(alone), images[:1])

    maps = rng.normal(size=(5, 12, 12, 7)).astype(np.float32)
    pictures = node_pictures(maps, False, False)
    assert pictures and (pictures["of"], pictures["total"]) == ("channels", 7)
    assert pictures["scale"] == "diverging"
    end = np.abs(maps[0]).max()
    expected = np.round(128 + 127 * maps[0].transpose(2, 0, 1)[..., None] / end)
    np.testing.assert_allclose(_drawn(pictures), expected, atol=1)

    filters = rng.normal(size=(3, 3, 2, 4)).astype(np.float32)
    pictures = node_pictures(filters, True, False)
    assert pictures and (pictures["of"], pictures["count"]) == ("filters", 8)
    third = np.round(128 + 127 * filters[:, :, 0, 1] / np.abs(filters).max())
    np.testing.assert_allclose(_drawn(pictures)[2, :, :, 0], third, atol=1)

    kernel = rng.normal(size=(784, 30)).astype(np.float32)
    pictures = node_pictures(kernel, True, False)
    assert pictures and (pictures["of"], pictures["total"], pictures["count"]) == ("units", 30, 24)

    attention = rng.uniform(size=(2, 4, 16, 16)).astype(np.float32)
    pictures = node_pictures(attention, False, False)
    assert pictures and (pictures["count"], pictures["width"]) == (4, 16)
    for other in (np.zeros((64, 10)), np.zeros(5), np.zeros((0, 28, 28)), np.zeros((3, 2, 2, 9))):
        assert node_pictures(other, False, False) is None
    nowhere = node_pictures(np.full((2, 8, 8), np.nan), False, False)
    assert nowhere and not _drawn(nowhere).any()


def test_a_grid_spreads_over_the_array() -> None:
    shown = grid(np.arange(100 * 1000).reshape(100, 1000))
    assert len(shown["rows"]) == len(shown["columns"]) == 48
    assert shown["rows"][-1] >= 97 and shown["columns"][-1] >= 979


def test_arguments_of_another_kind_are_named() -> None:
    model = pg.Sequential([pg.Input((2,)), nn.Dense(2, name="d")])
    with pytest.raises(pg.DataError, match="takes a model, got NoneType"):
        pg.inspect(None)  # type: ignore[arg-type]
    look = pg.inspect(model)
    for units in ("d", None, 3):
        with pytest.raises(pg.DataError, match=r"units are numbers .* got .*silenced\(\{"):
            look.silenced(units)  # type: ignore[arg-type]
    for factors in ("d", None, {"d": 0.5}):
        with pytest.raises(pg.DataError, match=r"factors are numbers .* got .*scaled\(\{"):
            look.scaled(factors)  # type: ignore[arg-type]
