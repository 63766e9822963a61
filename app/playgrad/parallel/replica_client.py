"""A replica of asynchronous training, as the parameter server sees it."""

from __future__ import annotations

import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any

import numpy as np

from playgrad.devices.kinds import canonical
from playgrad.devices.pending import Delay, Pending, Result
from playgrad.errors import PlaygradError
from playgrad.graph.graph import Graph
from playgrad.graph.tensor import Tensor
from playgrad.runtime.session import Session
from playgrad.runtime.threads import DeviceThread

Array = np.ndarray[Any, Any]


class ReplicaClient(ABC):
    """A replica, and the batch that it works on.

    Attributes:
        shares_cores: whether it computes on the cores of this process.
        clock: the number of batches finished.
        batch: the number of the batch that it works on.
        version: the number of updates in the weights that it works with.
        given: when it was given its batch.
        begun: when it began its batch, after its delay.
        delay: pending until it may begin its batch.
        opening: pending until it can be given batches.
        pending: its gradients, while they are computed.
        failure: the error that ended it, if it has failed.
    """

    shares_cores: bool = False

    def __init__(self, device: str) -> None:
        self.device = canonical(device)
        self.clock = self.batch = self.version = 0
        self.given = self.begun = 0.0
        self.delay: Delay | None = None
        self.opening: Result[Any] | None = None
        self.pending: Result[Any] | None = None
        self.failure: PlaygradError | None = None
        self._work: Callable[[], Result[Any]] | None = None

    @abstractmethod
    def assign(self, values: Mapping[Any, Array]) -> None:
        """Take the values of the variables of the data set."""

    @abstractmethod
    def begin(self, gradients: Sequence[Tensor], feeds: Mapping[Tensor, Array]) -> Result[Any]:
        """Begin to compute ``gradients``. The result raises `PlaygradError` if that fails."""

    @abstractmethod
    def close(self) -> None:
        """End the replica, after the work in progress if it cannot be ended before."""

    def recover(self, error: PlaygradError) -> bool:
        """Begin to replace a replica that has failed with ``error``; return whether it can be."""
        return False

    @property
    def waits_for(self) -> Pending | None:
        """The end of its work, of its delay or of its start; None if it is idle."""
        return self.pending or self.delay or self.opening

    def start(
        self, gradients: Sequence[Tensor], feeds: Mapping[Tensor, Array], delay: float | None
    ) -> None:
        """Compute ``gradients``, after ``delay`` seconds if it is not None."""
        self._work = lambda: self.begin(gradients, feeds)
        self.given = self.begun = time.perf_counter()
        self.delay = Delay(delay) if delay else None
        self.pending = None if delay else self._work()

    def end_delay(self) -> None:
        """Begin the work that was delayed."""
        assert self._work is not None
        self.delay = None
        self.begun = time.perf_counter()
        self.pending = self._work()


class SessionClient(ReplicaClient):
    """A replica with a session on a device of this process, and a thread if there are any here."""

    shares_cores = True

    def __init__(self, graph: Graph, device: str, precision: str) -> None:
        super().__init__(device)
        self.session = Session(graph, device, precision=precision, trains=True)
        self._thread = None if sys.platform == "emscripten" else DeviceThread(f"replica-{device}")

    def assign(self, values: Mapping[Any, Array]) -> None:
        self.session.assign(values)

    def begin(self, gradients: Sequence[Tensor], feeds: Mapping[Tensor, Array]) -> Result[Any]:
        if self._thread is None:
            return self.session.begin(gradients, feeds)
        results: list[Any] = []
        run = self.session.run
        future = self._thread.start(lambda: results.append(run(gradients, feeds)))
        return _ThreadResult(future, results)

    def close(self) -> None:
        if self.pending is not None:
            self.pending.wait()
        if self._thread is not None:
            self._thread.close()
        self.session.close()


class _ThreadResult:
    """The result of work in a thread, which appends it to ``results``."""

    def __init__(self, future: Future[None], results: list[Any]) -> None:
        self._future = future
        self._results = results

    def done(self) -> bool:
        return self._future.done()

    def wait(self) -> None:
        self._future.exception()

    def result(self) -> Any:
        self._future.result()
        return self._results[0]
