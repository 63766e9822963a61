"""The op contract: the rules for every registered operation, checked with each of its samples.

A new operation is tested because it is registered. There is no list of exceptions: an operation
runs on a device, or using it there raises an UnsupportedOpError that names it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

import pytest

from playgrad.compiler import dispatch_groups
from playgrad.compiler.mixed import PRODUCTS
from playgrad.contract.cases import Case, cases_of, in_float16, invalid_cases, operations
from playgrad.contract.on_device import check_gradients, check_mixed, check_values
from playgrad.contract.rules import (
    check_derivatives,
    check_float16,
    check_json,
    check_reference,
    check_specialised,
    check_unknown_dimensions,
)
from playgrad.contract.special_values import check_small_arguments, check_special_values, is_plain
from playgrad.devices import registry
from playgrad.devices.target import Limits, Target
from playgrad.devices.tuning import Tuning
from playgrad.graph.graph import Graph
from playgrad.graph.opdef import InvalidSample, OpDef
from playgrad.ops import placeholder
from playgrad.ops.elementwise import vector_kernel
from playgrad.ops.lowering import block_tiling, layer_normalization, strided_copy
from tests.sweeps import slow

GPU = "gpu:0"
FAMILIES = {
    "registers": (True, 4),
    "shared": (False, 4),
    "apart": (True, 1),
    "registers_of_many": (True, dispatch_groups.MAX_MEMBERS),
    "shared_of_many": (False, dispatch_groups.MAX_MEMBERS),
    "vectors": (False, 4),
    "subgroups": (False, 4),
}
"""Whether to use the kernels of a software adapter, and how many may be merged. Those of hardware
multiply packed int8. llvmpipe takes longer for one kernel of sixteen than for four of four, and no
time for one that it has seen."""
BY_VECTORS = Tuning("blocks_8x8", "blocks_8x4", "trees", "vectors")
BY_SUBGROUPS = Tuning("shared_64", "shared_64", "subgroups")
MEMORY_SIZES = ("LEAST_ITEMS", "MANY_ITEMS")
LEAST_SIZES = [
    *((module, name) for module in (vector_kernel, strided_copy) for name in MEMORY_SIZES),
    (layer_normalization, "LEAST_SIZE"),
    (block_tiling, "WIDE_FROM"),
]
"""From which on the kernels of family "vectors" read four numbers, or four vectors, at a time."""
VALUES = ["registers", "shared", "registers_of_many", "shared_of_many", "vectors", "subgroups"]
GRADIENTS = ["apart", *VALUES]
# Operations with a kernel that depends on the family, except operations that others become.
PRODUCTS_AND_REDUCTIONS = [
    *("conv2d", "conv2d_filter_gradient", "conv2d_input_gradient", "conv2d_transpose", "matmul"),
    *("quantized_conv2d", "quantized_matmul"),
    *("log_softmax", "reduce_max", "reduce_mean", "reduce_min", "reduce_prod", "reduce_sum"),
    *("softmax", "softmax_cross_entropy", "sparse_softmax_cross_entropy", "with_epilogue"),
    *("conv2d_input_gradient_like",),
]
OPERATIONS = operations()
DIFFERENTIABLE = [op for op in OPERATIONS if any(case.differentiable for case in cases_of(op))]
PLAIN = [op for op in OPERATIONS if is_plain(op)]
HALVES = {
    op.name: halves
    for op in OPERATIONS
    if (halves := [half for case in cases_of(op) if (half := in_float16(case)) is not None])
}
ROUNDED = [op for op in OPERATIONS if op.name in PRODUCTS]
WITH_HALVES = [op for op in OPERATIONS if op.name in HALVES]


def each(ops: Sequence[OpDef]) -> pytest.MarkDecorator:
    """Parametrize a test by ``ops``."""
    return pytest.mark.parametrize("op", ops, ids=lambda op: op.name)


def check_each(cases: Sequence[Case], check: Callable[[Case], None]) -> None:
    """Check every case, then raise all errors together, with the samples that they are about."""
    assert cases, "it has no samples"
    errors: list[Exception] = []
    numbers: list[str] = []
    for case in cases:
        try:
            check(case)
        except Exception as error:  # whatever a rule raises is a failure of this sample
            error.add_note(f"sample {case.number}: {', '.join(map(str, case.specs))}")
            errors.append(error)
            numbers.append(str(case.number))
    if errors:
        raise ExceptionGroup(f"{cases[0].op.name}, samples {', '.join(numbers)}", errors)


# The reference and the shape rule


@each(OPERATIONS)
def test_reference_matches_the_declared_shapes_and_types(op: OpDef) -> None:
    check_each(cases_of(op), check_reference)


@each(WITH_HALVES)
def test_float16_is_rounded_float32(op: OpDef) -> None:
    check_each(cases_of(op), check_float16)


@each(OPERATIONS)
def test_unknown_dimensions_stay_unknown_or_come_out_right(op: OpDef) -> None:
    check_each(cases_of(op), check_unknown_dimensions)


@pytest.mark.parametrize(
    ("op", "sample"),
    [(op, sample) for op, _, sample in invalid_cases()],
    ids=[f"{op.name}-{number}" for op, number, _ in invalid_cases()],
)
def test_wrong_use_raises_an_error_with_cause_and_line(op: OpDef, sample: InvalidSample) -> None:
    graph = Graph()
    with graph.as_default():
        inputs = [placeholder(array.dtype, array.shape) for array in sample.inputs]
    with pytest.raises(sample.error) as caught:
        graph.add(op, inputs, sample.attrs)
    text = str(caught.value)
    assert sample.words in text
    assert text.startswith(op.name)
    assert "test_op_contract.py, line" in text
    assert not any(node.op is op for node in graph.nodes)


@each(OPERATIONS)
def test_operation_survives_json(op: OpDef) -> None:
    check_each(cases_of(op), check_json)


@each([op for op in OPERATIONS if op.specialise is not None])
def test_specialised_operation_gives_the_same_values(op: OpDef) -> None:
    check_each(cases_of(op), check_specialised)


@each(DIFFERENTIABLE)
def test_gradient_is_the_derivative_to_second_order(op: OpDef) -> None:
    cases = [case for case in cases_of(op) if case.differentiable]
    check_each(cases, lambda case: check_derivatives(case, second=op.second_derivative))


@each(PLAIN)
def test_small_results_are_accurate(op: OpDef) -> None:
    check_small_arguments(op)


@each(WITH_HALVES)
def test_float16_on_the_cpu_agrees_with_the_reference(op: OpDef) -> None:
    check_values(op, HALVES[op.name], "cpu:0")
    check_gradients(op, HALVES[op.name], "cpu:0")


@each(ROUNDED)
def test_mixed_precision_on_the_cpu_is_near_float32(op: OpDef) -> None:
    check_mixed(op, cases_of(op), "cpu:0")


# On a GPU


def on_gpu(
    ops: Sequence[OpDef], families: Sequence[str], often: Collection[str] = ()
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Parametrize a test by op and family: by night with all families; in every run with the first
    one, and for the ops called ``often`` with that of hardware too."""
    params: list[Any] = []
    for op in ops:
        for family in families:
            runs = family == families[0] or (family == "shared" and op.name in often)
            params += [(op, family)] if runs else slow((op, family))
    names = pytest.mark.parametrize(
        ("op", "family"), params, ids=lambda value: getattr(value, "name", value)
    )
    return lambda test: pytest.mark.gpu(pytest.mark.rotates(names(test)))


