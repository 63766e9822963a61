"""Plans: plain data, within the device's rules, and unchanged by a round trip through JSON."""

from __future__ import annotations

import base64
import itertools
import json
from typing import Any

import numpy as np
import pytest

from playgrad import ops
from playgrad.compiler.compile import compile_program
from playgrad.compiler.place import Policy
from playgrad.compiler.plan import PlanBuilder
from playgrad.compiler.program import Program
from playgrad.compiler.steps import Place
from playgrad.devices import registry
from playgrad.devices.base import Execution
from playgrad.devices.null import NullHost
from playgrad.devices.target import Limits, Target
from playgrad.errors import KernelError, OutOfMemoryError
from playgrad.graph.graph import Graph
from playgrad.graph.tensor import Node, Tensor
from playgrad.runtime.session import Session
from tests.compiler.interpreter import interpret
from tests.compiler.programs import network

GPU = "gpu:0"
CONTENT = (np.arange(1 << 14) % 50 * 0.01).astype(np.float32)
"""Contents of the variables' buffer when a test executes a plan."""


def plan_of(
    fetches: list[Tensor],
    targets: list[Node] = (),
    feeds: dict[Tensor, tuple[int, ...]] | None = None,
    limits: Limits | None = None,
    reuse: bool = True,
    state: dict[str, Place] | None = None,
    merge: bool = False,
    is_software: bool = True,
) -> dict[str, Any]:
    """Return the Plan of a program on one GPU, with its variables in one buffer "state"."""
    feeds = feeds or {}
    graph = (fetches[0] if fetches else targets[0]).graph
    program = Program(graph, list(fetches), list(targets), {t.name: t for t in feeds})
    shapes = {t.name: shape for t, shape in feeds.items()}
    compiled = compile_program(program, shapes, Policy(GPU, ("cpu:0", GPU)))
    builder = PlanBuilder(
        compiled.segments[GPU],
        compiled.program.fetches,
        Target(is_software, limits or Limits()),
        state if state is not None else places_of_variables(graph),
        reuse_memory=reuse,
        merge_dispatches=merge,
    )
    return builder.build()


