"""The values of tensors outside of a session's run: in eager mode, and by ``Tensor.numpy``.

The values of variables are those of the session that the models of the graph share.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from playgrad.graph.eager import COMPUTE
from playgrad.graph.graph import Graph
from playgrad.graph.tensor import Node, Tensor
from playgrad.graph.traversal import ancestors
from playgrad.models.shared_session import shared_session
from playgrad.ops.state import RANDOM_ADVANCE, RANDOM_STEP, is_variable
from playgrad.runtime.interpreter import explained
from playgrad.runtime.session import Session

Array = np.ndarray[Any, Any]
_WITHOUT_VALUE = {"placeholder", "no_op"}


def compute(node: Node) -> None:
    """Compute a new node, unless it depends on a placeholder, and write what it writes."""
    if node.op.name in _WITHOUT_VALUE or node.name == RANDOM_ADVANCE:
        return
    if is_variable(node):
        _initialize(node)
        return
    known = [_known(tensor) for tensor in node.inputs]
    inputs = [array for array in known if array is not None]
    if len(inputs) < len(known):
        return
    try:
        if node.op.name == "read_variable":
            results = [_session(node.graph).value(node.attrs["variable"])]
        else:
            with np.errstate(all="ignore"):
                results = list(node.op.reference(inputs, node.attrs))
    except Exception as error:
        raise explained(error, node) from None
    for tensor, array in zip(node.outputs, results, strict=True):
        tensor.set_eager_value(array)
    if node.op.writes:
        written = zip(node.attrs["variables"], results, strict=False)
        _session(node.graph).assign(dict(written))
    for tensor in node.inputs:
        if tensor.node.name == RANDOM_STEP:  # the next operation draws other numbers
            session = _session(node.graph)
            session.assign({tensor: session.value(tensor) + np.uint32(1)})


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


COMPUTE.update(node=compute, tensor=value)