@pytest.fixture
def gpu(family: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The first GPU with the kernels of ``family``; the test fails if it leaves a buffer behind."""
    device = registry.gpu(0)
    is_software, members = FAMILIES[family]
    measured = {"vectors": BY_VECTORS, "subgroups": BY_SUBGROUPS}.get(family)
    target = Target(is_software, Limits(), measured, has_packed_dot=not is_software)
    if family == "vectors":
        for module, name in LEAST_SIZES:
            monkeypatch.setattr(module, name, 1)
    monkeypatch.setattr(device, "target", target)
    monkeypatch.setattr(dispatch_groups, "MAX_MEMBERS", members)
    before = device.host.stats()
    yield GPU
    after = device.host.stats()
    assert {key: after[key] for key in ("buffers", "bytes", "programs")} == {
        key: before[key] for key in ("buffers", "bytes", "programs")
    }, "buffers were left behind"


@on_gpu(ROUNDED, VALUES, PRODUCTS)
def test_mixed_precision_on_a_gpu_is_near_float32(op: OpDef, gpu: str) -> None:
    check_mixed(op, cases_of(op), gpu)


@on_gpu(OPERATIONS, VALUES, PRODUCTS_AND_REDUCTIONS)
def test_gpu_agrees_with_the_reference(op: OpDef, gpu: str) -> None:
    check_values(op, cases_of(op), gpu)


@on_gpu(WITH_HALVES, GRADIENTS)
def test_float16_on_gpu_agrees_with_the_reference(op: OpDef, gpu: str) -> None:
    check_values(op, HALVES[op.name], gpu)


@on_gpu(PLAIN, VALUES[:2])
def test_gpu_agrees_at_special_values(op: OpDef, gpu: str) -> None:
    check_special_values(op, gpu)


# Gradients consist of operations, of which each is checked merged with others, in both families.


@on_gpu(DIFFERENTIABLE, GRADIENTS, ["log_softmax"])
def test_gradient_on_gpu_agrees_with_the_reference(op: OpDef, gpu: str) -> None:
    check_gradients(op, cases_of(op), gpu)


@on_gpu([op for op in DIFFERENTIABLE if op.name in HALVES], GRADIENTS)
def test_float16_gradient_on_gpu_agrees_with_the_reference(op: OpDef, gpu: str) -> None:
    check_gradients(op, HALVES[op.name], gpu)
