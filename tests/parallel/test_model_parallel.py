"""Networks divided by layers, or inside of layers, train as on one device."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.errors import GraphError, ShapeError
from tests.sweeps import slow

STEPS, BATCH = 50, 8
CPUS = ["cpu:0", "cpu:1", "cpu:2", "cpu:3"]
PROCESSORS = [pytest.param(CPUS[:2], id="2 cpus"), pytest.param(CPUS, id="4 cpus")]
MIXED = pytest.param(["gpu:1", "gpu:0", "cpu:1"], id="mixed", marks=pytest.mark.gpu)
RNG = np.random.default_rng(5)
VECTORS = RNG.normal(size=(40, 10)).astype(np.float32)
IMAGES = RNG.normal(size=(40, 8, 8, 1)).astype(np.float32)
LABELS = RNG.integers(0, 3, 40).astype(np.int32)


@pytest.fixture(autouse=True)
def logical_devices(request: pytest.FixtureRequest) -> None:
    gpu = request.node.get_closest_marker("gpu")
    pg.set_logical_devices(cpu=4, gpu=2 if gpu else None)


def on(device: str | None) -> Any:
    return nullcontext() if device is None else pg.device(device)


def trained(model: pg.Model, x: Any = VECTORS, y: Any = LABELS, device: str = "cpu") -> pg.Model:
    """Train ``model`` for 50 steps of Adam, and return it."""
    model.compile(
        pg.optim.Adam(0.01),
        nn.SparseCategoricalCrossentropy(from_logits=True),
        "accuracy",
        device=device,
    )
    model.fit(x, y, batch_size=BATCH, epochs=STEPS * BATCH // len(LABELS), verbose=0)
    return model


def check_equal(model: pg.Model, single: pg.Model, x: Any = VECTORS, y: Any = LABELS) -> None:
    """Check that curves, weights, predictions and evaluations agree up to rounding."""
    assert model.history is not None and single.history is not None
    curve, expected = (np.array(m.history.history["loss"]) for m in (model, single))
    np.testing.assert_allclose(curve, expected, rtol=2e-3)
    assert expected[-1] < 0.95 * expected[0]
    weights, expected_weights = model.named_weights(), single.named_weights()
    assert list(weights) == list(expected_weights)
    for name, value in expected_weights.items():
        np.testing.assert_allclose(weights[name], value, rtol=2e-2, atol=2e-3, err_msg=name)
    for have, want in zip(
        np.atleast_1d(model.predict(x)), np.atleast_1d(single.predict(x)), strict=True
    ):
        np.testing.assert_allclose(have, want, rtol=2e-2, atol=1e-2)
    np.testing.assert_allclose(model.evaluate(x, y)[0], single.evaluate(x, y)[0], rtol=2e-3)


def devices_of(model: pg.Model) -> dict[str, set[str]]:
    """Return the devices of the nodes of each phase of a compiled training step."""
    runnable = model.session.compiled(model.training_targets)
    assert runnable is not None
    by_phase: dict[str, set[str]] = {}
    for node in runnable.compiled.order:
        by_phase.setdefault(node.phase, set()).add(str(node.device))
    return by_phase


def check_colocated(model: pg.Model) -> None:
    """Check that each gradient node is on the device of its forward node."""
    runnable = model.session.compiled(model.training_targets)
    assert runnable is not None
    order = runnable.compiled.order
    forward = {node.name: node for node in order if node.phase == "forward"}
    pairs = 0
    for node in order:
        # train/gradients/<forward node>/<operation>
        owner = node.name.partition("gradients/")[2].rpartition("/")[0]
        if node.phase == "gradient" and node.op.name != "receive" and owner in forward:
            assert node.device == forward[owner].device, node.name
            pairs += 1
    assert pairs > 3


class TestInsideLayers:
    def mlp(self, devices: Sequence[str] | None) -> pg.Sequential:
        if devices is None:
            layers = [nn.Dense(13, "relu", name="up"), nn.Dense(6, "tanh", name="down")]
        else:
            layers = [
                nn.ColumnParallelDense(13, devices, "relu", name="up"),
                nn.RowParallelDense(6, devices, "tanh", name="down"),
            ]
        return pg.Sequential([*layers, nn.Dense(3, name="head")])

    @pytest.mark.parametrize("devices", [*PROCESSORS, MIXED])
    def test_a_pair_trains_like_one_device(self, devices: list[str]) -> None:
        model, single = trained(self.mlp(devices)), trained(self.mlp(None))
        check_equal(model, single)
        check_colocated(model)
        assert devices_of(model)["gradient"] >= set(devices)
        for number, device in enumerate(devices):
            assert model.named_variables[f"up/kernel_{number}"].device == device

    @pytest.mark.parametrize("devices", PROCESSORS)
    def test_several_pairs_train_like_one_device(self, devices: list[str]) -> None:
        """Between two successive pairs the copies stay on the devices; a residual sum needs whole
        tensors."""
        models = []
        for parallel in (True, False):
            with pg.Graph().as_default():
                x = pg.Input((4, 6))
                y: pg.Tensor = x
                for pair in range(2):
                    names = {"name": f"up{pair}"}, {"name": f"down{pair}"}
                    if parallel:
                        up = nn.ColumnParallelDense(9, devices, "gelu", **names[0])
                        down = nn.RowParallelDense(6, devices, **names[1])
                    else:
                        up, down = nn.Dense(9, "gelu", **names[0]), nn.Dense(6, **names[1])
                    y = down(up(y))
                y = nn.Add()([x, y])
                out = nn.Dense(3, name="head")(nn.Flatten()(y))
                models.append(pg.Model(x, out))
        data = RNG.normal(size=(40, 4, 6)).astype(np.float32)
        for model in models:
            trained(model, data)
        check_equal(models[0], models[1], data)

    def test_a_pair_sends_only_its_input_and_its_product(self, graph: pg.Graph) -> None:
        """A pair's forward pass sends the input to the second device, and the product back."""
        devices = ["cpu:1", "cpu:2"]
        x = pg.Input((16,))
        layers = nn.parallel_mlp(64, 8, devices)
        y = layers[1](layers[0](x))
        with pg.Session(graph, device="cpu") as session:
            session.initialize()
            trace = pg.Trace()
            session.run(y, {x: np.zeros((4, 16))}, trace=trace)
            runnable = session.compiled(y, {x: np.zeros((4, 16))})
        sent = [
            node.inputs[0].spec.size for node in runnable.compiled.order if node.op.name == "send"
        ]
        assert sorted(sent) == [4 * 8, 4 * 16]
        moved = sum(event.bytes for event in trace.events if event.kind == "receive")
        assert moved == 4 * sum(sent)

    def test_column_and_row_parallel_layers_work_alone(self) -> None:
        """Whole inputs are divided; parts are concatenated if another layer needs the whole."""
        devices = CPUS[:3]
        models = [
            pg.Sequential([column, nn.Dropout(0.0), nn.Activation("tanh"), row])
            for column, row in (
                (
                    nn.ColumnParallelDense(7, devices, "softmax", name="a"),
                    nn.RowParallelDense(3, devices, use_bias=False, name="b"),
                ),
                (nn.Dense(7, "softmax", name="a"), nn.Dense(3, use_bias=False, name="b")),
            )
        ]
        for model in models:
            trained(model)
        check_equal(*models)

    def test_weights_match_undivided_layers(self) -> None:
        model, single = self.mlp(CPUS), self.mlp(None)
        single.build((10,))
        model.build((10,))
        start = single.named_weights()
        for name, value in model.named_weights().items():
            np.testing.assert_array_equal(value, start[name], err_msg=name)
        changed = {name: value + 1 for name, value in start.items()}
        single.set_weights(changed)
        file = io.BytesIO()
        single.save_weights(file, "safetensors")
        model.load_weights(file.getvalue())
        for name, value in model.named_weights().items():
            np.testing.assert_array_equal(value, changed[name], err_msg=name)
        np.testing.assert_array_equal(
            model.session.value(model.named_variables["up/kernel_1"]), changed["up/kernel"][:, 3:6]
        )
        assert model.count_params() == single.count_params()

    def test_a_divided_model_can_be_cloned_and_rebuilt(self) -> None:
        model = trained(self.mlp(CPUS[:2]))
        copy = model.clone(deep=True)
        np.testing.assert_array_equal(copy.predict(VECTORS), model.predict(VECTORS))
        new = pg.Sequential.from_config(model.get_config())
        new.build((10,))
        assert [type(layer) for layer in new.layers] == [type(layer) for layer in model.layers]
        assert new.layers[0].devices == ("cpu:0", "cpu:1")

    def test_mistakes_raise_explaining_errors(self, graph: pg.Graph) -> None:
        x = pg.Input((10,))
        with pytest.raises(
            ShapeError, match="layer 'few' cannot divide 3 features among 4 devices"
        ):
            nn.ColumnParallelDense(3, CPUS, name="few")(x)
        with pytest.raises(GraphError, match="needs at least one device"):
            nn.RowParallelDense(3, [])
        with pytest.raises(GraphError, match="cannot be divided: its size is not known"):
            nn.RowParallelDense(3, CPUS, collective="ring")(x)


