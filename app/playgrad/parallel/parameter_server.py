"""Asynchronous data parallelism with a parameter server.

The parameter server is the model's own session. Each replica is a session over the same graph on a
device of its own: it reads the current weights, computes the gradients of a whole batch, sends them
and continues without waiting for the others. These may have changed the weights meanwhile: the
number of their updates is the gradient's *staleness* (Dean et al. 2012; with a bound, the stale
synchronous parallel model of Ho et al. 2013).
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from playgrad.devices.kinds import canonical, kind_of
from playgrad.devices.this_host import wait_any
from playgrad.errors import PlaygradError
from playgrad.graph.tensor import Node, Tensor
from playgrad.graph.traversal import ancestors
from playgrad.ops.state import RANDOM_ADVANCE, RANDOM_STEP, is_variable
from playgrad.parallel.asynchronous_report import AsynchronousReport
from playgrad.parallel.partition import Partition
from playgrad.parallel.ray_cluster import Ray
from playgrad.parallel.ray_replica import RayClient, RayReplicas
from playgrad.parallel.replica_client import ReplicaClient, SessionClient
from playgrad.runtime.blas import shared_among
from playgrad.runtime.session import Session
from playgrad.runtime.trace import Event, Trace, delay_event

Array = np.ndarray[Any, Any]


class _Work:
    """The gradients that replicas compute for a batch, and the update that follows."""

    def __init__(self, step: Partition) -> None:
        self.step = step
        self.gradients = [mean.inputs[0] for mean in step.means]
        self.means = [mean.outputs[0] for mean in step.means]
        # The server's own counter must count the random numbers that replicas draw: the next
        # training of the model continues after them.
        self.draws = _draws(self.gradients)
        self.update = [step.run]
        if self.draws is not None:
            self.update.append(step.graph.node(RANDOM_ADVANCE))


class ParameterServer:
    """Applies the gradients of replicas in the order in which they arrive.

    Args:
        step: the training step.
        server: the session that holds the weights.
        devices: the devices of the replicas.
        counter: the variable with the number of the next batch; replicas are fed a number instead.
        data: the variables of the data set, which each replica gets once.
        staleness: the most batches that a replica may be ahead of the slowest; None for no limit.
        delays: seconds by which each batch is delayed, by device.
        cluster: where the replicas run, in place of this process; they come back when their process
            has died.

    Attributes:
        gradients: the tensors that replicas compute: gradients and losses.
        started: the number of the batch with which the first round begins.
        applied: for each update, whether its batch was the smaller one at the end of a round, until
            somebody clears the list.
        weights: the variables that replicas read for each batch.
        last_batch: the number of the batch after the last one that replicas have; None: endless.
        returned: the numbers of batches that lost replicas have not finished.
        device: the name of the server in traces and graphs.
        trace: collects when each batch was computed and each gradient applied; None for no trace.
    """

    def __init__(
        self,
        step: Partition,
        server: Session,
        devices: Sequence[str],
        counter: Tensor,
        data: Sequence[Tensor],
        staleness: int | None = None,
        delays: Mapping[str, float] | None = None,
        cluster: Ray | None = None,
    ) -> None:
        self.step = step
        self.server = server
        self.counter = counter
        self.staleness = staleness
        self.delays = {canonical(name): seconds for name, seconds in (delays or {}).items()}
        self.report = AsynchronousReport(Counter({canonical(name): 0 for name in devices}))
        self.trace: Trace | None = None
        self.device = f"{server.device} (weights)"
        self._full = self._last = _Work(step)
        self._length = 0
        self.started = 0
        self.gradients, self.draws = self._full.gradients, self._full.draws
        self.weights = _weights(self.gradients, {counter, *data})
        self.applied: list[bool] = []
        self.last_batch: int | None = None
        self.returned: list[int] = []
        self.count_on()
        self.version = 0
        self.clients: list[ReplicaClient] = []
        self._replicas = None if cluster is None else RayReplicas(cluster)
        try:
            values = {tensor: server.value(tensor) for tensor in data}
            for device in devices:
                self.clients.append(
                    SessionClient(step.graph, device, server.precision)
                    if self._replicas is None
                    else RayClient(device, server.precision, self._replicas)
                )
                self.clients[-1].assign(values)
        except BaseException:
            self.close()
            raise

    def count_on(self) -> None:
        """Continue the numbers of batches and draws from the server's counters."""
        self.next_batch = int(self.server.value(self.counter))
        draws = None if self.draws is None else self.server.value(self.draws)
        self.draws_ahead = 0 if draws is None else int(draws) - self.next_batch
        self.returned = []

    def end_rounds_with(self, step: Partition, length: int) -> None:
        """Take a step over the smaller batch at the end of each round of ``length`` batches."""
        self._last, self._length = _Work(step), length

    def _work(self, batch: int) -> _Work:
        """Return the work of a replica for a batch, by its number."""
        ends_round = self._length and (batch - self.started + 1) % self._length == 0
        return self._last if ends_round else self._full

    def take_data(self, values: Mapping[Any, Array], batches: int) -> None:
        """Give all replicas, which are idle, the next ``batches`` batches.

        Args:
            values: the values of the variables of the data set.
        """
        for client in self._alive():
            client.assign(values)
        self.count_on()
        self.last_batch = self.next_batch + batches

    @property
    def sent(self) -> list[Tensor]:
        """The tensors that replicas are fed: the weights, and numbers in place of the counters."""
        draws = [] if self.draws is None else [self.draws]
        return [*self.weights, self.counter, *draws]

    def run(self, updates: int, stop: Callable[[], bool]) -> int:
        """Apply ``updates`` gradients; return how many, which after a stop may be fewer.

        Raises:
            PlaygradError: no replica is left.
        """
        here = [client for client in self._alive() if client.shares_cores]
        with shared_among(sum(kind_of(client.device).on_cores for client in here)):
            return self._run(updates, stop)

    def _run(self, updates: int, stop: Callable[[], bool]) -> int:
        done = 0
        while done < updates and not stop():
            self._begin_batches()
            for client in self._alive():
                if client.opening is not None and client.opening.done():
                    self._opened(client)
                if client.delay is not None and client.delay.done():
                    client.end_delay()
                if client.pending is not None and client.pending.done() and done < updates:
                    done += self._apply(client)
            waiting = [c.waits_for for c in self._alive() if c.waits_for is not None]
            if not any(pending.done() for pending in waiting):
                wait_any(waiting, 0.05)
        return done

    def trace_unfinished(self) -> None:
        """Add the work that replicas have not finished, such as that of slow ones, to the trace."""
        end = time.perf_counter()
        for client in self.clients:
            self._trace_batch(client, end)

    def close(self) -> None:
        """End all replicas, after the work in progress."""
        for client in self.clients:
            client.close()
        self.clients = []
        if self._replicas is not None:
            self._replicas.close()

    def _alive(self) -> list[ReplicaClient]:
        alive = [client for client in self.clients if client.failure is None]
        if not alive:
            failure = self.clients[-1].failure
            assert failure is not None
            raise failure
        return alive

    def _begin_batches(self) -> None:
        """Give a batch to each idle replica, unless it is too far ahead."""
        alive = self._alive()
        slowest = self._slowest()
        weights: dict[Tensor, Array] | None = None
        for client in alive:
            if client.waits_for is not None:
                continue
            if self.staleness is not None and client.clock - slowest > self.staleness:
                continue
            if not self.returned and self.next_batch == self.last_batch:
                continue
            if weights is None:  # all that begin now get the same weights
                start = time.perf_counter()
                arrays = self.server.run(list(self.weights))
                weights = dict(zip(self.weights, arrays, strict=True))
                read = time.perf_counter()
            name = f"weights {self.version}"
            self._trace_transfer(name, self.device, client.device, start, read, arrays)
            client.batch = batch = self._take_batch()
            number = np.asarray(batch, np.uint32)
            feeds = {tensor: weights.get(tensor, number) for tensor in self.sent}
            if self.draws is not None:
                feeds[self.draws] = np.asarray(batch + self.draws_ahead, np.uint32)
            client.version = self.version
            client.start(self._work(batch).gradients, feeds, self.delays.get(client.device))

    def _slowest(self) -> int:
        """Return the smallest number of batches that a replica at work has finished."""
        clocks = [client.clock for client in self._alive() if client.opening is None]
        return min(clocks, default=0)

    def _opened(self, client: ReplicaClient) -> None:
        """Let a replica that has opened begin where the slowest one is, if it was away."""
        slowest = self._slowest()
        opening, client.opening = client.opening, None
        assert opening is not None
        try:
            opening.result()
        except PlaygradError as error:
            self._failed(client, error)
        else:
            client.clock = max(client.clock, slowest)

    def _failed(self, client: ReplicaClient, error: PlaygradError) -> None:
        """Replace a replica that has failed, or continue without it."""
        if client.recover(error):
            self.report.returns[client.device] += 1
        else:
            client.failure = error
            self.report.lost[client.device] = str(error)

    def _take_batch(self) -> int:
        """Return the number of the next batch: one that a lost replica left, or a new one."""
        if self.returned:
            return self.returned.pop()
        self.next_batch += 1
        return self.next_batch - 1

    def _apply(self, client: ReplicaClient) -> int:
        """Apply the gradients that ``client`` has computed; return the number of updates made."""
        pending, client.pending = client.pending, None
        assert pending is not None
        try:
            computed = time.perf_counter()
            arrays = pending.result()
        except PlaygradError as error:
            self._failed(client, error)
            self.returned.append(client.batch)
            return 0
        work = self._work(client.batch)
        start = time.perf_counter()
        name = f"batch {client.clock}"
        self._trace_batch(client, computed, True)
        self._trace_transfer(
            f"gradients of {name}", client.device, self.device, computed, start, arrays
        )
        self.server.run(work.update, dict(zip(work.means, arrays, strict=True)))
        self.applied.append(work is not self._full)
        name = f"update {self.version} by {client.device}"
        self._trace(name, self.device, start, time.perf_counter(), "update")
        self.report.staleness[self.version - client.version] += 1
        self.report.updates[client.device] += 1
        self.version += 1
        client.clock += 1
        return 1

    def _trace_batch(self, client: ReplicaClient, end: float, computed: bool = False) -> None:
        """Trace the batch that a replica works on, if any, up to ``end``.

        Its delay is traced with it, even if it was over before the trace began.

        Args:
            computed: whether it has finished the batch.
        """
        if self.trace is None or not (computed or client.pending or client.delay):
            return
        name = f"batch {client.clock}"
        begun = end if client.delay is not None else client.begun
        if begun > client.given:
            self.trace.events.append(delay_event(name, client.device, client.given, begun))
        if client.delay is None:
            self._trace(name, client.device, begun, end, "gradient")

    def _trace_transfer(
        self, name: str, source: str, target: str, start: float, end: float, arrays: Sequence[Array]
    ) -> None:
        """Trace a transfer between the server and a replica, which goes through host memory."""
        nbytes = sum(array.nbytes for array in arrays)
        self._trace(name, source, start, end, "send", nbytes)
        self._trace(name, target, start, end, "receive", nbytes)

    def _trace(
        self, name: str, device: str, start: float, end: float, kind: str, nbytes: int = 0
    ) -> None:
        if self.trace is not None:
            self.trace.events.append(Event(name, device, start, start, end, kind, nbytes))


def _variables(gradients: Sequence[Tensor]) -> list[Node]:
    """Return the variables that ``gradients`` depend on."""
    nodes = sorted(ancestors([t.node for t in gradients]), key=lambda node: node.id)
    return [node for node in nodes if is_variable(node)]


def _weights(gradients: Sequence[Tensor], excluded: set[Tensor]) -> list[Tensor]:
    """Return the variables that ``gradients`` depend on, without the counter of draws."""
    tensors = [node.outputs[0] for node in _variables(gradients) if node.name != RANDOM_STEP]
    return [tensor for tensor in tensors if tensor not in excluded]


def _draws(gradients: Sequence[Tensor]) -> Tensor | None:
    """Return the counter of random draws, if ``gradients`` depend on it."""
    counters = [node.outputs[0] for node in _variables(gradients) if node.name == RANDOM_STEP]
    return counters[0] if counters else None
