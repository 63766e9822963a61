"""Operations on a device compared with their references: the op contract on every host.

This module imports only NumPy and playgrad, so that it also runs in the page.
"""

from __future__ import annotations

import numpy as np

from playgrad.dtypes import dtype
from playgrad.errors import UnsupportedOpError
from playgrad.graph.autodiff import gradients
from playgrad.graph.graph import Graph
from playgrad.graph.opdef import Array, OpDef
from playgrad.graph.tensor import Tensor
from playgrad.ops import constant, mul, reduce_sum
from playgrad.runtime.session import Session
from tests.contract.cases import Case, CaseNode, add_case, cases
from tests.contract.interpreter import evaluate


def check_values(op: OpDef, device: str) -> None:
    """Check that each sample gives the reference's values, or that ``op`` is refused there."""
    graph = Graph()
    nodes = [add_case(case, graph, device=device) for case in cases() if case.op is op]
    with Session(graph, device=device) as session:
        if not runs_on_gpu(op):
            refused = ""
            try:
                _run(session, nodes)
            except UnsupportedOpError as error:
                refused = str(error)
            assert f"'{op.name}' cannot run on {device}" in refused
            return
        results = _run(session, nodes)
        for one, outputs in zip(nodes, results, strict=True):
            expected = op.reference(list(one.case.sample.inputs), one.case.sample.attrs)
            for actual, reference in zip(outputs, expected, strict=True):
                assert_close(one.case, actual, reference)
            if op.writes:
                for name, reference in zip(one.node.attrs["variables"], expected, strict=True):
                    assert_close(one.case, session.value(name), reference)


def check_gradients(op: OpDef, device: str) -> None:
    """Check that the gradients of each sample on ``device`` are those of the references."""
    random = np.random.default_rng(5)
    graph = Graph()
    nodes, fetches, references = [], [], []
    for case in cases():
        if case.op is not op or not case.differentiable:
            continue
        one = add_case(case, graph, device=device)
        with graph.as_default(), graph.device(device):
            loss = weighted_sum(list(one.node.outputs), random)
            assert loss is not None
            grads = gradients(loss, [one.inputs[i] for i in case.differentiable])
        existing = [grad for grad in grads if grad is not None]
        nodes.append(one)
        fetches.append(existing)
        references.append(evaluate(existing, one.values))
    feeds = {tensor: array for one in nodes for tensor, array in one.feeds.items()}
    with Session(graph, device=device) as session:
        results = session.run(fetches, feeds)
    for one, actual, expected in zip(nodes, results, references, strict=True):
        for a, b in zip(actual, expected, strict=True):
            assert_close(one.case, a, b)


def runs_on_gpu(op: OpDef) -> bool:
    """Return whether ``op`` has a kernel, needs none, or becomes another op for known shapes."""
    return op.lower is not None or op.alias or op.specialise is not None or op.name == "constant"


def _run(session: Session, nodes: list[CaseNode]) -> list[list[Array]]:
    feeds = {tensor: array for one in nodes for tensor, array in one.feeds.items()}
    results: list[list[Array]] = session.run([list(one.node.outputs) for one in nodes], feeds)
    return results


def weighted_sum(tensors: list[Tensor], random: np.random.Generator) -> Tensor | None:
    """Return the sum of the elements of the floating ``tensors``, each with a random weight.

    Elements along an unknown dimension have the same weight.
    """
    total: Tensor | None = None
    for tensor in tensors:
        if not dtype(tensor.dtype).floating:
            continue
        sizes = [1 if dim is None else dim for dim in tensor.shape]
        weights = random.uniform(0.5, 1.5, sizes)
        part = reduce_sum(mul(tensor, constant(weights, tensor.dtype)))
        total = part if total is None else total + part
    return total


def assert_close(case: Case, actual: Array, expected: Array) -> None:
    assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape), str(case)
    if not dtype(expected.dtype).floating:
        np.testing.assert_array_equal(actual, expected, err_msg=str(case))
        return
    finite = np.abs(expected[np.isfinite(expected)])
    scale = float(finite.max()) if finite.size else 0.0
    np.testing.assert_allclose(
        actual,
        expected,
        rtol=case.sample.tolerance,
        atol=case.sample.tolerance * scale,
        err_msg=str(case),
    )
