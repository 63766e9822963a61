"""Replicas of asynchronous training on a Ray cluster, which come back when their process dies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from typing import Any

import numpy as np

from playgrad.devices.kinds import kind_of
from playgrad.devices.pending import Result
from playgrad.errors import DeviceError, PlaygradError
from playgrad.graph.serialize import graph_from_json, graph_to_json
from playgrad.graph.tensor import Tensor
from playgrad.graph.traversal import ancestors, topological
from playgrad.parallel.ray_cluster import Ray, first_line, reserved_gpu
from playgrad.parallel.replica_client import ReplicaClient
from playgrad.runtime.session import Session

Array = np.ndarray[Any, Any]

_MOST_DEATHS = 3
"""A replica that dies so often without finishing a batch in between does not come back."""


class ReplicaDiedError(DeviceError):
    """The process of a replica has ended, or its machine cannot be reached."""


class RayReplicas:
    """A connection to a cluster, for replicas that have the same data.

    Raises:
        DeviceError: Ray cannot be used, or the cluster does not hold one replica.
    """

    def __init__(self, cluster: Ray) -> None:
        self.cluster = cluster
        self._connection = ExitStack()
        self.ray = self._connection.enter_context(cluster.connected())
        self._values: Mapping[Any, Array] | None = None
        self._stored: Any = None
        try:
            cluster.capacity(self.ray)
        except DeviceError:
            self.close()
            raise

    def stored(self, values: Mapping[Any, Array]) -> Any:
        """Return a reference to ``values`` by name, stored once for all replicas."""
        if values is not self._values:
            self._values = values
            self._stored = self.ray.put({tensor.node.name: v for tensor, v in values.items()})
        return self._stored

    def close(self) -> None:
        """End the connection."""
        self._connection.close()


class RayClient(ReplicaClient):
    """A replica in an actor.

    Args:
        device: its name in reports; the actor computes on the first device of this kind.
        precision: "float32" or "mixed".

    Attributes:
        actor: its handle.
    """

    def __init__(self, device: str, precision: str, replicas: RayReplicas) -> None:
        super().__init__(device)
        self._precision = precision
        self._replicas = replicas
        self._values: Any = {}
        self._deaths = self._clock_at_death = 0
        self._open()

    def _open(self) -> None:
        cluster, ray = self._replicas.cluster, self._replicas.ray
        first = kind_of(self.device).first
        self.actor = cluster.new_actor(ray, ReplicaActor, first, self._precision)
        self._sent: list[Tensor] = []
        self.opening = self._call("assign", self._values)

    def _call(self, method: str, *arguments: Any) -> Result[Any]:
        """Call a method of the actor, after the calls before it."""
        reference = getattr(self.actor, method).remote(*arguments)
        return _RayResult(reference.future(), self._replicas)

    def assign(self, values: Mapping[Any, Array]) -> None:
        self._values = self._replicas.stored(values)
        self.opening = self._call("assign", self._values)

    def begin(self, gradients: Sequence[Tensor], feeds: Mapping[Tensor, Array]) -> Result[Any]:
        graph = None
        if not set(gradients) <= set(self._sent):
            self._sent += gradients
            nodes = topological(ancestors([tensor.node for tensor in self._sent]))
            graph = graph_to_json(gradients[0].graph, nodes)
        names = [tensor.name for tensor in gradients]
        return self._call("run", names, {tensor.name: v for tensor, v in feeds.items()}, graph)

    def recover(self, error: PlaygradError) -> bool:
        if not isinstance(error, ReplicaDiedError):
            return False
        self._deaths = self._deaths + 1 if self.clock == self._clock_at_death else 1
        self._clock_at_death = self.clock
        if self._deaths >= _MOST_DEATHS:
            return False
        self._open()
        return True

    def close(self) -> None:
        self._replicas.ray.kill(self.actor)


class ReplicaActor:
    """A session on the machine where this object is."""

    def __init__(self, device: str, precision: str) -> None:
        self._precision = precision
        gpu = None if kind_of(device).on_cores else reserved_gpu()
        self._device = gpu or device
        self._session: Session | None = None
        self._values: Mapping[str, Array] = {}

    def assign(self, values: Mapping[str, Array]) -> None:
        """Take the values of the variables of the data set, by name."""
        self._values = values
        if self._session is not None:
            self._session.assign(values)

    def run(
        self, names: Sequence[str], feeds: Mapping[str, Array], graph: dict[str, Any] | None
    ) -> list[Array]:
        """Compute tensors.

        Args:
            graph: replaces the graph before; None if it is the same.
        """
        if graph is not None:
            if self._session is not None:
                self._session.close()
            self._session = Session(
                graph_from_json(graph), self._device, precision=self._precision, trains=True
            )
            self._session.assign(self._values)
        assert self._session is not None
        return self._session.run(list(names), feeds)


class _RayResult:
    """The result of a call of an actor."""

    def __init__(self, future: Future[Any], replicas: RayReplicas) -> None:
        self._future = future
        self._errors = replicas.ray.exceptions

    def done(self) -> bool:
        return self._future.done()

    def wait(self) -> None:
        self._future.exception()

    def result(self) -> Any:
        try:
            return self._future.result()
        except self._errors.RayTaskError as error:  # the actor's method raised it
            raise error.cause from None
        except self._errors.RayError as error:
            raise ReplicaDiedError(
                f"the process of a replica on Ray has ended: {first_line(error)}"
            ) from None
