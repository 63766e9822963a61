"""How tensors get from one device to another: what stands behind ``send`` and ``receive``."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from playgrad.compiler.split import sender_of
from playgrad.errors import DeviceLostError

Array = np.ndarray[Any, Any]


class Transport(Protocol):
    """Channels between devices for one program, run after run.

    A channel is named after the tensor and both ends (``loss:0 gpu:0->cpu:1``), and carries one
    array in a run. An engine for several machines can stand behind this; the executor's part is:

    - ``put`` is called by the thread that works for the sender, when its segment has been computed,
      and never waits for the receiver. The array is not changed any more.
    - ``get`` is called by the one that works for the receiver, once in a run, before the segment is
      computed. Between devices of one process it is called after ``put``. A transport between
      processes may sleep in it until the array is there, or its time limit is over, or ``clear`` is
      called.
    - ``clear`` is called at the end of every run. It wakes those who sleep in ``get``. After a run
      that failed or was stopped the transport is not used again: a new one is made.

    Both raise `DeviceLostError` when the member at the other end is gone and `DeviceTimeoutError`
    when it does not answer, naming member and channel. The executor then ends the run: no task
    begins any more, those under way end, and the error goes to the caller.
    """

    def put(self, channel: str, array: Array) -> None:
        """Hand over what is sent on ``channel``."""
        ...

    def get(self, channel: str) -> Array:
        """Take what was sent on ``channel``."""
        ...

    def clear(self) -> None:
        """Forget what was not taken."""
        ...


class LocalTransport:
    """Devices of one process: arrays lie in memory that all of them see."""

    def __init__(self) -> None:
        self._arrays: dict[str, Array] = {}

    def put(self, channel: str, array: Array) -> None:
        self._arrays[channel] = array

    def get(self, channel: str) -> Array:
        try:
            return self._arrays.pop(channel)
        except KeyError:
            raise DeviceLostError(
                f"{sender_of(channel)} has sent nothing on the channel '{channel}'."
            ) from None

    def clear(self) -> None:
        self._arrays.clear()
