"""Devices lost at any moment: all variables belong to one step, from which training continues."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.devices import registry
from playgrad.devices.base import Execution
from playgrad.devices.pending import Outcome
from playgrad.errors import DeviceError, DeviceLostError
from playgrad.networks.shared_session import is_data
from playgrad.ops.state import global_variables
from playgrad.parallel import (
    AsynchronousDataParallel,
    DataParallel,
    LocalSGD,
    Pipeline,
    Strategy,
)
from playgrad.runtime import host_copies
from playgrad.runtime.cpu_server import Server
from tests.parallel.test_loss_of_devices import at, iterations
from tests.runtime.test_interpreters import LocalConnection
from tests.sweeps import dice, slow, sweep

Array = np.ndarray[Any, Any]
Layers = Callable[[], list[nn.Layer]]
RNG = np.random.default_rng(2)
X = RNG.normal(size=(60, 8)).astype(np.float32)
Y = X[:, :3].argmax(1).astype(np.int32)
BATCH = 10
EPOCHS = 6
STEPS = 6 * EPOCHS


class Breakable(LocalConnection):
    """A connection to another interpreter that breaks before the request ``left`` after now."""

    left: int | None = None

    def _count(self) -> None:
        if self.left is not None:
            self.left -= 1
            self.alive = self.alive and self.left >= 0

    def call(self, request: dict[str, Any], *data: bytes) -> Outcome:
        self._count()
        return super().call(request, *data)

    def begin(self, request: dict[str, Any], *data: bytes) -> Any:
        self._count()
        return super().begin(request, *data)


class Devices:
    """Devices with their own memory, to be lost: GPUs, or processors in other interpreters."""

    def __init__(self, kind: str, connections: dict[str, Breakable]) -> None:
        self.kind = kind
        self._connections = connections

    def name(self, index: int = 0) -> str:
        return f"gpu:{index}" if self.kind == "gpu" else f"cpu:{index + 1}"

    def lose(self, index: int = 0) -> None:
        """Destroy a device underneath the library."""
        if self.kind == "gpu":
            registry.gpu(index).host._device.destroy()
        else:
            self._connections[self.name(index)].alive = False

    def lose_in_call(self, number: int) -> None:
        """Destroy the first device just before it is given work for the ``number``-th time."""
        device = registry.opened(self.name())
        if self.kind == "cpu":
            self._connections[self.name()].left = number
            return
        host = device.host
        begin, left = host.begin, [number]

        def counting(execution: Execution) -> Any:
            left[0] -= 1
            if left[0] < 0:
                host._device.destroy()
            return begin(execution)

        host.begin = counting


@contextlib.contextmanager
def opened(kind: str) -> Iterator[Devices]:
    connections: dict[str, Breakable] = {}

    def connect(name: str) -> Breakable:
        connections[name] = Breakable(Server())
        return connections[name]

    registry.close_gpus()
    if kind == "cpu":
        pg.set_logical_devices(cpu=5)
        with registry.interpreters(connect):
            yield Devices(kind, connections)
    else:
        pg.set_logical_devices(gpu=4)
        yield Devices(kind, connections)
        registry.close_gpus()


GPU = pytest.param("gpu", marks=pytest.mark.gpu)
SLOW_GPU = pytest.param("gpu", marks=[pytest.mark.gpu, pytest.mark.slow])
"""Each loss of a software adapter costs seconds: all its kernels are compiled again."""


@pytest.fixture
def devices(kind: str) -> Iterator[Devices]:
    with opened(kind) as devices:
        yield devices


@pytest.fixture
def gpu() -> Iterator[Devices]:
    with opened("gpu") as devices:
        yield devices


def mlp() -> list[nn.Layer]:
    return [nn.Dense(9, "relu"), nn.Dense(8, "tanh"), nn.Dense(3)]


def with_state() -> list[nn.Layer]:
    """Layers with random numbers, and with statistics that are updated in each step."""
    return [nn.Dense(9, "relu"), nn.BatchNormalization(), nn.Dropout(0.3), nn.Dense(3)]


def network(
    layers: Layers = with_state,
    strategy: Strategy | None = None,
    device: str = "gpu",
) -> pg.Model:
    pg.reset_default_graph(1)
    model = pg.Sequential(layers())
    optimizer = pg.optim.SGD(0.1, momentum=0.9) if layers is mlp else pg.optim.Adam(0.01)
    loss = nn.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer, loss, ["accuracy"], device=device, strategy=strategy)
    return model


def fit(model: pg.Model, steps: int, *callbacks: nn.Callback, test: bool = False) -> nn.History:
    """Train for whole epochs, of ``steps`` steps in all."""
    validation = (X[:20], Y[:20]) if test else None
    return model.fit(
        X, Y, BATCH, steps // 6, verbose=0, callbacks=list(callbacks), validation_data=validation
    )


def state(model: pg.Model) -> dict[str, Array]:
    """The values of the variables that training depends on, by name."""
    unneeded = set(model.recipe.bookkeeping())
    kept = [
        v
        for v in global_variables(model.graph)
        if v not in unneeded and not is_data(v) and "/replica_" not in v.node.name
    ]
    return {v.node.name: a for v, a in zip(kept, model.session.values(kept), strict=True)}


def expect_same(state: dict[str, Array], other: dict[str, Array]) -> None:
    assert state.keys() == other.keys()
    for name, array in state.items():
        np.testing.assert_array_equal(array, other[name], err_msg=name)


class Reference:
    """Training without accidents.

    Attributes:
        states: before the first step, and after each step.
        losses: of each step.
    """

    def __init__(self, layers: Layers, device: str) -> None:
        model = network(layers, device=device)
        self.states = []
        look = nn.LambdaCallback(on_steps_end=lambda done, logs: self.states.append(state(model)))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("playgrad.training.chunk_loop.CHUNK_SECONDS", 0.0)  # of one step each
            patch.setattr("playgrad.training.chunk_loop._GROWTH", 1)
            self.losses = fit(model, STEPS, look).losses
        assert len(self.states) == STEPS
        model.close()

    def expect(self, model: pg.Model) -> None:
        """Check that all variables belong to one step."""
        done = iterations(model)
        if done:
            expect_same(state(model), self.states[done - 1])


def expect_going_on(model: pg.Model, reference: Reference, begun: int) -> None:
    """Check that training continues as if nothing had happened, bit for bit."""
    assert iterations(model) == begun
    reference.expect(model)
    steps = 6 * ((STEPS - begun) // 6)
    losses = fit(model, steps).losses
    np.testing.assert_array_equal(losses, reference.losses[begun : begun + steps])
    reference.expect(model)


@functools.cache
def reference(layers: Layers, kind: str) -> Reference:
    with opened(kind) as devices:
        return Reference(layers, devices.name())


@pytest.fixture
def expected(layers: Layers, kind: str) -> Reference:
    return reference(layers, kind)


LAYERS = pytest.mark.parametrize("layers", [mlp, with_state])


@pytest.mark.survival("Lost devices on the desktop")
@pytest.mark.parametrize(
    ("kind", "layers"),
    [
        ("cpu", mlp),
        ("cpu", with_state),
        pytest.param("gpu", with_state, marks=pytest.mark.gpu),
        *slow(("gpu", mlp)),
    ],
)
@pytest.mark.parametrize(
    ("copied", "lost"),
    [
        (0, 0),
        (2, 5),
        *slow((0, 3), (7, 13)),
    ],
)
def test_device_lost_in_an_epoch_restores_the_last_copy(
    layers: Any, devices: Devices, expected: Reference, copied: int, lost: int
) -> None:
    model = network(layers, device=devices.name())
    keep = at(copied, lambda: model.session.keep_copy()) if copied else nn.LambdaCallback()
    if lost:
        accident = at(lost, devices.lose)
    else:
        accident = nn.LambdaCallback(on_train_begin=lambda logs: devices.lose())
    with pytest.raises(
        DeviceLostError, match=r"[cg]pu:[01]: .*That was after step .*fit again"
    ) as error:
        fit(model, STEPS, keep, accident)
    begun = iterations(model)
    assert model.history is not None
    reached = len(model.history.losses)
    assert copied <= begun <= reached and (begun == 0) == (copied == 0)
    text = f"as at step {begun}," if begun < reached else "no step is lost"
    assert text in str(error.value)
    assert begun == reached or model.session.undone_seconds > 0
    expect_going_on(model, expected, begun)
    model.close()


@pytest.mark.survival("Lost devices on the desktop")
@pytest.mark.parametrize("kind", ["cpu", SLOW_GPU])
@LAYERS
def test_device_lost_at_any_call(
    layers: Any, devices: Devices, expected: Reference, record_property: Any
) -> None:
    """Again and again with one model, also while it is evaluated."""
    calls = (0, 1, 2, 3, 5, 8, 13, 21, 34)
    record_property("tried", len(calls))
    model = network(layers, device=devices.name())
    lost = 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(host_copies, "COPY_SECONDS", 0.01)
        for number in calls:
            if model.built and iterations(model) > STEPS - 12:
                model.close()
                model = network(layers, device=devices.name())
            devices.lose_in_call(number)
            try:
                fit(model, 12, test=True)
            except DeviceLostError:
                lost += 1
            expected.expect(model)
    assert lost > len(calls) / 2
    begun = iterations(model)
    if begun <= STEPS - 6:
        expect_going_on(model, expected, begun)
    model.close()


@pytest.mark.survival("Lost devices on the desktop")
@pytest.mark.parametrize("kind", ["cpu", SLOW_GPU])
@LAYERS
@pytest.mark.parametrize("use", ["fit", "predict", "evaluate", "weights", "train_on_batch", "save"])
def test_device_lost_between_two_trainings_loses_no_step(
    layers: Any, devices: Devices, expected: Reference, use: str, tmp_path: Any
) -> None:
    """Nothing is lost, and nobody has to hear of it."""
    model = network(layers, device=devices.name())
    fit(model, 12)
    before = state(model)
    predicted, evaluated = model.predict(X[:5]), model.evaluate(X, Y)
    for _ in range(2):
        devices.lose()
        if use == "predict":
            np.testing.assert_array_equal(model.predict(X[:5]), predicted)
        elif use == "evaluate":
            assert model.evaluate(X, Y) == evaluated
        elif use == "weights":
            for name, array in model.named_weights().items():
                np.testing.assert_array_equal(array, before[name])
        elif use == "train_on_batch":
            model.train_on_batch(X[:10], Y[:10])
            before = state(model)
        elif use == "save":
            model.save_weights(tmp_path / "weights.safetensors")
            other = network(layers, device=devices.name())
            other.build((8,))
            other.load_weights(tmp_path / "weights.safetensors")
            for name, array in other.named_weights().items():
                np.testing.assert_array_equal(array, before[name])
            other.close()
        expect_same(state(model), before)
    devices.lose()
    if use != "train_on_batch":
        expect_going_on(model, expected, 12)
    model.close()


@pytest.mark.survival("Lost devices on the desktop")
@pytest.mark.parametrize("kind", ["cpu", GPU])
def test_weights_that_were_just_set_are_not_lost(devices: Devices) -> None:
    model = network(device=devices.name())
    fit(model, 6)
    weights = {name: array + 1 for name, array in model.named_weights().items()}
    model.set_weights(weights)
    devices.lose()
    for name, array in model.named_weights().items():
        np.testing.assert_array_equal(array, weights[name])
    model.close()


@pytest.mark.survival("Lost devices on the desktop")
@pytest.mark.parametrize("kind", ["cpu", SLOW_GPU])
def test_the_reason_is_known_after_a_device_was_opened_again(devices: Devices) -> None:
    model = network(device=devices.name())
    fit(model, 6)
    assert model.session.losses == []
    devices.lose()
    model.named_weights()
    model.predict(X[:5])
    (reason,) = model.session.losses
    assert devices.name() in reason
    model.close()


@pytest.mark.survival("Lost devices on the desktop")
@pytest.mark.parametrize("kind", ["cpu", SLOW_GPU])
def test_device_lost_between_batches_reports_the_undone_step(
    devices: Devices, record_property: Any
) -> None:
    """An error says how much is undone; the next update continues from there."""
    record_property("tried", 3)
    model = network(device=devices.name())
    model.train_on_batch(X[:10], Y[:10])
    for _ in range(3):
        model.session.keep_copy()
        before = state(model)
        for start in (10, 20, 30):
            model.train_on_batch(X[start : start + 10], Y[start : start + 10])
        devices.lose()
        with pytest.raises(DeviceLostError, match=r"pu:.: .* from [\d.]+ s earlier .*Run again"):
            model.train_on_batch(X[:10], Y[:10])
        expect_same(state(model), before)
        model.train_on_batch(X[:10], Y[:10])
        assert iterations(model) == int(before[model.optimizer.iterations.node.name]) + 1
    model.close()


@pytest.mark.survival("Lost devices on the desktop")
@pytest.mark.parametrize("kind", ["cpu"])
@pytest.mark.parametrize("use", ["get", "set", "value", "memory"])
def test_a_loss_found_by_a_callback_ends_the_training(devices: Devices, use: str) -> None:
    """Training must not continue silently with the variables of an earlier step."""
    model = network(device=devices.name())

    def notice() -> None:
        devices.lose()
        if use == "get":
            model.named_weights()
        elif use == "set":
            assert model.optimizer is not None
            model.session.assign({model.optimizer.learning_rate: np.float32(0.1)})
        elif use == "memory":
            assert registry.opened(devices.name()).bytes_in_use() == 0
        else:
            iterations(model)

    reason = "cpu:1: its worker has ended"
    with pytest.raises(DeviceLostError, match=rf"{reason}.* as at step 0, .*Call fit again"):
        fit(model, 12, at(5, notice))
    assert iterations(model) == 0
    assert len(fit(model, 12).losses) == 12
    model.close()


@pytest.mark.parametrize("kind", ["cpu"])
def test_a_lost_variable_reports_the_reason(devices: Devices) -> None:
    """Even when others met the loss first and had no use for its reason."""
    device = registry.opened(devices.name())
    with pg.Graph().as_default() as graph, pg.Session(device=devices.name()) as session:
        variable = pg.Variable(np.ones(3, np.float32), name="v")
        session.run(variable.assign_add(np.ones(3, np.float32)))
        session.run(variable)
        devices.lose()
        assert device.bytes_in_use() == 0
        with pytest.raises(DeviceLostError, match=r"'v' was lost .* cpu:1: its worker has ended"):
            session._store.check_not_lost((graph, "v"))


@pytest.mark.parametrize("kind", ["cpu"])
def test_reading_weights_warns_of_undone_steps(devices: Devices) -> None:
    model = network(device=devices.name())
    model.train_on_batch(X[:10], Y[:10])
    before = model.named_weights()
    model.train_on_batch(X[:10], Y[:10])
    devices.lose()
    with pytest.warns(RuntimeWarning, match=r"cpu:1 was lost. The variables have their values"):
        after = model.named_weights()
    for name, array in after.items():
        np.testing.assert_array_equal(array, before[name])
    model.close()


STRATEGIES: dict[str, Callable[[tuple[str, ...]], Strategy]] = {
    "data": lambda names: DataParallel(names[:2]),
    "pipeline": lambda names: Pipeline(names[:2], micro_batches=2),
    "pipelines": lambda names: Pipeline(names, micro_batches=2, replicas=2),
    "local": lambda names: LocalSGD(names[:2], every=4),
    "asynchronous": lambda names: AsynchronousDataParallel(names[:2]),
}
ACCIDENTS = [(name, lost) for name in STRATEGIES for lost in (0, 1)]
OFTEN = [(name, dice(name).randrange(2)) for name in STRATEGIES]
"""Those of this commit."""


@pytest.mark.survival("Lost devices on the desktop")
@pytest.mark.parametrize("kind", ["cpu", SLOW_GPU])
@pytest.mark.parametrize(("name", "lost"), sweep(ACCIDENTS, OFTEN))
def test_training_with_a_strategy_continues_after_a_lost_device(
    devices: Devices, name: str, lost: int
) -> None:
    """Training continues as another model's does that is given the same variables."""
    strategy = STRATEGIES[name](tuple(map(devices.name, range(4))))
    layers = mlp if "pipeline" in name else with_state
    model = network(layers, strategy, devices.name())
    fit(model, 12)
    if name == "asynchronous" and lost:
        report = fit(model, 12, at(3, lambda: devices.lose(lost))).parallel
        assert list(report["lost"]) == [devices.name(lost)]  # the others continued
        model.close()
        return
    with pytest.raises(DeviceLostError, match=f"{devices.name(lost)}: .*That was after step"):
        fit(model, 12, at(3, lambda: devices.lose(lost)))
    begun = iterations(model)
    assert 12 <= begun <= 24
    variables = state(model)
    other = network(layers, strategy, devices.name())
    fit(other, 6)
    other.session.assign(variables)
    other._training.loop.lost_device = True  # so that it continues in the middle of a round, too
    if name != "asynchronous":  # where the order of updates is left to chance
        np.testing.assert_array_equal(fit(model, 12).losses, fit(other, 12).losses)
        expect_same(state(model), state(other))
    else:
        assert fit(model, 12).losses.mean() < 1.2
    assert iterations(model) == begun + 12
    model.close()
    other.close()


