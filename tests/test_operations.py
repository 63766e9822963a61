"""A training step operation by operation: the executor's order, the numbers, and no change."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.devices import registry
from playgrad.devices.null import NullHost
from playgrad.errors import FeedError, GraphError
from playgrad.graph.tensor import Node
from playgrad.graph.traversal import ancestors
from playgrad.inspection.operations import StepSight, step_operations
from playgrad.inspection.summary import statistics
from playgrad.ops.state import global_variables
from playgrad.runtime.executor import Executor
from playgrad.runtime.options import Options, options_set
from playgrad.runtime.session import Session
from playgrad.runtime.trace import Trace

COUNT, BATCH = 64, 16


def _trained(device: str = "cpu", strategy: Any = None) -> Any:
    x = np.random.default_rng(3).normal(size=(COUNT, 5)).astype(np.float32)
    model: Any = pg.Sequential([nn.Dense(8, activation="relu"), nn.Dropout(0.5), nn.Dense(2)])
    loss = nn.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(pg.optim.Adam(0.01), loss, metrics=["accuracy"], strategy=strategy)
    with options_set(Options(device=device)):
        model.fit(x, (x[:, 0] > 0).astype(np.int32), batch_size=BATCH, epochs=2, verbose=0)
    return model


DEVICES = ["cpu", pytest.param("gpu", marks=pytest.mark.gpu)]


@pytest.fixture
def model(request: pytest.FixtureRequest) -> Iterator[Any]:
    with pg.Graph().as_default():
        model = _trained(getattr(request, "param", "cpu"))
        yield model
        model.close()


def _state(model: Any) -> dict[str, Any]:
    variables = global_variables(model.graph)
    return dict(zip([v.name for v in variables], model.session.values(variables), strict=True))


def _check_queue(sight: StepSight) -> None:
    """Check that the order is topological, and that queues and counts follow from it."""
    operations = sight.operations
    counts = [len(operation.waits_for) for operation in operations]
    done: set[int] = set()
    for place, operation in enumerate(operations):
        assert set(operation.waits_for) <= done
        assert counts[place] == 0 and place in operation.ready
        expected = {n for n, count in enumerate(counts) if count == 0 and n not in done}
        assert set(operation.ready) == expected
        for follower, before, after in operation.released:
            assert place in operations[follower].waits_for
            assert (before, after) == (counts[follower], counts[follower] - 1)
            counts[follower] = after
        done.add(place)
    assert not any(counts) and done == set(range(len(operations)))


def test_the_order_matches_the_executor(model: Any) -> None:
    sight = pg.inspect(model).step()
    _check_queue(sight)
    session, trace = model.session, Trace()
    session.executor = Executor(threads=1)
    runnable = session.compiled(model.training_targets)
    runnable.executor.threads = 1
    runnable.run({}, trace)
    assert [event.name for event in trace.events] == [each.name for each in sight.operations]
    assert {each.op for each in sight.operations} >= {"matmul", "gather", "batch_indices"}


@pytest.mark.parametrize("model", DEVICES, indirect=True)
def test_values_match_the_next_step_without_changing_it(model: Any) -> None:
    before = _state(model)
    sight = pg.inspect(model).step()
    after = _state(model)
    assert before.keys() == after.keys()
    for name, value in before.items():
        np.testing.assert_array_equal(value, after[name], err_msg=name)
    originals = {node.name: node for node in ancestors(model.training_targets)}
    compared = {
        output.name: output
        for each in sight.operations
        for output in each.outputs
        if each.name in originals
    }
    tensors = [t for node in originals.values() for t in node.outputs if t.name in compared]
    assert len(tensors) > 20
    # Those that are written are fetched by a step that writes them.
    values = model.session.run([*tensors, *model.training_targets])
    for tensor, value in zip(tensors, values, strict=False):
        shown = compared[tensor.name]
        assert shown.shape == value.shape
        expected = statistics(value)
        for key, number in shown.statistics.items():
            assert number == pytest.approx(expected[key], rel=1e-4, abs=1e-5), (tensor.name, key)
    assert any((before[name] != value).any() for name, value in _state(model).items())


def test_the_order_on_a_gpu_matches_the_plan() -> None:
    with registry.attached(NullHost()) as device, pg.Graph().as_default():
        model = _trained(device)
        sight = pg.inspect(model).step()
        _check_queue(sight)
        runnable = model.session.compiled(model.training_targets)
        (segments,) = runnable.compiled.segments.values()
        names = [each.name for each in sight.operations]
        planned = [node.name for segment in segments for node in segment.nodes]
        assert [name for name in planned if name in names] == names
        (plan,) = runnable.plans.values()
        dispatches = [o.dispatch for o in sight.operations if o.dispatch is not None]
        assert set(dispatches) == set(range(len(plan.plan["commands"])))
        product = next(o for o in sight.operations if o.op == "matmul" and o.members)
        assert product.device == device and product.kernel
        assert any("matmul" in member for member in product.members)
        fuse = next(each for each in sight.passes if each.name == "fuse")
        fused = sum(len(each.members) for each in sight.operations)
        assert fused > 0 and fuse.before - fuse.after >= fused
        model.close()


def test_each_device_has_its_own_operations() -> None:
    with pg.Graph().as_default():
        registry.set_logical_devices(cpu=2)
        try:
            model = _trained(strategy=pg.parallel.DataParallel(["cpu:0", "cpu:1"]))
            before = _state(model)
            sight = pg.inspect(model).step()
            _check_queue(sight)
            assert {each.device for each in sight.operations} == {"cpu:0", "cpu:1"}
            assert {"send", "receive"} <= {each.op for each in sight.operations}
            for name, value in _state(model).items():
                np.testing.assert_array_equal(value, before[name])
            model.close()
        finally:
            registry.reset_logical_devices()


def test_the_passes_begin_with_the_graph_and_end_with_the_operations(model: Any) -> None:
    passes = pg.inspect(model).step().passes
    names = ["prune", "specialise", "fold", "share", "place", "mixed", "guard", "sort_once"]
    names += ["roll", "split", "fuse", "join_rows", "order"]
    assert [each.name for each in passes] == names
    assert passes[0].before == len(model.graph.nodes)
    for earlier, later in pairwise(passes):
        assert earlier.after == later.before
    order = model.session.compiled(model.training_targets).compiled.program.order()
    assert passes[-1].after == len(order) < passes[0].before


def test_a_placeholder_has_no_value() -> None:
    graph = pg.Graph()
    with graph.as_default(), Session(graph, "cpu") as session:
        fed = pg.placeholder("float32", (2,), "fed")
        doubled: Node = pg.multiply(fed, 2.0).node
        with pytest.raises(FeedError, match="'fed'"):
            step_operations(session, [doubled])


def test_replicas_at_their_own_pace_have_no_step() -> None:
    with pg.Graph().as_default():
        model = _trained(strategy=pg.parallel.AsynchronousDataParallel(2))
        with pytest.raises(GraphError, match="at their own pace"):
            pg.inspect(model).step()
        model.close()
