"""A step that fails on several GPUs changes no variable, or the variables of all other devices."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.devices import registry
from playgrad.devices._wgpu.host import WgpuHost
from playgrad.errors import KernelError
from playgrad.graph.tensor import Tensor
from playgrad.parallel import DataParallel, LocalSGD, Pipeline, Strategy
from playgrad.runtime.tasks import SegmentTask
from tests.sweeps import sweep

pytestmark = [pytest.mark.gpu, pytest.mark.survival("Lost devices on the desktop")]

Values = dict[str, np.ndarray[Any, Any]]
RNG = np.random.default_rng(2)
X = RNG.normal(size=(24, 8)).astype(np.float32)
Y = X[:, :3].argmax(1).astype(np.int32)
QUIET_SECONDS = 0.05

STRATEGIES = {
    "replicas": (2, DataParallel(2)),
    "ring with buckets": (3, DataParallel(3, collective="ring", bucket_bytes=64)),
    "pipeline": (2, Pipeline(2, micro_batches=2)),
    "two pipelines": (4, Pipeline(4, micro_batches=2, replicas=2)),
    "local": (2, LocalSGD(2, every=100)),
}
KINDS = sweep(STRATEGIES, ["replicas"])


class FaultyStep:
    """A model's training step on several GPUs, of which one fails at a chosen point."""

    def __init__(self, devices: int, strategy: Strategy, patch: pytest.MonkeyPatch) -> None:
        pg.set_logical_devices(gpu=devices)
        pg.reset_default_graph(1)
        layers = [nn.Dense(9, "relu"), nn.BatchNormalization(), nn.Dropout(0.3), nn.Dense(3)]
        self.model = pg.Sequential(layers)
        loss = nn.SparseCategoricalCrossentropy(from_logits=True)
        adam = pg.optim.Adam(0.01)
        self.model.compile(adam, loss, device="gpu", strategy=strategy)
        self.model.fit(X, Y, batch_size=12, epochs=1, verbose=0)
        self.session = self.model.session
        (self.run,) = self.model.training_targets
        self.variables = self._variables()
        self.before = self.values()
        self.session.run(self.run)
        self.after = self.values()
        self.fault: tuple[str, int, Callable[[], None]] | None = None
        self.begun: dict[str, int] = {}
        self.last_end = 0.0
        patch.setattr(WgpuHost, "begin", self._begin_of(WgpuHost.begin))

    def _variables(self) -> dict[str, list[Tensor]]:
        """Return the variables that the step uses, by device."""
        runnable = self.session.compiled(self.run)
        assert runnable is not None
        self.tasks = [task for task in runnable.tasks if isinstance(task, SegmentTask)]
        by_device: dict[str, list[Tensor]] = {}
        for name in sorted(runnable.variables):
            node = self.model.graph.node(name)
            by_device.setdefault(runnable.store.places[self.model.graph, name][0], []).append(
                node.outputs[0]
            )
        return by_device

    def values(self) -> dict[str, Values]:
        """Return the values of the variables, by device and name."""
        return {
            device: {tensor.node.name: self.session.value(tensor) for tensor in tensors}
            for device, tensors in self.variables.items()
        }

    def restore(self) -> None:
        values = {name: array for each in self.before.values() for name, array in each.items()}
        self.session.assign({self.model.graph.node(n).outputs[0]: v for n, v in values.items()})

    def _begin_of(self, begin: Callable[..., Any]) -> Callable[..., Any]:
        def faulty(host: WgpuHost, execution: Any) -> Any:
            name = next((n for n in self.variables if _host(n) is host), "")
            count = self.begun[name] = self.begun.get(name, -1) + 1
            if self.fault is not None and self.fault[:2] == (name, count):
                self.fault[2]()
            try:
                return begin(host, execution)
            finally:
                self.last_end = time.monotonic()

        return faulty

    @contextmanager
    def failing(self, device: str, position: int, fail: Callable[[], None]) -> Iterator[None]:
        """Call ``fail`` in place of a segment of ``device`` within the block."""
        self.begun.clear()
        self.fault = (device, position, fail)
        try:
            yield
        finally:
            self.fault = None

    def fail_at_once(self) -> None:
        raise KernelError("on purpose")

    def fail_when_others_wait(self) -> None:
        """Fail after the other devices have done all that they can do."""
        self.last_end = time.monotonic()
        while (left := self.last_end + QUIET_SECONDS - time.monotonic()) > 0:
            time.sleep(left)
        raise KernelError("on purpose")


def _host(name: str) -> Any:
    return registry.gpu(int(name.partition(":")[2])).host


def equal(one: Mapping[str, Values], other: Mapping[str, Values]) -> bool:
    return all(
        np.array_equal(one[device][name], other[device][name])
        for device in one
        for name in one[device]
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_failure_of_one_device_changes_no_variable(
    kind: str, monkeypatch: pytest.MonkeyPatch, record_property: Callable[[str, object], None]
) -> None:
    step = FaultyStep(*STRATEGIES[kind], monkeypatch)
    tried = 0
    for task in step.tasks:
        assert task.segment is not None
        for fail in (step.fail_at_once, step.fail_when_others_wait):
            step.restore()
            with (
                step.failing(task.device, task.segment.index, fail),
                pytest.raises(KernelError, match="on purpose"),
            ):
                step.session.run(step.run)
            values = step.values()
            unchanged = equal(values, step.before)
            del values[task.device]
            assert unchanged if not task.final else equal(values, step.after), task.name
            tried += 1
    step.restore()
    step.session.run(step.run)
    assert equal(step.values(), step.after)
    record_property("tried", tried)
    step.model.close()


@pytest.mark.parametrize("kind", KINDS)
def test_a_stop_at_any_moment_changes_all_variables_or_none(
    kind: str, monkeypatch: pytest.MonkeyPatch, record_property: Callable[[str, object], None]
) -> None:
    step = FaultyStep(*STRATEGIES[kind], monkeypatch)
    outcomes = []
    for moment in range(len(step.tasks) + 2):
        step.restore()
        checks = iter(range(moment))
        step.session.stop_check = lambda checks=checks: next(checks, None) is None  # type: ignore[misc]
        with suppress(KeyboardInterrupt):
            step.session.run(step.run)
        step.session.stop_check = lambda: False
        values = step.values()
        outcomes.append(equal(values, step.after))
        assert outcomes[-1] or equal(values, step.before), moment
    assert not outcomes[0]
    record_property("tried", len(outcomes))
    step.model.close()
