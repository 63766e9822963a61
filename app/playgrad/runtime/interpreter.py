"""The NumPy device: computes nodes one by one, by the references of their operations."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from playgrad.errors import OutOfMemoryError, PlaygradError
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.state import is_variable

Array = np.ndarray[Any, Any]

LARGEST = sys.maxsize // 2
"""Bytes of results that NumPy is trusted with. In a browser this is 1 GiB: its addresses have 32
bits, and NumPy there damages memory where a result and its temporaries come near to their end."""


def node_work(
    node: Node,
    values: dict[Tensor, Array],
    written: dict[str, Array],
    stored: Callable[[str], Array],
) -> Callable[[], None]:
    """What computing ``node`` means: it takes inputs from ``values`` and puts its outputs there.

    Args:
        written: takes new values of variables by name; they count once the run has ended.
        stored: gives the value that a variable had when the run began.

    Raises:
        OutOfMemoryError: the results would be larger than can be addressed.
    """
    if node.op.name == "no_op":
        return lambda: None
    if node.op.name == "constant":
        value = node.attrs["value"]
        return lambda: values.__setitem__(node.outputs[0], value)
    if is_variable(node):
        return lambda: values.__setitem__(node.outputs[0], stored(node.name))
    if node.op.name == "read_variable":
        target, name = node.outputs[0], node.attrs["variable"]
        return lambda: values.__setitem__(
            target, written[name] if name in written else stored(name)
        )
    return _compute(node, values, written)


def _compute(
    node: Node, values: dict[Tensor, Array], written: dict[str, Array]
) -> Callable[[], None]:
    inputs, outputs = node.inputs, node.outputs
    compute: Callable[[Sequence[Array]], Sequence[Array]] | None = None  # until the first run
    variables = node.attrs["variables"] if node.op.writes else ()

    def work() -> None:
        nonlocal compute
        compute = compute or prepared(node)
        try:
            # A GPU gives infinity and NaN without a word, and so does this device.
            with np.errstate(all="ignore"):
                results = compute([values[tensor] for tensor in inputs])
        except Exception as error:
            raise explained(error, node) from None
        for tensor, result in zip(outputs, results, strict=True):
            values[tensor] = result
        for variable, result in zip(variables, results, strict=False):
            written[variable] = result

    return work


def prepared(node: Node) -> Callable[[Sequence[Array]], Sequence[Array]]:
    """The reference of the node's op as a function of the arrays alone.

    Raises:
        OutOfMemoryError: the results would be larger than can be addressed.
    """
    if _bytes(node) > LARGEST:
        raise _no_room(node)
    if node.op.prepare is not None:
        return node.op.prepare([tensor.spec for tensor in node.inputs], node.attrs)
    reference, attrs = node.op.reference, node.attrs
    return lambda arrays: reference(arrays, attrs)


def explained(error: Exception, node: Node) -> Exception:
    """``error``, which came up while ``node`` was computed, with what a user needs to know."""
    if isinstance(error, MemoryError):
        return _no_room(node)
    error.add_note(f"{node.device} was computing '{node.name}'.")
    return error.located(node.name, node.source) if isinstance(error, PlaygradError) else error


def _bytes(node: Node) -> int:
    return sum(t.spec.size * np.dtype(t.dtype).itemsize for t in node.outputs)


def _no_room(node: Node) -> OutOfMemoryError:
    return OutOfMemoryError(
        f"there is no room for a result of {_bytes(node):,} bytes.",
        op=node.name,
        source=node.source,
        hint="Use a smaller batch or a smaller network.",
    )
