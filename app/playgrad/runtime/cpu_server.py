"""The server in a processor's interpreter, which stores variables and computes on request.

The session's end of the connection is ``devices/remote_cpu.py``.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from playgrad.devices.remote_cpu import arrays_from, headers_of
from playgrad.errors import error_to_json
from playgrad.runtime.step_host import step_host
from playgrad.runtime.steps_runner import StepsRunner, zeros

Array = np.ndarray[Any, Any]
Request = Mapping[str, Any]
Answer = tuple[Any, list[Array]]


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
        self._buffers: dict[int, Array] = {}
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
        size = sum(buffer.nbytes for buffer in self._buffers.values())
        counts = {"buffers": len(self._buffers), "programs": len(self._programs)}
        return {**counts, "bytes": size}, []

    def _on_create_buffer(self, request: Request, data: bytes) -> Answer:
        buffer = self._new_id()
        self._buffers[buffer] = zeros(request["size"], step_host())
        return buffer, []

    def _on_destroy_buffer(self, request: Request, data: bytes) -> Answer:
        del self._buffers[request["buffer"]]
        return None, []

    def _on_write(self, request: Request, data: bytes) -> Answer:
        buffer, offset = request["place"]
        self._buffers[buffer][offset : offset + len(data)] = np.frombuffer(data, np.uint8)
        return None, []

    def _on_read(self, request: Request, data: bytes) -> Answer:
        ranges = request["ranges"]
        return None, [self._buffers[buffer][start:end] for buffer, start, end in ranges]

    def _on_load(self, request: Request, data: bytes) -> Answer:
        program = self._new_id()
        external = {key: self._buffers[number] for key, number in request["external"].items()}
        runner = StepsRunner(request["plan"], external, request["device"])
        self._programs[program] = _LoadedProgram(runner)
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
        results = program.runner.results(request["fetches"])
        if request.get("last"):
            program.commit(request["run"])
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
    """Loaded Steps, and which run they are in."""

    def __init__(self, runner: StepsRunner) -> None:
        self.runner = runner
        self._run = 0

    def run(
        self,
        run: int,
        segment: int | None,
        feeds: Mapping[str, Array],
        stop: Callable[[], bool],
    ) -> None:
        """Feed, and compute a segment. What the last run wrote is lost unless it was committed."""
        self._run = run
        self.runner.feed(feeds)
        if segment is not None:
            self.runner.run(segment, stop)

    def commit(self, run: int) -> None:
        """Let what ``run`` wrote to variables take effect."""
        if run == self._run:
            self.runner.commit()
