"""``while_loop``, whose number of iterations is known only when the graph runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from playgrad.devices.kinds import kind_of
from playgrad.errors import GraphError, UnsupportedOpError
from playgrad.graph.graph import Graph
from playgrad.graph.source import user_source
from playgrad.graph.tensor import Node, Tensor, specs_of
from playgrad.ops.arrays.shape import identity
from playgrad.ops.control.branch_input import expect_predicate
from playgrad.ops.control.loop_op import WHILE_LOOP
from playgrad.ops.control.nested import flatten, rebuild, same_structure
from playgrad.ops.control.recording import (
    Recording,
    expect_same_specs,
    inputs_like,
    number,
    record,
)
from playgrad.ops.control.subgraph import to_text
from playgrad.ops.core.build import as_tensor, graph_of, whole


def while_loop(cond: Callable[..., Any], body: Callable[..., Any], loop_vars: Any,
               maximum_iterations: int | None = None, name: str | None = None) -> Any:  # fmt: skip
    """Repeat ``body`` as long as ``cond`` is true, and return the loop variables.

    Both functions are called once, while the graph is built. The loop runs on the processor, in
    NumPy or as a part of a compiled step: its predicate has to be known there before each
    iteration. In a session on a GPU, tensors are therefore copied to the processor before the loop
    and back after it. For a known number of
    iterations, ``scan`` stays on the GPU.

    Gradients need ``maximum_iterations``: reverse mode keeps the values of each iteration, and the
    memory for them is planned before the graph runs. The gradient computes the iterations up to
    this maximum again; iterations that did not take place contribute 0.

    Args:
        cond: a function of the loop variables that returns a bool scalar.
        body: a function of the loop variables that returns their next values, of the same
            structure, shapes and dtypes.
        loop_vars: a tensor, or nested lists, tuples and dictionaries of tensors. The items of a
            list or tuple are separate arguments of the functions.
        maximum_iterations: end the loop after so many iterations at the latest.
        name: the name scope of the loop.

    Returns:
        The last values, in the structure of ``loop_vars``.

    Raises:
        ShapeError: ``body`` changes the shape of a loop variable, or ``cond`` is not a scalar.
        DTypeError: ``body`` changes a dtype, or ``cond`` is not bool.
        GraphError: ``body`` returns another structure, or a function writes a variable.
        UnsupportedOpError: a function uses a device scope other than the processor's.
    """
    source = user_source()
    graph = graph_of(*flatten(loop_vars))
    limit = None
    if maximum_iterations is not None:
        limit = whole(maximum_iterations, "maximum_iterations")
        if limit < 0:
            raise GraphError(f"maximum_iterations must be ≥ 0, got {limit}.", source=source)
    with graph.as_default(), graph.name_scope(name or "while_loop") as prefix:
        start = [as_tensor(leaf, graph) for leaf in flatten(loop_vars)]
        if not start:
            raise GraphError("while_loop needs a loop variable.", source=source)
        test = _recorded(graph, f"{prefix}cond/", cond, loop_vars, start)
        if len(test.outputs) != 1:
            raise GraphError("cond of while_loop must return one tensor.", source=source)
        expect_predicate(test.outputs[0].spec, "the result of cond of while_loop", source)
        step = _recorded(graph, f"{prefix}body/", body, loop_vars, start)
        if not (len(start) == 1 and len(step.outputs) == 1):  # [i] may be returned as i
            same_structure(step.result, loop_vars, "the result of body of while_loop")
        expect_same_specs(
            specs_of(start), specs_of(step.outputs), "a loop variable of while_loop", source
        )
        captures = list(dict.fromkeys([*test.captures, *step.captures]))
        attrs = {
            "cond": to_text(test, captures),
            "body": to_text(step, captures),
            "loop_vars": len(start),
            "maximum_iterations": limit,
            "gates": 0,
            "draws": test.draws or step.draws,
        }
        node = graph.add(WHILE_LOOP, [*start, *captures], attrs, name="loop", source=source)
        return rebuild(loop_vars, list(node.outputs))


def _recorded(
    graph: Graph, prefix: str, fn: Callable[..., Any], loop_vars: Any, start: list[Tensor]
) -> Recording:
    """Record ``fn``, whose inputs are the loop variables and the number of the iteration."""
    count = number(graph, 0)
    inputs = inputs_like(graph, prefix, [*start, count], "loop_var")
    arguments = rebuild(loop_vars, inputs[:-1])
    apart = isinstance(arguments, (list, tuple))
    recording = record(graph, prefix, fn, arguments if apart else (arguments,), inputs)
    recording.forbid_writes(
        "a function of while_loop", "Make its value a loop variable, and assign it after the loop."
    )
    for node in recording.nodes:
        _check(node, graph.current_device)
    return _with_draws(graph, recording)


def _check(node: Node, outer: str | None) -> None:
    if node.op.name == "read_variable":
        raise GraphError(
            "read_value() cannot be used in a function of while_loop.",
            op=node.name,
            source=node.source,
            hint="Use the variable itself, or read it before the loop.",
        )
    if node.device not in (None, outer) and kind_of(str(node.device)).has_kernels:
        raise UnsupportedOpError(
            f"a while_loop runs on the processor, but '{node.name}' is placed on {node.device}.",
            op=node.name,
            source=node.source,
            hint="Leave out the device scope; scan() and cond() run on GPUs.",
        )


def _with_draws(graph: Graph, recording: Recording) -> Recording:
    """Return ``recording`` with other random numbers in each iteration."""
    if not recording.draws:
        return recording
    inputs = inputs_like(graph, recording.prefix, recording.inputs, "loop_var")

    def copied(*values: Tensor) -> list[Tensor]:
        outputs = recording.instantiate(graph, values, scope=recording.prefix, iteration=values[-1])
        return [identity(tensor) for tensor in outputs]

    again = record(graph, recording.prefix, copied, inputs, inputs)
    again.result, again.source = recording.result, recording.source
    return again
