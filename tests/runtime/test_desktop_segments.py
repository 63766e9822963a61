"""Strategies on several processors of a desktop: each compiles its segments, equal ones once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any
from unittest import mock

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.devices import registry
from playgrad.errors import DataError, DeviceTimeoutError, OutOfMemoryError
from playgrad.inspection.computed_nodes import computed_nodes
from playgrad.networks.shared_session import shared_session
from playgrad.parallel import DataParallel, LocalSGD, Pipeline, Strategy
from playgrad.parallel.replicas import mirrored_by
from playgrad.runtime import compiled_segments, desktop_host, variables
from playgrad.runtime.compiled_segments import CompiledSegment
from playgrad.runtime.session import Session
from playgrad.runtime.wasmtime_host import WasmtimeHost
from tests.runtime.test_compiled_segments import walk

Array = np.ndarray[Any, Any]


@pytest.fixture(autouse=True)
def processors(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv(desktop_host.VARIABLE)
    registry.set_logical_devices(cpu=2)
    yield
    registry.reset_logical_devices()


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Counts segments that are compiled, and runs of compiled segments."""
    counts = {"codes": 0, "runs": 0}

    def counted(kind: Any, name: str, what: str) -> None:
        function = getattr(kind, name)

        def count(*arguments: Any, **options: Any) -> Any:
            counts[what] += 1
            return function(*arguments, **options)

        monkeypatch.setattr(kind, name, count)

    counted(compiled_segments, "compile_step", "codes")
    counted(CompiledSegment, "run_with", "runs")
    return counts


def trained(strategy: Strategy | None, device: str = "cpu", width: int = 96) -> pg.Model:
    random = np.random.default_rng(0)
    x = random.normal(size=(384, 24)).astype(np.float32)
    y = (x[:, 0] > 0).astype(np.int32)
    hidden: list[Any] = [nn.Dense(width, "tanh"), nn.LayerNormalization(), nn.Dense(width, "gelu")]
    with pg.Graph(seed=3).as_default():
        model = pg.Sequential([*hidden, nn.Dense(2)])
    loss = nn.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(pg.optim.Adam(0.01), loss, device=device, strategy=strategy)
    model.fit(x, y, batch_size=128, epochs=4, verbose=0)
    return model


def bits(model: pg.Model) -> list[bytes]:
    return [array.tobytes() for array in model.get_weights()]


STRATEGIES = {
    "ring": DataParallel(2, "ring"),
    "buckets": DataParallel(2, "tree", 256),
    "local": LocalSGD(2),
    "gpipe": Pipeline(2, 2, "gpipe"),
    "1f1b": Pipeline(2, 4, "1f1b"),
}


@pytest.mark.parametrize("name", STRATEGIES)
def test_each_processor_compiles_its_segments(name: str, compiled: dict[str, int]) -> None:
    strategy = STRATEGIES[name]
    model = trained(strategy)
    assert compiled["runs"] >= 24
    with mock.patch.dict("os.environ", {desktop_host.VARIABLE: "0"}):
        expected = trained(strategy)
    assert compiled["runs"] < 2 * (runs := compiled["runs"])
    for array, other in zip(model.get_weights(), expected.get_weights(), strict=True):
        np.testing.assert_allclose(array, other, 2e-2, 2e-3)
    assert bits(model) == bits(trained(strategy))
    assert compiled["runs"] == 2 * runs
    found = computed_nodes(model.session, model.training_targets)
    assert found is not None and found.compiled_operations == found.operations > 40
    if isinstance(strategy, DataParallel):  # to the bit, after twelve updates
        mirrors = shared_session(model.graph).mirrors
        assert len(mirrors) > 10
        for mirror in mirrors:
            value = model.session.value(mirrored_by(mirror.variable_name))
            np.testing.assert_array_equal(model.session.value(mirror), value)


def test_equal_segments_are_compiled_once(compiled: dict[str, int]) -> None:
    counts = []
    for micro_batches in (4, 32):
        with mock.patch.object(compiled_segments, "is_brief", lambda segment: False):
            trained(Pipeline(2, micro_batches, "gpipe"))
        counts.append(compiled["codes"])
        compiled["codes"] = 0
    assert 5 < counts[1] <= counts[0] + 4, counts
    with mock.patch.object(compiled_segments, "is_brief", lambda segment: False):
        trained(DataParallel(2))
    both = compiled["codes"]
    assert both < 2 * counts[0]


def test_what_is_over_before_a_call_is_left_to_numpy(compiled: dict[str, int]) -> None:
    steps, devices, micro_batches = 12, 2, 32
    trained(Pipeline(devices, micro_batches, "gpipe"), width=8)
    assert steps * devices <= compiled["runs"] < steps * devices * micro_batches  # of twice
    compiled["runs"] = 0
    trained(Pipeline(devices, 2, "gpipe"), width=400)
    assert compiled["runs"] >= steps * devices * (2 * 2 + 1)  # passes, and the update


