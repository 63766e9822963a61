"""An operation of a training step, with the operations fused with it, compiled alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from playgrad.compiler.compile import Compiled, run_passes
from playgrad.compiler.place import Policy
from playgrad.compiler.plan import PlanBuilder
from playgrad.compiler.program import Program
from playgrad.devices.kinds import FIRST_GPU
from playgrad.devices.target import Target
from playgrad.inspection.node_values import NodeValues

Array = np.ndarray[Any, Any]


def operation_alone(
    values: NodeValues, names: Sequence[str], last: str
) -> tuple[Program, dict[str, Array]]:
    """Return a program whose inputs are fed, and their values in the first batch.

    Args:
        values: the values of the step.
        names: the nodes that are computed together.
        last: the one of them whose results are fetched.
    """
    originals = [values.tensor(name).node for name in names]
    inside = set(originals)
    entries = dict.fromkeys(
        tensor for node in originals for tensor in node.inputs if tensor.node not in inside
    )
    arrays = values.values(list(entries)) if entries else []
    copies = {tensor: values.copy_of(tensor.node).outputs[tensor.index] for tensor in entries}
    feeds = {copies[tensor].node.name: copies[tensor] for tensor in entries}
    fetches = list(values.copy_of(values.tensor(last).node).outputs)
    program = Program(fetches[0].graph, fetches, [], feeds, values.precision)
    known = {
        copies[tensor].node.name: np.asarray(array)
        for tensor, array in zip(entries, arrays, strict=True)
    }
    return program, known


def planned(
    program: Program, feeds: Mapping[str, Array], target: Target
) -> tuple[Compiled, dict[str, Any]]:
    """Compile a program for one GPU; return its Plan, in which each dispatch has its own kernel."""
    shapes = {name: array.shape for name, array in feeds.items()}
    compiled = run_passes(program, shapes, Policy(FIRST_GPU, [FIRST_GPU]))
    segments, fetches = compiled.segments[FIRST_GPU], compiled.program.fetches
    plan = PlanBuilder(segments, fetches, target, {}, merge_dispatches=False).build()
    texts = {kernel["id"]: kernel for kernel in plan["kernels"]}
    kernels = []
    for number, command in enumerate(plan["commands"]):
        kernels.append({**texts[command["kernel"]], "id": number})
        command["kernel"] = number
    return compiled, {**plan, "kernels": kernels}
