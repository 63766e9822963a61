"""Conversion of graphs to JSON and back."""

from __future__ import annotations

import base64
import math
from collections.abc import Container, Iterable, Mapping
from typing import Any

import numpy as np

from playgrad.errors import GraphError, PlaygradError
from playgrad.graph.graph import Graph
from playgrad.graph.opdef import OpDef, lookup
from playgrad.graph.tensor import Node, Tensor
from playgrad.json_text import parse_json

FORMAT = "playgrad-graph"
VERSION = 1


def graph_to_json(graph: Graph, nodes: Iterable[Node] | None = None) -> dict[str, Any]:
    """Return the graph as plain data; arrays among the attributes are base64, little endian.

    Args:
        nodes: the nodes to include, in topological order; None for all. Control edges from other
            nodes are left out.
    """
    chosen = graph.nodes if nodes is None else list(nodes)
    names = {node.name for node in chosen}
    return {
        "format": FORMAT,
        "version": VERSION,
        "seed": graph.seed,
        "random_ops": graph.random_ops,
        "nodes": [node_to_json(node, names) for node in chosen],
    }


def node_to_json(node: Node, names: Container[str]) -> dict[str, Any]:
    """Return ``node`` as plain data, with control edges from the nodes called ``names``."""
    data: dict[str, Any] = {
        "name": node.name,
        "op": node.op.name,
        "inputs": [tensor.name for tensor in node.inputs],
        "attrs": {key: encode(value) for key, value in node.attrs.items()},
        "control_inputs": [before.name for before in node.control_inputs if before.name in names],
        "phase": node.phase,
    }
    if node.device:
        data["device"] = node.device
    if node.task:
        data["task"] = node.task
    if node.source:
        data["source"] = list(node.source)
    return data


def graph_from_text(text: str | bytes) -> Graph:
    """Rebuild the graph from the result of ``graph_to_json`` as JSON text.

    Raises:
        GraphError: as for ``graph_from_json``, or the text is not JSON.
    """
    try:
        data = parse_json(text)
    except ValueError as error:
        raise GraphError(f"the graph is damaged: it is not JSON ({error}).") from None
    return graph_from_json(data)


def graph_from_json(data: dict[str, Any], ops: Mapping[str, OpDef] | None = None) -> Graph:
    """Rebuild the graph that ``graph_to_json`` wrote, with equal names, attributes and edges.

    Args:
        ops: operations by name, in place of the registered ones.

    Raises:
        GraphError: the data is not a graph, of another version, damaged, or has an unknown op or
            node.
        ShapeError, DTypeError: a node's inputs do not fit its op.
    """
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise GraphError("not a playgrad graph.")
    if data.get("version") != VERSION:
        raise GraphError(f"graph version must be {VERSION}, got {data.get('version')!r:.60}.")
    name = None
    try:
        graph = Graph(int(data["seed"]))
        graph.random_ops = int(data["random_ops"])
        for item in data["nodes"]:
            name = item.get("name")
            add_node(graph, item, ops or {})
    except PlaygradError:
        raise
    # The rules of ops rely on attributes that their constructors checked. Those of a damaged file
    # can make them raise anything.
    except Exception as error:
        place = f" at the node {name!r:.60}" if isinstance(name, str) else ""
        raise GraphError(
            f"the graph is damaged{place}: {type(error).__name__} {str(error)[:200]}."
        ) from None
    return graph


def add_node(
    graph: Graph,
    item: dict[str, Any],
    ops: Mapping[str, OpDef],
    tensors: Mapping[str, Tensor] | None = None,
) -> Node:
    """Add the node that ``node_to_json`` wrote.

    Args:
        ops: operations by name, in place of the registered ones.
        tensors: tensors by their names in the data, in place of the graph's.

    Raises:
        ValueError: the data is damaged; other errors are possible.
    """
    name, phase, source = item["name"], item["phase"], item.get("source")
    if not isinstance(name, str) or name in graph:
        raise ValueError("its name is not a text, or occurs twice")
    labels = (phase, item.get("device"), item.get("task"))
    if phase is None or not all(label is None or isinstance(label, str) for label in labels):
        raise ValueError("its phase, device or task is not a text")
    known = tensors or {}
    return graph.add(
        ops.get(item["op"]) or lookup(item["op"]),
        [known[name] if name in known else graph.tensor(name) for name in item["inputs"]],
        {key: decode(value) for key, value in item["attrs"].items()},
        name=name,
        control_inputs=[graph.node(name) for name in item["control_inputs"]],
        phase=phase,
        device=item.get("device"),
        task=item.get("task"),
        source=(str(source[0]), int(source[1])) if source else ("<json>", 0),
    )


def encode(value: Any) -> Any:
    """Return an attribute as JSON data."""
    if isinstance(value, np.ndarray):
        little = np.ascontiguousarray(value, dtype=value.dtype.newbyteorder("<"))
        return {
            "array": base64.b64encode(little.tobytes()).decode(),
            "dtype": value.dtype.name,
            "shape": list(value.shape),
        }
    if isinstance(value, np.generic):
        return encode(value.item())
    if isinstance(value, (list, tuple)):
        return [encode(item) for item in value]
    if isinstance(value, dict):
        return {key: encode(item) for key, item in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}  # JSON has neither infinity nor NaN
    return value


def decode(value: Any) -> Any:
    """Return the attribute that ``encode`` wrote."""
    if isinstance(value, dict) and "array" in value:
        kind = np.dtype(value["dtype"])
        if kind.kind not in "biuf":
            raise ValueError(f"{kind} is not a dtype of numbers")
        array = np.frombuffer(base64.b64decode(value["array"]), kind)
        return array.reshape(value["shape"]).copy()
    if isinstance(value, dict) and "float" in value:
        return float(value["float"])
    if isinstance(value, dict):
        return {key: decode(item) for key, item in value.items()}
    if isinstance(value, list):
        return [decode(item) for item in value]
    return value
