"""The memory that each device needs for a program."""

from __future__ import annotations

from typing import NamedTuple

from playgrad.compiler.lifetimes import last_uses, peak_bytes
from playgrad.dtypes import dtype
from playgrad.ops.state import is_variable
from playgrad.runtime.runnable import Runnable


class DeviceMemory(NamedTuple):
    """The memory that a program needs on one device, in bytes.

    Attributes:
        variables: weights, optimizer state and data sets that the program uses.
        values: the peak of the values that a run computes and receives.
    """

    variables: int
    values: int


def device_memory(runnable: Runnable) -> dict[str, DeviceMemory]:
    """Return the memory needed on each device that works segment by segment, by its name."""
    compiled = runnable.compiled
    variables = dict.fromkeys(compiled.segments, 0)
    for node in compiled.order:
        if is_variable(node) and node.device in variables:
            spec = node.outputs[0].spec
            variables[node.device] += dtype(spec.dtype).device_bytes(spec.size)
    return {
        device: DeviceMemory(variables[device], _values(runnable, device))
        for device in sorted(compiled.segments)
    }


def _values(runnable: Runnable, device: str) -> int:
    if device in runnable.plans:
        buffers = runnable.plans[device].plan["buffers"]
        return sum(buffer["size"] for buffer in buffers if buffer["role"] != "state")
    segments = runnable.compiled.segments[device]
    return peak_bytes(segments, last_uses(segments, runnable.compiled.program.fetches))
