"""A processor's end of ``devices/remote_cpu.py``: keeps variables and computes on request."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from playgrad.compiler.lifetimes import last_uses
from playgrad.compiler.segments import Segment
from playgrad.devices.base import Plan
from playgrad.devices.remote_cpu import arrays_from, headers_of
from playgrad.errors import UnsupportedOpError, error_record
from playgrad.graph.opdef import registered
from playgrad.graph.serialize import graph_from_json
from playgrad.graph.tensor import Tensor
from playgrad.runtime.interpreter import node_work

Array = np.ndarray[Any, Any]
Place = tuple[int, int]
Request = Mapping[str, Any]
Answer = tuple[Any, list[Array]]

_CARRIED = {"placeholder", "receive", "send"}
"""What brings tensors in and out: the session's end does that."""


class Server:
    """Serves one session's end.

    Args:
        stop: asked between two nodes; once it answers true, nothing more is computed for the call.
    """

    def __init__(self, stop: Callable[[], bool] = lambda: False) -> None:
        self._stop = stop
        self._forget()

    def _forget(self) -> None:
        self._numbers = 0
        self._buffers: set[int] = set()
        self._arrays: dict[Place, Array] = {}
        self._programs: dict[int, _LoadedProgram] = {}

    def serve(self, text: str, data: Sequence[bytes]) -> tuple[str, bytes]:
        """The answer to a request, as JSON and the bytes beside it; an error is one, too."""
        try:
            request = json.loads(text)
            value, arrays = getattr(self, f"_on_{request['call']}")(request, b"".join(data))
            return json.dumps({"value": value}), b"".join(array.tobytes() for array in arrays)
        except BaseException as error:
            return json.dumps({"error": error_record(error)}), b""

    def _number(self) -> int:
        self._numbers += 1
        return self._numbers

    def _on_open(self, request: Request, data: bytes) -> Answer:
        self._forget()
        return None, []

    def _on_stats(self, request: Request, data: bytes) -> Answer:
        size = sum(array.nbytes for array in self._arrays.values())
        counts = {"buffers": len(self._buffers), "programs": len(self._programs)}
        return {**counts, "bytes": size}, []

    def _on_create_buffer(self, request: Request, data: bytes) -> Answer:
        number = self._number()
        self._buffers.add(number)
        return number, []

    def _on_destroy_buffer(self, request: Request, data: bytes) -> Answer:
        self._buffers.remove(request["buffer"])
        for place in [place for place in self._arrays if place[0] == request["buffer"]]:
            del self._arrays[place]
        return None, []

    def _on_write(self, request: Request, data: bytes) -> Answer:
        buffer, offset = request["place"]
        (self._arrays[buffer, offset],) = arrays_from(request["headers"], data)
        return None, []

    def _on_read(self, request: Request, data: bytes) -> Answer:
        buffer, offset = request["place"]
        return None, [self._arrays[buffer, offset]]

    def _on_load(self, request: Request, data: bytes) -> Answer:
        program = _LoadedProgram(
            request["device"], request["plan"], request["external"], self._arrays
        )
        number = self._number()
        self._programs[number] = program
        return number, []

    def _on_unload(self, request: Request, data: bytes) -> Answer:
        del self._programs[request["program"]]
        return None, []

    def _on_commit(self, request: Request, data: bytes) -> Answer:
        self._programs[request["program"]].commit(request["run"])
        return None, []

    def _on_execute(self, request: Request, data: bytes) -> Answer:
        program = self._programs[request["program"]]
        feeds = dict(zip(request["feeds"], arrays_from(request["headers"], data), strict=True))
        start = time.perf_counter()
        if "steps" in request:
            done = self._repeat(program, request, feeds)
        else:
            program.do(request["run"], request["segment"], feeds, self._stop)
            done = 1
            if request["last"]:
                program.commit(request["run"])
        results = program.results(request["fetches"])
        seconds = time.perf_counter() - start
        return {"headers": headers_of(results), "steps_done": done, "seconds": seconds}, results

    def _repeat(self, program: _LoadedProgram, request: Request, feeds: Mapping[str, Array]) -> int:
        """Run after run; how many were done before a stop."""
        for done in range(request["steps"]):
            try:
                program.do(request["run"] + done, request["segment"], feeds, self._stop)
            except KeyboardInterrupt:
                return done
            program.commit(request["run"] + done)
        return int(request["steps"])


class _LoadedProgram:
    """A loaded plan and, while a run lasts, its values."""

    def __init__(
        self, device: str, plan: Plan, external: Mapping[str, int], arrays: dict[Place, Array]
    ) -> None:
        _check_known(device, plan)
        graph = graph_from_json(plan["graph"])
        self._arrays = arrays
        self._run = 0
        self._values: dict[Tensor, Array] = {}
        self._written: dict[str, Array] = {}
        self._places: dict[str, Place] = {
            name: (external[key], offset) for name, (key, offset) in plan["variables"].items()
        }
        self._feeds = {key: graph.tensor(name) for key, name in plan["feeds"].items()}
        self._outputs = {name: graph.tensor(name) for name in plan["outputs"]}
        segments = [
            Segment(device, index, [graph.node(name) for name in names])
            for index, names in enumerate(plan["segments"])
        ]
        dying = last_uses(segments, set(self._outputs.values()))
        self._segments = [
            [
                (node_work(node, self._values, self._written, self._stored), dying.get(node, ()))
                for node in segment.nodes
                if node.op.name not in _CARRIED
            ]
            for segment in segments
        ]

    def _stored(self, name: str) -> Array:
        return self._arrays[self._places[name]]

    def do(
        self,
        run: int,
        segment: int | None,
        feeds: Mapping[str, Array],
        stop: Callable[[], bool],
    ) -> None:
        """Take ``feeds``, and compute a segment. With a new ``run`` the last one's values go."""
        if run != self._run:
            self._values.clear()
            self._written.clear()
            self._run = run
        self._values.update((self._feeds[key], array) for key, array in feeds.items())
        for work, dead in () if segment is None else self._segments[segment]:
            if stop():
                raise KeyboardInterrupt
            work()
            for tensor in dead:
                self._values.pop(tensor, None)

    def results(self, names: Sequence[str]) -> list[Array]:
        return [self._values[self._outputs[name]] for name in names]

    def commit(self, run: int) -> None:
        """What ``run`` wrote to variables counts."""
        if run == self._run:
            for name, array in self._written.items():
                self._arrays[self._places[name]] = array
            self._written.clear()


def _check_known(device: str, plan: Plan) -> None:
    known = {op.name for op in registered()}
    for node in plan["graph"]["nodes"]:
        if node["op"] not in known:
            source = node.get("source")
            raise UnsupportedOpError(
                f"the operation {node['op']!r} cannot run on {device}: it was registered by the "
                "program, and this device has another interpreter.",
                op=node["name"],
                source=(source[0], source[1]) if source else None,
                hint="Place it on cpu:0.",
            )
