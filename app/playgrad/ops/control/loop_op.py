"""The operation of ``while_loop``: a NumPy loop, and its unrolled gradient."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from playgrad.dtypes import dtype
from playgrad.errors import GraphError, ShapeError
from playgrad.graph.autodiff import gradients
from playgrad.graph.graph import Graph
from playgrad.graph.opdef import Array, Attrs, InvalidSample, OpDef, Sample, register
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Node, Tensor, specs_of
from playgrad.ops.arrays.shape import identity
from playgrad.ops.control.branch_input import branch_input, expect_predicate
from playgrad.ops.control.recording import expect_same_specs, inputs_like, number, record
from playgrad.ops.control.subgraph import Subgraph, evaluator, from_text, to_text
from playgrad.ops.core.build import as_tensor
from playgrad.ops.core.samples import floats
from playgrad.ops.elementwise.definitions import less, logical_and, mul, where

NUMBER = TensorSpec((), "uint32")
"""The number of an iteration."""


def _functions(inputs: Sequence[TensorSpec], attrs: Attrs) -> tuple[Subgraph, Subgraph]:
    """Return ``cond`` and ``body`` for inputs of these specs.

    The inputs of the node are the loop variables, the captured tensors and the gates, bool scalars
    without which the loop does not begin. The functions take the loop variables, the number of the
    iteration, and the captured tensors.
    """
    count, end = attrs["loop_vars"], len(inputs) - attrs["gates"]
    specs = (*inputs[:count], NUMBER, *inputs[count:end])
    return from_text(attrs["cond"], specs), from_text(attrs["body"], specs)


def functions_of(node: Node) -> tuple[Subgraph, Subgraph]:
    """Return the condition and the body of a while_loop."""
    return _functions(specs_of(node.inputs), node.attrs)


def _infer(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    count = attrs["loop_vars"]
    if len(inputs) < count + attrs["gates"]:
        raise ShapeError(f"while_loop needs {count + attrs['gates']} inputs, got {len(inputs)}.")
    for gate in inputs[len(inputs) - attrs["gates"] :]:
        expect_predicate(gate, "the predicate of a branch")
    test, body = _functions(inputs, attrs)
    expect_predicate(test.outputs[0].spec, "the result of cond of while_loop")
    results = specs_of(body.outputs)
    expect_same_specs(inputs[:count], results, "a loop variable of while_loop")
    return [
        TensorSpec(
            tuple(None if None in pair else pair[0] for pair in zip(a.shape, b.shape, strict=True)),
            a.dtype,
        )
        for a, b in zip(inputs[:count], results, strict=True)
    ]


def _prepare(
    inputs: Sequence[TensorSpec], attrs: Attrs
) -> Callable[[Sequence[Array]], Sequence[Array]]:
    test, body = map(evaluator, _functions(inputs, attrs))
    count, end = attrs["loop_vars"], len(inputs) - attrs["gates"]
    limit = attrs["maximum_iterations"]

    def run(arrays: Sequence[Array]) -> list[Array]:
        state, captured = list(arrays[:count]), arrays[count:end]
        iteration = 0
        while limit is None or iteration < limit:
            values = [*state, np.asarray(iteration & 0xFFFFFFFF, np.uint32), *captured]
            if not (all(arrays[end:]) and test(values)[0]):
                break
            state = body(values)
            iteration += 1
        return state

    return run


def _reference(inputs: Sequence[Array], attrs: Attrs) -> Sequence[Array]:
    specs = [TensorSpec(array.shape, array.dtype.name) for array in inputs]
    return _prepare(specs, attrs)(inputs)


def _gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    if node.attrs["maximum_iterations"] is None:
        raise GraphError(
            "the gradient of a while_loop needs maximum_iterations.",
            op=node.name,
            source=node.source,
            hint="Pass maximum_iterations=..., or use scan() for a known number of iterations.",
        )
    inputs = [identity(tensor) for tensor in node.inputs]
    outputs = _unrolled(node, inputs)
    flowing = [(y, g) for y, g in zip(outputs, grads, strict=True) if g is not None]
    xs = [tensor for tensor in inputs if dtype(tensor.dtype).floating]
    results = dict(zip(xs, gradients(*_columns(flowing, xs)), strict=True))
    return [results.get(tensor) for tensor in inputs]


def _columns(
    flowing: list[tuple[Tensor, Tensor]], xs: list[Tensor]
) -> tuple[list[Tensor], list[Tensor], list[Tensor | None]]:
    return [y for y, _ in flowing], xs, [g for _, g in flowing]


def _unrolled(node: Node, inputs: Sequence[Tensor]) -> list[Tensor]:
    """Add all iterations to the graph. Those after the end of the loop keep the variables."""
    graph, attrs = node.graph, node.attrs
    test, body = (part.recording() for part in _functions(specs_of(inputs), attrs))
    count, end = attrs["loop_vars"], len(inputs) - attrs["gates"]
    state, captured = list(inputs[:count]), inputs[count:end]
    active = as_tensor(True, graph)
    for gate in inputs[end:]:
        active = logical_and(active, gate)
    prefix = graph.current_scope
    for place in range(attrs["maximum_iterations"]):
        values = [*state, number(graph, place), *captured]
        scope = f"{prefix}iteration_{place}/"
        go_on = test.instantiate(graph, values, scope=f"{scope}cond/")[0]
        active = logical_and(active, go_on)
        guarded = [
            branch_input(value, active) if dtype(value.dtype).floating else value
            for value in values
        ]
        after = body.instantiate(graph, guarded, scope=f"{scope}body/")
        state = [where(active, new, old) for new, old in zip(after, state, strict=True)]
    return state


def _sample_attrs(limit: int | None = 4, gates: int = 0) -> Attrs:
    """Return the attributes of a loop that multiplies x by a captured y while x is small."""
    texts = []
    graph = Graph()
    with graph.as_default():
        y = as_tensor(np.zeros((2, 3), np.float32))
        for fn in (lambda x, i: less(i, number(graph, 3)), lambda x, i: mul(x, y)):
            start = [as_tensor(np.zeros((2, 3), np.float32)), number(graph, 0)]
            inputs = inputs_like(graph, "sample/", start, "loop_var")
            texts.append(to_text(record(graph, "sample/", fn, inputs, inputs), [y]))
    return {
        "cond": texts[0],
        "body": texts[1],
        "loop_vars": 1,
        "maximum_iterations": limit,
        "gates": gates,
        "draws": False,
    }


WHILE_LOOP = register(
    OpDef(
        name="while_loop",
        on_host="how often a loop runs is known only when the graph runs",
        infer=_infer,
        reference=_reference,
        prepare=_prepare,
        gradient=_gradient,
        samples=(
            Sample((floats(2, 3), floats(2, 3, seed=1)), _sample_attrs()),
            Sample((floats(2, 3), floats(2, 3, seed=1)), _sample_attrs(2)),
            Sample((floats(2, 3), floats(2, 3, seed=1), np.asarray(False)), _sample_attrs(2, 1)),
        ),
        invalid=(
            InvalidSample(
                (floats(1, 3), floats(2, 3)), _sample_attrs(), ShapeError, "must keep its shape"
            ),
        ),
    )
)
