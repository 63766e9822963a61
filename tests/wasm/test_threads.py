"""Work that threads share, in wasmtime, where one thread does all chunks."""

from __future__ import annotations

from collections.abc import Iterator
from unittest import mock

import numpy as np
import pytest

import playgrad as pg
from playgrad.contract.cases import Case, cases
from playgrad.graph.graph import Graph
from playgrad.graph.tensor import Node
from playgrad.ops.convolution import emit_convolution
from playgrad.ops.emitted import emitter_of
from playgrad.ops.emitters import Operand
from playgrad.ops.products import emit_matmul
from playgrad.runtime.thread_choice import ThreadChoice
from playgrad.wasm import step
from playgrad.wasm.atomics import atomic_store
from playgrad.wasm.module import Module
from playgrad.wasm.step import StepCode
from playgrad.wasm.threads import LIMIT, MODULE, NEXT, PRIVATE, STRIDE, ThreadProcedures
from playgrad.wasm.values import integer
from tests.wasm.emitted_node import FailedError, node_of, run_emitted
from tests.wasm.wasmtime_host import WasmtimeHost

SHARED = [
    case
    for case in cases()
    if case.op.name in ("exp", "add", "where", "greater", "apply_adam", "gather", "concat")
    or case.op.name.startswith(("reduce_", "sum_to", "arg", "cumsum", "random_", "dropout"))
    or case.op.name.startswith(("matmul", "conv2d", "avg_pool", "max_pool"))
    or "softmax" in case.op.name
    or "attention" in case.op.name
    or "_cell" in case.op.name
    or "layer_norm" in case.op.name
]


@pytest.fixture
def shares() -> Iterator[None]:
    """Have operations of any size be shared, and products of any size be packed."""
    with (
        mock.patch.object(step, "WORTH", 0.0),
        mock.patch.object(step, "SHORTEST", 1e-12),
        mock.patch.object(emit_matmul, "PACKED_FROM", 1),
        mock.patch.object(emit_convolution, "PACKED_FROM", 1),
    ):
        yield


@pytest.mark.usefixtures("shares")
def test_chunks_have_the_bits_of_the_whole() -> None:
    """Of all operations that threads share, with the samples of the op contract."""
    jobs = 0
    split = StepCode.split

    def counting(self: StepCode, *arguments: object, **named: object) -> None:
        nonlocal jobs
        jobs += 1
        split(self, *arguments, **named)  # type: ignore[arg-type]

    def results(case: Case, threads: int) -> list[bytes] | None:
        node = node_of(case.op, case.sample.inputs, case.sample.attrs)
        try:
            values = run_emitted(node, case.sample.inputs, threads=threads)
        except FailedError:
            return None
        return None if values is None else [np.ascontiguousarray(v).tobytes() for v in values]

    shared = set()
    with mock.patch.object(StepCode, "split", counting):
        for case in SHARED:
            node = node_of(case.op, case.sample.inputs, case.sample.attrs)
            if emitter_of(node) is None:
                continue
            whole, before = results(case, 1), jobs
            assert results(case, 3) == whole, str(case)
            if jobs > before:
                shared.add(case.op.name)
    assert {
        "matmul", "conv2d", "conv2d_filter_gradient", "conv2d_input_gradient", "softmax", "exp",
        "avg_pool2d", "layer_normalization", "dot_product_attention", "lstm_cell", "max_pool2d",
        "max_pool2d_gradient", "reduce_sum", "reduce_max", "sum_to", "argmax", "gather", "concat",
    } <= shared  # fmt: skip


SUMS = {"sum": pg.reduce_sum, "mean": pg.reduce_mean, "max": pg.reduce_max, "prod": pg.reduce_prod}


@pytest.mark.usefixtures("shares")
@pytest.mark.parametrize("name", SUMS)
def test_chunks_of_reductions_have_the_bits_of_the_whole(name: str) -> None:
    """Of columns, of which lines of a cache stay together, of rows, and of both: also where
    float32 is added in float64."""
    random = np.random.default_rng(0)
    forms: list[tuple[tuple[int, ...], tuple[int, ...], str]] = [
        ((300, 37), (0,), "float32"),
        ((4100, 50), (0,), "float32"),
        ((3, 7, 50), (1,), "float32"),
        ((5, 4200), (1,), "float32"),
        ((5, 3, 4, 33), (0, 2), "float32"),
        ((6, 40), (0,), "float64"),
        ((6, 40), (0,), "float64" if name == "mean" else "int32"),
    ]
    for shape, axes, dtype in forms:
        values = random.normal(size=shape) * 3
        with Graph().as_default():
            node = SUMS[name](pg.placeholder(dtype, shape), axes).node
        x = values.astype(dtype)
        whole, shared = (run_emitted(node, [x], threads=count) for count in (1, 3))
        assert whole is not None and shared is not None
        assert whole[0].tobytes() == shared[0].tobytes(), (shape, axes, dtype)
        assert run_jobs(node, 3) == 1


