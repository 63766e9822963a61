"""The NumPy device, which computes nodes one by one with the references of their operations."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from playgrad.errors import OutOfMemoryError, PlaygradError
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.state import is_variable

Array = np.ndarray[Any, Any]

LARGEST = sys.maxsize // 2
"""Maximum bytes of an operation's results. In a browser this is 1 GiB: addresses have 32 bits
there, and NumPy corrupts memory when a result and its temporaries come close to the end of it."""
HEAVY_BYTES = 1 << 18
"""Operations that touch more bytes than this are worth another thread."""


@dataclass
class RunValues:
    """The values of one run.

    Attributes:
        stored: returns the value that a variable had when the run began, by its name.
        tensors: feeds and results.
        written: new values of variables by name, which take effect when the run has succeeded.
    """

    stored: Callable[[str], Array]
    tensors: dict[Tensor, Array] = field(default_factory=dict)
    written: dict[str, Array] = field(default_factory=dict)

    def variable(self, name: str) -> Array:
        """Return the value of a variable at this point of the run."""
        return self.written[name] if name in self.written else self.stored(name)

    def clear(self) -> None:
        """Forget all values."""
        self.tensors.clear()
        self.written.clear()


def is_heavy(node: Node) -> bool:
    """Return whether ``node`` takes long enough for others to wait for its thread."""
    return 4 * sum(t.spec.size for t in (*node.inputs, *node.outputs)) > HEAVY_BYTES


def node_work(node: Node, values: RunValues) -> Callable[[], None]:
    """Return a function that computes ``node``: it takes inputs from ``values`` and adds outputs.

    It raises `OutOfMemoryError` if the results would be larger than `LARGEST`.
    """
    if node.op.name == "no_op":
        return lambda: None
    tensors = values.tensors
    if node.op.name == "constant":
        constant = node.attrs["value"]
        return lambda: tensors.__setitem__(node.outputs[0], constant)
    if is_variable(node):
        return lambda: tensors.__setitem__(node.outputs[0], values.stored(node.name))
    if node.op.name == "read_variable":
        target, name = node.outputs[0], node.attrs["variable"]
        return lambda: tensors.__setitem__(target, values.variable(name))
    return _compute(node, values)


def _compute(node: Node, values: RunValues) -> Callable[[], None]:
    tensors, written = values.tensors, values.written
    inputs, outputs = node.inputs, node.outputs
    compute: Callable[[Sequence[Array]], Sequence[Array]] | None = None  # until the first run
    variables = node.attrs["variables"] if node.op.writes else ()

    def work() -> None:
        nonlocal compute
        compute = compute or prepared(node)
        try:
            # Infinity and NaN without a warning, as on a GPU.
            with np.errstate(all="ignore"):
                results = compute([tensors[tensor] for tensor in inputs])
        except Exception as error:
            raise explained(error, node) from None
        for tensor, result in zip(outputs, results, strict=True):
            tensors[tensor] = result
        for variable, result in zip(variables, results, strict=False):
            written[variable] = result

    return work


def prepared(node: Node) -> Callable[[Sequence[Array]], Sequence[Array]]:
    """Return the reference of the node's operation as a function of its input arrays.

    Raises:
        OutOfMemoryError: the results would be larger than `LARGEST`.
    """
    if _bytes(node) > LARGEST:
        raise _out_of_memory(node)
    if node.op.prepare is not None:
        return node.op.prepare([tensor.spec for tensor in node.inputs], node.attrs)
    reference, attrs = node.op.reference, node.attrs
    return lambda arrays: reference(arrays, attrs)


def explained(error: Exception, node: Node) -> Exception:
    """Return ``error``, raised while ``node`` was computed, with the node's name and source."""
    if isinstance(error, MemoryError):
        return _out_of_memory(node)
    error.add_note(f"{node.device} was computing '{node.name}'.")
    return error.located(node.name, node.source) if isinstance(error, PlaygradError) else error


def _bytes(node: Node) -> int:
    return sum(t.spec.size * np.dtype(t.dtype).itemsize for t in node.outputs)


def _out_of_memory(node: Node) -> OutOfMemoryError:
    return OutOfMemoryError(
        f"there is no room for a result of {_bytes(node):,} bytes.",
        op=node.name,
        source=node.source,
        hint="Use a smaller batch or a smaller network.",
    )
