"""Layers of graph networks against PyTorch Geometric."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # it uses torch.jit
    import torch_geometric.nn as theirs

import playgrad as pg
from playgrad import nn
from playgrad.errors import DataError, DTypeError, FeedError, GraphError, ShapeError

Array = np.ndarray[Any, Any]
RANDOM = np.random.default_rng(3)
NODES, FEATURES = 9, 5
X = RANDOM.normal(size=(NODES, FEATURES)).astype(np.float32)
PLAIN = RANDOM.integers(0, NODES - 1, (2, 24)).astype(np.int32)  # the last node is alone
PLAIN[1] = np.where(PLAIN[0] == PLAIN[1], (PLAIN[1] + 1) % 8, PLAIN[1])
LOOPED = np.hstack([PLAIN, [[2, 5], [2, 5]]]).astype(np.int32)
WEIGHTS = RANDOM.uniform(0.2, 2, LOOPED.shape[1]).astype(np.float32)
FEATURED = RANDOM.normal(size=(LOOPED.shape[1], 3)).astype(np.float32)


def linear(module: Any, kernel: str, bias: str = "") -> dict[str, Any]:
    pairs = {kernel: module.weight.T}
    return pairs | {bias: module.bias} if bias else pairs


def gcn(c: Any) -> dict[str, Any]:
    return {**linear(c.lin, "kernel"), "bias": c.bias}


def sage(c: Any) -> dict[str, Any]:
    return {**linear(c.lin_l, "kernel", "bias"), **linear(c.lin_r, "root_kernel")}


def gat(c: Any) -> dict[str, Any]:
    found = {
        **linear(c.lin, "kernel"),
        "source_attention": c.att_src[0],
        "target_attention": c.att_dst[0],
        "bias": c.bias,
    }
    if c.lin_edge is not None:
        found |= {**linear(c.lin_edge, "edge_kernel"), "edge_attention": c.att_edge[0]}
    return found


def gat2(c: Any) -> dict[str, Any]:
    found = {
        **linear(c.lin_l, "kernel", "kernel_bias"),
        **linear(c.lin_r, "target_kernel", "target_bias"),
        "attention": c.att[0],
        "bias": c.bias,
    }
    return found | (linear(c.lin_edge, "edge_kernel") if c.lin_edge is not None else {})


def network(c: Any) -> dict[str, Any]:
    first, _, second = c.nn
    return {
        **linear(first, "network_0/kernel", "network_0/bias"),
        **linear(second, "network_1/kernel", "network_1/bias"),
    }


def gin(c: Any) -> dict[str, Any]:
    return network(c) | ({"eps": c.eps} if isinstance(c.eps, torch.nn.Parameter) else {})


def mlp(width: int) -> tuple[list[nn.Layer], torch.nn.Module]:
    ours = [nn.Dense(8, "relu"), nn.Dense(4)]
    return ours, torch.nn.Sequential(
        torch.nn.Linear(width, 8), torch.nn.ReLU(), torch.nn.Linear(8, 4)
    )


def gin_pair(**options: Any) -> tuple[nn.Layer, Any]:
    ours, module = mlp(FEATURES)
    return nn.GINConv(ours, **options), theirs.GINConv(module, **options)


def edge_pair(**options: Any) -> tuple[nn.Layer, Any]:
    ours, module = mlp(2 * FEATURES)
    return nn.EdgeConv(ours, **options), theirs.EdgeConv(module, **options)


Made = tuple[nn.Layer, Any]
CASES: dict[
    str, tuple[Callable[[], Made], Callable[[Any], dict[str, Any]], Array, Array | None]
] = {
    "gcn": (lambda: (nn.GCNConv(4), theirs.GCNConv(5, 4)), gcn, PLAIN, None),
    "gcn with loops": (lambda: (nn.GCNConv(4), theirs.GCNConv(5, 4)), gcn, LOOPED, None),
    "gcn with weights": (
        lambda: (nn.GCNConv(4, improved=True), theirs.GCNConv(5, 4, improved=True)),
        gcn,
        LOOPED,
        WEIGHTS,
    ),
    "gcn against the edges": (
        lambda: (
            nn.GCNConv(4, flow="target_to_source"),
            theirs.GCNConv(5, 4, flow="target_to_source"),
        ),
        gcn,
        PLAIN,
        None,
    ),
    "gcn as it is": (
        lambda: (nn.GCNConv(4, normalize=False), theirs.GCNConv(5, 4, normalize=False)),
        gcn,
        LOOPED,
        WEIGHTS,
    ),
    "gcn without loops": (
        lambda: (nn.GCNConv(4, add_self_loops=False), theirs.GCNConv(5, 4, add_self_loops=False)),
        gcn,
        PLAIN,
        None,
    ),
    "sage": (lambda: (nn.SAGEConv(4), theirs.SAGEConv(5, 4)), sage, LOOPED, None),
    "sage of more": (lambda: (nn.SAGEConv(7), theirs.SAGEConv(5, 7)), sage, LOOPED, None),
    "sage max": (
        lambda: (
            nn.SAGEConv(4, aggr="max", normalize=True),
            theirs.SAGEConv(5, 4, aggr="max", normalize=True),
        ),
        sage,
        LOOPED,
        None,
    ),
    "gat": (lambda: (nn.GATConv(4, 3), theirs.GATConv(5, 4, 3)), gat, LOOPED, None),
    "gat with features": (
        lambda: (
            nn.GATConv(4, 2, concat=False),
            theirs.GATConv(5, 4, 2, concat=False, edge_dim=3),
        ),
        gat,
        LOOPED,
        FEATURED,
    ),
    "gat v2": (lambda: (nn.GATv2Conv(4, 3), theirs.GATv2Conv(5, 4, 3)), gat2, LOOPED, None),
    "gat v2 with features": (
        lambda: (
            nn.GATv2Conv(4, 2, concat=False, add_self_loops=False),
            theirs.GATv2Conv(5, 4, 2, concat=False, edge_dim=3, add_self_loops=False),
        ),
        gat2,
        LOOPED,
        FEATURED,
    ),
    "gin": (gin_pair, gin, LOOPED, None),
    "gin with eps": (lambda: gin_pair(eps=0.3, train_eps=True), gin, PLAIN, None),
    "edge conv": (edge_pair, network, LOOPED, None),
    "edge conv mean": (lambda: edge_pair(aggr="mean"), network, PLAIN, None),
}


@pytest.mark.parametrize("case", CASES)
def test_values_and_gradients_match_pytorch_geometric(case: str) -> None:
    torch.manual_seed(0)
    make, names, edges, features = CASES[case]
    layer, module = make()
    for parameter in module.parameters():  # biases begin with 0
        torch.nn.init.uniform_(parameter, -1, 1)
    tensors = [torch.from_numpy(X).requires_grad_(), torch.from_numpy(edges.astype(np.int64))]
    extra = [] if features is None else [torch.from_numpy(features)]
    expected = module(*tensors, *extra)
    direction = RANDOM.normal(size=tuple(expected.shape)).astype(np.float32)
    pairs = names(module)
    wanted = torch.autograd.grad(
        (expected * torch.from_numpy(direction)).sum(), [tensors[0], *module.parameters()]
    )
    by_module = dict(zip((id(p) for p in module.parameters()), wanted[1:], strict=True))

    with pg.Graph().as_default():
        x = pg.placeholder("float32", X.shape)
        inputs = [x, pg.constant(edges), *([] if features is None else [pg.constant(features)])]
        y = layer(*inputs)
        assert layer.variables.keys() == pairs.keys()
        variables = list(layer.variables.values())
        gradients = pg.gradients(pg.sum(y * direction), [x, *variables])
        with pg.Session() as session:
            arrays = [
                pairs[name].detach().numpy().reshape(variable.spec.static_shape)
                for name, variable in layer.variables.items()
            ]
            session.assign(dict(zip(variables, arrays, strict=True)))
            results = session.run([y, *gradients], {x: X})
    np.testing.assert_allclose(results[0], expected.detach().numpy(), rtol=1e-6, atol=2e-6)
    np.testing.assert_allclose(results[1], wanted[0].numpy(), rtol=1e-5, atol=1e-5)
    for name, actual in zip(layer.variables, results[2:], strict=True):
        tensor = pairs[name]
        base = tensor if id(tensor) in by_module else tensor._base
        grad = by_module[id(base)]
        grad = grad[0] if grad.ndim == 3 else grad.T if name.endswith("kernel") else grad
        np.testing.assert_allclose(actual, grad.numpy(), rtol=1e-5, atol=1e-5, err_msg=name)


def batch_of_graphs() -> tuple[Array, Array, Array]:
    """Return features, edges and features of edges of three graphs."""
    x = RANDOM.normal(size=(3, NODES, FEATURES)).astype(np.float32)
    edges = np.stack([LOOPED, LOOPED[:, ::-1], np.flip(LOOPED, 0)])
    return x, edges, RANDOM.normal(size=(3, LOOPED.shape[1], 3)).astype(np.float32)


LAYERS: dict[str, Callable[[], nn.Layer]] = {
    "gcn": lambda: nn.GCNConv(4, "relu"),
    "sage": lambda: nn.SAGEConv(4, aggr="max"),
    "gat": lambda: nn.GATConv(2, 2, dropout=0.3),
    "gat v2": lambda: nn.GATv2Conv(2, 2, negative_slope=0.1),
    "gin": lambda: nn.GINConv([nn.Dense(8, "relu"), nn.Dense(4)], train_eps=True),
    "edge conv": lambda: nn.EdgeConv(nn.Dense(4), aggr="min"),
    "message passing": lambda: nn.MessagePassing("std"),
}


@pytest.mark.parametrize("name", LAYERS)
def test_graphs_of_a_batch_are_computed_apart(name: str, tmp_path: Any) -> None:
    x, edges, features = batch_of_graphs()
    arrays = [x, edges, features][: 3 if name.startswith("gat") else 2]
    inputs = [
        pg.Input(array.shape[1:], dtype="int32" if array is edges else "float32")
        for array in arrays
    ]
    layer = LAYERS[name]()
    model = pg.Model(inputs, layer(*inputs))
    together = model.predict(arrays)
    for number in range(3):
        alone = model.predict([array[number : number + 1] for array in arrays])
        np.testing.assert_allclose(together[number], alone[0], rtol=1e-6, atol=1e-6)
    model.save(tmp_path / "model.playgrad")
    loaded = pg.load(tmp_path / "model.playgrad")
    np.testing.assert_array_equal(loaded.predict(arrays), together)
    wrong = edges.copy()
    wrong[0, 1, 3] = NODES  # the first node of the next graph
    with pytest.raises(DataError, match=rf"must lie in \[0, {NODES}\), but there is {NODES}"):
        model.predict([x, wrong, *arrays[2:]])


def test_pooling_of_graphs_matches_pytorch_geometric() -> None:
    graphs = np.array([0, 0, 0, 2, 2, 1, 1, 1, 1], np.int32)
    index = torch.from_numpy(graphs.astype(np.int64))
    pools = {
        "add": theirs.global_add_pool,
        "mean": theirs.global_mean_pool,
        "max": theirs.global_max_pool,
    }
    for aggr, pool in pools.items():
        expected = pool(torch.from_numpy(X), index, 4).numpy()
        layer = nn.GlobalGraphPooling(4, aggr)
        with pg.Session() as session:
            np.testing.assert_allclose(session.run(layer(pg.constant(X), graphs)), expected, 1e-6)
        padded = np.where(graphs == 1, 4, graphs)
        inputs = [pg.Input(X.shape), pg.Input(graphs.shape, dtype="int32")]
        model = pg.Model(inputs, nn.GlobalGraphPooling(4, aggr)(*inputs))
        both = model.predict([np.stack([X, X]), np.stack([graphs, padded])])
        np.testing.assert_allclose(both[0], expected, 1e-6)
        np.testing.assert_allclose(both[1][[0, 2]], expected[[0, 2]], 1e-6)
        assert not both[1][[1, 3]].any()


class Difference(nn.MessagePassing):
    """The mean of what neighbours have more, plus the features themselves."""

    def __init__(self) -> None:
        super().__init__(aggr="mean")

    def call(self, *inputs: pg.Tensor, training: bool = False) -> pg.Tensor:
        return self.propagate(inputs[1], x=inputs[0], edge_weight=inputs[2])

    def message(self, x_i: pg.Tensor, x_j: pg.Tensor, edge_weight: pg.Tensor) -> pg.Tensor:
        return (x_j - x_i) * pg.expand_dims(edge_weight, -1)

    def update(self, inputs: pg.Tensor, x: pg.Tensor) -> pg.Tensor:
        return inputs + x


def test_a_layer_of_the_program_says_what_it_sends() -> None:
    with pg.Session() as session:
        x, edges = pg.constant(X), pg.constant(LOOPED)
        alone = session.run(Difference()(x, edges, pg.constant(WEIGHTS)))
    expected = X.copy()
    for node in range(NODES):
        arriving = LOOPED[1] == node
        if arriving.any():
            more = (X[LOOPED[0, arriving]] - X[node]) * WEIGHTS[arriving, None]
            expected[node] += more.mean(0)
    np.testing.assert_allclose(alone, expected, rtol=1e-5, atol=1e-6)
    inputs = [
        pg.Input(X.shape),
        pg.Input(LOOPED.shape, dtype="int32"),
        pg.Input(WEIGHTS.shape),
    ]
    model = pg.Model(inputs, Difference()(*inputs))
    np.testing.assert_allclose(
        model.predict([X[None], LOOPED[None], WEIGHTS[None]])[0], alone, rtol=1e-6
    )


class Unknown(nn.MessagePassing):
    def message(self, x_j: pg.Tensor, charge: pg.Tensor) -> pg.Tensor:
        return x_j * charge


def test_wrong_inputs() -> None:
    x, edges = pg.constant(X), pg.constant(PLAIN)
    with pytest.raises(DTypeError, match="takes edge_index as int32, got float32"):
        nn.GCNConv(2)(x, pg.cast(edges, "float32"))
    with pytest.raises(ShapeError, match=r"edge_index \(2, edges\).* got \(9, 5\) and \(24, 2\)"):
        nn.GCNConv(2)(x, pg.transpose(edges))
    with pytest.raises(ShapeError, match="takes 2 inputs, features of nodes, edge_index, got 3"):
        nn.SAGEConv(2)(x, edges, pg.constant(FEATURED))
    with pytest.raises(ShapeError, match=r"features of edges \(26, 3\) do not fit"):
        nn.GATConv(2)(x, edges, pg.constant(FEATURED))
    with pytest.raises(ShapeError, match=r"takes one weight for each edge, got \(24, 3\)"):
        nn.GCNConv(2)(x, edges, pg.constant(FEATURED[:24]))
    with pytest.raises(ShapeError, match="aggr of a SAGEConv layer must be 'add' or"):
        nn.SAGEConv(2, aggr="median")
    with pytest.raises(GraphError, match="adds self loops only where it normalizes"):
        nn.GCNConv(2, normalize=False, add_self_loops=True)
    with pytest.raises(GraphError, match="a layer or a list of layers, got str"):
        nn.GINConv("relu")  # type: ignore[arg-type]
    with pytest.raises(GraphError, match="uses charge, but propagate"):
        Unknown()(x, edges)
    late = pg.placeholder("int32", PLAIN.shape)
    y = nn.GCNConv(2)(x, late)
    with pg.Session() as session, pytest.raises((FeedError, DataError), match=r"must lie in \[0,"):
        session.run(y, {late: PLAIN + 2})


def test_files_that_take_graph_networks_and_files_that_do_not(tmp_path: Any) -> None:
    with pg.Graph(seed=1).as_default():
        inputs = [pg.Input(X.shape), pg.Input(LOOPED.shape, dtype="int32")]
        hidden = nn.GATv2Conv(2, 2, "elu")(*inputs)
        model = pg.Model(inputs, nn.SAGEConv(3, aggr="max")(hidden, inputs[1]))
    arrays = [X[None], LOOPED[None]]
    expected = model.predict(arrays)
    model.export(tmp_path / "model.py")
    names: dict[str, Any] = {"__name__": "exported", "__file__": str(tmp_path / "model.py")}
    exec((tmp_path / "model.py").read_text(encoding="utf-8"), names)
    np.testing.assert_allclose(names["predict"](*arrays), expected, rtol=1e-5, atol=1e-6)
    model.save(tmp_path / "weights.safetensors")
    assert "sage_conv_1/root_kernel" in pg.io.load(tmp_path / "weights.safetensors")
    for name in ("model.onnx", "model.keras", "model.pt.zip", "model.tfjs.zip"):
        with pytest.raises(pg.errors.ExportError, match=r"gatv2_conv_1|sage_conv_1"):
            model.export(tmp_path / name)


@pytest.mark.parametrize("name", ["gcn", "sage", "gat", "gin", "edge conv"])
def test_graphs_may_have_any_size(name: str) -> None:
    inputs = [pg.Input((None, FEATURES)), pg.Input((2, None), dtype="int32")]
    model = pg.Model(inputs, LAYERS[name]()(*inputs))
    whole = model.predict([X[None], LOOPED[None]])
    alone = np.vstack([X, X[:2]])  # two more nodes without edges
    more = model.predict([alone[None], LOOPED[None, :, :]])
    np.testing.assert_allclose(more[:, :NODES], whole, rtol=1e-6, atol=1e-6)


@pytest.mark.slow
@pytest.mark.gpu
def test_a_gpu_trains_as_the_cpu() -> None:
    """Attention has most kinds of segment operations, and sums of gathered rows with weights."""
    losses = []
    x, edges, _ = batch_of_graphs()
    y = RANDOM.integers(0, 2, (3, NODES)).astype(np.int32)
    for device in ("cpu", "gpu"):
        with pg.Graph(seed=1).as_default():
            inputs = [pg.Input(X.shape), pg.Input(LOOPED.shape, dtype="int32")]
            model = pg.Model(inputs, nn.GATConv(2)(*inputs))
        loss = nn.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(pg.optim.SGD(0.5), loss, device=device)
        history = model.fit([x, edges], y, batch_size=3, epochs=3, verbose=0)
        losses.append(history.history["loss"])
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-5)


def test_a_network_is_copied() -> None:
    dense = nn.Dense(4)
    with pg.Graph().as_default():
        dense(pg.constant(X))
        layer = nn.GINConv(dense)
        layer(pg.constant(X), pg.constant(PLAIN))
        assert list(layer.variables) == ["network_0/kernel", "network_0/bias"]
        assert all(dense.kernel is not each for each in layer.variables.values())
        again = nn.GINConv.from_config(layer.get_config())
        again(pg.constant(X), pg.constant(PLAIN))
    assert list(again.variables) == list(layer.variables)
    assert again.get_config() == layer.get_config()
