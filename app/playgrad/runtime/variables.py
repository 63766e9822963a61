"""The state of a session: the values of variables, here and in buffers of other devices."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from playgrad.compiler.dispatches import Place, device_bytes
from playgrad.compiler.memory import aligned
from playgrad.devices.device import Device
from playgrad.devices.target import Limits
from playgrad.errors import DeviceLostError, OutOfMemoryError
from playgrad.graph.graph import Graph
from playgrad.graph.tensor import Node

Array = np.ndarray[Any, Any]
Key = tuple[Graph, str]


class VariableStore:
    """Values of variables by graph and name; each lives on one device.

    Here a value is an array that is replaced, never overwritten. On a device with a memory of its
    own it is a range of a buffer; variables placed together share one buffer.
    """

    def __init__(self, open_device: Callable[[str], Device]) -> None:
        self._open_device = open_device
        self.arrays: dict[Key, Array] = {}
        self.places: dict[Key, tuple[str, Place]] = {}
        self.buffers: dict[str, tuple[Device, int]] = {}
        self._numbers = 0

    def __contains__(self, key: Key) -> bool:
        return key in self.arrays or key in self.places

    def is_lost(self, key: Key) -> bool:
        """Whether the value of a variable went away with its device."""
        return key in self.places and self.buffers[self.places[key][1].buffer][0].lost

    def variables(self) -> list[Key]:
        """All variables that have a value."""
        return [*self.arrays, *self.places]

    def drop(self, key: Key) -> None:
        """Forget the value of a variable. The room it had on a device is free once all that shared
        its buffer are gone."""
        if key in self.arrays:
            del self.arrays[key]
            return
        _, place = self.places.pop(key)
        if all(other.buffer != place.buffer for _, other in self.places.values()):
            device, buffer = self.buffers.pop(place.buffer)
            device.destroy_buffer(buffer)

    def check_size(self, nodes: Sequence[Node], device: str) -> None:
        """See that each of ``nodes`` (variables) is one that ``device`` can hold.

        Raises:
            OutOfMemoryError: one is larger than the device allows.
        """
        list(_batches(nodes, self._open_device(device).target.limits))

    def allocate(self, graph: Graph, nodes: Sequence[Node], name: str) -> None:
        """Give each of ``nodes`` (variables) room on the device ``name``: all of them or none.

        They share one buffer, or several where one may not be as large.

        Raises:
            OutOfMemoryError: a variable is larger than the device allows, or there is no room.
        """
        device = self._open_device(name)
        batches = list(_batches(nodes, device.target.limits))
        buffers: list[int] = []
        try:
            for _, size in batches:
                buffers.append(device.create_buffer(size))
        except BaseException:
            for buffer in buffers:
                device.destroy_buffer(buffer)
            raise
        for (batch, _), buffer in zip(batches, buffers, strict=True):
            self._place(graph, batch, device, buffer)

    def allocate_data(self, graph: Graph, node: Node, name: str) -> bool:
        """Give ``node``, a data set, a buffer that may stay on the device ``name`` for the next
        session; False if none does. What is in it is unknown.

        Raises:
            OutOfMemoryError: it is larger than the device allows, or there is no room.
        """
        self.check_size([node], name)
        device = self._open_device(name)
        buffer = device.create_data_buffer(aligned(device_bytes(node.outputs[0].spec)))
        if buffer is not None:
            self._place(graph, [(node, 0)], device, buffer)
        return buffer is not None

    def _place(
        self, graph: Graph, nodes: Sequence[tuple[Node, int]], device: Device, buffer: int
    ) -> None:
        self._numbers += 1
        key = f"state{self._numbers}"
        self.buffers[key] = (device, buffer)
        for node, offset in nodes:
            self.places[graph, node.name] = (device.name, Place(key, offset))

    def external(self, name: str) -> dict[str, int]:
        """The ids of the state buffers on the device ``name``, as a Plan names them."""
        return {
            key: number
            for key, (home, number) in self.buffers.items()
            if home.name == name and not home.lost
        }

    def places_on(self, graph: Graph, device: str) -> dict[str, Place]:
        """Where the variables of ``graph`` are on ``device``."""
        return {
            name: place
            for (owner, name), (home, place) in self.places.items()
            if owner is graph and home == device and not self.is_lost((owner, name))
        }

    def get(self, key: Key, node: Node) -> Array:
        """A copy of the value of a variable.

        Raises:
            DeviceLostError: it was on a device that is gone.
        """
        if key in self.arrays:
            return self.arrays[key].copy()
        self.check_there(key)
        place = self.places[key][1]
        device, buffer = self.buffers[place.buffer]
        spec = node.outputs[0].spec
        return device.read(buffer, place.offset, spec.static_shape, spec.dtype)

    def check_there(self, key: Key) -> None:
        """See that the value of a variable did not go away.

        Raises:
            DeviceLostError: it was on a device that is gone.
        """
        if self.is_lost(key):
            raise DeviceLostError(
                f"the variable {key[1]!r} was on {self.places[key][0]}, which is gone.",
                hint="Run the program again; or load weights saved before, and compile anew.",
            )

    def set(self, key: Key, array: Array) -> None:
        """Replace the value of a variable; ``array`` has its shape and dtype."""
        if key not in self.places:
            self.arrays[key] = array.copy()
            return
        place = self.places[key][1]
        device, buffer = self.buffers[place.buffer]
        device.write(buffer, place.offset, array)

    def close(self) -> None:
        """Free all buffers."""
        for device, buffer in self.buffers.values():
            device.destroy_buffer(buffer)
        self.buffers.clear()
        self.places.clear()
        self.arrays.clear()


def _batches(nodes: Sequence[Node], limits: Limits) -> Iterator[tuple[list[tuple[Node, int]], int]]:
    """For each buffer the variables in it with their offsets, and its size in bytes."""
    batch: list[tuple[Node, int]] = []
    offset = 0
    for node in nodes:
        size = aligned(device_bytes(node.outputs[0].spec))
        if size > limits.max_storage_buffer_binding_size:
            raise OutOfMemoryError(
                f"the variable '{node.name}' takes {size:,} bytes, but this adapter can bind at "
                f"most {limits.max_storage_buffer_binding_size:,}.",
                op=node.name,
                source=node.source,
                hint="Use a smaller layer, or device='cpu'.",
            )
        if batch and offset + size > limits.max_buffer_size:
            yield batch, offset
            batch, offset = [], 0
        batch.append((node, offset))
        offset += size
    if batch:
        yield batch, offset
