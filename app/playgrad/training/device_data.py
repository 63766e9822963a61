"""Data that lives on the device: put there once, then taken by index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from playgrad.devices import registry
from playgrad.dtypes import dtype
from playgrad.errors import OutOfMemoryError, shape_text
from playgrad.graph.graph import at_top
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.arrays.fill import fill
from playgrad.ops.state import Variable, global_variables
from playgrad.parallel.replicas import mirrored_by

if TYPE_CHECKING:
    from playgrad.models.model import Model

Array = np.ndarray[Any, Any]
_SCOPE = "data/"


@dataclass(frozen=True)
class DeviceData:
    """A data set as variables that are not trained: inputs and targets, ``count`` samples."""

    xs: tuple[Variable, ...]
    ys: tuple[Variable, ...]
    count: int

    @property
    def variables(self) -> tuple[Variable, ...]:
        return (*self.xs, *self.ys)

    def fill(
        self, model: Model, xs: Sequence[Array], ys: Sequence[Array], soon: Node | None = None
    ) -> None:
        """Put the data there; ``soon`` is what will be run with it."""
        values = dict(zip(self.variables, (*xs, *ys), strict=True))
        model.session.assign_data(values, soon)

    @property
    def key(self) -> tuple[Any, ...]:
        """What steps built on this data depend on."""
        return tuple(variable.variable_name for variable in self.variables)


def make_resident(model: Model, role: str, xs: Sequence[Array], ys: Sequence[Array]) -> DeviceData:
    """``xs`` and ``ys`` on the device, as ``data/<role>/x`` and ``y``; see `declare_resident`."""
    resident = declare_resident(model, role, xs, ys)
    resident.fill(model, xs, ys)
    return resident


def declare_resident(
    model: Model, role: str, xs: Sequence[Array], ys: Sequence[Array]
) -> DeviceData:
    """The variables for ``xs`` and ``ys``, which are still to be assigned.

    Variables of the same role, shapes and types are used again; what the role had before in other
    shapes is freed.

    Raises:
        OutOfMemoryError: an array is larger than the device can bind at once.
    """
    for name, array in [(f"{role} x", x) for x in xs] + [(f"{role} y", y) for y in ys]:
        _check_room(model, name, array)
    signature = ("data", role, *((array.shape, array.dtype.name) for array in (*xs, *ys)))
    if signature not in model.cache:
        model.cache[signature] = DeviceData(
            tuple(_variable(model, f"{_SCOPE}{role}/x", x) for x in xs),
            tuple(_variable(model, f"{_SCOPE}{role}/y", y) for y in ys),
            len(xs[0]),
        )
    resident: DeviceData = model.cache[signature]
    model.session.forget(
        [
            variable
            for variable in global_variables(model.graph)
            if variable.node.name.startswith(f"{_SCOPE}{role}/")
            and mirrored_by(variable.node.name) not in resident.key
        ]
    )
    return resident


def is_data(variable: Tensor) -> bool:
    """Whether ``variable`` holds a data set."""
    return variable.node.name.startswith(_SCOPE)


def _variable(model: Model, name: str, array: Array) -> Variable:
    graph = model.graph
    with at_top(graph, "variable"):
        with graph.reenter_scope(f"{name}/"):
            nothing = fill(array.shape, 0, array.dtype.name)
        return Variable(nothing, name, trainable=False)


def _check_room(model: Model, name: str, array: Array) -> None:
    limit = _largest_binding(model.session.device)
    size = dtype(array.dtype.name).device_bytes(array.size)
    if limit is not None and size > limit:
        hint = "Train on a part of the samples"
        if array.dtype == np.float32 and array.ndim > 2:
            hint += ", or keep images as uint8 and put nn.Rescaling(1/255) first"
        raise OutOfMemoryError(
            f"{name} of shape {shape_text(array.shape)} and type {array.dtype} takes {size:,} "
            f"bytes, but {model.session.adapter} can use {limit:,} at once.",
            hint=f"{hint}.",
        )


def _largest_binding(device: str) -> int | None:
    """The most bytes of one tensor that kernels on ``device`` can see; None where all."""
    kind, _, index = device.partition(":")
    if kind != "gpu":
        return None
    return registry.gpu(int(index)).target.limits.max_storage_buffer_binding_size
