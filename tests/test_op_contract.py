"""The op contract: the rules for every registered operation, checked with each of its samples.

A new operation is tested because it is registered. There is no list of exceptions: an operation
runs on a device, or using it there raises an UnsupportedOpError that names it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import pytest

from playgrad.contract.cases import (
    Case,
    cases,
    cases_of,
    in_float16,
    invalid_cases,
    operations,
)
from playgrad.contract.on_device import check_gradients, check_values
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
from playgrad.graph.graph import Graph
from playgrad.graph.opdef import InvalidSample, OpDef, lookup
from playgrad.ops import placeholder
from tests.sweeps import slow

CASES = cases()
DIFFERENTIABLE = [case for case in CASES if case.differentiable]
INVALID = invalid_cases()
GPU = "gpu:0"
FAMILIES = {"registers": True, "shared": False}
# Operations of which a kernel depends on the family, other than those that others become.
PRODUCTS_AND_REDUCTIONS = [
    *("conv2d", "conv2d_filter_gradient", "conv2d_input_gradient", "conv2d_transpose", "matmul"),
    *("log_softmax", "reduce_max", "reduce_mean", "reduce_min", "reduce_prod", "reduce_sum"),
    *("softmax", "softmax_cross_entropy", "sparse_softmax_cross_entropy", "with_epilogue"),
    *("conv2d_input_gradient_like",),
]

each_case = pytest.mark.parametrize("case", CASES, ids=str)
each_differentiable = pytest.mark.parametrize("case", DIFFERENTIABLE, ids=str)
each_op = pytest.mark.parametrize("op", operations(), ids=lambda op: op.name)
each_invalid = pytest.mark.parametrize(
    ("op", "sample"),
    [(op, sample) for op, _, sample in INVALID],
    ids=[f"{op.name}-{number}" for op, number, _ in INVALID],
)


@each_op
def test_has_samples(op: OpDef) -> None:
    assert op.samples


# The reference and the shape rule


@each_case
def test_reference_makes_what_is_declared(case: Case) -> None:
    check_reference(case)


@each_case
def test_float16_is_rounded_float32(case: Case) -> None:
    check_float16(case)


@each_case
def test_unknown_dimensions_stay_unknown_or_come_out_right(case: Case) -> None:
    check_unknown_dimensions(case)


@each_invalid
def test_wrong_use_says_what_is_wrong_and_where(op: OpDef, sample: InvalidSample) -> None:
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


@each_case
def test_survives_json(case: Case) -> None:
    check_json(case)


@each_case
def test_what_it_becomes_for_known_shapes_is_the_same(case: Case) -> None:
    check_specialised(case)


@each_differentiable
def test_gradient_is_the_derivative_to_second_order(case: Case) -> None:
    check_derivatives(case)


each_plain = pytest.mark.parametrize(
    "op", [op for op in operations() if is_plain(op)], ids=lambda op: op.name
)


@each_plain
def test_small_results_are_accurate(op: OpDef) -> None:
    check_small_arguments(op)


# On a GPU, in both families of kernels


def identifier(value: Any) -> str:
    return value.name if isinstance(value, OpDef) else value


def in_families(names: Collection[str], often: Collection[str]) -> list[Any]:
    """Return pairs of op and family: those in ``often`` with both families, the others with that of
    hardware by night."""
    ops = [op for op in operations() if op.name in names]
    cases = [(op, "registers") for op in ops]
    cases += [(op, "shared") for op in ops if op.name in often]
    return [*cases, *slow(*((op, "shared") for op in ops if op.name not in often))]


@pytest.fixture
def gpu(family: str) -> Iterator[registry.WebGpuDevice]:
    """The first GPU, with the kernels of a software adapter or with those of hardware."""
    device = registry.gpu(0)
    target = device.target
    device.target = Target(FAMILIES[family], Limits())
    before = device.host.stats()
    yield device
    device.target = target
    after = device.host.stats()
    assert {key: after[key] for key in ("buffers", "bytes", "programs")} == {
        key: before[key] for key in ("buffers", "bytes", "programs")
    }, "buffers were left behind"


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("op", "family"),
    in_families([op.name for op in operations()], PRODUCTS_AND_REDUCTIONS),
    ids=identifier,
)
def test_gpu_agrees_with_the_reference(op: OpDef, gpu: registry.WebGpuDevice) -> None:
    check_values(op, cases_of(op), GPU)


HALVES = [half for case in CASES if (half := in_float16(case)) is not None]
each_op_of_halves = pytest.mark.parametrize("name", dict.fromkeys(c.op.name for c in HALVES))


@pytest.mark.parametrize("device", ["cpu:0", pytest.param(GPU, marks=pytest.mark.gpu)])
@each_op_of_halves
def test_float16_agrees_with_the_reference(name: str, device: str) -> None:
    halves = [half for half in HALVES if half.op.name == name]
    check_values(lookup(name), halves, device)
    check_gradients(lookup(name), halves, device)


@pytest.mark.gpu
@each_plain
def test_gpu_agrees_at_special_values(op: OpDef) -> None:
    check_special_values(op, GPU)


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("op", "family"),
    # Gradients consist of operations of which each is checked in both families.
    in_families({case.op.name for case in DIFFERENTIABLE}, ["log_softmax"]),
    ids=identifier,
)
def test_gradient_on_gpu_agrees_with_the_reference(op: OpDef, gpu: registry.WebGpuDevice) -> None:
    check_gradients(op, cases_of(op), GPU)
