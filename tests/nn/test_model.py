"""Models: structure, names, weights, and calls on new inputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn

Array = np.ndarray[Any, Any]
X = np.random.default_rng(0).normal(size=(20, 4)).astype(np.float32)


def use(model: pg.Model, loss: Any = "mse", optimizer: Any = "sgd", **more: Any) -> pg.Model:
    model.compile(optimizer, loss, device="cpu", **more)
    return model


def test_layers_of_a_kind_are_numbered_from_1() -> None:
    for _ in range(2):
        model = use(
            pg.Sequential(
                [nn.Dense(3), nn.Activation("relu"), nn.Dense(2), nn.Dense(1, name="last")]
            )
        )
        model.build((4,))
        assert [layer.name for layer in model.layers] == [
            "dense_1",
            "activation_1",
            "dense_2",
            "last",
        ]
        shapes = {name: weight.shape for name, weight in model.named_variables.items()}
        assert shapes == {
            "dense_1/kernel": (4, 3),
            "dense_1/bias": (3,),
            "dense_2/kernel": (3, 2),
            "dense_2/bias": (2,),
            "last/kernel": (2, 1),
            "last/bias": (1,),
        }
        assert model.count_params() == 4 * 3 + 3 + 3 * 2 + 2 + 2 + 1


def test_models_in_one_graph_have_names_of_their_own(graph: pg.Graph) -> None:
    models = []
    for _ in range(2):
        x = pg.Input((4,))
        models.append(pg.Model(x, nn.Dense(1)(nn.Dense(3)(x))))
    assert list(models[0].named_variables) == list(models[1].named_variables)
    assert [layer.name for layer in models[1].layers] == ["dense_3", "dense_4"]
    assert models[1].weights == list(models[1].named_variables.values())
    assert next(iter(models[1].named_variables)) == "dense_1/kernel"


def test_branches_may_contain_operations_without_a_layer(graph: pg.Graph) -> None:
    """One layer feeds two others, whose results are merged, with plain operators in between."""
    x = pg.Input((4,))
    stem = nn.Dense(3, activation="tanh")(x)
    left, right = nn.Dense(3)(stem), nn.Dense(3)(stem)
    y = nn.Concatenate()([left * 2.0, right]) + pg.constant(1.0)
    model = use(pg.Model(x, y))
    assert [layer.name for layer in model.layers] == [
        "dense_1",
        "dense_2",
        "dense_3",
        "concatenate_1",
    ]
    w = model.named_weights()
    hidden = np.tanh(X @ w["dense_1/kernel"])
    parts = [2 * hidden @ w["dense_2/kernel"], hidden @ w["dense_3/kernel"]]
    np.testing.assert_allclose(model.predict(X), np.concatenate(parts, 1) + 1, atol=1e-5)
    other = pg.placeholder("float32", (None, 4))
    np.testing.assert_allclose(
        model.session.run(model.call(other), {other: X}), model.predict(X), atol=1e-6
    )
    model.fit(X, np.zeros((20, 6)), verbose=0, epochs=3)
    assert model.history.history["loss"][0] > model.history.history["loss"][-1]


def test_models_take_several_inputs_and_outputs(graph: pg.Graph) -> None:
    a, b = pg.Input((4,), name="a"), pg.Input((2,), name="b")
    merged = nn.Concatenate()([nn.Dense(3)(a), b])
    value = nn.Dense(1, name="value")(merged)
    kind = nn.Dense(2, name="kind")(merged)
    model = pg.Model([a, b], [value, kind])
    model.compile(
        pg.optim.Adam(0.05),
        loss=["mse", nn.SparseCategoricalCrossentropy(from_logits=True)],
        metrics=[["mae"], ["accuracy"]],
        loss_weights=[0.5, 1.0],
        device="cpu",
    )
    x, y = [X, X[:, :2] + 1], [X[:, 0], (X[:, 1] > 0).astype(int)]
    history = model.fit(x, y, batch_size=10, epochs=30, verbose=0, validation_data=(x, y))
    names = ["loss", "value_loss", "kind_loss", "value_mae", "kind_accuracy"]
    assert history.names == names
    assert list(history.history) == [*names, *(f"val_{name}" for name in names)]
    last = {name: values[-1] for name, values in history.history.items()}
    assert last["val_loss"] == pytest.approx(
        0.5 * last["val_value_loss"] + last["val_kind_loss"], rel=1e-5
    )
    assert last["val_kind_accuracy"] > 0.8
    outputs = model.predict(x)
    assert [output.shape for output in outputs] == [(20, 1), (20, 2)]
    assert model.evaluate(x, y)[0] == pytest.approx(last["val_loss"], rel=1e-5)


def two_outputs() -> pg.Model:
    x = pg.Input((4,))
    return pg.Model(x, [nn.Dense(1, name="value")(x), nn.Dense(2, name="kind")(x)])


def test_losses_and_targets_can_be_given_by_output_name(graph: pg.Graph) -> None:
    kind = nn.SparseCategoricalCrossentropy(from_logits=True)
    value_y, kind_y = X[:, 0], (X[:, 1] > 0).astype(int)
    by_place, by_name = two_outputs(), two_outputs()
    by_name.set_weights(by_place.get_weights())
    by_place.compile(
        "sgd", ["mse", kind], [[], ["accuracy"]], [1.0, 0.5], "cpu", weighted_metrics=[["mae"], []]
    )
    by_name.compile(
        "sgd",
        {"kind": kind, "value": "mse"},
        {"kind": "accuracy"},
        {"kind": 0.5},
        "cpu",
        weighted_metrics={"value": ["mae"]},
    )
    expected = by_place.fit(X, [value_y, kind_y], epochs=2, verbose=0, shuffle=False).history
    history = by_name.fit(
        X, {"kind": kind_y, "value": value_y}, epochs=2, verbose=0, shuffle=False
    ).history
    assert history == expected


def test_unknown_output_names_are_refused(graph: pg.Graph) -> None:
    model = two_outputs()
    with pytest.raises(pg.GraphError, match=r"loss names 'price', .*outputs are: value, kind"):
        model.compile("sgd", {"price": "mse"})
    with pytest.raises(pg.GraphError, match="loss has nothing for the output 'kind'"):
        model.compile("sgd", {"value": "mse"})
    with pytest.raises(pg.GraphError, match="metrics names 'price'"):
        model.compile("sgd", "mse", {"price": "mae"})
    model.compile("sgd", "mse", device="cpu")
    with pytest.raises(pg.GraphError, match="y has nothing for the output 'value'"):
        model.fit(X, {"kind": X[:, :2]}, verbose=0)


def test_a_model_without_layers_predicts_but_does_not_train(graph: pg.Graph) -> None:
    x = pg.Input((4,))
    weights = pg.Variable(np.eye(4, 2), dtype="float32")
    model = pg.Model(x, x @ weights)
    model.compile("sgd", "mse", device="cpu")
    np.testing.assert_allclose(model.predict(X), X[:, :2], atol=1e-6)
    with pytest.raises(pg.ShapeError, match="x has samples of shape"):
        model.predict(X[:, :3])
    with pytest.raises(pg.GraphError, match="all layers are without weights"):
        model.fit(X, X[:, :2], verbose=0)


def test_a_chain_without_weights_predicts_but_does_not_train() -> None:
    model = use(pg.Sequential([nn.Activation("relu")]))
    with pytest.raises(pg.GraphError, match="all layers are without weights"):
        model.fit(X, X, verbose=0)
    assert model.predict(X).shape == X.shape


def test_layers_can_be_shared_within_and_between_models(graph: pg.Graph) -> None:
    x = pg.Input((4,))
    shared = nn.Dense(4, activation="tanh")
    code = shared(shared(x))
    encoder = use(pg.Model(x, code))
    whole = use(pg.Model(x, nn.Dense(4)(code)))
    assert list(encoder.named_variables) == ["dense_1/kernel", "dense_1/bias"]
    before = encoder.predict(X)
    whole.fit(X, X, epochs=5, verbose=0)
    assert np.abs(encoder.predict(X) - before).max() > 1e-3  # trained by the other model
    w = whole.named_weights()

    def layer(x: Array) -> Array:
        return np.tanh(x @ w["dense_1/kernel"] + w["dense_1/bias"])

    np.testing.assert_allclose(encoder.predict(X), layer(layer(X)), atol=1e-5)


def test_training_mode_reaches_replayed_layers(graph: pg.Graph) -> None:
    x = pg.Input((50,))
    model = use(pg.Model(x, nn.Dropout(0.5)(x)))
    ones = np.ones((2, 50), np.float32)
    assert (model.predict(ones) == 1).all()
    y = model.call(x, training=True)
    assert set(np.unique(model.session.run(y, {x: ones}))) == {0, 2}


def test_chains_can_be_nested_and_cloned() -> None:
    inner = pg.Sequential([nn.Dense(3, activation="relu"), nn.Dropout(0.1)])
    model = use(pg.Sequential([pg.Input((4,)), inner, nn.Dense(1)], name="outer"))
    assert model.built
    assert [layer.kind for layer in model.layers] == ["dense", "dropout", "dense"]
    clone = use(pg.Sequential.from_config(model.get_config()))
    clone.build((4,))
    clone.set_weights(model.named_weights())
    np.testing.assert_array_equal(clone.predict(X), model.predict(X))
    clone.fit(X, X[:, 0], verbose=0)
    assert not np.array_equal(clone.predict(X), model.predict(X))


def test_weights_do_not_depend_on_the_order_of_building() -> None:
    """The same seed gives the same weights whether training or a summary comes first."""
    one, two = (use(pg.Sequential([nn.Dense(3), nn.Dropout(0.5), nn.Dense(1)])) for _ in range(2))
    one.build((4,))
    two.fit(X, X[:, 0], verbose=0)
    three = use(pg.Sequential([nn.Dense(3), nn.Dropout(0.5), nn.Dense(1)]))
    three.predict(X)
    three.fit(X, X[:, 0], verbose=0)
    np.testing.assert_array_equal(
        three.named_weights()["dense_1/kernel"], two.named_weights()["dense_1/kernel"]
    )


@pytest.mark.gpu
@pytest.mark.parametrize("optimizer", ["adam", "momentum"])
def test_layers_train_on_the_devices_chosen_for_them(graph: pg.Graph, optimizer: str) -> None:
    inputs = pg.Input((4,))
    with pg.device("cpu"):
        hidden = nn.Dense(6, activation="relu")(inputs)
    with pg.device("gpu:0"):
        outputs = nn.Dense(1)(hidden)
    model = use(pg.Model(inputs, outputs), optimizer=optimizer)
    split = model.fit(X, X[:, 0], batch_size=5, verbose=0).losses
    products = {
        node.name: node.device
        for node in graph.nodes
        if node.op.name == "matmul" and node.name.startswith("dense")
    }
    assert {device for name, device in products.items() if name.startswith("dense_1/")} == {"cpu"}
    assert {device for name, device in products.items() if name.startswith("dense_2/")} == {"gpu:0"}

    with pg.Graph().as_default():
        inputs = pg.Input((4,))
        whole = pg.Model(inputs, nn.Dense(1)(nn.Dense(6, activation="relu")(inputs)))
        use(whole, optimizer=optimizer)
        np.testing.assert_allclose(
            whole.fit(X, X[:, 0], batch_size=5, verbose=0).losses, split, rtol=1e-5
        )


def test_weights_are_a_list_and_have_names(graph: pg.Graph) -> None:
    inputs = pg.Input((4,))
    model = use(pg.Model(inputs, nn.Dense(1)(inputs)))
    kernel, bias = model.get_weights()
    assert kernel.shape == (4, 1) and bias.shape == (1,)
    model.set_weights([np.ones((4, 1)), [2.0]])  # float64 and a list
    named = model.named_weights()
    assert list(named) == list(model.weight_specs())
    assert named["dense_1/bias"] == [2.0]
    model.set_weights({**named, "dense_1/bias": bias})
    assert model.get_weights()[1] == bias
    with pytest.raises(pg.CheckpointError, match=r"has 2 weights, got 1 arrays"):
        model.set_weights([kernel])
    with pytest.raises(pg.CheckpointError, match=r"from a list of arrays, or by name.*got int"):
        model.set_weights(3)


@pytest.mark.parametrize("value", [["accuracy"], {"a": "mse"}, 3])
def test_unknown_names_are_refused(value: Any) -> None:
    for words, make in (
        ("no loss", lambda: use(pg.Sequential([]), loss={"a": value})),
        ("no optimizer", lambda: use(pg.Sequential([]), optimizer=value)),
        ("no metric", lambda: use(pg.Sequential([]), metrics=["mae", value])),
        ("no activation", lambda: nn.Dense(1, activation=value)),
        ("no initializer", lambda: nn.Dense(1, kernel_initializer=value)),
    ):
        with pytest.raises(pg.GraphError, match=f"there is {words}"):
            make()


def test_predictions_do_not_depend_on_the_batch_size() -> None:
    model = use(pg.Sequential([nn.Dense(3), nn.Activation("softmax")]))
    whole = model.predict(X)
    assert whole.shape == (20, 3)
    for size in (1, 7, 20, 1000):
        np.testing.assert_allclose(model.predict(X, batch_size=size), whole, rtol=1e-5)
    np.testing.assert_allclose(model.predict(X.tolist()), whole, rtol=1e-5)
    np.testing.assert_allclose(model.predict(X[:1]), whole[:1], rtol=1e-5)


def test_predictions_keep_all_rows_of_outputs_that_are_not_of_samples() -> None:
    steps = np.random.default_rng(2).normal(size=(7, 5, 4)).astype(np.float32)
    model = pg.Sequential([pg.Input((5, 4)), nn.Lambda(lambda x: pg.reshape(x, (-1, 4)))])
    for batch_size in (None, 3):
        np.testing.assert_array_equal(model.predict(steps, batch_size), steps.reshape(-1, 4))
    total = pg.Sequential([pg.Input((5, 4)), nn.Lambda(pg.reduce_sum)])
    with pytest.raises(pg.ShapeError, match="is a single number"):
        total.predict(steps)


def test_summary_lists_layers_shapes_and_parameters(capsys: pytest.CaptureFixture[str]) -> None:
    model = use(pg.Sequential([nn.Flatten(), nn.Dense(10)], name="digits"))
    model.summary()
    assert "flatten (Flatten)  not built" in capsys.readouterr().out
    model.build((28, 28))
    lines: list[str] = []
    model.summary(lines.append)
    assert lines[0].splitlines()[0] == "Sequential 'digits'"
    assert "flatten_1 (Flatten)  (?, 784)               0" in lines[0]
    assert "dense_1 (Dense)      (?, 10)            7,850" in lines[0]
    assert "7,850 parameters, 7,850 of them trainable" in lines[0]


def test_nodes_know_the_line_of_their_layer() -> None:
    layer = nn.Dense(3)
    model = use(pg.Sequential([layer]))
    model.build((4,))
    sources = {node.source for node in model.graph.nodes if node.name.startswith("dense_1/")}
    assert sources == {layer.source}


def test_models_of_wrong_structure_are_refused(graph: pg.Graph) -> None:
    x, other = pg.Input((4,)), pg.Input((4,), name="other")
    y = nn.Dense(2)(x)
    with pytest.raises(pg.GraphError, match="depend on 'other', which is not one of its inputs"):
        pg.Model(x, nn.Add()([y, nn.Dense(2)(other)]))
    with pytest.raises(pg.GraphError, match=r"does not depend on the model's inputs"):
        pg.Model(other, pg.constant(1.0))
    with pytest.raises(pg.GraphError, match="at least one input and one output"):
        pg.Model([], [])
    with pytest.raises(pg.GraphError, match=r"named 'same'.*Rename"):
        pg.Model(x, nn.Dense(2, name="same")(nn.Dense(2, name="same")(x)))
    with pytest.raises(pg.GraphError, match="takes 1 inputs, got 2"):
        pg.Model(x, y).call([x, other])


def test_wrong_chains_are_refused() -> None:
    with pytest.raises(pg.GraphError, match="takes layers, got str"):
        pg.Sequential(["dense"])  # type: ignore[list-item]
    encoder = pg.Sequential([pg.Input((4,)), nn.Dense(2)], name="encoder")
    with pytest.raises(pg.GraphError, match="'encoder'> is in the chain twice"):
        pg.Sequential([encoder, encoder])
    with pytest.raises(pg.GraphError, match="last part of 'sequential' is a model"):
        pg.Sequential([nn.Dense(4), encoder]).pop()
    layer = nn.Dense(2)
    with pytest.raises(pg.GraphError, match="in the chain twice"):
        pg.Sequential([layer, layer])
    model = pg.Sequential([])
    with pytest.raises(pg.GraphError, match="has no layers"):
        model.build((3,))
    model = pg.Sequential([nn.Dense(2)])
    with pytest.raises(pg.GraphError, match=r"not built: .*model\.build"):
        _ = model.named_variables
    model.build((3,))
    with pytest.raises(pg.GraphError, match="is built: no layer can be added"):
        model.add(nn.Dense(2))


def test_a_failed_build_leaves_the_chain_unbuilt() -> None:
    """Building fails as a whole: the same layers can be built for another shape."""
    model = use(pg.Sequential([nn.Conv2D(2, 3), nn.Flatten(), nn.Dense(1)]))
    with pytest.raises(pg.ShapeError, match="conv2d_1"):
        model.build((5, 5))
    assert not model.built
    model.build((5, 5, 1))
    assert next(iter(model.named_variables)) == "conv2d_1/kernel"


def test_a_model_takes_arrays_for_tensors(graph: pg.Graph) -> None:
    inputs = pg.Input((4,))
    model = use(pg.Model(inputs, nn.Dense(1)(inputs)))
    x = np.ones((3, 4), np.float32)
    np.testing.assert_allclose(model(x).numpy(), model.predict(x, verbose=0), rtol=1e-6)
    with pytest.raises(pg.GraphError, match="takes 1 inputs, got 2"):
        model([x, x])


def test_a_network_continues_the_outputs_of_a_chain(graph: pg.Graph) -> None:
    chain = pg.Sequential([pg.Input((4,)), nn.Dense(2)])
    model = use(pg.Model(list(chain.inputs), nn.Dense(3)(chain.outputs[0])))
    chain.trainable = False
    before = chain.get_weights()
    model.fit(X, X[:, :3], verbose=0)
    np.testing.assert_array_equal(chain.get_weights()[0], before[0])


def test_layers_are_found_by_name_and_index() -> None:
    model = pg.Sequential([nn.Dense(3), nn.Dense(2), nn.Dense(1, name="last")])
    assert model.get_layer("last") is model.layers[2] is model.get_layer(index=-1)
    assert model.layers[0].weights == []
    with pytest.raises(pg.GraphError, match=r"no layer 'dense_2'.*: last"):
        model.get_layer("dense_2")
    model.build((4,))
    dense = model.get_layer(name="dense_2")
    assert dense is model.get_layer(index=1)
    assert dense.weights == [dense.variables["kernel"], dense.variables["bias"]]
    for arguments in ((), ("last", 2)):
        with pytest.raises(pg.GraphError, match="a name or an index"):
            model.get_layer(*arguments)
    with pytest.raises(pg.GraphError, match="3 layers, so none at index 3"):
        model.get_layer(index=3)
    both = nn.Bidirectional(nn.GRU(2), weights=None)
    assert both.weights == [] and both.clone().get_config() == both.get_config()


def test_a_layer_keeps_input_and_output_of_its_first_call(graph: pg.Graph) -> None:
    x, other = pg.Input((3,)), pg.Input((3,))
    dense, merged = nn.Dense(3), nn.Add()
    with pytest.raises(pg.errors.GraphError, match="has not been called"):
        _ = dense.input
    first = dense(x)
    second = dense(other)
    result = merged([first, second])
    assert dense.input is x
    assert dense.output is first
    assert merged.input == [first, second]
    assert merged.output is result
    base = pg.Model([x, other], result)
    base.compile("sgd", "mse")
    base.fit([np.ones((4, 3)), np.ones((4, 3))], np.ones((4, 3)), epochs=1, verbose=0)
    assert dense.output is first  # the training step calls it again


def test_the_last_layer_is_removed() -> None:
    model = pg.Sequential([nn.Dense(3), nn.Dense(2)])
    assert isinstance(model.pop(), nn.Dense)
    model.add(nn.Dense(2))
    use(model).fit(X, X[:, :2], verbose=0)
    kernel = model.get_weights()[0]
    head = model.pop()
    assert [layer.name for layer in model.layers] == ["dense_1"]
    assert head.name == "dense_2" and model.output_shape == (None, 3)
    np.testing.assert_allclose(
        model.predict(X, verbose=0), X @ kernel + model.get_weights()[1], rtol=1e-4, atol=1e-5
    )
    with pytest.raises(pg.GraphError, match="compile"):
        model.evaluate(X, X[:, :3])
    use(model).fit(X, X[:, :3], verbose=0)
    with pytest.raises(pg.GraphError, match="no layer to remove but the one"):
        model.pop()


def test_a_batch_is_tested() -> None:
    model = use(pg.Sequential([nn.Dense(1)]), metrics=["mae"])
    y = X[:, :1]
    loss, error = model.test_on_batch(X, y)
    assert [loss, error] == model.evaluate(X, y)
    assert model.test_on_batch(X, y, return_dict=True) == {"loss": loss, "mae": error}
    assert model.test_on_batch(X, y, np.zeros(len(X)), return_dict=True)["loss"] == 0
    with pytest.raises(pg.DataError, match="the arrays of one batch"):
        model.test_on_batch(iter([(X, y)]))


def test_models_of_one_graph_may_have_layers_of_one_name(graph: pg.Graph) -> None:
    models = []
    for units in (2, 3):
        x = pg.Input((4,))
        hidden = nn.Dense(units, name="hidden")
        models.append(use(pg.Model(x, nn.Dense(1)(hidden(x)))))
        assert next(iter(models[-1].named_variables)) == "hidden/kernel"
        assert models[-1].get_layer("hidden") is hidden
        assert hidden.get_config()["name"] == "hidden"
    first, second = models
    before = first.get_weights()
    second.fit(X, X[:, :1], verbose=0)
    np.testing.assert_array_equal(first.get_weights()[0], before[0])
    twin = second.clone()
    assert twin.named_weights().keys() == second.named_weights().keys()
    np.testing.assert_array_equal(twin.predict(X), second.predict(X))
    both = nn.Dense(1)(nn.Dense(2, name="a")(nn.Dense(2, name="a")(x)))
    with pytest.raises(pg.GraphError, match="two layers of the model are named 'a'"):
        pg.Model(x, both)
    chain = pg.Sequential([nn.Dense(2, name="b"), nn.Dense(2, name="b")])
    for _ in range(2):
        with pytest.raises(pg.GraphError, match="two layers of the model are named 'b'"):
            chain.build((4,))