@pytest.mark.usefixtures("shares")
@pytest.mark.parametrize("form", [(1, 300, 133), (4, 7, 2051), (3, 1, 1030), (2, 65, 5)])
def test_products_of_a_few_rows_add_up_in_order(form: tuple[int, int, int]) -> None:
    """Also those of columns of a matrix, and with any number of threads."""
    rows, terms, columns = form
    random = np.random.default_rng(0)
    a, b = random.normal(size=(rows, terms)), random.normal(size=(terms, columns))
    a, b = a.astype(np.float32), b.astype(np.float32)
    expected = np.zeros((rows, columns), np.float32)
    for term in range(terms):
        expected += a[:, term, None] * b[term]
    for flips, left in ((False, a), (True, a.T.copy())):
        with Graph().as_default():
            operands = [pg.placeholder("float32", each.shape) for each in (left, b)]
            node = pg.matmul(*operands, transpose_a=flips).node
        for threads in (1, 3):
            result = run_emitted(node, [left, b], threads=threads)
            assert result is not None and result[0].tobytes() == expected.tobytes()
    assert run_jobs(node, 3) == (columns > 16)


def run_jobs(node: Node, threads: int) -> int:
    """Return how many jobs the code of ``node`` has."""
    code = StepCode(False, threads=threads)
    code.begin_run()
    operands = [
        Operand(tensor.spec, code.in_block(0), place)
        for place, tensor in enumerate((*node.inputs, *node.outputs))
    ]
    emitter = emitter_of(node)
    assert emitter is not None
    emitter.emit(code, node, operands[: len(node.inputs)], operands[len(node.inputs) :])
    return code.jobs


def test_a_thread_uses_the_memory_of_the_run_whose_chunk_it_has_taken() -> None:
    """A thread may look for chunks for so long that another run has begun, on a block that is
    elsewhere."""
    module = Module()
    procedures = ThreadProcedures(module)
    _, job = procedures.job(0)
    control, f = job.f.arguments[0], job.f
    f.store(control + job.chunk * 4, job.scratch, 1000)
    f.store(control, integer(9000), PRIVATE)
    with f.when(job.chunk):
        atomic_store(f, control, 0, MODULE)
    procedures.finish()
    host = WasmtimeHost(module.encode(), 1 << 16)
    words = host.view(64, (512,), np.int32)
    words[MODULE // 4], words[PRIVATE // 4], words[STRIDE // 4] = 1, 8000, 16
    words[NEXT // 4], words[LIMIT // 4] = 1 << 8, (1 << 8) + 2
    host.function("work")(64, 1, 2)
    assert list(words[250:252]) == [8016, 9016]


def test_small_work_is_not_shared() -> None:
    code = StepCode(False, threads=8)
    assert code.chunks(step.WORTH / 2, 100) == 1
    assert code.chunks(1.0, 1) == 1
    assert code.chunks(1e-3, 100) == 8 * step.CHUNKS
    assert code.chunks(0.05, 100) == 50
    assert code.chunks(1.0, 100) == 100
    assert StepCode(False).chunks(1.0, 100) == 1


@pytest.mark.parametrize("faster", [True, False])
def test_threads_are_used_where_they_make_runs_faster(faster: bool) -> None:
    """The other way is tried now and then, for the machine may have become idle, or busy."""
    choice, ways = ThreadChoice(), []
    for _ in range(200):
        ways.append(choice.shares())
        choice.measured(ways[-1], 1.0 if ways[-1] == faster else 2.0)
    assert {True, False} == set(ways[:10])
    assert 0 < ways[20:].count(not faster) < 10
    for _ in range(400):
        ways.append(choice.shares())
        choice.measured(ways[-1], 2.0 if ways[-1] == faster else 1.0)
    assert ways[-50:].count(not faster) > 40
