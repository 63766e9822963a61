"""The rules that do not depend on a device: shapes, dtypes, JSON, and gradients.

Each raises `BrokenRuleError` if a case breaks it. Gradients are compared with finite differences in
float64.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import numpy as np

from playgrad.contract.cases import Case, add_case, as_float64, in_float16, specs_of
from playgrad.contract.comparison import BrokenRuleError, expect_close
from playgrad.contract.interpreter import evaluate
from playgrad.contract.weighted_sum import weighted_sum
from playgrad.errors import shape_text
from playgrad.graph.autodiff import gradients
from playgrad.graph.graph import Graph
from playgrad.graph.opdef import Array, Attrs, OpDef, lookup
from playgrad.graph.serialize import graph_from_json, graph_to_json
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Tensor

_STEP = 1e-5
"""The step of finite differences in float64."""


def check_reference(case: Case) -> None:
    """Check that the reference returns the declared shapes and dtypes, and writes no input."""
    for inputs in (list(case.sample.inputs), as_float64(case.sample.inputs)):
        for array in (inputs := [array.copy() for array in inputs]):
            array.flags.writeable = False
        declared = _compiled_specs(case.op, specs_of(inputs), case.sample.attrs)
        results = specs_of(case.op.reference(inputs, case.sample.attrs))
        if results != declared:
            raise BrokenRuleError(
                f"the reference returned {_texts(results)}, but the shape rule says "
                f"{_texts(declared)}."
            )


def check_float16(case: Case) -> None:
    """Check that the results for float16 are the rounded results for the same numbers in float32.

    They may be neighbours, at a distance of 2⁻¹⁰: an operation made of several rounds in between.
    """
    half = in_float16(case)
    if half is None:
        return
    inputs = list(half.sample.inputs)
    wide = [x.astype(np.float32) if x.dtype == np.float16 else x for x in inputs]
    with np.errstate(over="ignore"):
        results = half.op.reference(inputs, half.sample.attrs)
        expected = half.op.reference(wide, case.sample.attrs)
        declared = _compiled_specs(half.op, half.specs, half.sample.attrs)
        for number, (a, b, spec) in enumerate(zip(results, expected, declared, strict=True)):
            expect_close(f"result {number} for float16", a, b.astype(spec.dtype), 2.0**-10, 0.0)


def _compiled_specs(op: OpDef, specs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    """Return the specs of the outputs for inputs of known shapes.

    A dimension that the op's shape rule leaves unknown is taken from the op that it becomes.
    """
    declared = list(op.infer(specs, attrs))
    if all(None not in spec.shape for spec in declared):
        return declared
    specialised = None if op.specialise is None else op.specialise(specs, attrs)
    if specialised is None:
        raise BrokenRuleError(
            f"the shape rule says {_texts(declared)} for inputs of known shapes {_texts(specs)}."
        )
    name, attrs, inputs = specialised
    return list(lookup(name).infer([specs[i] for i in inputs], attrs))


def check_unknown_dimensions(case: Case) -> None:
    """Check that dimensions of inputs may be unknown, and outputs then agree as far as known."""
    full = case.op.infer(case.specs, case.sample.attrs)
    for hidden in (1, 99):  # the first dimension of each input, or all
        specs = [
            spec
            if number in case.written
            else TensorSpec((None,) * min(hidden, spec.rank) + spec.shape[hidden:], spec.dtype)
            for number, spec in enumerate(case.specs)
        ]
        partial = case.op.infer(specs, case.sample.attrs)
        if not all(map(_agree, full, partial)) or len(full) != len(partial):
            raise BrokenRuleError(
                f"the shape rule says {_texts(partial)} for {_texts(specs)}, but {_texts(full)} "
                f"for {_texts(case.specs)}."
            )


def _agree(known: TensorSpec, unknown: TensorSpec) -> bool:
    return (known.dtype, known.rank) == (unknown.dtype, unknown.rank) and all(
        b is None or a == b for a, b in zip(known.shape, unknown.shape, strict=True)
    )


def check_json(case: Case) -> None:
    """Check that a node's attributes survive JSON, with the same results."""
    graph = Graph()
    added = add_case(case, graph)
    text = json.dumps(graph_to_json(graph))
    again = graph_from_json(json.loads(text))
    if json.dumps(graph_to_json(again)) != text:
        raise BrokenRuleError("a graph that was saved as JSON and read again is another one.")
    node = again.node(added.node.name)
    inputs = list(case.sample.inputs)
    before = case.op.reference(inputs, added.node.attrs)
    after = node.op.reference(inputs, node.attrs)
    for number, (a, b) in enumerate(zip(before, after, strict=True)):
        expect_close(f"result {number} of the graph read from JSON", b, a, 0.0, 0.0)