Build = Callable[[Sequence[str | None]], pg.Model]


def mlp_in_sequence(devices: Sequence[str | None]) -> pg.Model:
    layers: list[nn.Layer] = []
    for units, device in zip((12, 9, 7), devices, strict=False):
        with on(device):
            layers.append(nn.Dense(units, "tanh"))
    with on(devices[-1]):
        layers.append(nn.Dense(3))
    return pg.Sequential(layers)


def cnn_in_sequence(devices: Sequence[str | None]) -> pg.Model:
    with on(devices[0]):
        first = [nn.Conv2D(3, 3, activation="relu"), nn.BatchNormalization()]
    with on(devices[1]):
        second = [nn.MaxPool2D(), nn.Conv2D(4, 2, activation="relu")]
    with on(devices[-1]):
        last = [nn.Flatten(), nn.Dropout(0.1), nn.Dense(3)]
    return pg.Sequential([*first, *second, *last])


def cnn_of_functions(devices: Sequence[str | None]) -> pg.Model:
    with pg.Graph().as_default():
        x = pg.Input((8, 8, 1))
        with on(devices[0]):
            y = nn.Conv2D(3, 3, activation="relu")(x)
        with on(devices[1]):
            y = nn.Conv2D(4, 3, strides=2, activation="relu")(y)
            y = nn.Flatten()(y)
        with on(devices[-1]):
            return pg.Model(x, nn.Dense(3)(y))


