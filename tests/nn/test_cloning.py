"""Clones of models, with their own or with shared variables."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.networks.shared_session import shared_session

Array = np.ndarray[Any, Any]
X = np.random.default_rng(0).normal(size=(20, 4)).astype(np.float32)
Y = X[:, :1] - X[:, 1:2]


def chain() -> pg.Model:
    model = pg.Sequential(
        [nn.Dense(3, activation="tanh"), nn.BatchNormalization(), nn.Dense(1, name="last")],
        name="chain",
    )
    model.build((4,))
    return model


def branches() -> pg.Model:
    """Return a model with shared layers, plain operations, a variable without a layer, and layer
    numbers that do not start at 1."""
    with pg.Graph(3).as_default():
        nn.Dense(2)(pg.Input((4,)))
        a, b = pg.Input((4,), name="a"), pg.Input((4,), name="b")
        scale = pg.Variable(pg.random_uniform((3,), seed=1), name="scale")
        shared = nn.Dense(3, activation="relu")
        both = nn.Concatenate()([shared(a) * scale, shared(b) + shared.variables["bias"]])
        noisy = pg.dropout(both, 0.0)
        return pg.Model([a, b], [nn.Dense(1, name="value")(noisy), nn.Dense(1)(both)], "branches")


def data(model: pg.Model) -> tuple[Any, Any]:
    return (X, Y) if model.name == "chain" else ([X, X[::-1]], [Y, -Y])


MODELS: dict[str, Callable[[], pg.Model]] = {"chain": chain, "branches": branches}


@pytest.fixture(params=MODELS)
def model(request: pytest.FixtureRequest) -> pg.Model:
    """A model after two training steps."""
    model = MODELS[request.param]()
    model.compile(pg.optim.Adam(0.05, beta_1=0.8), "mse", ["mae"], device="cpu")
    model.fit(*data(model), batch_size=10, verbose=0)
    return model


def same(a: Any, b: Any) -> bool:
    return all(map(np.array_equal, *([x] if isinstance(x, np.ndarray) else x for x in (a, b))))


def test_a_deep_clone_goes_its_own_way(model: pg.Model) -> None:
    x, y = data(model)
    twin = model.clone()
    assert type(twin) is type(model)
    assert twin.graph is not model.graph
    assert twin.session is not model.session
    assert not set(twin.layers) & set(model.layers)
    assert [layer.name for layer in twin.layers] == [layer.name for layer in model.layers]
    assert list(twin.named_variables) == list(model.named_variables)
    assert twin.output_names == model.output_names
    assert twin.name == model.name
    before = model.predict(x)
    assert same(twin.predict(x), before)
    history = twin.fit(x, y, batch_size=10, epochs=3, verbose=0)
    assert same(model.predict(x), before)
    assert not same(twin.predict(x), before)
    # The clone's optimizer starts anew with the same settings, as that of another clone does.
    assert twin.optimizer is not None
    assert twin.optimizer is not model.optimizer
    assert vars(twin.optimizer)["beta_1"] == 0.8
    assert int(twin.session.value(twin.optimizer.iterations)) == 6
    again = model.clone()
    assert same(again.fit(x, y, batch_size=10, epochs=3, verbose=0).steps, history.steps)
    model.fit(x, y, batch_size=10, verbose=0)
    assert same(twin.predict(x), again.predict(x))


def test_a_shallow_clone_is_trained_along(model: pg.Model) -> None:
    x, y = data(model)
    twin = model.clone(deep=False)
    assert twin.graph is model.graph
    assert twin.layers == model.layers
    assert twin.named_variables == model.named_variables
    before = model.predict(x)
    twin.fit(x, y, batch_size=10, verbose=0)
    assert not same(model.predict(x), before)
    assert same(model.predict(x), twin.predict(x))
    assert model.optimizer is not None
    assert twin.optimizer is not None
    steps = [int(m.session.value(m.optimizer.iterations)) for m in (model, twin) if m.optimizer]
    assert steps == [2, 2]
    model.fit(x, y, batch_size=10, verbose=0)
    assert same(model.predict(x), twin.predict(x))


def test_a_clone_has_the_structure_of_the_original(model: pg.Model) -> None:
    twin = model.clone()
    for tensors, copies in ((model.inputs, twin.inputs), (model.outputs, twin.outputs)):
        assert [t.name for t in copies] == [t.name for t in tensors]
        assert [t.spec for t in copies] == [t.spec for t in tensors]
    pg.verify(twin.graph)
    text = json.dumps(pg.graph_to_json(twin.graph))
    assert json.dumps(pg.graph_to_json(pg.graph_from_json(json.loads(text)))) == text
    assert nodes(pg.graph_from_json(json.loads(text))) == nodes(twin.clone().graph)
    # Only the model is cloned, not its training step or other layers of its graph.
    whole = nodes(model.graph)
    assert all(node == whole[name] for name, node in nodes(twin.graph).items())
    weights = {weight.variable_name for weight in twin.named_variables.values()}
    variables = {variable.node.name for variable in pg.global_variables(twin.graph)}
    assert variables - weights == ({"scale", "random/step"} if model.name == "branches" else set())


def nodes(graph: pg.Graph) -> dict[str, Any]:
    """Return the JSON of every node by name, without its source line."""
    written = pg.graph_to_json(graph)["nodes"]
    return {node["name"]: {**node, "source": None} for node in written}


def test_values_of_variables_without_a_layer_are_copied() -> None:
    model = branches()
    model.compile("sgd", "mse", device="cpu")
    x, _ = data(model)
    model.session.assign({"scale": np.array([0.0, 1.0, 5.0], np.float32)})
    twin = model.clone()
    np.testing.assert_array_equal(twin.session.value("scale"), [0, 1, 5])
    assert same(twin.predict(x), model.predict(x))


def test_an_uncompiled_model_can_be_cloned() -> None:
    model = chain()
    twin = model.clone()
    assert twin.optimizer is None
    for each in (model, twin):
        each.compile(device="cpu")
    assert same(twin.predict(X), model.predict(X))


def test_an_unbuilt_chain_can_be_cloned() -> None:
    model = pg.Sequential([nn.Dense(2, activation=pg.square, name="first"), nn.Dense(1)])
    model.compile("sgd", "mse", device="cpu")
    twin = model.clone()
    assert isinstance(twin, pg.Sequential)
    assert not set(twin.layers) & set(model.layers)
    model.fit(X, Y, verbose=0)
    twin.add(nn.Activation("relu"))
    assert (twin.predict(X) >= 0).all()
    assert [layer.name for layer in twin.layers] == ["first", "dense_1", "activation_1"]
    with pytest.raises(pg.GraphError, match="not built"):
        pg.Sequential([nn.Dense(2)]).clone(deep=False)


def test_devices_of_layers_are_kept() -> None:
    with pg.Graph().as_default() as graph:
        x = pg.Input((4,))
        with graph.device("cpu:0"):
            y = nn.Dense(2)(x)
        model = pg.Model(x, nn.Dense(1)(y))
    twin = model.clone()
    devices = {name: weight.node.device for name, weight in twin.named_variables.items()}
    assert devices == {name: weight.node.device for name, weight in model.named_variables.items()}
    assert devices["dense_1/kernel"] == "cpu:0"


def test_weights_used_before_their_layer_are_refused() -> None:
    with pg.Graph().as_default():
        x = pg.Input((4,))
        layer = nn.Dense(4)
        layer(pg.Input((4,)))
        model = pg.Model(x, layer(x @ layer.variables["kernel"]))
    with pytest.raises(pg.GraphError, match="uses 'dense_1/kernel' before it calls the layer"):
        model.clone()


def test_a_clone_keeps_the_placement() -> None:
    pg.set_logical_devices(cpu=2)
    model = chain()
    model.compile("sgd", "mse", device="cpu", placement=lambda node: "cpu:1")
    twin = model.clone()
    twin.fit(X, Y, verbose=0)
    runnable = twin.session.compiled(twin.training_targets)
    assert runnable is not None
    assert {node.device for node in runnable.compiled.order} == {"cpu:1"}


@pytest.mark.parametrize("deep", [True, False])
def test_a_clone_is_trained_by_the_same_strategy(deep: bool) -> None:
    pg.set_logical_devices(cpu=2)
    strategy = pg.parallel.DataParallel(2)
    model = pg.Sequential([nn.Dense(3, "tanh"), nn.Dense(1)])
    model.compile("sgd", "mse", device="cpu", strategy=strategy)
    model.fit(X, Y, batch_size=10, verbose=0)
    twin = model.clone(deep)
    assert twin.strategy == strategy and twin.placement is None
    single = pg.Sequential([nn.Dense(3, "tanh"), nn.Dense(1)])
    single.compile("sgd", "mse", device="cpu")
    single.build((4,))
    for trained in (twin, model, twin):  # in turns, even if both share their variables
        single.set_weights(
            dict(zip(single.named_variables, trained.named_weights().values(), strict=True))
        )
        single.compile("sgd", "mse", device="cpu")
        losses = trained.fit(X, Y, batch_size=10, verbose=0, shuffle=False).losses
        expected = single.fit(X, Y, batch_size=10, verbose=0, shuffle=False).losses
        np.testing.assert_allclose(losses, expected, rtol=1e-4)
        mirrors = shared_session(trained.graph).mirrors
        assert any(mirror.node.name.startswith("dense_1/kernel") for mirror in mirrors)
    model.close()
