"""Asynchronous data parallelism with a parameter server.

The parameter server is the model's own session. Each replica is a session of its own over the same
graph, on its own device: it takes the weights as they are, computes the gradients of a whole batch,
hands them in, and goes on; nobody waits for the others. A gradient may so be of weights that others
have changed meanwhile: by how many updates is its *staleness* (Dean et al. 2012; with a bound, the
stale synchronous parallel model of Ho et al. 2013).
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from playgrad.compiler.place import canonical
from playgrad.devices.pending import Delay, Pending, Result
from playgrad.devices.this_host import wait_any
from playgrad.errors import PlaygradError
from playgrad.graph.tensor import Node, Tensor
from playgrad.graph.traversal import ancestors
from playgrad.ops.state import RANDOM_ADVANCE, RANDOM_STEP, is_variable
from playgrad.parallel.partition import Partition
from playgrad.runtime.blas import shared_among
from playgrad.runtime.session import Session
from playgrad.runtime.threads import DeviceThread
from playgrad.runtime.trace import Event, Trace, delay_event

Array = np.ndarray[Any, Any]


@dataclass
class Client:
    """A replica: where it is, what it has been told, and what it is at.

    Attributes:
        clock: batches finished.
        version: updates that the weights it works with had seen.
        begun: when it began with its batch.
        failure: what ended it, if it has died.
    """

    device: str
    session: Session
    thread: DeviceThread | None
    clock: int = 0
    version: int = 0
    begun: float = 0.0
    delay: Delay | None = None
    at: Callable[[], Result[Any]] | None = None
    pending: Result[Any] | None = None
    failure: PlaygradError | None = None

    @property
    def waits_for(self) -> Pending | None:
        return self.pending or self.delay


class _FromThread:
    """What a device's thread computes."""

    def __init__(self, future: Future[None], box: list[Any]) -> None:
        self._future = future
        self._box = box

    def done(self) -> bool:
        return self._future.done()

    def wait(self) -> None:
        self._future.exception()

    def result(self) -> Any:
        self._future.result()
        return self._box[0]


@dataclass
class Report:
    """What happened.

    Attributes:
        updates: gradients applied, by device.
        staleness: how many gradients were so many updates old.
        lost: why replicas have ended, by device.
    """

    updates: Counter[str] = field(default_factory=Counter)
    staleness: Counter[int] = field(default_factory=Counter)
    lost: dict[str, str] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        total = sum(self.staleness.values())
        return {
            "updates": dict(self.updates),
            "staleness": {str(age): count for age, count in sorted(self.staleness.items())},
            "mean_staleness": sum(a * n for a, n in self.staleness.items()) / max(total, 1),
            "lost": dict(self.lost),
        }