def test_memory_does_not_grow(compiled: dict[str, int]) -> None:
    model = trained(DataParallel(2))
    store = model.session._programs.store
    hosts = list(store._desktop_hosts.values())
    assert len(hosts) == 2
    x, y = np.zeros((256, 24), np.float32), np.zeros(256, np.int32)
    allocated = []
    for _ in range(3):
        model.fit(x, y, batch_size=128, epochs=4, verbose=0)
        allocated.append([host.allocated for host in hosts])
    assert allocated[1] == allocated[2]


def test_errors_change_nothing_and_name_the_operation(
    graph: pg.Graph, compiled: dict[str, int]
) -> None:
    places, both, variables = walk(graph)
    with Session(graph, "cpu") as session:

        def values() -> list[Array]:
            return [session.value(variable) for variable in variables]

        with pytest.raises(DataError, match=r"9.*test_compiled_segments\.py, line") as raised:
            session.run(both, {places: np.int32([1, 9])})
        assert "cpu:1 was computing" in str(raised.value.__notes__)
        np.testing.assert_array_equal(values(), [[0, 1, 2, 3], [0, 0, 0, 0]])
        session.run(both, {places: np.int32([1, 3])})
        np.testing.assert_array_equal(values(), [[4, 5, 6, 7], [8, 10, 12, 14]])
        assert compiled["runs"] >= 2
        session.assign({variables[0]: np.ones(4, np.float32)})
        session.run(both, {places: np.int32([0, 1])})
        np.testing.assert_array_equal(values(), [[3, 3, 3, 3], [6, 6, 6, 6]])


def test_errors_name_the_segment_that_failed(graph: pg.Graph, compiled: dict[str, int]) -> None:
    """Two devices have the same code: the error is of the one whose places are outside."""
    places = [pg.placeholder("int32", (None,)) for _ in range(2)]
    updates = []
    for number in range(2):
        with graph.device(f"cpu:{number}"), graph.name_scope(f"walk{number}"):
            w = pg.Variable(np.arange(4, dtype=np.float32))
            taken = pg.take(w, places[number])
            updates.append(w.assign_add(pg.reduce_sum(taken) + pg.zeros([4])))
    both = pg.group(*updates)
    inside, outside = np.int32([1]), np.int32([7])
    with Session(graph, "cpu") as session:
        session.run(both, {places[0]: inside, places[1]: inside})
        assert compiled == {"codes": 1, "runs": 2}
        for number in range(2):
            feeds = {places[number]: outside, places[1 - number]: inside}
            with pytest.raises(DataError, match=f"walk{number}/"):
                session.run(both, feeds)


def test_no_host_without_the_compiler_or_on_the_reference_device(
    compiled: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    trained(DataParallel(["reference:0", "reference:1"]), device="reference")
    monkeypatch.setattr(desktop_host, "has_compiler", lambda: False)
    trained(DataParallel(2))
    assert compiled == {"codes": 0, "runs": 0}


def test_without_addresses_numpy_computes_or_members_are_told(
    compiled: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def exhausted() -> None:
        raise MemoryError

    monkeypatch.setattr(variables, "desktop_host", exhausted)
    model = trained(DataParallel(2))
    assert compiled["runs"] == 0
    runnable = model.session.compiled(model.training_targets)
    assert runnable is not None
    store = runnable.store
    with pytest.raises(OutOfMemoryError, match="PLAYGRAD_SIMD=0"):
        compiled_segments.SegmentCompiler(
            runnable.compiled.segments, (), store.desktop_host, store.block_of, can_do_without=False
        )


@pytest.mark.parametrize("name", ["ring", "gpipe"])
def test_what_needs_more_memory_than_code_has_is_left_to_numpy(
    name: str, compiled: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By an estimate, which also counts the arrays of results that outlive a segment."""
    most = dict.fromkeys(range(2), 0)
    empty = WasmtimeHost.empty

    def noting(self: WasmtimeHost, size: int) -> Array:
        array, number = empty(self, size), hosts.setdefault(id(self), len(hosts))
        most[number] = max(most[number], self.allocated)
        return array

    hosts: dict[int, int] = {}
    monkeypatch.setattr(WasmtimeHost, "empty", noting)
    trained(STRATEGIES[name], width=256)
    runs = compiled["runs"]
    assert runs and most[0] and most[1]
    for limit, expected in ((int(0.98 * min(most.values())), 0), (2 * max(most.values()), runs)):
        hosts.clear()
        compiled["runs"] = 0
        monkeypatch.setattr(compiled_segments, "MOST", limit)
        trained(STRATEGIES[name], width=256)
        assert compiled["runs"] == expected


def test_a_processor_that_is_busy_with_a_lost_run_says_so(graph: pg.Graph) -> None:
    places, both, _ = walk(graph)
    with Session(graph, "cpu") as session:
        session.run(both, {places: np.int32([1])})
        store = session._programs.store
        block = store.block_of(store.desktop_host("cpu:1"))
        taken = threading.Event()
        done = threading.Event()

        def hang() -> None:
            held = block.take(1)
            taken.set()
            done.wait()
            block.give_back(held)

        thread = threading.Thread(target=hang)
        thread.start()
        taken.wait()
        try:
            with pytest.raises(DeviceTimeoutError, match="earlier run"):
                session.run(both, {places: np.int32([1])})
        finally:
            done.set()
            thread.join()
        session.run(both, {places: np.int32([1])})
