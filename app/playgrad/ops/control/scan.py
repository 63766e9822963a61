"""``scan``: a function applied to one element of a sequence after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from playgrad.errors import GraphError, ShapeError, shape_text
from playgrad.graph.copying import CopyMap
from playgrad.graph.source import user_source
from playgrad.graph.tensor import Tensor, specs_of
from playgrad.ops.arrays.getitem import getitem
from playgrad.ops.arrays.rows import stack_rows, unstack_rows
from playgrad.ops.arrays.shape import expand_dims
from playgrad.ops.control.nested import flatten, rebuild, same_structure
from playgrad.ops.control.recording import expect_same_specs, inputs_like, number, record
from playgrad.ops.core.build import as_tensor, graph_of


def scan(fn: Callable[[Any, Any], Any], elems: Any, initializer: Any = None,
         reverse: bool = False, name: str | None = None) -> Any:  # fmt: skip
    """Return the values ``a[i] = fn(a[i - 1], elems[i])``, stacked along a new first axis.

    ``fn`` is called once; the graph contains a copy of what it builds for each element. What does
    not depend on its arguments is computed once. Gradients reach the elements, the initializer and
    whatever ``fn`` uses from outside.

    Args:
        fn: a function of the accumulated value and the current element, which returns the next
            accumulated value, of the structure, shapes and dtypes of ``initializer``.
        elems: a tensor, or nested lists, tuples and dictionaries of tensors, of shapes (n, ...). n
            must be known.
        initializer: the value before the first element; None for the first element itself, which
            then is the first result, too.
        reverse: begin with the last element. Results have the positions of their elements.
        name: the name scope of the steps.

    Returns:
        For each tensor of ``initializer`` one of shape (n, ...), in the same structure.

    Raises:
        ShapeError: n is unknown, differs between elements, or is 0 without an initializer; or
            ``fn`` changes a shape.
        DTypeError: ``fn`` changes a dtype.
        GraphError: ``fn`` changes the structure, or writes a variable.
    """
    source = user_source()
    graph = graph_of(*flatten(elems), *flatten(initializer))
    sequences = [as_tensor(leaf, graph) for leaf in flatten(elems)]
    count = _count(sequences, source)
    start = elems if initializer is None else initializer
    if initializer is None and count == 0:
        raise ShapeError("scan: without elements, an initializer is needed.", source=source)
    with graph.as_default(), graph.name_scope(name or "scan") as prefix:
        rows = [unstack_rows(each) if count else () for each in sequences]
        elements = list(zip(*rows, strict=True)) or [tuple(map(_like_row, sequences))]
        if reverse:
            elements.reverse()
        if initializer is None:
            state = list(elements[0])
        else:
            state = [as_tensor(leaf, graph) for leaf in flatten(initializer)]
        inputs = inputs_like(graph, prefix, [*state, *elements[0]], "step")
        arguments = (rebuild(start, inputs), rebuild(elems, inputs[len(state) :]))
        recording = record(graph, f"{prefix}step/", fn, arguments, inputs)
        recording.forbid_writes("the function of scan", "Return the value, and assign it after.")
        same_structure(recording.result, start, "the result of the function of scan")
        expect_same_specs(
            specs_of(state),
            specs_of(recording.outputs),
            "the accumulated value of scan",
            source,
        )
        results = [state] if initializer is None else []
        shared = CopyMap(graph)
        random = recording.draws
        for place in range(len(results), count):
            state = recording.instantiate(
                graph,
                [*state, *elements[place]],
                scope=f"{prefix}step_{place}/",
                iteration=number(graph, place) if random else None,
                shared=shared,
            )
            results.append(state)
        if not count:
            return rebuild(start, [getitem(expand_dims(t, 0), slice(0, 0)) for t in state])
        if reverse:
            results.reverse()
        return rebuild(start, [stack_rows(column) for column in zip(*results, strict=True)])


def _count(sequences: list[Tensor], source: tuple[str, int] | None) -> int:
    """Return the common number of elements."""
    if not sequences:
        raise GraphError("scan needs elements.", source=source)
    for tensor in sequences:
        if not tensor.shape or tensor.shape[0] is None:
            raise ShapeError(
                f"scan needs a known number of elements, but '{tensor.name}' has shape "
                f"{shape_text(tensor.shape)}.",
                source=source,
                hint="Elements are taken along the first axis; the batch may be the second.",
            )
        if tensor.shape[0] != sequences[0].shape[0]:
            raise ShapeError(
                f"scan: {shape_text(sequences[0].shape)} and {shape_text(tensor.shape)} differ in "
                "the number of elements.",
                source=source,
            )
    return int(sequences[0].shape[0] or 0)


def _like_row(sequence: Tensor) -> Tensor:
    """Return a tensor like an element of an empty sequence."""
    shape = [1 if size is None else size for size in sequence.shape[1:]]
    return as_tensor(np.zeros(shape, sequence.dtype), sequence.graph)