class ParameterServer:
    """Trains by the gradients that replicas hand in, in the order in which they come.

    Args:
        step: the training step, taken apart.
        server: the session that holds the weights.
        devices: of the replicas.
        counter: the variable that says which batch is next; replicas are told instead.
        resident: variables that each replica needs a copy of once: the data.
        staleness: how many batches a replica may be ahead of the slowest; None for any number.
        delays: seconds that each batch is held up on a device.

    Attributes:
        trace: where given, collects when each batch was computed and each gradient applied.
    """

    def __init__(
        self,
        step: Partition,
        server: Session,
        devices: Sequence[str],
        counter: Tensor,
        resident: Sequence[Tensor],
        staleness: int | None = None,
        delays: Mapping[str, float] | None = None,
    ) -> None:
        self.step = step
        self.server = server
        self.counter = counter
        self.staleness = staleness
        self.delays = {canonical(name): seconds for name, seconds in (delays or {}).items()}
        self.report = Report(updates=Counter({canonical(name): 0 for name in devices}))
        self.trace: Trace | None = None
        self.own_name = f"{server.device} (weights)"
        self.outcomes = [mean.inputs[0] for mean in step.means]
        self.weights = _weights(self.outcomes, {counter, *resident})
        self.drawn = int(server.value(counter))
        # What replicas draw at random, the server's own counter must have counted as well: the
        # next who trains the model goes on behind it.
        self.draws = _draws(self.outcomes)
        self.ahead = 0 if self.draws is None else int(server.value(self.draws)) - self.drawn
        advance = [] if self.draws is None else [step.graph.node(RANDOM_ADVANCE)]
        self.update = [step.run, *advance]
        self.version = 0
        self.clients: list[Client] = []
        try:
            values = {tensor: server.value(tensor) for tensor in resident}
            for device in devices:
                session = Session(step.graph, device)
                thread = None if sys.platform == "emscripten" else DeviceThread(f"replica-{device}")
                self.clients.append(Client(canonical(device), session, thread))
                session.assign(values)
        except BaseException:
            self.close()
            raise

    @property
    def told(self) -> list[Tensor]:
        """What replicas take from the server for each batch: the weights, and the number of the
        batch, and of what is drawn for it, in the place of the counters."""
        draws = [] if self.draws is None else [self.draws]
        return [*self.weights, self.counter, *draws]

    def run(self, updates: int, stop: Callable[[], bool]) -> int:
        """Apply so many gradients; returns how many, which after a stop may be fewer.

        Raises:
            PlaygradError: no replica is left.
        """
        with shared_among(sum(client.device.startswith("cpu") for client in self._alive())):
            return self._run(updates, stop)

    def _run(self, updates: int, stop: Callable[[], bool]) -> int:
        done = 0
        while done < updates and not stop():
            self._begin()
            for client in self._alive():
                if client.delay is not None and client.delay.done():
                    client.delay = None
                    self._held_up(client)
                    assert client.at is not None
                    client.pending = client.at()
                if client.pending is not None and client.pending.done() and done < updates:
                    done += self._take(client)
            waiting = [c.waits_for for c in self._alive() if c.waits_for is not None]
            if not any(pending.done() for pending in waiting):
                wait_any(waiting, 0.05)
        return done

    def note_unfinished(self) -> None:
        """Have the trace tell what replicas are at that have not come to an end: slow ones."""
        end = time.perf_counter()
        for client in self.clients:
            name = f"batch {client.clock}"
            if client.delay is not None and self.trace is not None:
                self.trace.events.append(delay_event(name, client.device, client.begun, end))
            elif client.pending is not None:
                self._note(name, client.device, client.begun, end, "gradient")

    def close(self) -> None:
        """End all replicas, after what they are at."""
        for client in self.clients:
            if client.pending is not None:
                client.pending.wait()
            if client.thread is not None:
                client.thread.close()
            client.session.close()
        self.clients = []

    def _alive(self) -> list[Client]:
        alive = [client for client in self.clients if client.failure is None]
        if not alive:
            failure = self.clients[-1].failure
            assert failure is not None
            raise failure
        return alive

    def _begin(self) -> None:
        """Give work to replicas that have none, unless they are too far ahead."""
        alive = self._alive()
        slowest = min(client.clock for client in alive)
        weights: dict[Tensor, Array] | None = None
        for client in alive:
            if client.waits_for is not None:
                continue
            if self.staleness is not None and client.clock - slowest > self.staleness:
                continue
            if weights is None:  # all who begin now begin with the same
                start = time.perf_counter()
                arrays = self.server.run(list(self.weights))
                weights = dict(zip(self.weights, arrays, strict=True))
                read = time.perf_counter()
            name = f"weights {self.version}"
            self._moved(name, self.own_name, client.device, start, read, arrays)
            number = np.asarray(self.drawn, np.uint32)
            feeds = {tensor: weights.get(tensor, number) for tensor in self.told}
            if self.draws is not None:
                feeds[self.draws] = np.asarray(self.drawn + self.ahead, np.uint32)
            self.drawn += 1
            client.version = self.version
            client.begun = time.perf_counter()
            self._start(client, feeds)

    def _start(self, client: Client, feeds: dict[Tensor, Array]) -> None:
        def begin() -> Result[Any]:
            if client.thread is None:
                return client.session.begin(self.outcomes, feeds)
            box: list[Any] = []
            work = client.session.run
            return _FromThread(
                client.thread.start(lambda: box.append(work(self.outcomes, feeds))), box
            )

        delay = self.delays.get(client.device)
        client.at = begin
        client.delay = Delay(delay) if delay else None
        client.pending = None if delay else begin()

    def _take(self, client: Client) -> int:
        """Apply what ``client`` has computed; the number of updates made."""
        pending, client.pending = client.pending, None
        assert pending is not None
        try:
            begun = time.perf_counter()
            arrays = pending.result()
        except PlaygradError as error:
            client.failure = error
            self.report.lost[client.device] = str(error)
            return 0
        outputs = [mean.outputs[0] for mean in self.step.means]
        start = time.perf_counter()
        name = f"batch {client.clock}"
        self._note(name, client.device, client.begun, begun, "gradient")
        self._moved(f"gradients of {name}", client.device, self.own_name, begun, start, arrays)
        self.server.run(self.update, dict(zip(outputs, arrays, strict=True)))
        name = f"update {self.version} by {client.device}"
        self._note(name, self.own_name, start, time.perf_counter(), "update")
        self.report.staleness[self.version - client.version] += 1
        self.report.updates[client.device] += 1
        self.version += 1
        client.clock += 1
        return 1

    def _held_up(self, client: Client) -> None:
        """The delay of ``client`` is over: it begins with its batch only now."""
        start, client.begun = client.begun, time.perf_counter()
        if self.trace is not None:
            name = f"batch {client.clock}"
            self.trace.events.append(delay_event(name, client.device, start, client.begun))

    def _moved(
        self, name: str, source: str, to: str, start: float, end: float, arrays: Sequence[Array]
    ) -> None:
        """Between the parameters' session and a replica's all goes by way of host memory."""
        nbytes = sum(array.nbytes for array in arrays)
        self._note(name, source, start, end, "send", nbytes)
        self._note(name, to, start, end, "receive", nbytes)

    def _note(
        self, name: str, device: str, start: float, end: float, kind: str, nbytes: int = 0
    ) -> None:
        if self.trace is not None:
            self.trace.events.append(Event(name, device, start, start, end, kind, nbytes))


def _variables(outcomes: Sequence[Tensor]) -> list[Node]:
    """The variables that ``outcomes`` depend on."""
    nodes = sorted(ancestors([t.node for t in outcomes]), key=lambda node: node.id)
    return [node for node in nodes if is_variable(node)]


def _weights(outcomes: Sequence[Tensor], others: set[Tensor]) -> list[Tensor]:
    """The variables that ``outcomes`` depend on, but for ``others`` and the counter of draws."""
    tensors = [node.outputs[0] for node in _variables(outcomes) if node.name != RANDOM_STEP]
    return [tensor for tensor in tensors if tensor not in others]


def _draws(outcomes: Sequence[Tensor]) -> Tensor | None:
    """The counter of draws, if ``outcomes`` depend on it."""
    found = [node.outputs[0] for node in _variables(outcomes) if node.name == RANDOM_STEP]
    return found[0] if found else None
