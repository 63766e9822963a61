"""The view of a graph whose nodes a network classifies: its numbers are those of the network."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.page import drawn_graph
from playgrad.page.questions.task_view import task_view
from playgrad.runtime.options import get_options, set_options

LOGITS = nn.SparseCategoricalCrossentropy(from_logits=True)
EDGES, CLUBS = pg.data.karate_club()
FEATURES = np.eye(34, dtype=np.float32)
KNOWN = np.isin(np.arange(34), [0, 33]).astype(np.float32)


@pytest.fixture(autouse=True)
def as_in_the_page() -> Iterator[None]:
    """Models keep references to their data, which they do not elsewhere."""
    before = set_options(replace(get_options(), keeps_data=True))
    yield
    set_options(before)


def trained(
    layers: list[Any],
    x: Any = FEATURES,
    edges: Any = EDGES,
    y: Any = CLUBS,
    weight: Any = KNOWN,
    loss: Any = LOGITS,
) -> Any:
    """Return a model of layers that each take the edges, after a few steps."""
    inputs = [pg.Input(x.shape), pg.Input(edges.shape, dtype="int32")]
    hidden = inputs[0]
    for layer in layers:
        hidden = layer(hidden, inputs[1])
    model = pg.Model(inputs, hidden)
    model.compile(pg.optim.Adam(0.02), loss, device="cpu")
    weights = {} if weight is None else {"sample_weight": weight[None]}
    model.fit([x[None], edges[None]], y[None], epochs=8, verbose=0, **weights)
    return model


def view_of(model: Any, known: int = 0) -> Any:
    return task_view(model, {"known": known})


def integers(content: bytes) -> Any:
    return np.frombuffer(content, "<i4")


def floats(content: bytes) -> Any:
    return np.frombuffer(content, "<f4")


def received(view: Any, messages: Any, values: Any) -> Any:
    """Return what each node gets if all send ``values``, as the weights of the view say."""
    pairs = integers(view["data"]["pairs"]).reshape(-1, 2)
    there, back = floats(messages["weights"]).reshape(2, -1)
    result = floats(messages["own"])[:, None] * values
    for (low, high), to_high, to_low in zip(pairs, there, back, strict=True):
        result[high] += np.nan_to_num(to_high) * values[low]
        result[low] += np.nan_to_num(to_low) * values[high]
    return result


def test_nodes_are_shown_with_their_predicted_classes() -> None:
    model = trained([nn.GCNConv(8, "relu"), nn.GCNConv(2)])
    view = view_of(model)
    scores = model.predict([FEATURES[None], EDGES[None]])[0].astype(np.float64)
    right = scores.argmax(1) == CLUBS
    assert view["shows"] == "nodes"
    assert np.array_equal(integers(view["predicted"]), scores.argmax(1))
    powers = np.exp(scores - scores.max(1, keepdims=True))
    assert np.allclose(floats(view["chances"]), (powers / powers.sum(1, keepdims=True)).max(1))
    assert view["training"] == {"right": int(right[KNOWN > 0].sum()), "all": 2}
    assert view["others"] == {"right": int(right[KNOWN == 0].sum()), "all": 32}
    data = view["data"]
    assert np.array_equal(integers(data["numbers"]), np.arange(34))
    assert np.array_equal(integers(data["labels"]), CLUBS)
    assert np.array_equal(np.frombuffer(data["trains"], np.uint8), KNOWN > 0)
    pairs = integers(data["pairs"]).reshape(-1, 2)
    assert {tuple(each) for each in pairs} == {(a, b) for a, b in EDGES.T if a < b}
    assert (data["total"], data["total_lines"], data["classes"]) == (34, 78, 2)


@pytest.mark.parametrize("ignored", [-1, 1])
def test_classes_that_are_not_known_are_neither_right_nor_wrong(ignored: int) -> None:
    """Nodes with the label that the loss leaves out do not train, and are not counted."""
    known = np.arange(34) < 20
    labels = np.where(known, 0, ignored).astype(np.int32)
    weight = (np.arange(34) < 5).astype(np.float32)
    loss = nn.SparseCategoricalCrossentropy(from_logits=True, ignore_class=ignored)
    for weights, trains in ((None, known), (weight, weight > 0)):
        view = view_of(trained([nn.GCNConv(2)], y=labels, weight=weights, loss=loss))
        right = integers(view["predicted"]) == 0
        others = known & ~trains
        assert view["training"] == {"right": int(right[trains].sum()), "all": int(trains.sum())}
        assert view["others"] == {"right": int(right[others].sum()), "all": int(others.sum())}
        assert np.array_equal(integers(view["data"]["labels"]), np.where(known, 0, -1))
        assert np.array_equal(np.frombuffer(view["data"]["trains"], np.uint8), trains)


def test_data_is_sent_once_and_again_after_another_training() -> None:
    model = trained([nn.GCNConv(2)])
    first = view_of(model)
    assert "data" not in view_of(model, first["version"])
    model.fit([FEATURES[None], EDGES[None]], CLUBS[None], verbose=0)
    again = view_of(model, first["version"])
    assert again["version"] != first["version"]
    assert again["training"]["all"] == 34 and again["others"] == {"right": 0, "all": 0}


LAYERS = {
    "gcn": lambda: nn.GCNConv(2),
    "gcn against the edges": lambda: nn.GCNConv(2, flow="target_to_source"),
    "gcn without loops": lambda: nn.GCNConv(2, add_self_loops=False),
    "gcn without degrees": lambda: nn.GCNConv(2, normalize=False),
    "sage": lambda: nn.SAGEConv(2, root_weight=False),
    "gat": lambda: nn.GATConv(2),
    "gat against the edges": lambda: nn.GATConv(2, flow="target_to_source"),
    "gat without loops": lambda: nn.GATConv(2, add_self_loops=False),
}
DIRECTED = np.array([[0, 1, 2, 2, 3, 4, 4, 1], [1, 2, 0, 3, 3, 0, 1, 0]], np.int32)
"""With an edge of node 3 to itself, and two nodes that have edges in both directions."""


@pytest.mark.parametrize("name", LAYERS)
def test_messages_have_the_weights_of_the_layer(name: str) -> None:
    """The weights that are shown, times what nodes send, give the results of the layer."""
    x = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)
    y = np.array([0, 1, 0, 1, 1])
    model = trained([LAYERS[name]()], x, DIRECTED, y, None)
    view = view_of(model)
    (messages,) = [*view["attention"], *view["data"]["messages"]]
    assert bool(view["attention"]) == name.startswith("gat")
    weights = {key.rpartition("/")[2]: value for key, value in model.named_weights().items()}
    result = received(view, messages, x @ weights["kernel"]) + weights["bias"]
    if "loops" in name or name in ("sage", "gcn without degrees"):
        # No line is drawn from a node to itself: node 3 gets more than what is shown.
        result, expected = np.delete(result, 3, 0), np.delete(predicted(model, x), 3, 0)
    else:
        expected = predicted(model, x)
    assert np.allclose(result, expected, atol=1e-5)


def predicted(model: Any, x: Any) -> Any:
    return model.predict([x[None], DIRECTED[None]])[0]


def test_of_several_heads_the_mean_is_shown() -> None:
    view = view_of(
        trained([nn.GATv2Conv(4, heads=3, activation="elu"), nn.GATConv(2, heads=2, concat=False)])
    )
    assert [each["layer"] for each in view["attention"]] == ["gatv2_conv_1", "gat_conv_1"]
    for messages in view["attention"]:
        total = received(view, messages, np.ones((34, 1)))
        assert np.allclose(total, 1, atol=1e-5)


def large(nodes: int) -> tuple[Any, Any, Any]:
    """Return features, edges and classes of a ring with chords."""
    numbers = np.arange(nodes)
    ring = np.stack(
        [np.tile(numbers, 3), np.concatenate([(numbers + s) % nodes for s in (1, 7, 60)])]
    )
    edges = pg.data.to_undirected(ring.astype(np.int32))
    y = (numbers * 4 // nodes).astype(np.int32)
    return np.eye(4, dtype=np.float32)[y], edges, y


def test_of_a_large_graph_a_connected_part_is_drawn() -> None:
    x, edges, y = large(7000)
    weight = np.zeros(7000, np.float32)
    weight[[3, 5000]] = 1
    model = trained([nn.GATConv(4)], x, edges, y, weight)
    view = view_of(model)
    data = view["data"]
    numbers, pairs = integers(data["numbers"]), integers(data["pairs"]).reshape(-1, 2)
    assert len(numbers) == len(set(numbers)) == drawn_graph.SAMPLE
    assert (data["total"], data["total_lines"]) == (7000, 21_000)
    assert 3 in numbers and np.array_equal(integers(data["labels"]), y[numbers])
    assert view["others"]["all"] == 6998
    lines = {frozenset(each) for each in edges.T.tolist()}
    assert all(frozenset(each) in lines for each in numbers[pairs].tolist())
    reached = np.zeros(len(numbers), bool)
    reached[np.flatnonzero(numbers == 3)] = True
    for _ in range(len(numbers)):
        ends = reached[pairs].any(axis=1)
        before = reached.sum()
        reached[pairs[ends]] = True
        if reached.sum() == before:
            break
    assert reached.all()
    again = trained([nn.GATConv(4)], x, edges, y, weight)
    assert view_of(again)["data"]["numbers"] == data["numbers"]


def test_more_lines_than_can_be_drawn_are_drawn_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawn_graph, "MOST_PAIRS", 20)
    view = view_of(trained([nn.GATConv(2)]))
    assert view["data"]["total_lines"] == 78
    assert len(integers(view["data"]["pairs"])) == 40
    assert len(floats(view["attention"][0]["weights"])) == 40


def test_padding_of_a_sampled_neighbourhood_is_not_drawn() -> None:
    x, edges, y = large(400)
    graph = pg.data.CSRGraph.from_edges(edges, 400)
    sampler = pg.data.NeighborSampler(graph, [3, 3], x, y, batch_size=8)
    inputs = [pg.Input((sampler.num_nodes, 4)), pg.Input((2, sampler.num_edges), dtype="int32")]
    hidden = nn.SAGEConv(8, "relu")(*inputs)
    model = pg.Model(inputs, nn.SAGEConv(4)(hidden, inputs[1]))
    model.compile("adam", LOGITS, device="cpu")
    model.fit(sampler.dataset(), epochs=1, verbose=0)
    view = view_of(model)
    assert 8 < view["data"]["total"] < sampler.num_nodes
    assert view["training"]["all"] == 8
    pairs = integers(view["data"]["pairs"])
    assert pairs.max() < view["data"]["total"] == len(integers(view["data"]["numbers"]))


def test_outputs_that_are_nan_are_of_no_class() -> None:
    model = trained([nn.GCNConv(2)])
    model.set_weights({k: np.full_like(v, np.nan) for k, v in model.named_weights().items()})
    view = view_of(model)
    assert set(integers(view["predicted"])) == {-1}
    assert view["training"]["right"] == view["others"]["right"] == 0


def test_other_graphs_have_no_view() -> None:
    numbers = np.zeros((34, 1), np.float32)
    assert view_of(trained([nn.GCNConv(1)], y=numbers, weight=None, loss="mse"))["shows"] == "none"
    inputs = [pg.Input(FEATURES.shape), pg.Input((34, 2))]
    model = pg.Model(inputs, nn.Dense(2)(nn.Concatenate()(inputs)))
    model.compile("adam", LOGITS, device="cpu")
    model.fit([FEATURES[None], np.zeros((1, 34, 2), np.float32)], CLUBS[None], verbose=0)
    assert view_of(model)["shows"] == "none"


def test_elsewhere_models_keep_no_graph() -> None:
    set_options(replace(get_options(), keeps_data=False))
    assert trained([nn.GCNConv(2)]).graph_excerpt is None
