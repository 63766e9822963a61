"""A replica of asynchronous training, as the parameter server sees it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
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


@dataclass
class ReplicaClient:
    """A replica with a session and a thread of its own, and the batch that it works on.

    Attributes:
        clock: the number of batches finished.
        batch: the number of the batch that it works on.
        version: the number of updates in the weights that it works with.
        given: when it was given its batch.
        begun: when it began its batch, after its delay.
        delay: pending until it may begin its batch.
        pending: its gradients, while they are computed.
        failure: the error that ended it, if it has failed.
    """

    device: str
    session: Session
    thread: DeviceThread | None
    clock: int = 0
    batch: int = 0
    version: int = 0
    given: float = 0.0
    begun: float = 0.0
    delay: Delay | None = None
    pending: Result[Any] | None = None
    failure: PlaygradError | None = None
    _work: Callable[[], Result[Any]] | None = field(default=None, repr=False)

    @classmethod
    def open(cls, graph: Graph, device: str) -> ReplicaClient:
        """Open a session on ``device``, and a thread if there are threads here."""
        session = Session(graph, device)
        thread = None if sys.platform == "emscripten" else DeviceThread(f"replica-{device}")
        return cls(canonical(device), session, thread)

    @property
    def waits_for(self) -> Pending | None:
        """The end of its work or of its delay; None if it is idle."""
        return self.pending or self.delay

    def start(
        self, gradients: Sequence[Tensor], feeds: Mapping[Tensor, Array], delay: float | None
    ) -> None:
        """Compute ``gradients``, after ``delay`` seconds if it is not None."""

        def work() -> Result[Any]:
            if self.thread is None:
                return self.session.begin(gradients, feeds)
            results: list[Any] = []
            run = self.session.run
            future = self.thread.start(lambda: results.append(run(gradients, feeds)))
            return _ThreadResult(future, results)

        self._work = work
        self.given = self.begun = time.perf_counter()
        self.delay = Delay(delay) if delay else None
        self.pending = None if delay else work()

    def end_delay(self) -> None:
        """Begin the work that was delayed."""
        assert self._work is not None
        self.delay = None
        self.begun = time.perf_counter()
        self.pending = self._work()

    def close(self) -> None:
        """Close the session and the thread, after the work in progress."""
        if self.pending is not None:
            self.pending.wait()
        if self.thread is not None:
            self.thread.close()
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