def check_specialised(case: Case) -> None:
    """Check that the op that it becomes for known shapes has the same results."""
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
        expect_close(f"the result of {name!r}, for known shapes", after, before, 0.0, 0.0)


def check_derivatives(case: Case, second: bool = True) -> None:
    """Check the gradient, and the gradient of the gradient, against finite differences.

    Args:
        second: whether to check the second derivative.
    """
    random = np.random.default_rng(3)
    with (graph := Graph()).as_default():
        added = add_case(case, graph, as_float64(case.sample.inputs))
        xs = [added.inputs[i] for i in case.differentiable]
        loss = weighted_sum(list(added.node.outputs), random)
        if loss is None:
            raise BrokenRuleError("it has a gradient, but no result of a floating dtype.")
        first = _check_derivative("the gradient", loss, xs, added.values, random)
        if not first:
            raise BrokenRuleError("the gradient function returned no gradient.")
        slope = weighted_sum(first, random)
        if second and slope is not None:
            _check_derivative("the second derivative", slope, xs, added.values, random)


def _check_derivative(
    what: str,
    y: Tensor,
    xs: Sequence[Tensor],
    values: Mapping[Tensor, Array],
    random: np.random.Generator,
) -> list[Tensor]:
    """Check gradients(y, xs) along random directions; return all but None."""
    grads = gradients(y, xs)
    pairs = [(x, grad) for x, grad in zip(xs, grads, strict=True) if grad is not None]
    for x, grad in pairs:
        if grad.spec != x.spec:
            raise BrokenRuleError(f"{what} is {grad.spec} for the input {x.spec}.")
    computed = evaluate([grad for _, grad in pairs], values)
    scale = sum(float(np.abs(grad).sum()) for grad in computed)
    for _ in range(2):
        direction = {x: random.uniform(-1.0, 1.0, x.spec.static_shape) for x in xs}
        numeric = _slope(y, values, direction)
        exact = sum(
            float((direction[x] * grad).sum()) for (x, _), grad in zip(pairs, computed, strict=True)
        )
        if not np.isclose(exact, numeric, rtol=1e-5, atol=1e-7 * (1 + scale)):
            raise BrokenRuleError(
                f"{what} is wrong: {exact:.6g} along a random direction, finite differences say "
                f"{numeric:.6g}.{_by_input(y, xs, grads, values, random)}"
            )
    return [grad for _, grad in pairs]


def _slope(y: Tensor, values: Mapping[Tensor, Array], direction: Mapping[Tensor, Array]) -> float:
    ahead, behind = (
        evaluate([y], {**values, **{x: values[x] + s * d for x, d in direction.items()}})[0]
        for s in (_STEP, -_STEP)
    )
    return float((ahead - behind) / (2 * _STEP))


def _by_input(
    y: Tensor,
    xs: Sequence[Tensor],
    grads: Sequence[Tensor | None],
    values: Mapping[Tensor, Array],
    random: np.random.Generator,
) -> str:
    """Return the derivative by each single input, to say which one is wrong."""
    if len(xs) == 1:
        return ""
    parts = []
    for x, grad in zip(xs, grads, strict=True):
        direction = random.uniform(-1.0, 1.0, x.spec.static_shape)
        numeric = _slope(y, values, {x: direction})
        exact = "None" if grad is None else f"{(evaluate([grad], values)[0] * direction).sum():.6g}"
        parts.append(f"{x.node.name.rpartition('/')[2]} {exact} against {numeric:.6g}")
    return f" By input: {', '.join(parts)}."


def _texts(specs: Sequence[TensorSpec]) -> str:
    return " and ".join(f"{spec.dtype} {shape_text(spec.shape)}" for spec in specs) or "nothing"
