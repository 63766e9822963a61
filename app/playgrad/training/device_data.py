"""Data sets on the device: uploaded once, then indexed by the training step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np

from playgrad.devices import registry
from playgrad.devices.kinds import kind_of
from playgrad.dtypes import dtype
from playgrad.errors import OutOfMemoryError, shape_text
from playgrad.graph.graph import at_top
from playgrad.graph.tensor import Node
from playgrad.networks.network import Network
from playgrad.ops.arrays.fill import fill
from playgrad.ops.state import DATA, TARGETS, Variable, global_variables
from playgrad.parallel.replicas import mirrored_by
from playgrad.runtime.members import check_same
from playgrad.runtime.session import Session

Array = np.ndarray[Any, Any]
DATA_SCOPE = "data/"
"""Name scope of the variables that hold data sets."""


@dataclass(frozen=True)
class DataSignature:
    """The properties of a data set that its variables depend on.

    Attributes:
        role: the use of the data: "train" or "test".
        arrays: shape and dtype of each array, inputs first.
    """

    role: str
    arrays: tuple[tuple[tuple[int, ...], str], ...]

    @classmethod
    def of(cls, role: str, arrays: Sequence[Array]) -> DataSignature:
        """Return the signature of ``arrays``."""
        return cls(role, tuple((array.shape, array.dtype.name) for array in arrays))


@dataclass(frozen=True)
class DeviceData:
    """A data set in variables that are not trained.

    Attributes:
        xs, ys: inputs and targets.
        count: the number of samples.
        weights: the weights of the samples in the loss, if they differ.
    """

    xs: tuple[Variable, ...]
    ys: tuple[Variable, ...]
    count: int
    weights: tuple[Variable, ...] = ()

    @property
    def variables(self) -> tuple[Variable, ...]:
        """Inputs, then targets, then weights."""
        return (*self.xs, *self.ys, *self.weights)

    def upload(
        self,
        session: Session,
        arrays: Sequence[Array],
        first_use: Node | None = None,
        is_whole: bool = True,
    ) -> None:
        """Copy ``arrays``, inputs, then targets, then weights, to the device.

        Args:
            first_use: the node that will be run first with this data, if it is known.
            is_whole: whether all members of the run have the same arrays.

        Raises:
            GraphError: the members of a run have different data.
        """
        if is_whole and session.members.size > 1:
            check_same(session.members, "the data", _digest(arrays))
        session.assign_data(dict(zip(self.variables, arrays, strict=True)), first_use)


def _digest(arrays: Sequence[Array]) -> int:
    digest = 0
    for array in arrays:
        digest = crc32(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data, digest)
    return digest


@dataclass(frozen=True)
class BatchStream:
    """Batches from a data set, without an end.

    Attributes:
        batch: samples of a batch.
        shuffle: whether the samples are reshuffled in every round.
        seed: the seed of the order; None derives one from the graph's seed.
        rounds: the steps of a round, and the samples from one batch to the next; None if all
            batches are full, so that one can begin in one round and end in the next.
        first: a stream with batches of another shape, with which this one alternates in a training;
            the steps over both record in the same variables.
    """

    data: DeviceData
    batch: int
    shuffle: bool = True
    seed: int | None = None
    rounds: tuple[int, int] | None = None
    first: BatchStream | None = None


class DeviceDataCache:
    """The data sets of a network by role, shapes and dtypes."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self._cached: dict[DataSignature, DeviceData] = {}

    def __getitem__(self, role: str) -> DeviceData:
        """Return the data set that was first declared in ``role``."""
        return next(data for key, data in self._cached.items() if key.role == role)

    def upload(
        self, role: str, xs: Sequence[Array], ys: Sequence[Array], weights: Sequence[Array] = ()
    ) -> DeviceData:
        """Declare a data set and copy it to the device; see `declare`."""
        data = self.declare(role, xs, ys, weights)
        data.upload(self.network.session, [*xs, *ys, *weights])
        return data

    def declare(
        self, role: str, xs: Sequence[Array], ys: Sequence[Array], weights: Sequence[Array] = ()
    ) -> DeviceData:
        """Return variables ``data/<role>/x``, ``y`` and ``weight``, not assigned yet.

        Variables of the same role, shapes and dtypes are used again; variables of the role with
        other shapes are freed.

        Raises:
            OutOfMemoryError: an array is larger than the device can bind at once.
        """
        session = self.network.session
        for name, array in [(f"{role} x", x) for x in xs] + [(f"{role} y", y) for y in ys]:
            _check_room(session, name, array)
        signature = DataSignature.of(role, [*xs, *ys, *weights])
        if signature not in self._cached:
            self._cached[signature] = DeviceData(
                tuple(self._variable(f"{DATA_SCOPE}{role}/x", x) for x in xs),
                tuple(self._variable(f"{DATA_SCOPE}{role}/y", y, TARGETS) for y in ys),
                len(xs[0]),
                tuple(self._variable(f"{DATA_SCOPE}{role}/weight", w) for w in weights),
            )
        data = self._cached[signature]
        names = {variable.variable_name for variable in data.variables}
        session.forget(
            [
                variable
                for variable in global_variables(self.network.graph)
                if variable.node.name.startswith(f"{DATA_SCOPE}{role}/")
                and mirrored_by(variable.node.name) not in names
            ]
        )
        return data

    def _variable(self, name: str, array: Array, contents: str = DATA) -> Variable:
        graph = self.network.graph
        with at_top(graph, "variable"):
            with graph.reenter_scope(f"{name}/"):
                zeros = fill(array.shape, 0, array.dtype.name)
            return Variable(zeros, name, trainable=False, contents=contents)


def _check_room(session: Session, name: str, array: Array) -> None:
    limit = _largest_binding(session.device)
    size = dtype(array.dtype.name).device_bytes(array.size)
    if limit is not None and size > limit:
        hint = "Train on fewer samples"
        if array.dtype == np.float32 and array.ndim > 2:
            hint += ", or keep images as uint8 and put nn.Rescaling(1/255) first"
        raise OutOfMemoryError(
            f"{name} of shape {shape_text(array.shape)} and dtype {array.dtype} takes {size:,} "
            f"bytes, but {session.adapter} can bind {limit:,} at once.",
            hint=f"{hint}.",
        )


def _largest_binding(device: str) -> int | None:
    """Return the most bytes of a tensor that a kernel on ``device`` can bind; None: no limit."""
    if not kind_of(device).runs_plans:
        return None
    return registry.opened(device).target.limits.max_storage_buffer_binding_size
