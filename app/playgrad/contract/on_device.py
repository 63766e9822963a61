"""The rules for an operation on a device: values and gradients equal the references'."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from playgrad.compiler.mixed import is_rounded
from playgrad.contract.cases import Case, CaseNode, add_case
from playgrad.contract.comparison import BrokenRuleError, expect_close
from playgrad.contract.interpreter import evaluate
from playgrad.contract.weighted_sum import weighted_sum
from playgrad.devices.kinds import kind_of
from playgrad.errors import UnsupportedOpError
from playgrad.graph.autodiff import gradients
from playgrad.graph.graph import FLOAT32, MIXED, Graph
from playgrad.graph.opdef import Array, OpDef
from playgrad.runtime.session import Session

MIXED_GRADIENTS = 2.0**-8
"""The tolerance of gradients in mixed precision, in which two products follow each other."""


def check_values(op: OpDef, cases: Sequence[Case], device: str) -> None:
    """Check that ``cases`` of ``op`` give the reference's values, or that it is refused there."""
    graph = Graph()
    nodes = [add_case(case, graph, device=device) for case in cases]
    with Session(graph, device=device) as session:
        if not runs_on(op, device):
            _check_refused(op, session, nodes, device)
            return
        results = _run(session, nodes)
        for one, outputs in zip(nodes, results, strict=True):
            expected = op.reference(list(one.case.sample.inputs), one.case.sample.attrs)
            for number, (actual, reference) in enumerate(zip(outputs, expected, strict=True)):
                _expect_close(one.case, f"result {number}", actual, reference)
            if op.writes:
                for name, reference in zip(one.node.attrs["variables"], expected, strict=True):
                    _expect_close(one.case, f"variable {name}", session.value(name), reference)


def _check_refused(op: OpDef, session: Session, nodes: list[CaseNode], device: str) -> None:
    try:
        _run(session, nodes)
    except UnsupportedOpError as error:
        if f"'{op.name}' cannot run on {device}" not in str(error):
            raise BrokenRuleError(f"it is refused on {device} with other words: {error}") from None
    else:
        raise BrokenRuleError(f"it has no kernel, and yet it runs on {device}.")


def check_gradients(op: OpDef, cases: Sequence[Case], device: str) -> None:
    """Check that the gradients of ``cases`` on ``device`` equal the references'.

    They may be refused there, as the operation itself is.
    """
    try:
        _check_gradients(cases, device, FLOAT32, 0.0)
    except UnsupportedOpError as error:
        if runs_on(op, device) or f"'{op.name}' cannot run on {device}" not in str(error):
            raise


def _check_gradients(cases: Sequence[Case], device: str, precision: str, tolerance: float) -> None:
    graph = Graph()
    random = np.random.default_rng(5)
    nodes, fetches, references = [], [], []
    for case in cases:
        if not case.differentiable:
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
    with Session(graph, device=device, precision=precision) as session:
        results = session.run(fetches, feeds)
    for one, actual, expected in zip(nodes, results, references, strict=True):
        for number, (a, b) in enumerate(zip(actual, expected, strict=True)):
            _expect_close(one.case, f"gradient {number}", a, b, tolerance)


def check_mixed(op: OpDef, cases: Sequence[Case], device: str) -> None:
    """Check products in mixed precision: float16 operands, float32 sums.

    They are the reference's of rounded operands; and differ from those of float32 by the rounding
    of both operands at most, 2⁻¹⁰ of the sum of the terms' sizes. Gradients have the tolerance
    `MIXED_GRADIENTS` of the largest.
    """
    graph = Graph()
    nodes = [add_case(case, graph, device=device) for case in cases]
    with Session(graph, device=device, precision=MIXED) as session:
        results = _run(session, nodes)
    for one, (actual,) in zip(nodes, results, strict=True):
        inputs, attrs = list(one.case.sample.inputs), one.case.sample.attrs
        if not is_rounded(one.node):
            _expect_close(one.case, "the result", actual, op.reference(inputs, attrs)[0])
            continue
        rounded = [x.astype(np.float16).astype(np.float32) for x in inputs]
        expected = op.reference(rounded, attrs)[0]
        _expect_close(one.case, "the result of rounded operands", actual, expected)
        bound = 2.0**-10 * op.reference([np.abs(x) for x in inputs], attrs)[0]
        error = np.abs(actual - op.reference(inputs, attrs)[0])
        if np.any(error > bound + 1e-6):
            raise BrokenRuleError(f"sample {one.case.number}: {error.max():.3g} from float32.")
    _check_gradients(cases, device, MIXED, MIXED_GRADIENTS)


def runs_on(op: OpDef, device: str) -> bool:
    """Return whether ``device`` computes ``op``, needs not, or computes what it becomes for known
    shapes."""
    return kind_of(device).has_kernel(op) or op.specialise is not None or op.name == "constant"


def _run(session: Session, nodes: list[CaseNode]) -> list[list[Array]]:
    feeds = {tensor: array for one in nodes for tensor, array in one.feeds.items()}
    results: list[list[Array]] = session.run([list(one.node.outputs) for one in nodes], feeds)
    return results


def _expect_close(
    case: Case, what: str, actual: Array, expected: Array, tolerance: float = 0.0
) -> None:
    """Check ``actual`` with the tolerance of the sample, or a larger one, relative to the largest
    number.

    A difference of equal products is not exactly 0 where one of them is fused.
    """
    scale = 1e-6
    if expected.dtype.kind == "f":
        scale = float(np.abs(expected[np.isfinite(expected)]).max(initial=scale))
    tolerance = max(case.sample.tolerance, tolerance)
    expect_close(f"{what} of sample {case.number}", actual, expected, tolerance, tolerance * scale)
