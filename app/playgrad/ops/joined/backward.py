"""The gradient of ``joined_calls``: the same calls, from the largest depth to the smallest.

Each kind has a function that computes the gradients of its arguments and captures from those of its
value. It computes the value again, so that nothing but the values of calls is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from playgrad.dtypes import dtype
from playgrad.errors import GraphError, ShapeError
from playgrad.graph.autodiff import gradients
from playgrad.graph.graph import Graph
from playgrad.graph.opdef import Array, Attrs, OpDef, Sample, register
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Node, Tensor, specs_of
from playgrad.graph.traversal import ancestors
from playgrad.ops.arrays.fill import zeros_like
from playgrad.ops.control.recording import Recording, inputs_like
from playgrad.ops.control.subgraph import from_text, to_text
from playgrad.ops.core.samples import floats
from playgrad.ops.joined.layout import ON_HOST, JoinedKind, Layout
from playgrad.ops.joined.rows import (
    Values,
    arguments_of,
    computed,
    empty_values,
    explain,
    padded,
)
from playgrad.ops.joined.samples import SAMPLE_INPUTS, sample_attrs, sample_table
from playgrad.ops.joined.table import Calls


def joined_gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    """Return the gradients of the inputs of the samples and of the captured tensors."""
    layout = Layout(specs_of(node.inputs), node.attrs)
    for kind in layout.kinds:  # an operation without a gradient is an error here
        _differentiated(kind.function, tuple(_specs(layout, kind, None)))
    seeds = [number for number, grad in enumerate(grads) if grad is not None]
    attrs = {**node.attrs, "captures": len(layout.captures), "seeds": seeds}
    flowing = [grad for grad in grads if grad is not None]
    inputs = [*node.inputs, *node.outputs[len(layout.outputs[layout.root]) :], *flowing]
    found = iter(node.graph.add(_GRADIENT, inputs, attrs, name="joined_calls_gradient").outputs)
    return [next(found) if dtype(x.dtype).floating else None for x in node.inputs]


@lru_cache(maxsize=512)
def _differentiated(function: str, specs: tuple[TensorSpec, ...]) -> str:
    """Return the function of the arguments, captures and gradients of the value of a kind that
    returns the gradients of its arguments and captures, in order, of those of a floating dtype.

    Args:
        specs: those of the arguments and captures.

    Raises:
        GraphError: an operation has no gradient.
    """
    original = from_text(function, specs)
    graph = Graph()
    with graph.as_default():
        inputs = inputs_like(graph, "", specs, "argument")
        outputs = original.recording().instantiate(graph, inputs, scope="")
        ys = [tensor for tensor in outputs if dtype(tensor.dtype).floating]
        seeds = inputs_like(graph, "", specs_of(ys), "gradient")
        xs = [tensor for tensor in inputs if dtype(tensor.dtype).floating]
        found = gradients(ys, xs, list(seeds)) if ys and xs else [None] * len(xs)
        results = [zeros_like(x) if g is None else g for x, g in zip(xs, found, strict=True)]
    needed = ancestors(tensor.node for tensor in results)
    nodes = [n for n in graph.nodes if n in needed and n.op.name != "placeholder"]
    return to_text(Recording([*inputs, *seeds], None, results, nodes, [], "", None), [])


def _specs(layout: Layout, kind: JoinedKind, rows: int | None) -> list[TensorSpec]:
    return [*layout.argument_specs(kind, rows), *layout.capture_specs(kind)]


def _function(layout: Layout, number: int, rows: int) -> tuple[str, list[TensorSpec]]:
    """Return the gradient of a kind for so many calls, and the specs of its inputs."""
    kind = layout.kinds[number]
    specs = _specs(layout, kind, rows)
    seeds = [
        TensorSpec((rows, *spec.shape[1:]), spec.dtype)
        for spec in layout.outputs[number]
        if dtype(spec.dtype).floating
    ]
    return _differentiated(kind.function, tuple(specs)), [*specs, *seeds]


def _infer(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    layout = Layout(inputs[: 1 + attrs["inputs"] + attrs["captures"]], attrs)
    return [s for s in (*layout.inputs, *layout.captures) if dtype(s.dtype).floating]


def _refuse(node: Node, grads: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    raise GraphError(
        "the gradient of joined calls cannot be differentiated again.",
        op=node.name,
        source=node.source,
        hint="Call the functions without a Fold for second derivatives.",
    )


def _prepare(
    inputs: Sequence[TensorSpec], attrs: Attrs
) -> Callable[[Sequence[Array]], Sequence[Array]]:
    inputs_end = 1 + attrs["inputs"] + attrs["captures"]
    layout = Layout(inputs[:inputs_end], attrs)
    functions: dict[tuple[int, int], tuple[str, list[TensorSpec]]] = {}

    def run(arrays: Sequence[Array]) -> list[Array]:
        calls = layout.calls_of(arrays[0])
        of_samples, captures = (
            arrays[1 : 1 + len(layout.inputs)],
            arrays[inputs_end - attrs["captures"] : inputs_end],
        )
        left = iter(arrays[inputs_end:])
        values: Values = [[next(left) for _ in of_type] for of_type in layout.types]
        grads = empty_values(layout, len(calls.places))
        of_root = grads[layout.kinds[layout.root].type]
        every = [array for each in grads for array in each]
        for seed, grad in zip(attrs["seeds"], left, strict=True):
            in_root = seed < len(of_root)
            array = of_root[seed] if in_root else every[seed - len(of_root)]
            rows = calls.roots if in_root else slice(None)
            if array[rows].shape != grad.shape:
                raise ShapeError(
                    f"joined calls return an array {array[rows].shape}, and its gradient is "
                    f"{grad.shape}."
                )
            array[rows] += grad
        totals = [np.zeros_like(a) if _floating(a) else None for a in (*of_samples, *captures)]
        for joined in reversed(calls.joined):
            kind = layout.kinds[joined.kind]
            for first, end in joined.parts():
                places = padded(first, end)
                key = (joined.kind, len(places))
                if key not in functions:
                    functions[key] = _function(layout, *key)
                function, specs = functions[key]
                taken = arguments_of(layout, kind, calls, places, values, of_samples)
                taken += [captures[number] for number in kind.captures]
                for array in filter(_floating, grads[kind.type]):
                    flowing = np.zeros((len(places), *array.shape[1:]), array.dtype)
                    flowing[: end - first] = array[first:end]
                    taken.append(flowing)
                try:
                    found = computed(function, specs, taken)
                except Exception as error:
                    explain(error, layout, joined)
                    raise
                _add(layout, kind, calls, slice(first, end), found, grads, totals)
        return [total for total in totals if total is not None]

    return run


def _floating(array: Array) -> bool:
    return array.dtype.kind == "f"


def _add(
    layout: Layout,
    kind: JoinedKind,
    calls: Calls,
    places: slice,
    found: Sequence[Array],
    grads: Values,
    totals: Sequence[Array | None],
) -> None:
    """Add the gradients of the arguments and captures of calls to those of where they come from."""
    each, count = iter(found), places.stop - places.start
    for argument, column in zip(kind.arguments, kind.columns, strict=True):
        if argument[0] == "value":
            source = calls.sources(column, places)
            for array in filter(_floating, grads[layout.kinds[argument[1]].type]):
                _add_rows(array, source, next(each)[:count])
        elif argument[0] == "input":
            total = totals[argument[1]]
            if total is not None:
                _add_rows(total, calls.samples[places], next(each)[:count])
        elif dtype(argument[1]).floating:
            next(each)
    for number in kind.captures:
        total = totals[len(layout.inputs) + number]
        if total is not None:
            total += next(each)


def _add_rows(target: Array, rows: Array, values: Array) -> None:
    """Add each of ``values`` to a row of ``target``, in order; a row may occur more than once."""
    ordered = np.sort(rows)
    if np.any(ordered[1:] == ordered[:-1]):
        np.add.at(target, rows, values)
    else:
        target[rows] += values


def _reference(inputs: Sequence[Array], attrs: Attrs) -> Sequence[Array]:
    specs = [TensorSpec(array.shape, array.dtype.name) for array in inputs]
    return _prepare(specs, attrs)(inputs)


def _sample() -> Sample:
    """Return the gradients of trees: their calls, the values of these, and a gradient for each."""
    arrays = [sample_table(), *SAMPLE_INPUTS]
    attrs = {**sample_attrs(), "captures": 1, "seeds": [0]}
    return Sample((*arrays, floats(8, 2), floats(2, 2, seed=1)), attrs, differentiable=())


_GRADIENT = register(
    OpDef(
        name="joined_calls_gradient",
        infer=_infer,
        reference=_reference,
        prepare=_prepare,
        gradient=_refuse,
        on_host=ON_HOST,
        samples=(_sample(),),
    )
)
