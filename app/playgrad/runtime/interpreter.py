"""The NumPy device, which computes nodes one by one with the references of their operations."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from playgrad.devices.kinds import CPU, HOST, kind_of
from playgrad.devices.machines import full_name
from playgrad.errors import OutOfMemoryError, PlaygradError
from playgrad.graph.opdef import Attrs, OpDef
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.state import is_variable
from playgrad.wasm.page_kernels import numpy_alone

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
        compute = compute or compute_of(Computation.of(node))
        try:
            # Infinity and NaN without a warning, as on a GPU.
            with np.errstate(all="ignore"):
                results = compute([tensors[tensor] for tensor in inputs])
        except Exception as error:
            raise explained(error, Computation.of(node)) from None
        for tensor, result in zip(outputs, results, strict=True):
            tensors[tensor] = result
        for variable, result in zip(variables, results, strict=False):
            written[variable] = result

    return work


@dataclass(frozen=True)
class Computation:
    """An operation with all that computing it, and explaining its errors, takes."""

    op: OpDef
    attrs: Attrs
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    name: str
    device: str | None
    source: tuple[str, int] | None

    @classmethod
    def of(cls, node: Node) -> Computation:
        return cls(
            node.op,
            node.attrs,
            tuple(tensor.spec for tensor in node.inputs),
            tuple(tensor.spec for tensor in node.outputs),
            node.name,
            node.device,
            node.source,
        )

    @property
    def full_device(self) -> str:
        """The name of the device, and of its machine if there are several."""
        return full_name(self.device or CPU.first)

    @property
    def result_bytes(self) -> int:
        """The bytes of its results."""
        return sum(map(CPU.bytes_of, self.outputs))


def compute_of(computation: Computation) -> Callable[[Sequence[Array]], Sequence[Array]]:
    """Return the reference of an operation as a function of its input arrays; a faster function
    with its results, unless the device is the reference.

    Raises:
        OutOfMemoryError: the results would be larger than `LARGEST`.
    """
    op, attrs = computation.op, computation.attrs
    if computation.result_bytes > LARGEST:
        raise _out_of_memory(computation)
    if not kind_of(computation.device or HOST).compiles:
        return _plain(computation)
    if op.prepare is not None:
        return op.prepare(computation.inputs, attrs)
    return lambda arrays: op.reference(arrays, attrs)


def _plain(computation: Computation) -> Callable[[Sequence[Array]], Sequence[Array]]:
    reference, attrs = computation.op.reference, computation.attrs

    def compute(arrays: Sequence[Array]) -> Sequence[Array]:
        with numpy_alone():
            return reference(arrays, attrs)

    return compute


def explained(error: Exception, computation: Computation) -> Exception:
    """Return ``error``, raised by ``computation``, with its name and source."""
    if isinstance(error, MemoryError):
        return _out_of_memory(computation)
    error.add_note(f"{computation.full_device} was computing '{computation.name}'.")
    if isinstance(error, PlaygradError):
        return error.located(computation.name, computation.source)
    return error


def _out_of_memory(computation: Computation) -> OutOfMemoryError:
    return OutOfMemoryError(
        f"{computation.full_device} has no room for a result of {computation.result_bytes:,} "
        "bytes.",
        op=computation.name,
        source=computation.source,
        hint="Use a smaller batch or a smaller network.",
    )
