"""Kinds of devices: one record for each says what its devices can do.

A device is called ``<kind>:<number>``. Nothing else reads a kind from the name of a device: what
depends on the kind asks its record, so that another kind needs a record and a host.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from playgrad.devices.target import AdapterInfo
from playgrad.dtypes import NAMES, dtype, to_device_bytes
from playgrad.errors import DeviceError
from playgrad.graph.opdef import OpDef
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Node

_DEVICE = re.compile(r"([a-z]+)(?::[0-9]{1,9})?")
_HELD_ANYWHERE = {"placeholder", "variable", "constant", "read_variable", "no_op"}


@dataclass(frozen=True)
class Kind:
    """The abilities of all devices of a kind.

    Attributes:
        name: the first part of the devices' names.
        title: the kind in an error message.
        on_cores: its devices compute on the cores of this machine's processor, and share them.
        runs_plans: its devices have their own memory and execute Plans.
        has_kernels: an operation is computed by the kernel that it lowers to, which checks none of
            its inputs; otherwise by its NumPy reference, which checks them and which every
            operation has.
        fuses: one kernel may compute several operations.
        updates_in_place: variables are overwritten; otherwise arrays are replaced, all of them at
            the end of a run.
        in_words: values are in words of 32 bits, as shaders read them; otherwise as in NumPy.
        compiles: the host's compiler and its kernels may compute, if it has any, and in a page
            further devices are interpreters of their own.
        is_offered: its devices are listed and chosen for work; otherwise a program names them.
        dtypes: the dtypes of the values that it can hold.
        adapter: that of all its devices; None if the host lists their adapters.
    """

    name: str
    title: str
    on_cores: bool
    runs_plans: bool
    has_kernels: bool
    fuses: bool
    updates_in_place: bool
    in_words: bool
    compiles: bool
    is_offered: bool
    dtypes: frozenset[str]
    adapter: AdapterInfo | None = None

    @property
    def first(self) -> str:
        """The name of its first device."""
        return f"{self.name}:0"

    def unsupported(self, node: Node) -> str | None:
        """Return why no device of this kind can run ``node``, or None if they can."""
        for tensor in (*node.inputs, *node.outputs):
            if tensor.dtype not in self.dtypes:
                return f"no {self.title} has {tensor.dtype} values"
        if not self.has_kernel(node.op) and node.op.name not in _HELD_ANYWHERE:
            return node.op.on_host or f"it has no {self.title} kernel"
        return None

    def has_kernel(self, op: OpDef) -> bool:
        """Return whether something computes ``op`` here, or it needs nothing."""
        return not self.has_kernels or op.lower is not None or op.alias

    def bytes_of(self, spec: TensorSpec) -> int:
        """Return the bytes that a tensor takes in a buffer."""
        kind = dtype(spec.dtype)
        return kind.device_bytes(spec.size) if self.in_words else kind.numpy.itemsize * spec.size

    def to_bytes(self, array: np.ndarray[Any, Any]) -> bytes | memoryview:
        """Return the bytes of an array as they are in a buffer."""
        return to_device_bytes(array) if self.in_words else array.tobytes()


CPU = Kind(
    name="cpu",
    title="processor",
    on_cores=True,
    runs_plans=False,
    has_kernels=False,
    fuses=False,
    updates_in_place=False,
    in_words=False,
    compiles=True,
    is_offered=True,
    dtypes=frozenset(NAMES),
    adapter=AdapterInfo("NumPy", backend="numpy"),
)
GPU = Kind(
    name="gpu",
    title="GPU",
    on_cores=False,
    runs_plans=True,
    has_kernels=True,
    fuses=True,
    updates_in_place=True,
    in_words=True,
    compiles=False,
    is_offered=True,
    dtypes=frozenset(name for name in NAMES if dtype(name).storage is not None),
)
REFERENCE = replace(
    CPU,
    name="reference",
    title="reference",
    compiles=False,
    is_offered=False,
)
"""The processor as every operation specifies its results: by its NumPy reference, one after the
other. To compare results with, not to be fast (docs/decisions/065)."""
KINDS = {kind.name: kind for kind in (CPU, GPU, REFERENCE)}
HOST = CPU.first
"""The device of whatever no other can run."""
FIRST_GPU = GPU.first


@functools.lru_cache(maxsize=1024)
def kind_of(device: str) -> Kind:
    """Return the kind of a device.

    Raises:
        DeviceError: ``device`` is not the name of a device, with or without a number.
    """
    match = _DEVICE.fullmatch(device)
    kind = KINDS.get(match[1]) if match else None
    if kind is None:
        offered = [each for each in KINDS.values() if each.is_offered]
        names = [*(each.name for each in offered), *(each.first for each in offered)]
        hint = f"Write {', '.join(names[:-1])} or {names[-1]}."
        here = _DEVICE.fullmatch(device.rpartition("/")[2])
        if here and here[1] in KINDS:  # as errors and traces of several machines name it
            hint = f"Write {here[0]}: the number says which machine it is on."
        raise DeviceError(f"{device!r} is not a device.", hint=hint)
    return kind


def canonical(name: str) -> str:
    """Return the full name of a device: ``gpu:0`` for ``gpu``.

    Raises:
        DeviceError: ``name`` is not the name of a device.
    """
    return f"{kind_of(name).name}:{index_of(name)}"


def index_of(device: str) -> int:
    """Return the number of a device among the devices of its kind."""
    return int(device.partition(":")[2] or 0)
