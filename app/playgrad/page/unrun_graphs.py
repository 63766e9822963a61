"""The graphs that a program has built and that no session has run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from playgrad.compiler.place import Policy
from playgrad.compiler.program import Program
from playgrad.devices.registry import NameableDevices
from playgrad.errors import DeviceError
from playgrad.graph.graph import Graph, get_default_graph
from playgrad.graph.tensor import Tensor
from playgrad.networks.network import Network
from playgrad.runtime.default_device import AUTO, default_device
from playgrad.runtime.options import get_options


def unrun_graphs(namespace: Mapping[str, Any]) -> list[tuple[Program, Policy]]:
    """Return the work that a program's models and graphs would do, a `Program` for each graph.

    Their operations are on the device that a session would take. If that does not exist, there is
    nothing to draw: nothing has asked for the device.
    """
    graphs: dict[Graph, list[Tensor]] = {}
    for value in namespace.values():
        if isinstance(value, Network) and value.built:
            fetches = graphs.setdefault(value.graph, [])
            fetches += [tensor for tensor in value.outputs if tensor not in fetches]
    for value in (*namespace.values(), get_default_graph()):
        if isinstance(value, Graph) and value not in graphs:
            graphs[value] = _results(value)
    try:
        policy = Policy(default_device(get_options().device or AUTO).device, NameableDevices())
    except DeviceError:
        return []
    return [(Program(graph, list(fetches)), policy) for graph, fetches in graphs.items() if fetches]


def _results(graph: Graph) -> list[Tensor]:
    """Return the tensors that operations compute for no other operation."""
    read = {tensor for node in graph.nodes for tensor in node.inputs}
    computed = (node for node in graph.nodes if node.op.name not in ("placeholder", "variable"))
    return [tensor for node in computed for tensor in node.outputs if tensor not in read]
