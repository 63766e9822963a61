"""The server in a processor's interpreter, which stores variables and computes on request.

The session's end of the connection is ``devices/remote_cpu.py``.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from playgrad.compiler.lifetimes import last_uses
from playgrad.compiler.portable_ops import ops_from_json
from playgrad.compiler.segments import Segment
from playgrad.devices.base import Plan
from playgrad.devices.remote_cpu import arrays_from, headers_of
from playgrad.errors import error_to_json
from playgrad.graph.serialize import graph_from_json
from playgrad.runtime.interpreter import RunValues, node_work

Array = np.ndarray[Any, Any]
Place = tuple[int, int]
Request = Mapping[str, Any]
Answer = tuple[Any, list[Array]]

_CARRIED = {"placeholder", "receive", "send"}
"""Operations that move tensors in and out, which the session's end does."""


class Server:
    """Serves the requests of one connection.

    Args:
        stop: called between two nodes; once it returns true, the request is not computed further.
    """

    def __init__(self, stop: Callable[[], bool] = lambda: False) -> None:
        self._stop = stop
        self._reset()

    def _reset(self) -> None:
        self._last_id = 0
        self._buffers: set[int] = set()
        self._arrays: dict[Place, Array] = {}
        self._programs: dict[int, _LoadedProgram] = {}

    def serve(self, text: str, data: Sequence[bytes]) -> tuple[str, bytes]:
        """Return the answer to a request, or its error, as JSON and bytes."""
        try:
            request = json.loads(text)
            value, arrays = getattr(self, f"_on_{request['call']}")(request, b"".join(data))
            return json.dumps({"value": value}), b"".join(array.tobytes() for array in arrays)
        except BaseException as error:
            return json.dumps({"error": error_to_json(error)}), b""

    def _new_id(self) -> int:
        self._last_id += 1
        return self._last_id

    def _on_open(self, request: Request, data: bytes) -> Answer:
        self._reset()
        return None, []

    def _on_stats(self, request: Request, data: bytes) -> Answer:
        size = sum(array.nbytes for array in self._arrays.values())
        counts = {"buffers": len(self._buffers), "programs": len(self._programs)}
        return {**counts, "bytes": size}, []

    def _on_create_buffer(self, request: Request, data: bytes) -> Answer:
        buffer = self._new_id()
        self._buffers.add(buffer)
        return buffer, []

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
        return None, [self._arrays[buffer, offset] for buffer, offset in request["places"]]

    def _on_load(self, request: Request, data: bytes) -> Answer:
        program = self._new_id()
        self._programs[program] = _LoadedProgram(
            request["device"], request["plan"], request["external"], self._arrays
        )
        return program, []

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
            program.run(request["run"], request["segment"], feeds, self._stop)
            done = 1
            if request["last"]:
                program.commit(request["run"])
        results = program.results(request["fetches"])
        seconds = time.perf_counter() - start
        return {"headers": headers_of(results), "steps_done": done, "seconds": seconds}, results

    def _repeat(self, program: _LoadedProgram, request: Request, feeds: Mapping[str, Array]) -> int:
        """Run again and again; return the number of runs before a stop."""
        for done in range(request["steps"]):
            try:
                program.run(request["run"] + done, request["segment"], feeds, self._stop)
            except KeyboardInterrupt:
                return done
            program.commit(request["run"] + done)
        return int(request["steps"])


class _LoadedProgram:
    """A loaded Plan and the values of the current run."""

    def __init__(
        self, device: str, plan: Plan, external: Mapping[str, int], arrays: dict[Place, Array]
    ) -> None:
        graph = graph_from_json(plan["graph"], ops_from_json(plan["operations"]))
        self._arrays = arrays
        self._run = 0
        self._values = RunValues(self._stored)
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
                (node_work(node, self._values), dying.get(node, ()))
                for node in segment.nodes
                if node.op.name not in _CARRIED
            ]
            for segment in segments
        ]

    def _stored(self, name: str) -> Array:
        return self._arrays[self._places[name]]

    def run(
        self,
        run: int,
        segment: int | None,
        feeds: Mapping[str, Array],
        stop: Callable[[], bool],
    ) -> None:
        """Feed, and compute a segment. A new number ``run`` discards the last run's values."""
        if run != self._run:
            self._values.clear()
            self._run = run
        tensors = self._values.tensors
        tensors.update((self._feeds[key], array) for key, array in feeds.items())
        for work, dead in () if segment is None else self._segments[segment]:
            if stop():
                raise KeyboardInterrupt
            work()
            for tensor in dead:
                tensors.pop(tensor, None)

    def results(self, names: Sequence[str]) -> list[Array]:
        return [self._values.tensors[self._outputs[name]] for name in names]

    def commit(self, run: int) -> None:
        """Let what ``run`` wrote to variables take effect."""
        if run == self._run:
            for name, array in self._values.written.items():
                self._arrays[self._places[name]] = array
            self._values.written.clear()
