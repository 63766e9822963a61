"""Runs Steps (compiler/steps_data.py) with NumPy, on bytes at the places where they are planned."""

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

Array = np.ndarray[Any, Any]
Steps = Mapping[str, Any]


@dataclass
class _LoadedStep:
    computation: Computation
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
        self._buffers = [_memory(buffer, external) for buffer in steps["buffers"]]
        self._feeds = {key: self._view(slot) for key, slot in steps["feeds"].items()}
        self._fetches = {name: self._view(slot) for name, slot in steps["fetches"].items()}
        self._writes = [(self._view(a), self._view(b)) for a, b in steps["writes"]]
        self._ops = ops_from_json(steps.get("operations", {}))
        self._sources = steps.get("sources", {})
        items = [self._step(data, device) for data in steps["steps"]]
        self._segments = [items[first:end] for first, end in steps["segments"]]

    def feed(self, feeds: Mapping[str, Array]) -> None:
        """Write what is fed, by channel or placeholder name."""
        for key, array in feeds.items():
            np.copyto(self._feeds[key], array)

    def run(self, segment: int, stop: Callable[[], bool]) -> None:
        """Compute a segment.

        Raises:
            KeyboardInterrupt: ``stop`` returned true between two steps.
        """
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
        return _LoadedStep(computation, inputs, [self._view(slot) for slot in data["outputs"]])


def _memory(buffer: Mapping[str, Any], external: Mapping[str, Array]) -> Array:
    if buffer["role"] == "state":
        return external[buffer["external"]]
    if "data" in buffer:
        return np.frombuffer(base64.b64decode(buffer["data"]), np.uint8)
    try:
        if buffer["size"] > LARGEST:
            raise MemoryError
        return np.zeros(buffer["size"], np.uint8)
    except MemoryError:
        raise OutOfMemoryError(
            f"there is no room for {buffer['size']:,} bytes of results.",
            hint="Use a smaller batch or a smaller network.",
        ) from None
