"""Networks as files for ONNX Runtime, with channels first, as PyTorch would export them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper, save

from bench.workload_files import weights
from playgrad.benchmark.workloads import Workload, WorkloadLayer

_OPSET = 17


def write_onnx(workload: Workload, path: Path) -> None:
    """Write the network of ``workload``, with its initial weights, for batches of any size.

    Its input ``x`` has the shape of the workload's; images have one channel, so that channels are
    as well last as first.
    """
    arrays = iter(weights(workload, "jax"))  # (out, in, height, width), and (in, out)
    nodes, constants = [], []
    value = "x"

    def add(operation: str, *inputs: str, **attributes: object) -> None:
        nonlocal value
        name = f"{operation.lower()}_{len(nodes)}"
        nodes.append(helper.make_node(operation, [value, *inputs], [name], **attributes))
        value = name

    def constant(array: np.ndarray) -> str:
        name = f"constant_{len(constants)}"
        constants.append(numpy_helper.from_array(array, name))
        return name

    if len(workload.input_shape) == 3:
        height, width, channels = workload.input_shape
        add("Reshape", constant(np.array([-1, channels, height, width])))
    for layer in workload.layers:
        _add(layer, add, constant, arrays)
    last = nodes[-1].output[0]
    graph = helper.make_graph(
        nodes,
        workload.name,
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", *workload.input_shape])],
        [helper.make_tensor_value_info(last, TensorProto.FLOAT, ["batch", None])],
        constants,
    )
    opsets = [helper.make_opsetid("", _OPSET)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=9)
    checker.check_model(model)
    save(model, path)


def _add(layer: WorkloadLayer, add, constant, arrays) -> None:
    """Add the operations of a layer."""
    if layer.kind == "flatten":
        add("Flatten")
        return
    if layer.kind == "pool":
        add("MaxPool", kernel_shape=[2, 2], strides=[2, 2])
        return
    kernel, bias = constant(next(arrays)), constant(next(arrays))
    if layer.kind == "conv":
        before = (layer.size - 1) // 2 if layer.padding == "same" else 0
        after = layer.size - 1 - before if layer.padding == "same" else 0
        add("Conv", kernel, bias, pads=[before, before, after, after])
    else:
        add("Gemm", kernel, bias)
    if layer.activation == "relu":
        add("Relu")
