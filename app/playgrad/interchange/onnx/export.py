"""`onnx_bytes`: networks as ONNX files, https://onnx.ai/onnx/."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from playgrad.data.input_description import KEY
from playgrad.graph.tensor import Node, Tensor
from playgrad.interchange.onnx import arrays, elementwise, products, reductions
from playgrad.interchange.onnx.builder import GraphBuilder
from playgrad.interchange.onnx.translation import TRANSLATIONS, Translation
from playgrad.networks.inference import InferenceGraph, refusal

assert arrays and elementwise and products and reductions  # imported to fill the table

Array = np.ndarray[Any, Any]


_SOURCES = ("placeholder", "variable", "constant")


def onnx_bytes(network: InferenceGraph, opset: int | None = None) -> bytes:
    """Return the ONNX model that computes a prediction, with the names of playgrad.

    Args:
        opset: the version of the operators; the lowest that the network needs if None.

    Raises:
        ExportError: ONNX has no equivalent of an operation; the message names it and its layer. Or
            the network needs a later opset; the message names the operator.
    """
    builder = GraphBuilder(network.name)
    names: dict[Tensor, str] = {}
    for tensor in network.inputs:
        names[tensor] = builder.unique(tensor.node.name)
        builder.value(builder.graph.input, names[tensor], tensor.dtype, tensor.shape)
    add_nodes(builder, network, names)
    for tensor in network.outputs:
        result = names[tensor]
        if tensor.node.op.name in _SOURCES or result in _outputs(builder):
            result = builder.unique(f"{result}/output")
            builder.add("Identity", [names[tensor]], [result], {}, tensor.dtype)
        builder.value(builder.graph.output, result, tensor.dtype, tensor.shape)
    if network.input is not None:
        builder.metadata[KEY] = network.input.to_json()
    return builder.model(opset)


def add_nodes(builder: GraphBuilder, network: InferenceGraph, names: dict[Tensor, str]) -> None:
    """Add the operations of ``network``.

    Args:
        names: the names of its inputs, to which those of its other tensors are added.

    Raises:
        ExportError: ONNX has no equivalent of an operation.
    """
    for node in network.nodes:
        if not all(tensor in names for tensor in node.outputs):
            _add(builder, node, names, network.values)


def _outputs(builder: GraphBuilder) -> set[str]:
    return {info.name for info in builder.graph.output}


def _add(
    builder: GraphBuilder, node: Node, names: dict[Tensor, str], values: Mapping[Tensor, Array]
) -> None:
    kind = node.op.name
    if kind in ("variable", "constant"):
        (tensor,) = node.outputs
        names[tensor] = builder.unique(node.name)
        array = node.attrs["value"] if kind == "constant" else values[tensor]
        builder.initializer(names[tensor], np.asarray(array))
        return
    translate = TRANSLATIONS.get(kind)
    if translate is None:
        raise refusal(node, "ONNX has no equivalent that playgrad knows.")
    translation = Translation(builder, node, [names[tensor] for tensor in node.inputs])
    translate(translation)
    names.update(zip(node.outputs, translation.outputs, strict=True))
