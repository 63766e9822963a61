"""A processor in another interpreter: in a page, a worker with its own Pyodide and NumPy.

This is the session's end of the connection: a device like a GPU, with variables in its own buffers
and Plans that are loaded in advance. At the other end a ``playgrad.runtime.cpu_server.Server``
computes. Requests and answers are JSON, accompanied by the bytes of arrays.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from playgrad.devices.base import Plan
from playgrad.devices.device import Device, Guarded, Range, ReplayResult
from playgrad.devices.pending import Outcome, Result, Then
from playgrad.devices.target import AdapterInfo, Limits

Array = np.ndarray[Any, Any]

_UNLIMITED = 1 << 53


class Connection(Protocol):
    """A connection to a server, which serves requests in order. Its errors are raised here."""

    def call(self, request: dict[str, Any], *data: bytes) -> Outcome:
        """Send a request and wait for the answer."""
        ...

    def begin(self, request: dict[str, Any], *data: bytes) -> Result[Outcome]:
        """Send a request without waiting for the answer."""
        ...

    def give_up(self) -> None:
        """Abandon the server, which does not answer."""
        ...


def headers_of(arrays: Iterable[Array]) -> list[list[Any]]:
    """Return dtype and shape of each array, which are sent along with the bytes."""
    return [[array.dtype.name, list(array.shape)] for array in arrays]


def arrays_from(headers: Iterable[Sequence[Any]], data: bytes) -> list[Array]:
    """Return the arrays with these ``headers``, whose bytes are concatenated in ``data``."""
    arrays = []
    start = 0
    for name, shape in headers:
        count = math.prod(shape)
        array = np.frombuffer(data, name, count, start) if count else np.empty(0, name)
        arrays.append(array.reshape(shape).copy())
        start += array.nbytes
    return arrays


class CpuHost:
    """The server's buffers; implements `playgrad.devices.device.DeviceHost`."""

    info = AdapterInfo(
        "NumPy",
        backend="numpy",
        is_software=True,
        limits=Limits(max_buffer_size=_UNLIMITED, max_storage_buffer_binding_size=_UNLIMITED),
    )

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.ask("open")

    def ask(self, call: str, *data: bytes, **argument: Any) -> Outcome:
        """Call the server and wait for its answer."""
        return self.connection.call({"call": call, **argument}, *data)

    def create_buffer(self, size: int) -> int:
        return int(self.ask("create_buffer", size=size)[0])

    def destroy_buffer(self, buffer: int) -> None:
        self.ask("destroy_buffer", buffer=buffer)

    def stats(self) -> dict[str, int]:
        return dict(self.ask("stats")[0])

    def give_up(self) -> None:
        self.connection.give_up()

    def destroy(self) -> None:
        self.ask("open")  # which discards all buffers and programs


class RemoteCpu(Device):
    """A processor in another interpreter."""

    host: CpuHost

    def __init__(self, name: str, connection: Connection) -> None:
        super().__init__(name, CpuHost(connection))

    def write_all(self, writes: Sequence[tuple[int, int, Array]]) -> None:
        with self.guarded():
            for buffer, offset, array in writes:
                self.host.ask("write", array.tobytes(), place=[buffer, offset])

    def read_all(self, ranges: Sequence[Range]) -> list[Array]:
        sizes = [math.prod(each.shape) * np.dtype(each.dtype).itemsize for each in ranges]
        asked = [[r.buffer, r.offset, r.offset + s] for r, s in zip(ranges, sizes, strict=True)]
        with self.guarded():
            _, data = self.host.ask("read", ranges=asked)
        return arrays_from([[each.dtype, each.shape] for each in ranges], data)

    def load(self, plan: Plan, external: Mapping[str, int]) -> RemotePlan:
        with self.guarded():
            program, _ = self.host.ask("load", device=self.name, plan=plan, external=dict(external))
        return RemotePlan(self, plan, program)


class RemotePlan:
    """A Plan loaded by the server; implements `playgrad.devices.device.Loaded`.

    What a run writes to variables takes effect when it is committed.
    """

    def __init__(self, device: RemoteCpu, plan: Plan, program: int) -> None:
        self.device = device
        self.plan = plan
        self.program = program
        self.begun: set[int] = set()  # stays empty: nothing takes effect before the commit
        self._runs = 0

    def start(self) -> None:
        self._runs += 1

    def commit(self) -> None:
        if not self.device.lost:
            # Not waited for: requests are served in order.
            self.device.host.connection.begin(
                {"call": "commit", "program": self.program, "run": self._runs}
            )

    def run(
        self,
        segment: int,
        feeds: Mapping[str, Array],
        fetches: Sequence[str],
        steps: int = 1,
        stop: Callable[[], bool] | None = None,
    ) -> ReplayResult:
        # ``stop`` is not needed: the server looks for a stop itself.
        self.start()
        request, data = self._request(segment, feeds, fetches)
        self._runs += steps
        with self.device.guarded():
            outcome = self.device.host.connection.call({**request, "steps": steps}, *data)
        value, _ = outcome
        return ReplayResult(_by_name(fetches, outcome), value["steps_done"], value["seconds"])

    def begin(
        self,
        segment: int | None,
        feeds: Mapping[str, Array],
        fetches: Sequence[str],
        last: bool = False,
    ) -> Result[dict[str, Array]]:
        request, data = self._request(segment, feeds, fetches)
        with self.device.guarded():
            begun = self.device.host.connection.begin({**request, "last": last}, *data)
        return Then(Guarded(self.device, begun), lambda outcome: _by_name(fetches, outcome))

    def _request(
        self, segment: int | None, feeds: Mapping[str, Array], fetches: Sequence[str]
    ) -> tuple[dict[str, Any], list[bytes]]:
        request = {
            "call": "execute",
            "program": self.program,
            "run": self._runs,
            "segment": segment,
            "feeds": list(feeds),
            "headers": headers_of(feeds.values()),
            "fetches": list(fetches),
        }
        return request, [array.tobytes() for array in feeds.values()]

    def unload(self) -> None:
        self.device.release(lambda: self.device.host.ask("unload", program=self.program))


def _by_name(fetches: Sequence[str], outcome: Outcome) -> dict[str, Array]:
    value, data = outcome
    return dict(zip(fetches, arrays_from(value["headers"], data), strict=True))
