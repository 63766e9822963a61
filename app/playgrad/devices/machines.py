"""The machines of a run, whose names precede those of devices in what a user reads.

Programs number the devices of a run through, whichever machines they are on: ``cpu:0`` to
``cpu:7``, one for each process. Errors, tables and traces of a run on several machines say
``b/cpu:5`` of the one that is on ``b``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

_machines: tuple[str, ...] = ()


def full_name(device: str) -> str:
    """Return the name of a device behind that of its machine, such as ``b/gpu:3``.

    Where all devices are on one machine, names stay as they are, and so does what names no device
    of the run.

    Args:
        device: ``gpu:3``, or a track of a trace that begins with it, such as ``gpu:3 (weights)``.
    """
    kind, _, rest = device.partition(":")
    number = rest.partition(" ")[0]
    if "/" in kind or not number.isdecimal() or int(number) >= len(_machines):
        return device
    return f"{_machines[int(number)]}/{device}"


def full_names(devices: Iterable[str]) -> str:
    """Return the full names of ``devices``, as an enumeration."""
    return ", ".join(map(full_name, devices))


@contextmanager
def machines_set(machines: Sequence[str]) -> Iterator[None]:
    """Within the block, device number ``i`` of each kind is on ``machines[i]``.

    Args:
        machines: their names. If all are equal, devices keep their short names.
    """
    global _machines
    before = _machines
    _machines = tuple(machines) if len(set(machines)) > 1 else ()
    try:
        yield
    finally:
        _machines = before
