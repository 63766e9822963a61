"""The op contract: the rules for every registered operation, checked with each of its samples.

A new operation is tested because it is registered. There is no list of exceptions: an operation
runs on a device, or using it there raises an UnsupportedOpError that names it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from playgrad.devices import registry
from playgrad.devices.target import Limits, Target
from playgrad.graph.autodiff import gradients
from playgrad.graph.graph import Graph
from playgrad.graph.opdef import Array, Attrs, InvalidSample, OpDef, lookup
from playgrad.graph.serialize import graph_from_json, graph_to_json
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Tensor
from playgrad.ops import placeholder
from tests.contract.cases import (
    Case,
    add_case,
    as_float64,
    cases,
    invalid_cases,
    operations,
    specs_of,
)
from tests.contract.interpreter import evaluate
from tests.contract.on_device import check_gradients, check_values, weighted_sum
from tests.contract.special_values import check_small_arguments, check_special_values, is_plain

CASES = cases()
DIFFERENTIABLE = [case for case in CASES if case.differentiable]
INVALID = invalid_cases()
GPU = "gpu:0"
FAMILIES = {"registers": True, "shared": False}

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


def compiled_specs(op: OpDef, specs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    """Return the specs of the outputs for inputs of known shapes.

    If the op's shape rule leaves a dimension unknown, it is that of the op that it becomes.
    """
    declared = list(op.infer(specs, attrs))
    if all(None not in spec.shape for spec in declared):
        return declared
    assert op.specialise is not None
    specialised = op.specialise(specs, attrs)
    assert specialised is not None
    name, attrs, inputs = specialised
    return list(lookup(name).infer([specs[i] for i in inputs], attrs))


@each_case
def test_reference_makes_what_is_declared(case: Case) -> None:
    for inputs in (list(case.sample.inputs), as_float64(case.sample.inputs)):
        for array in (inputs := [array.copy() for array in inputs]):
            array.flags.writeable = False  # a reference may not write into its inputs
        declared = compiled_specs(case.op, specs_of(inputs), case.sample.attrs)
        results = case.op.reference(inputs, case.sample.attrs)
        assert specs_of(results) == declared


@each_case
def test_unknown_dimensions_stay_unknown_or_come_out_right(case: Case) -> None:
    full = case.op.infer(case.specs, case.sample.attrs)
    for hidden in (1, 99):  # the first dimension of each input, or all
        specs = [
            spec
            if number in case.written
            else TensorSpec((None,) * min(hidden, spec.rank) + spec.shape[hidden:], spec.dtype)
            for number, spec in enumerate(case.specs)
        ]
        partial = case.op.infer(specs, case.sample.attrs)
        assert [spec.dtype for spec in partial] == [spec.dtype for spec in full]
        for known, unknown in zip(full, partial, strict=True):
            assert known.rank == unknown.rank
            for a, b in zip(known.shape, unknown.shape, strict=True):
                assert b is None or a == b


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
    graph = Graph()
    added = add_case(case, graph)
    text = json.dumps(graph_to_json(graph))
    again = graph_from_json(json.loads(text))
    assert json.dumps(graph_to_json(again)) == text
    node = again.node(added.node.name)
    inputs = list(case.sample.inputs)
    for before, after in zip(
        case.op.reference(inputs, added.node.attrs),
        node.op.reference(inputs, node.attrs),
        strict=True,
    ):
        np.testing.assert_array_equal(before, after)


@each_case
def test_what_it_becomes_for_known_shapes_is_the_same(case: Case) -> None:
    if case.op.specialise is None:
        return
    specialised = case.op.specialise(case.specs, case.sample.attrs)
    assert specialised is not None
    name, attrs, inputs = specialised
    with (graph := Graph()).as_default():
        static = add_case(case, graph)
        node = graph.add(lookup(name), [static.inputs[i] for i in inputs], attrs)
    expected = case.op.reference(list(case.sample.inputs), case.sample.attrs)
    for before, after in zip(expected, evaluate(node.outputs, static.values), strict=True):
        assert before.dtype == after.dtype
        np.testing.assert_array_equal(before, after)


# Gradients against finite differences, in float64


def assert_derivative(
    y: Tensor, xs: list[Tensor], values: dict[Tensor, Array], random: np.random.Generator
) -> list[Tensor]:
    """Check gradients(y, xs) along random directions; return those that are not None."""
    grads = gradients(y, xs)
    pairs = [(x, grad) for x, grad in zip(xs, grads, strict=True) if grad is not None]
    for x, grad in pairs:
        assert grad.spec == x.spec
    computed = evaluate([grad for _, grad in pairs], values)
    step = 1e-5
    for _ in range(2):
        direction = {x: random.uniform(-1.0, 1.0, x.spec.static_shape) for x in xs}
        ahead, behind = (
            evaluate([y], {**values, **{x: values[x] + s * d for x, d in direction.items()}})[0]
            for s in (step, -step)
        )
        numeric = (ahead - behind) / (2 * step)
        exact = sum(
            float((direction[x] * grad).sum()) for (x, _), grad in zip(pairs, computed, strict=True)
        )
        scale = sum(float(np.abs(grad).sum()) for grad in computed)
        np.testing.assert_allclose(exact, numeric, rtol=1e-5, atol=1e-7 * (1 + scale))
    return [grad for _, grad in pairs]


@each_differentiable
def test_gradient_is_the_derivative_to_second_order(case: Case) -> None:
    random = np.random.default_rng(3)
    with (graph := Graph()).as_default():
        added = add_case(case, graph, as_float64(case.sample.inputs))
        xs = [added.inputs[i] for i in case.differentiable]
        loss = weighted_sum(list(added.node.outputs), random)
        assert loss is not None
        first = assert_derivative(loss, xs, added.values, random)
        assert first, "no gradient comes back"
        slope = weighted_sum(first, random)
        assert slope is not None
        assert_derivative(slope, xs, added.values, random)


each_plain = pytest.mark.parametrize(
    "op", [op for op in operations() if is_plain(op)], ids=lambda op: op.name
)


@each_plain
def test_small_results_are_accurate(op: OpDef) -> None:
    check_small_arguments(op)


# On a GPU, in both families of kernels


@pytest.fixture(params=FAMILIES)
def gpu(request: pytest.FixtureRequest) -> Iterator[registry.WebGpuDevice]:
    """The first GPU, with the kernels of a software adapter and with those of hardware."""
    device = registry.gpu(0)
    target = device.target
    device.target = Target(FAMILIES[request.param], Limits())
    before = device.host.stats()
    yield device
    device.target = target
    after = device.host.stats()
    assert {key: after[key] for key in ("buffers", "bytes", "programs")} == {
        key: before[key] for key in ("buffers", "bytes", "programs")
    }, "buffers were left behind"


@pytest.mark.gpu
@each_op
def test_gpu_agrees_with_the_reference(op: OpDef, gpu: registry.WebGpuDevice) -> None:
    check_values(op, GPU)


@pytest.mark.gpu
@each_plain
def test_gpu_agrees_at_special_values(op: OpDef) -> None:
    check_special_values(op, GPU)


@pytest.mark.gpu
@pytest.mark.parametrize(
    "op", [op for op in operations() if any(c.op is op for c in DIFFERENTIABLE)],
    ids=lambda op: op.name,
)  # fmt: skip
def test_gradient_on_gpu_agrees_with_the_reference(op: OpDef, gpu: registry.WebGpuDevice) -> None:
    check_gradients(op, GPU)
