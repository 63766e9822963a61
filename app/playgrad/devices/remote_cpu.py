"""A processor of its own interpreter, in a page a worker with its own Pyodide and NumPy.

Here is the session's end: a device like a GPU, with variables in buffers of its own and plans
loaded beforehand. At the other end a ``playgrad.runtime.cpu_server.Server`` computes. A request is
JSON with the bytes of arrays beside it, and so is the answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from playgrad.devices.base import AdapterInfo, Limits, Plan
from playgrad.devices.device import Device, Guarded
from playgrad.devices.pending import Result, Then

Array = np.ndarray[Any, Any]
Outcome = tuple[Any, bytes]
"""The value of a call, and its bytes."""

_ANY_SIZE = 1 << 53


class Connection(Protocol):
    """The way to a server. Calls are served in order; errors of the server are raised here."""

    def call(self, request: dict[str, Any], *data: bytes) -> Outcome:
        """One round trip."""
        ...

    def begin(self, request: dict[str, Any], *data: bytes) -> Result[Outcome]:
        """A call that is not waited for."""
        ...

    def give_up(self) -> None:
        """Use it no more: nobody answers."""
        ...


def heads(arrays: Iterable[Array]) -> list[list[Any]]:
    """What must be known of arrays beside their bytes."""
    return [[array.dtype.name, list(array.shape)] for array in arrays]


def arrays_of(heads: Iterable[Sequence[Any]], data: bytes) -> list[Array]:
    """The arrays whose bytes are ``data``, one after the other."""
    arrays = []
    start = 0
    for name, shape in heads:
        count = math.prod(shape)
        array = np.frombuffer(data, name, count, start) if count else np.empty(0, name)
        arrays.append(array.reshape(shape).copy())
        start += array.nbytes
    return arrays


class CpuPeer:
    """What is asked of the other end, whatever program it is about."""

    info = AdapterInfo(
        "NumPy",
        backend="numpy",
        is_software=True,
        limits=Limits(max_buffer_size=_ANY_SIZE, max_storage_buffer_binding_size=_ANY_SIZE),
    )

    def __init__(self, link: Connection) -> None:
        self.link = link
        self.ask("open")

    def ask(self, call: str, *data: bytes, **argument: Any) -> Outcome:
        return self.link.call({"call": call, **argument}, *data)

    def create_buffer(self, size: int) -> int:
        return int(self.ask("create_buffer", size=size)[0])

    def destroy_buffer(self, buffer: int) -> None:
        self.ask("destroy_buffer", buffer=buffer)

    def stats(self) -> dict[str, int]:
        return dict(self.ask("stats")[0])

    def give_up(self) -> None:
        self.link.give_up()

    def destroy(self) -> None:
        self.ask("open")  # which forgets all that was there


class RemoteCpu(Device):
    """A processor in another interpreter."""

    host: CpuPeer

    def __init__(self, name: str, link: Connection) -> None:
        super().__init__(name, CpuPeer(link))

    def write(self, buffer: int, offset: int, array: Array) -> None:
        with self.guarded():
            argument = {"place": [buffer, offset], "heads": heads([array])}
            self.host.ask("write", array.tobytes(), **argument)

    def read(self, buffer: int, offset: int, shape: tuple[int, ...], name: str) -> Array:
        with self.guarded():
            _, data = self.host.ask("read", place=[buffer, offset])
        return arrays_of([[name, shape]], data)[0]

    def load(self, plan: Plan, external: Mapping[str, int]) -> ProcessorPlan:
        with self.guarded():
            program, _ = self.host.ask("load", device=self.name, plan=plan, external=dict(external))
        return ProcessorPlan(self, plan, program)


class ProcessorPlan:
    """A program loaded there. What a run writes to variables counts once it is committed."""

    def __init__(self, device: RemoteCpu, plan: Plan, program: int) -> None:
        self.device = device
        self.plan = plan
        self.program = program
        self._runs = 0

    def start(self) -> None:
        """A run begins. What the last one wrote to variables and did not commit is forgotten."""
        self._runs += 1

    def commit(self) -> None:
        """The run has ended well: what it wrote to variables counts."""
        if not self.device.lost:
            # Not waited for: calls are served in order.
            self.device.host.link.begin(
                {"call": "commit", "program": self.program, "run": self._runs}
            )

    def run(
        self,
        segment: int,
        feeds: Mapping[str, Array],
        fetches: Sequence[str],
        steps: int = 1,
        stop: Callable[[], bool] | None = None,
    ) -> tuple[dict[str, Array], int, float]:
        """Do ``segment``, all that the program consists of, ``steps`` times. The other end itself
        finds out about a stop.

        Returns:
            The arrays fetched, the number of steps done and the seconds they took.
        """
        self.start()
        request, data = self._execution(segment, feeds, fetches)
        self._runs += steps
        with self.device.guarded():
            outcome = self.device.host.link.call({**request, "steps": steps}, *data)
        value, _ = outcome
        return _by_name(fetches, outcome), value["steps_done"], value["seconds"]

    def begin(
        self,
        segment: int | None,
        feeds: Mapping[str, Array],
        fetches: Sequence[str],
        last: bool = False,
    ) -> Result[dict[str, Array]]:
        """Begin to take ``feeds``, do ``segment`` once (None: not at all) and read ``fetches``;
        the result is the arrays. After the ``last`` of a run, what it wrote counts."""
        request, data = self._execution(segment, feeds, fetches)
        with self.device.guarded():
            begun = self.device.host.link.begin({**request, "last": last}, *data)
        return Then(Guarded(self.device, begun), lambda outcome: _by_name(fetches, outcome))

    def _execution(
        self, segment: int | None, feeds: Mapping[str, Array], fetches: Sequence[str]
    ) -> tuple[dict[str, Any], list[bytes]]:
        request = {
            "call": "execute",
            "program": self.program,
            "run": self._runs,
            "segment": segment,
            "feeds": list(feeds),
            "heads": heads(feeds.values()),
            "fetches": list(fetches),
        }
        return request, [array.tobytes() for array in feeds.values()]

    def unload(self) -> None:
        self.device.release(lambda: self.device.host.ask("unload", program=self.program))


def _by_name(fetches: Sequence[str], outcome: Outcome) -> dict[str, Array]:
    value, data = outcome
    return dict(zip(fetches, arrays_of(value["heads"], data), strict=True))
