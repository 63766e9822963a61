"""The values of tensors outside of a session's run: in eager mode, and by ``Tensor.numpy``.

The values of variables are in the session that the models of the graph share.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from playgrad.graph.eager import COMPUTE
from playgrad.graph.graph import Graph
from playgrad.graph.tensor import Node, Tensor
from playgrad.graph.traversal import ancestors
from playgrad.networks.shared_session import shared_session
from playgrad.ops.state import RANDOM_ADVANCE, RANDOM_STEP, is_variable
from playgrad.runtime.interpreter import Computation, explained
from playgrad.runtime.session import Session

Array = np.ndarray[Any, Any]


def inputs_of(node: Node, detached: bool) -> list[Array] | None:
    """Return the arrays from which a new node can be computed; None if it cannot be.

    Args:
        detached: whether the node stays out of its graph: then other tensors, such as a random
            number that a program has drawn before, are computed for it once.
    """
    if node.op.name == "no_op":
        return [] if detached and any(each.detached for each in node.control_inputs) else None
    if node.op.name == "placeholder" or node.name.startswith(RANDOM_ADVANCE):
        return None
    if is_variable(node):
        return None if detached else []
    arrays: list[Array] = []
    for tensor in node.inputs:
        array = _known(tensor)
        if array is None and detached:
            array = _computed_once(tensor)
        if array is None:
            return None
        arrays.append(array)
    return arrays


def compute(node: Node, inputs: Sequence[Array]) -> None:
    """Compute a new node, including its writes to variables."""
    if is_variable(node):
        _initialize(node)
        return
    try:
        if node.op.name == "no_op":
            return
        if node.op.name == "read_variable":
            results = [_session(node.graph).value(node.attrs["variable"])]
        else:
            with np.errstate(all="ignore"):
                results = list(node.op.reference(inputs, node.attrs))
    except Exception as error:
        raise explained(error, Computation.of(node)) from None
    for tensor, array in zip(node.outputs, results, strict=True):
        tensor.set_eager_value(array)
    if node.op.writes:
        owner = node.inputs[0].graph
        written = zip(node.attrs["variables"], results, strict=False)
        _session(owner).assign(dict(written))
    for tensor in node.inputs:
        if tensor.node.name == RANDOM_STEP:  # the next operation draws other numbers
            session = _session(tensor.graph)
            session.assign({tensor: session.value(tensor) + np.uint32(1)})


def _computed_once(tensor: Tensor) -> Array | None:
    """Return the value of a tensor of a graph, which it keeps unless variables may change it.

    None if it depends on a placeholder.
    """
    before = ancestors([tensor.node])
    if any(node.op.name == "placeholder" for node in before):
        return None
    array = value(tensor)
    if not any(is_variable(node) and node.name != RANDOM_STEP for node in before):
        tensor.set_eager_value(array)
    return array


def _initialize(variable: Node) -> None:
    """Give a variable the value that its initial value has now, if that depends on variables."""
    initial = variable.graph.tensor(variable.attrs["initializer"])
    if initial.eager_value is not None and any(map(is_variable, ancestors([initial.node]))):
        _session(variable.graph).assign({variable.outputs[0]: initial.eager_value})


def _known(tensor: Tensor) -> Array | None:
    """Return the value of a tensor if it needs no run: of a variable or an eager operation."""
    if is_variable(tensor.node):
        return value(tensor)
    if tensor.node.op.name == "constant":
        constant: Array = tensor.node.attrs["value"]
        return constant
    return tensor.eager_value


def value(tensor: Tensor) -> Array:
    """Return the value of a variable, or the result of running a graph for ``tensor``."""
    session = _session(tensor.graph)
    if is_variable(tensor.node):
        return session.value(tensor)
    result: Array = session.run(tensor)
    return result


def _session(graph: Graph) -> Session:
    return shared_session(graph).on(graph, "auto")


def assign(values: Mapping[Tensor, Array]) -> None:
    """Assign ``values`` to variables of one graph."""
    if values:
        _session(next(iter(values)).graph).assign(values)


COMPUTE.update(inputs=inputs_of, node=compute, tensor=value, assign=assign)