def branches(devices: Sequence[str | None]) -> pg.Model:
    """Return a network of two branches, merged with an identity of the input."""
    with pg.Graph().as_default():
        x = pg.Input((10,))
        with on(devices[0]):
            left = nn.Dense(10, "tanh")(x)
        with on(devices[1]):
            right = pg.identity(nn.Dense(10, "relu")(x)) * 0.5
        with on(devices[-1]):
            merged = nn.Add()([left, right, pg.identity(x)])
            return pg.Model(x, nn.Dense(3)(merged))


class TestByLayers:
    CASES = (
        pytest.param(mlp_in_sequence, VECTORS, id="mlp in sequence"),
        pytest.param(cnn_in_sequence, IMAGES, id="cnn in sequence"),
        pytest.param(cnn_of_functions, IMAGES, id="cnn of functions"),
        pytest.param(branches, VECTORS, id="branches"),
    )

    @pytest.mark.parametrize("devices", PROCESSORS)
    @pytest.mark.parametrize(("build", "x"), CASES)
    def test_layers_on_several_processors_train_like_one_device(
        self, build: Build, x: Any, devices: list[str]
    ) -> None:
        self.check(build, x, devices)

    @pytest.mark.parametrize("devices", [MIXED])
    @pytest.mark.parametrize(
        ("build", "x"), [*slow((cnn_in_sequence, IMAGES)), (cnn_of_functions, IMAGES)]
    )
    def test_layers_on_several_gpus_train_like_one_device(
        self, build: Build, x: Any, devices: list[str]
    ) -> None:
        self.check(build, x, devices)

    def check(self, build: Build, x: Any, devices: list[str]) -> None:
        model, single = trained(build(devices), x), trained(build([None] * len(devices)), x)
        check_equal(model, single, x)
        check_colocated(model)
        devices_by_phase = devices_of(model)
        assert devices_by_phase["gradient"] >= {devices[0], devices[1], devices[-1]}
        for variable in model.trainable_variables:
            assert variable.device in devices

    @pytest.mark.parametrize("devices", [PROCESSORS[0], MIXED])
    def test_models_of_several_outputs_train_like_one_device(self, devices: list[str]) -> None:
        models = []
        for places in (devices, [None, None]):
            with pg.Graph().as_default():
                x = pg.Input((10,))
                with on(places[0]):
                    body = nn.Dense(8, "tanh")(x)
                    first = nn.Dense(3, name="first")(body)
                with on(places[1]):
                    second = nn.Dense(1, name="second")(body)
                model = pg.Model(x, [first, second])
            model.compile(
                pg.optim.SGD(0.1),
                [nn.SparseCategoricalCrossentropy(from_logits=True), "mse"],
                loss_weights=[1.0, 0.5],
                device="cpu",
            )
            model.fit(VECTORS, [LABELS, VECTORS[:, :1]], batch_size=BATCH, epochs=10, verbose=0)
            models.append(model)
        curves = [np.array(model.history.history["loss"]) for model in models]
        np.testing.assert_allclose(curves[0], curves[1], rtol=1e-3)
        for have, want in zip(*(model.predict(VECTORS) for model in models), strict=True):
            np.testing.assert_allclose(have, want, rtol=1e-2, atol=1e-3)
        check_colocated(models[0])

    def test_layers_remember_where_they_were_made(self) -> None:
        with pg.device("cpu:1"):
            layer = nn.Dense(2)
        copy = pg.Sequential([layer]).clone()
        copy.build((3,))
        assert {weight.device for weight in copy.named_variables.values()} == {"cpu:1"}
        with pg.Graph().as_default(), pg.device("cpu:2"):
            y = layer.clone()(pg.Input((3,)))
        assert y.device == "cpu:2"  # the device of the call overrides it