def places_of_variables(graph: Graph) -> dict[str, Place]:
    offset = 0
    places = {}
    for variable in ops.global_variables(graph):
        places[variable.node.name] = Place("state", offset)
        offset += -(-4 * variable.spec.size // 256) * 256
    return places


def training_plan(batch: int = 6, **options: Any) -> dict[str, Any]:
    net = network()
    return plan_of([net.loss], [net.train], {net.x: (batch, 10), net.labels: (batch,)}, **options)


def arena_bytes(plan: dict[str, Any]) -> int:
    return sum(buffer["size"] for buffer in plan["buffers"] if buffer["role"] == "arena")


def test_a_plan_is_plain_json_data():
    plan = training_plan()
    assert json.loads(json.dumps(plan, allow_nan=False)) == plan
    assert plan["version"] == 2
    assert set(plan) == {
        "version",
        "buffers",
        "kernels",
        "commands",
        "segments",
        "feeds",
        "fetches",
    }
    assert plan["segments"] == [[0, len(plan["commands"])]]
    assert set(plan["feeds"]) == {"x", "labels"} and set(plan["fetches"]) == {"loss:0"}
    assert plan["feeds"]["x"]["shape"] == [6, 10] and plan["feeds"]["labels"]["dtype"] == "int32"


def test_numbers_that_json_lacks_are_text():
    with Graph().as_default():
        x = ops.placeholder("float32", [2], name="x")
        plan = plan_of([ops.where(x > 0, x, float("inf"))], feeds={x: (2,)})
    text = json.dumps(plan["kernels"][0]["params"], allow_nan=False)
    assert '{"float": "inf"}' in text


def test_a_plan_follows_the_rules_of_webgpu():
    host = NullHost()
    state = host.create_buffer(1 << 20)
    host.load(training_plan(), {"state": state})
    plan = training_plan()
    for command in plan["commands"]:
        assert len(command["bindings"]) == len(plan["kernels"][command["kernel"]]["access"])
        assert all(offset % 256 == 0 and size % 4 == 0 for _, offset, size in command["bindings"])
        assert len(command["workgroups"]) == 3 and min(command["workgroups"]) >= 1
    for kernel in plan["kernels"]:
        assert kernel["wgsl"].count("@compute") == 1 and "fn main(" in kernel["wgsl"]
        for i in range(len(kernel["access"])):
            assert f"@binding({i}) var<storage, {kernel['access'][i]}>" in kernel["wgsl"]


def test_steps_name_their_nodes():
    named = {command["node"] for command in training_plan()["commands"]}
    merged = training_plan(merge=True)["commands"]
    assert named == {name for command in merged for name in command["nodes"]} and len(merged) == 1
    assert {"relu", "dense_2/add"} <= named  # the last node of each fused kernel
    assert any(name.startswith("gradients/") for name in named)
    assert sum(name.startswith("apply_momentum") for name in named) == 4


def test_equal_kernels_are_stored_once():
    with Graph().as_default():
        x = ops.placeholder("float32", [4], name="x")
        y = ops.reduce_sum(ops.reshape(ops.exp(x), [2, 2]), axis=0)
        z = ops.reduce_sum(ops.reshape(ops.neg(x), [2, 2]), axis=0)
        plan = plan_of([y, z], feeds={x: (4,)})
    families = [kernel["family"] for kernel in plan["kernels"]]
    assert len(plan["commands"]) == 4 and len(plan["kernels"]) == 3, families


def test_updates_are_in_place():
    with Graph().as_default():
        w = ops.Variable(np.zeros(100), name="w")
        plan = plan_of([], [w.assign_add(ops.constant(np.ones(100))).node])
    (command,) = plan["commands"]
    state = next(b["id"] for b in plan["buffers"] if b["role"] == "state")
    assert [b for b in plan["buffers"] if b["role"] == "arena"] == []
    assert plan["buffers"][state]["external"] == "state"
    assert [binding[0] for binding in command["bindings"]].count(state) == 1


def test_access_is_upgraded_only_beside_writes_of_the_same_buffer():
    with Graph().as_default():
        w, g = ops.Variable(np.zeros(100), name="w"), ops.Variable(np.ones(100), name="g")
        grad = ops.constant(np.ones(100))
        one_buffer = plan_of([], [w.assign_sub(g * grad).node])
        apart = plan_of(
            [], [w.assign_sub(g * grad).node],
            state={"w": Place("first", 0), "g": Place("second", 0)},
        )  # fmt: skip
        reading = plan_of([w + g])
    assert accesses(one_buffer) == ["constant read", "state read_write", "state read_write"]
    assert accesses(apart) == ["constant read", "state read", "state read_write"]
    assert accesses(reading) == ["arena read_write", "state read", "state read"]


def test_a_variable_is_not_bound_twice_beside_a_write():
    """Both bindings would be for writing, which WebGPU forbids for overlapping ranges."""
    with Graph().as_default():
        history = ops.Variable(np.zeros((4, 2)), name="history")
        rate = ops.Variable(0.5, name="rate")
        w, u = ops.Variable(np.zeros((2, 2)), name="w"), ops.Variable(np.ones((2, 2)), name="u")
        twice = ops.record(history, ops.constant(1, dtype="uint32"), [rate, rate])
        alias = w.assign_add(u * ops.reshape(u, [2, 2]))
        for update, steps in ((twice, 2), (alias, 2), (w.assign_add(w), 1)):
            plan = plan_of([], [update.node])
            assert len(plan["commands"]) == steps
            host = NullHost()
            host.load(plan, {"state": host.create_buffer(1 << 16)})
    for device in ("cpu", "gpu"):
        with Session(history.graph, device=device) as session:
            session.run([twice.node, alias.node])
            assert session.value(history).tolist() == [[0, 0], [0.5, 0.5], [0, 0], [0, 0]]
            assert session.value(w).tolist() == [[1, 1], [1, 1]]


def accesses(plan: dict[str, Any]) -> list[str]:
    (command,) = plan["commands"]
    roles = [plan["buffers"][binding[0]]["role"] for binding in command["bindings"]]
    access = plan["kernels"][command["kernel"]]["access"]
    return sorted(f"{role} {mode}" for role, mode in zip(roles, access, strict=True))


def test_constants_travel_in_the_plan():
    value = np.arange(70, dtype=np.float32)
    with Graph().as_default():
        x = ops.placeholder("float32", [70], name="x")
        plan = plan_of([x * ops.constant(value) + ops.constant([5.0] * 70)], feeds={x: (70,)})
    (buffer,) = [b for b in plan["buffers"] if b["role"] == "constant"]
    data = base64.b64decode(buffer["data"])
    assert len(data) == buffer["size"] == 1024
    stored = {data[0:280], data[512:792]}
    assert value.tobytes() in stored and np.full(70, 5, np.float32).tobytes() in stored


def test_memory_is_reused():
    reused, each = training_plan(), training_plan(reuse=False)
    assert 0 < arena_bytes(reused) < arena_bytes(each)


@pytest.mark.gpu
def test_memory_reuse_and_json_do_not_change_results():
    """Run the same commands with two memory plans on the real device."""
    net = network()
    feeds = net.feeds()
    state = {
        name: CONTENT[place.offset // 4 :][: net.graph.tensor(name).spec.size].reshape(
            net.graph.tensor(name).spec.static_shape
        )
        for name, place in places_of_variables(net.graph).items()
    }
    program = Program(net.graph, [net.loss, net.logits], [], {t.name: t for t in feeds})
    expected, _ = interpret(program, {t.name: a for t, a in feeds.items()}, state)
    results = []
    for reuse in (True, False):
        plan = plan_of([net.loss, net.logits], feeds={t: a.shape for t, a in feeds.items()},
                       reuse=reuse)  # fmt: skip
        results.append(execute(json.loads(json.dumps(plan)), feeds))
    assert results[0] == results[1]
    for have, want in zip(results[0], expected, strict=True):
        np.testing.assert_allclose(np.frombuffer(have, "f4"), want.reshape(-1), rtol=1e-4)


def execute(
    plan: dict[str, Any], feeds: dict[Tensor, np.ndarray], state_too: bool = False
) -> list[bytes]:
    """Load a plan on the first GPU and run it once, with ``CONTENT`` in the variables.

    Returns:
        The fetched bytes and, if ``state_too``, the final content of the variables' buffer.
    """
    host = registry.gpu(0).host
    state = host.create_buffer(1 << 16)
    program = host.load(plan, {"state": state})
    writes = [(state, 0, CONTENT)]
    for tensor, array in feeds.items():
        slot = plan["feeds"].get(tensor.node.name)
        if slot is None:
            continue
        writes.append(((program, slot["buffer"]), slot["offset"], array))
    reads = [
        ((program, slot["buffer"]), slot["offset"], 4 * int(np.prod(slot["shape"])))
        for slot in plan["fetches"].values()
    ]
    if state_too:
        reads.append((state, 0, 1 << 16))
    result = host.execute(Execution(program, writes=writes, reads=reads))
    host.unload(program)
    host.destroy_buffer(state)
    return result.data


class TestLimits:
    """A plan that is too large for an adapter is refused before anything is loaded."""

    def plan(self, limits: Limits) -> dict[str, Any]:
        with Graph().as_default():
            x = ops.placeholder("float32", [None, 64], name="x")
            y = ops.reduce_sum(ops.matmul(x, x, transpose_b=True, name="square"))
            return plan_of([y], feeds={x: (64, 64)}, limits=limits)

    def test_the_smallest_sufficient_limit_is_accepted(self):
        host = NullHost(Limits(max_storage_buffer_binding_size=64 * 64 * 4))
        host.load(self.plan(host.info.limits))

    def test_a_tensor_beyond_the_binding_limit_is_refused(self):
        limits = Limits(max_storage_buffer_binding_size=64 * 64 * 4 - 4)
        with pytest.raises(OutOfMemoryError) as caught:
            self.plan(limits)
        text = str(caught.value)
        assert "'square' needs a buffer of" in text and "the adapter binds at most" in text
        assert "Use a smaller batch or a smaller layer, or device='cpu'." in text
        assert caught.value.op == "square" and __file__ in text

    def test_a_feed_beyond_the_binding_limit_is_refused(self):
        limits = Limits(max_storage_buffer_binding_size=64 * 64 * 4 - 4)
        with Graph().as_default():
            x = ops.placeholder("float32", [64, 64], name="x")
            plan = plan_of([ops.reduce_sum(x, name="total")], feeds={x: (64, 64)}, limits=limits)
        host = NullHost(limits)
        with pytest.raises(OutOfMemoryError, match=r"total: a tensor needs 16,384 bytes"):
            host.load(plan)
        assert host.stats()["buffers"] == 0

    def test_arenas_respect_the_buffer_limit(self):
        limits = Limits(max_buffer_size=64 * 64 * 4, max_storage_buffer_binding_size=64 * 64 * 4)
        plan = self.plan(limits)
        assert max(b["size"] for b in plan["buffers"]) <= limits.max_buffer_size

    def test_a_failed_load_frees_its_buffers(self):
        host = NullHost(memory=20_000)
        with pytest.raises(OutOfMemoryError, match="null has no room for a buffer of"):
            host.load(self.plan(host.info.limits))
        assert host.stats()["bytes"] == host.stats()["programs"] == 0


class TestLayoutRules:
    """The null device refuses whatever WebGPU refuses, so that any plan can be checked."""

    @pytest.fixture
    def plan(self):
        return training_plan()

    def refused(self, plan, words):
        host = NullHost()
        with pytest.raises(KernelError, match=words):
            host.load(plan, {"state": host.create_buffer(1 << 16)})
        assert host.stats()["programs"] == 0 and host.stats()["buffers"] == 1

    def test_overlapping_reads_and_writes_are_refused(self, plan):
        command = next(s for s in plan["commands"] if len(s["bindings"]) > 2)
        access = plan["kernels"][command["kernel"]]["access"]
        written = access.index("read_write")
        command["bindings"][access.index("read")][:2] = command["bindings"][written][:2]
        self.refused(plan, "read and write buffer")

    def test_bindings_beyond_a_buffer_are_refused(self, plan):
        plan["commands"][0]["bindings"][0][1] += 1 << 20
        self.refused(plan, f"{plan['commands'][0]['node']}.*reaches beyond buffer")

    def test_misaligned_bindings_are_refused(self, plan):
        plan["commands"][0]["bindings"][0][1] += 4
        self.refused(plan, "not aligned")

    def test_segments_beyond_the_commands_are_refused(self, plan):
        plan["segments"][0][1] += 1
        self.refused(plan, "segment .* is outside its [0-9]+ commands")


def test_distinct_dispatches_of_one_tensor_do_not_alias():
    """A dispatch reads and writes different arenas."""
    plan = training_plan()
    for command in plan["commands"]:
        access = plan["kernels"][command["kernel"]]["access"]
        for (i, a), (j, b) in itertools.combinations(enumerate(command["bindings"]), 2):
            if plan["buffers"][a[0]]["role"] == "arena" and a[0] == b[0]:
                assert access[i] == access[j]
