"""Small ONNX files, with whatever is to be wrong in them."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

import playgrad as pg
from playgrad.errors import CheckpointError
from playgrad.interchange.readers import ONNX

Array = np.ndarray[Any, Any]
PEAK = 96 << 20
"""The most bytes that reading a small file may take. ONNX allows constants of 64 MB."""


def node(operator: str, inputs: str, output: str = "y", **attributes: Any) -> Any:
    """Return a node.

    Args:
        inputs: their names, separated by blanks; - for one that is left out.
    """
    names = ["" if name == "-" else name for name in inputs.split()]
    return helper.make_node(operator, names, [output], name=f"the/{operator}", **attributes)


def model(
    *nodes: Any,
    weights: dict[str, Any] | None = None,
    shape: Sequence[Any] = ("n", 4),
    dtype: int = TensorProto.FLOAT,
    opset: int = 17,
    output: str = "y",
) -> Any:
    """Return a model of ``nodes`` from the input ``x`` to ``output``."""
    graph = helper.make_graph(
        nodes,
        "hostile",
        [helper.make_tensor_value_info("x", dtype, shape)],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)],
        [
            array
            if isinstance(array, TensorProto)
            else numpy_helper.from_array(np.asarray(array), name)
            for name, array in (weights or {}).items()
        ],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])


def tensor(name: str, shape: Sequence[int], **fields: Any) -> Any:
    """Return a tensor of float32 with any fields."""
    result = TensorProto(name=name, data_type=TensorProto.FLOAT)
    result.dims.extend(shape)
    for field, value in fields.items():
        if isinstance(value, list):
            getattr(result, field).extend(value)
        else:
            setattr(result, field, value)
    return result


def in_little_memory(read: Callable[[], Any]) -> Any:
    """Return the result of ``read``, or the CheckpointError that it raises.

    Raises:
        AssertionError: it took more than `PEAK` bytes at a time.
    """
    tracemalloc.start(1)
    try:
        result = read()
    except CheckpointError as error:
        result = error
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < PEAK, f"{peak / 2**20:.0f} MB"
    return result


def load(content: bytes) -> pg.Model:
    """Read ``content`` as ONNX, whatever it begins with."""
    return ONNX.read(content)
