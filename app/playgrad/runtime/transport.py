"""Transport of tensors between devices, for the operations ``send`` and ``receive``."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from playgrad.compiler.split import TensorChannel, sender_of
from playgrad.errors import DeviceLostError
from playgrad.runtime.trace import Event

Array = np.ndarray[Any, Any]


class Transport(Protocol):
    """Channels between the devices of one program.

    A channel is named after the tensor and both ends (``loss:0 gpu:0->cpu:1``). It carries one
    array in each run; if it belongs to a sum, what arrives is the sum of what is sent on all of its
    channels. A transport can connect several machines. The executor promises:

    - ``put`` is called on the thread of the sender, after its segment has been computed, and must
      not wait for the receiver. The array is not modified afterwards.
    - ``get`` is called on the thread of the receiver, once in each run, before its segment is
      computed. Between devices of one process, ``put`` has been called before. A transport between
      processes may sleep until the array arrives, a time limit is reached or ``clear`` is called.
    - ``clear`` is called at the end of every run, and wakes threads that sleep in ``get``. After a
      run that failed or was stopped, a new transport replaces this one.

    ``put`` and ``get`` raise `DeviceLostError` if the device at the other end is gone, and
    `DeviceTimeoutError` if it does not answer; the message names device and channel. The executor
    then begins no more tasks, waits for tasks under way, and raises the error to the caller.
    """

    def put(self, channel: str, array: Array) -> None:
        """Send ``array`` on ``channel``."""
        ...

    def get(self, channel: str) -> Array:
        """Return the array that was sent on ``channel``."""
        ...

    def clear(self) -> None:
        """Discard the arrays that were not received."""
        ...

    def events(self) -> list[Event]:
        """Return the transfers of this run that went on while devices computed, for a trace."""
        ...


NewArray = Callable[[TensorChannel], Array]
"""Returns an array for what is received on a channel, with any content."""
NewTransport = Callable[[Sequence[TensorChannel]], Transport]
"""Returns a transport with these channels, which are those of a program in a fixed order."""


def sums_of(channels: Sequence[TensorChannel]) -> dict[str, list[str]]:
    """Return the channels whose arrays are added up for each channel that carries a sum."""
    groups: dict[str, list[str]] = {}
    for channel in channels:
        if channel.sum:
            groups.setdefault(channel.sum, []).append(channel.name)
    return {name: group for group in groups.values() for name in group}


class LocalTransport:
    """Transport between devices of one process, which share its memory."""

    def __init__(self, channels: Sequence[TensorChannel] = ()) -> None:
        self._arrays: dict[str, Array] = {}
        self._sums = sums_of(channels)

    def put(self, channel: str, array: Array) -> None:
        self._arrays[channel] = array

    def get(self, channel: str) -> Array:
        if channel in self._sums:
            return functools.reduce(np.add, [self._arrays[each] for each in self._sums[channel]])
        try:
            return self._arrays.pop(channel)
        except KeyError:
            raise DeviceLostError(
                f"{sender_of(channel)} sent nothing on the channel '{channel}'."
            ) from None

    def clear(self) -> None:
        self._arrays.clear()

    def events(self) -> list[Event]:
        return []
