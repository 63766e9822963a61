"""Batches: requests that wait together are computed together, each answered on its own."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from playgrad.devices.kinds import CPU
from playgrad.errors import PlaygradError
from playgrad.serving.errors import AnswerError
from playgrad.serving.metrics import ServingMetrics
from playgrad.serving.servable import Servable
from playgrad.serving.settings import ServingSettings
from playgrad.serving.signature import ModelSignature
from playgrad.serving.store import Stamp

Array = np.ndarray[Any, Any]
_IN_LOOP_SECONDS = 0.002
"""A run of the largest batch that takes less does not hold up other requests noticeably."""
_MOST_WAITING_BYTES = 256 << 20
"""Bytes of the inputs that wait for a run of one version; a single request may have more."""


@dataclass(eq=False)
class _Request:
    """The inputs of one request, which wait for a run.

    Attributes:
        arrays: one for each input, with ``rows`` samples.
        answer: gets the outputs, in the thread of ``loop``.
    """

    arrays: Sequence[Array]
    rows: int
    answer: asyncio.Future[list[Array]]
    loop: asyncio.AbstractEventLoop
    since: float = field(default_factory=time.monotonic)

    @property
    def bytes(self) -> int:
        return sum(array.nbytes for array in self.arrays)

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        """The shapes of a sample: others have to be computed apart."""
        return [array.shape[1:] for array in self.arrays]


class VersionRunner:
    """A version of a model that answers requests, with a thread that computes batches.

    A model that is fast enough is run by the event loop itself, between two looks at the network:
    threads would wait for each other longer than it computes.

    A request holds the version from `hold` to `release`. Once it is retired and the last request
    has released it, the thread frees the model and ends.

    Args:
        servable: it is warm, and belongs to the runner from now on.
        freed: is called in the thread when the memory is free.
    """

    def __init__(
        self,
        name: str,
        version: int,
        servable: Servable,
        settings: ServingSettings,
        metrics: ServingMetrics,
        freed: Callable[[VersionRunner], None],
    ) -> None:
        self.name = name
        self.version = version
        self.signature: ModelSignature = servable.signature
        self.device = servable.device
        self.batches = servable.batches
        self.is_warm = servable.is_warm
        self.stamp: Stamp = ()
        self.bytes = servable.bytes_in_use()
        self._settings = settings
        self._sizes = settings.batch_sizes
        self._metrics = metrics.of_version(name, version)
        self._freed = freed
        self._waiting: deque[_Request] = deque()
        self._waiting_bytes = 0
        self._in_loop: Servable | None = None
        on_cpu = servable.device.startswith(CPU.name)  # versions on a GPU wait for each other
        if on_cpu and servable.seconds < _IN_LOOP_SECONDS and not settings.batch_timeout:
            self._in_loop = servable
        self._is_due = False
        self._held = 0
        self._retired = False
        self._changed = threading.Condition()
        threading.Thread(
            target=self._work, args=[servable], name=f"{name}-{version}", daemon=True
        ).start()

    # Life

    def hold(self) -> None:
        """Keep the version until `release`."""
        with self._changed:
            self._held += 1

    def release(self) -> None:
        with self._changed:
            self._held -= 1
            if self._retired:
                self._changed.notify()

    def retire(self) -> None:
        """Free the version once all requests that hold it have released it; no more may come."""
        with self._changed:
            self._retired = True
            self._changed.notify()

    # Requests

    @property
    def waiting(self) -> int:
        """The number of requests that wait."""
        return len(self._waiting)

    async def outputs(self, arrays: Sequence[Array]) -> list[Array]:
        """Return the outputs for the samples of one request, which holds the version.

        Args:
            arrays: one for each input, which fit the signature and have equally many samples.

        Raises:
            AnswerError: 503 if too many requests wait; 422 if the model cannot take a value.
        """
        loop = asyncio.get_running_loop()
        request = _Request(arrays, len(arrays[0]), loop.create_future(), loop)
        with self._changed:
            if self._is_full_for(request):
                raise AnswerError(
                    503,
                    f"{len(self._waiting)} requests wait for version {self.version} of "
                    f"'{self.name}', with {self._waiting_bytes:,} bytes: as many as may.",
                    retry_after=1,
                )
            self._waiting.append(request)
            self._waiting_bytes += request.bytes
            if self._in_loop is None:
                self._changed.notify()
            elif not self._is_due:
                self._is_due = True
                loop.call_soon(self._run_in_loop, self._in_loop)
        self._metrics.queue.inc()
        return await request.answer

    def _is_full_for(self, request: _Request) -> bool:
        if len(self._waiting) >= self._settings.max_queue:
            return True
        return bool(self._waiting) and self._waiting_bytes + request.bytes > _MOST_WAITING_BYTES

    def _run_in_loop(self, servable: Servable) -> None:
        """Compute a batch of what has come since the event loop last looked."""
        batch = self._taken()
        self._is_due = bool(self._waiting)
        if self._is_due:
            batch[0].loop.call_soon(self._run_in_loop, servable)
        self._metrics.queue.dec(len(batch))
        self._answer(servable, batch)

    def _work(self, servable: Servable) -> None:
        while requests := self._next_batch():
            self._metrics.queue.dec(len(requests))
            self._answer(servable, requests)
            del requests
        self._in_loop = None
        servable.close()
        del servable
        gc.collect()  # graphs refer to themselves
        self._freed(self)

    def _next_batch(self) -> list[_Request]:
        """Wait for requests; return those of the next run, or none when the version is to end."""
        with self._changed:
            while self._in_loop is not None or not self._waiting:
                if self._retired and not self._held:
                    return []
                self._changed.wait()
            if self.batches and self._settings.batch_timeout:
                self._wait_for_others()
            return self._taken()

    def _taken(self) -> list[_Request]:
        """Return requests that fit into a run, oldest first, and no longer let them wait."""
        batch = self._fitting()
        self._waiting_bytes -= sum(each.bytes for each in batch)
        return batch

    def _fitting(self) -> list[_Request]:
        first = self._waiting.popleft()
        batch, rows = [first], first.rows
        while self.batches and self._waiting:
            following = self._waiting[0]
            rows += following.rows
            if rows > self._settings.max_batch or following.shapes != first.shapes:
                break
            batch.append(self._waiting.popleft())
        return batch

    def _wait_for_others(self) -> None:
        until = self._waiting[0].since + self._settings.batch_timeout
        while sum(each.rows for each in self._waiting) < self._settings.max_batch:
            left = until - time.monotonic()
            if left <= 0 or self._retired:
                return
            self._changed.wait(left)

    def _answer(self, servable: Servable, requests: list[_Request]) -> None:
        """Compute a batch and deliver its answers.

        If the model cannot take it, each request is computed apart: one has a bad value.
        """
        requests = [each for each in requests if not each.answer.cancelled()]
        if not requests:  # they took too long, and nobody waits any more
            return
        results: list[list[Array] | Exception] = []
        try:
            joined = _joined([request.arrays for request in requests])
            outputs = self._computed(servable, joined)
            ends = np.cumsum([each.rows for each in requests])
            for request, end in zip(requests, ends, strict=True):
                own = slice(end - request.rows, end)
                results.append([a[own] for a in outputs] if self.batches else outputs)
        except Exception as error:
            if len(requests) > 1:
                for request in requests:
                    self._answer(servable, [request])
                return
            results = [_as_answer(error)]
        if self._in_loop is not None:
            _deliver(requests, results)
            return
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            requests[0].loop.call_soon_threadsafe(_deliver, requests, results)

    def _computed(self, servable: Servable, arrays: list[Array]) -> list[Array]:
        if not self.batches:
            return servable.run(arrays)
        size = self._settings.max_batch
        pieces = [
            self._padded_run(servable, [array[start : start + size] for array in arrays])
            for start in range(0, len(arrays[0]), size)
        ]
        return _joined(pieces)

    def _padded_run(self, servable: Servable, arrays: list[Array]) -> list[Array]:
        """Run with copies of the last sample, so that only few sizes have to be compiled."""
        rows = len(arrays[0])
        self._metrics.batch.observe(rows)
        size = next(each for each in self._sizes if each >= rows)
        if size > rows:
            arrays = [np.concatenate([a, np.repeat(a[-1:], size - rows, axis=0)]) for a in arrays]
        return [output[:rows] for output in servable.run(arrays)]


def _joined(pieces: Sequence[Sequence[Array]]) -> list[Array]:
    """Return arrays with the samples of all pieces, each of which has the same tensors."""
    if len(pieces) == 1:
        return list(pieces[0])
    return [np.concatenate(parts) for parts in zip(*pieces, strict=True)]


def _as_answer(error: Exception) -> Exception:
    if isinstance(error, PlaygradError) and not isinstance(error, MemoryError):
        return AnswerError(422, f"the model cannot take these inputs: {error}")
    return error


def _deliver(requests: list[_Request], results: list[list[Array] | Exception]) -> None:
    for request, result in zip(requests, results, strict=True):
        if request.answer.done():  # it took too long, and nobody waits any more
            continue
        if isinstance(result, Exception):
            request.answer.set_exception(result)
        else:
            request.answer.set_result(result)
