"""The cache returns compiled programs, unless something that matters has changed."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import playgrad as pg
from playgrad import nn
from playgrad.compiler.cache import CompileCache
from playgrad.compiler.compile import Compiled, compile_program
from playgrad.compiler.place import Policy
from playgrad.compiler.program import Program
from playgrad.compiler.steps import Place
from playgrad.devices.target import Limits, Target
from playgrad.graph.graph import Graph
from playgrad.graph.opdef import OpDef, lookup
from playgrad.graph.tensor import Tensor

HOST = Policy("cpu:0", ("cpu:0", "gpu:0"))
GPU = Policy("gpu:0", ("cpu:0", "gpu:0"))


def sum_of(constant: Any = 1.0, name: str = "y", op: OpDef | None = None, seed: int = 0) -> Tensor:
    graph = Graph(seed)
    with graph.as_default():
        x = pg.placeholder("float32", [None], name="x")
        (tensor,) = graph.add(
            op or lookup("add"), [x, pg.constant(np.float32(constant))], name=name
        ).outputs
    return tensor


def compiled(y: Tensor, count: int = 3, policy: Policy = HOST) -> Compiled:
    x = y.graph.tensor("x:0")
    return compile_program(Program(y.graph, [y], feeds={x.name: x}), {x.name: (count,)}, policy)


def test_equal_code_is_compiled_once() -> None:
    assert compiled(sum_of()) is compiled(sum_of())


def another_kernel() -> OpDef:
    return dataclasses.replace(lookup("add"), lower=lambda request: None)


@pytest.mark.parametrize(
    "other",
    [
        lambda: compiled(sum_of(constant=np.nextafter(np.float32(1), np.float32(2)))),
        lambda: compiled(sum_of(constant=np.ones(1))),
        lambda: compiled(sum_of(name="z")),
        lambda: compiled(sum_of(op=another_kernel())),
        lambda: compiled(sum_of(op=lookup("sub"))),
        lambda: compiled(sum_of(seed=1)),
        lambda: compiled(sum_of(), count=4),
        lambda: compiled(sum_of(), policy=GPU),
        lambda: compiled(sum_of(), policy=dataclasses.replace(HOST, chosen=lambda node: "gpu:0")),
    ],
    ids=["constant", "shape", "name", "kernel", "op", "seed", "feed", "device", "placement"],
)  # fmt: skip
def test_different_programs_are_compiled_separately(other: Callable[[], Compiled]) -> None:
    assert compiled(sum_of()) is not other()


def test_devices_count_if_a_program_names_them() -> None:
    fewer = dataclasses.replace(HOST, available=("cpu:0",))
    assert compiled(sum_of()) is compiled(sum_of(), policy=fewer)
    named = [
        dataclasses.replace(policy, chosen=lambda node: "gpu", soft=True)
        for policy in (HOST, fewer)
    ]
    on_gpu, without = (compiled(sum_of(), policy=policy) for policy in named)
    assert {node.device for node in without.order} == {"cpu:0"} != {n.device for n in on_gpu.order}


def test_programs_from_other_source_lines_are_compiled_separately() -> None:
    first, second = sum_of(), sum_of()
    with first.graph.as_default():
        one = pg.neg(first, name="z")
    with second.graph.as_default():
        other = pg.neg(second, name="z")
    lines = [compiled(y).program.fetches[0].node.source for y in (one, other)]
    assert lines[0] != lines[1]


def test_plans_are_made_for_each_target_and_layout() -> None:
    program = compiled(sum_of(), policy=GPU)
    target = Target(True, Limits())
    plan = program.plan("gpu:0", target, {})
    assert program.plan("gpu:0", Target(True, Limits()), {}) is plan
    assert compiled(sum_of(), policy=GPU).plan("gpu:0", target, {}) is plan
    assert program.plan("gpu:0", Target(False, Limits()), {}) is not plan
    smaller = Target(True, Limits(max_storage_buffer_binding_size=1 << 16))
    assert program.plan("gpu:0", smaller, {}) is not plan
    assert program.plan("gpu:0", target, {"w": Place("state1", 0)}) is not plan


def test_graphs_with_incomparable_attributes_are_not_cached() -> None:
    @dataclasses.dataclass
    class Opaque:
        number: int

    op = dataclasses.replace(lookup("neg"), name="opaque")

    def program(number: int) -> Program:
        graph = Graph()
        with graph.as_default():
            node = graph.add(op, [pg.constant(1.0)], {"value": Opaque(number)})
        return Program(graph, list(node.outputs))

    assert CompileCache().key(program(1), {}, HOST) is None
    assert compile_program(program(1), {}, HOST) is not compile_program(program(1), {}, HOST)


def test_oldest_programs_are_dropped() -> None:
    cache = CompileCache(capacity=2)
    programs = [Program(y.graph, [y]) for y in (sum_of(1), sum_of(2), sum_of(3))]
    keys = [cache.key(program, {}, HOST) for program in programs]
    entry = compiled(sum_of())
    cache.put(keys[0], programs[0], entry)
    cache.put(keys[1], programs[1], entry)
    assert cache.get(keys[0]) is entry
    cache.put(keys[2], programs[2], entry)
    assert cache.get(keys[1]) is None
    assert cache.get(keys[0]) is entry


def losses(rate: Any, seed: int = 0) -> list[float]:
    """Train briefly with a new graph and session, as each run in the page does."""
    with Graph(seed).as_default():
        return _losses(rate)


def _losses(rate: Any) -> list[float]:
    x = np.linspace(-1, 1, 32, dtype=np.float32).reshape(16, 2)
    model = pg.Sequential([nn.Dense(4, activation="tanh"), nn.Dense(1)])
    model.compile(pg.optim.SGD(rate), loss=nn.MeanSquaredError())
    history = model.fit(x, x.sum(1, keepdims=True), batch_size=8, epochs=2, verbose=0)
    return [float(loss) for loss in history.history["loss"]]


def test_cached_programs_respect_the_schedule_and_the_seed() -> None:
    first = losses(0.1)
    assert losses(0.1) == first
    assert losses(0.2) != first
    decay = pg.optim.ExponentialDecay(0.1, decay_steps=1, decay_rate=0.5)
    slower = losses(decay)
    assert slower != first
    assert losses(pg.optim.ExponentialDecay(0.1, decay_steps=1, decay_rate=0.9)) != slower
    assert losses(decay) == slower
    assert losses(0.1, seed=1) != first


def test_sessions_of_one_compiled_program_have_their_own_state() -> None:
    def counter() -> tuple[Graph, Tensor]:
        graph = Graph()
        with graph.as_default():
            count = pg.Variable(np.float32(0), name="count")
            return graph, count.assign_add(1.0)

    (one, add_one), (two, add_two) = counter(), counter()
    with pg.Session(one) as first, pg.Session(two) as second:
        assert [float(first.run(add_one)) for _ in range(3)] == [1, 2, 3]
        assert float(second.run(add_two)) == 1
        assert float(first.run(add_one)) == 4
