"""Runs Steps (compiler/steps_data.py) on bytes at the places where they are planned.

Steps that write variables, those of a training, are compiled at their first run where that is
possible, as `SegmentCompiler` does. NumPy computes all others.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from playgrad.compiler.portable_ops import ops_from_json
from playgrad.errors import OutOfMemoryError
from playgrad.graph.opdef import lookup
from playgrad.graph.serialize import decode
from playgrad.graph.spec import TensorSpec
from playgrad.runtime.interpreter import LARGEST, Computation, compute_of, explained
from playgrad.runtime.step_host import StepHost, copied_to, step_host
from playgrad.runtime.steps_code import CompiledSegments

Array = np.ndarray[Any, Any]
Steps = Mapping[str, Any]


@dataclass
class _LoadedStep:
    computation: Computation
    slots: tuple[Sequence[Any], Sequence[Any]]
    inputs: list[Array]
    outputs: list[Array]
    compute: Callable[[Sequence[Array]], Sequence[Array]] | None = field(default=None)

    def run(self) -> None:
        try:
            self.compute = self.compute or compute_of(self.computation)
            # Infinity and NaN without a warning, as on a GPU.
            with np.errstate(all="ignore"):
                results = self.compute(self.inputs)
        except Exception as error:
            raise explained(error, self.computation) from None
        for place, result in zip(self.outputs, results, strict=True):
            np.copyto(place, result)


class StepsRunner:
    """Loaded Steps. Each tensor is an array in the memory of a buffer.

    Args:
        steps: may have ``operations`` and ``sources``, as `Compiled.steps` adds them.
        external: the bytes of the session's buffers, by key.
        device: its name, for errors.

    Raises:
        OutOfMemoryError: there is no room for the buffers.
    """

    def __init__(self, steps: Steps, external: Mapping[str, Array], device: str) -> None:
        self._host = step_host()
        self._buffers = [_memory(each, external, self._host) for each in steps["buffers"]]
        self._feeds = {key: self._view(slot) for key, slot in steps["feeds"].items()}
        self._fetches = {name: self._view(slot) for name, slot in steps["fetches"].items()}
        self._writes = [(self._view(a), self._view(b)) for a, b in steps["writes"]]
        self._ops = ops_from_json(steps.get("operations", {}))
        self._sources = steps.get("sources", {})
        items = [self._step(data, device) for data in steps["steps"]]
        self._segments = [items[first:end] for first, end in steps["segments"]]
        self._trains = any(item.computation.op.writes for item in items)
        self._compiled: CompiledSegments | None = None

    def feed(self, feeds: Mapping[str, Array]) -> None:
        """Write what is fed, by channel or placeholder name."""
        for key, array in feeds.items():
            np.copyto(self._feeds[key], array)

    def run(self, segment: int, stop: Callable[[], bool]) -> None:
        """Compute a segment.

        Raises:
            KeyboardInterrupt: ``stop`` returned true between two steps.
        """
        if self._compiled is None and self._host is not None and self._trains:
            self._compiled = CompiledSegments(self._host, self._buffers, self._segments)
        if self._compiled is not None:
            self._compiled.run(segment, stop)
            return
        for step in self._segments[segment]:
            if stop():
                raise KeyboardInterrupt
            step.run()

    def results(self, names: Sequence[str]) -> list[Array]:
        """Return copies of fetched tensors, by name."""
        return [self._fetches[name].copy() for name in names]

    def commit(self) -> None:
        """Let what a run wrote to variables take effect."""
        for variable, value in self._writes:
            np.copyto(variable, value)

    def _view(self, slot: Sequence[Any]) -> Array:
        buffer, offset, shape, dtype = slot
        count = math.prod(shape)
        if not count:
            return np.empty(shape, dtype)
        return np.frombuffer(self._buffers[buffer], dtype, count, offset).reshape(shape)

    def _step(self, data: Mapping[str, Any], device: str) -> _LoadedStep:
        op, name = data["op"], data["nodes"][-1]
        source = self._sources.get(name)
        computation = Computation(
            self._ops[op] if op in self._ops else lookup(op),
            decode(data["attrs"]),
            tuple(TensorSpec(tuple(shape), dtype) for _, _, shape, dtype in data["inputs"]),
            tuple(TensorSpec(tuple(shape), dtype) for _, _, shape, dtype in data["outputs"]),
            name,
            device,
            None if source is None else tuple(source),
        )
        inputs = [self._view(slot) for slot in data["inputs"]]
        for array in inputs:
            array.flags.writeable = False
        outputs = [self._view(slot) for slot in data["outputs"]]
        return _LoadedStep(computation, (data["inputs"], data["outputs"]), inputs, outputs)


def zeros(size: int, host: StepHost | None) -> Array:
    """Return ``size`` bytes that compiled code for ``host``, if any, can reach.

    Raises:
        MemoryError: there is no room for them.
    """
    if host is None:
        return np.zeros(size, np.uint8)
    place = host.empty(max(size, 1))[:size]
    place[:] = 0
    return place


def _memory(
    buffer: Mapping[str, Any], external: Mapping[str, Array], host: StepHost | None
) -> Array:
    if buffer["role"] == "state":
        return external[buffer["external"]]
    if "data" in buffer:
        data = np.frombuffer(base64.b64decode(buffer["data"]), np.uint8)
        return data if host is None else copied_to(host, data, "constants")
    try:
        if buffer["size"] > LARGEST:
            raise MemoryError
        return zeros(buffer["size"], host)
    except MemoryError:
        raise OutOfMemoryError(
            f"there is no room for {buffer['size']:,} bytes of results.",
            hint="Use a smaller batch or a smaller network.",
        ) from None