@pytest.mark.gpu
class TestAdapterThatDoesNotComeBack:
    @pytest.fixture
    def no_adapter(self, monkeypatch: pytest.MonkeyPatch) -> Callable[[bool], None]:
        """A function that takes all adapters away, or gives them back."""
        package = registry.this_host()
        real = package.list_adapters

        def set_gone(gone: bool) -> None:
            monkeypatch.setattr(package, "list_adapters", (list) if gone else real)

        return set_gone

    @pytest.mark.survival("Lost devices on the desktop")
    @pytest.mark.parametrize("when", ["training", "rest"])
    def test_the_cpu_continues_if_no_adapter_returns(
        self, gpu: Devices, no_adapter: Any, when: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("PLAYGRAD_DEVICE", "gpu")
        model = network(device="auto")
        fit(model, 6)
        if when == "training":
            model.session.keep_copy()
            with pytest.raises(DeviceLostError, match=r"as at step 6, .*fit again"):
                fit(model, 12, at(3, lambda: (no_adapter(True), gpu.lose())))
        else:
            no_adapter(True)
            gpu.lose()
        before = state(model)
        assert iterations(model) == 6
        with pytest.warns(RuntimeWarning, match=r"gpu:0 cannot be opened, so the CPU .*adapter"):
            history = fit(model, 12)
        assert model.session.device == "cpu:0" and len(history.losses) == 12
        other = network(device="cpu")
        fit(other, 6)
        other.session.assign(before)
        np.testing.assert_array_equal(fit(other, 12).losses, history.losses)
        other.close()
        no_adapter(False)
        with pg.Session(device="auto") as session:
            assert session.device == "gpu:0"
        model.close()

    @pytest.mark.survival("Lost devices on the desktop")
    def test_a_model_that_requires_a_gpu_gets_an_error_with_advice(
        self, gpu: Devices, no_adapter: Any
    ) -> None:
        model = network(device="gpu")
        fit(model, 6)
        before = state(model)
        no_adapter(True)
        gpu.lose()
        for _ in range(2):
            with pytest.raises(DeviceError, match=r"no adapter here.* device='cpu'"):
                fit(model, 6)
        expect_same(state(model), before)
        no_adapter(False)
        fit(model, 6)
        assert iterations(model) == 12
        model.close()
