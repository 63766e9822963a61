"""The values of a session's variables, in arrays and in buffers of devices."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np

from playgrad.compiler.memory import aligned
from playgrad.compiler.steps import Place
from playgrad.devices.device import Device, Range
from playgrad.devices.kinds import HOST, kind_of
from playgrad.errors import DeviceLostError, OutOfMemoryError
from playgrad.graph.graph import Graph
from playgrad.graph.tensor import Node
from playgrad.ops.state import holds_data
from playgrad.runtime.desktop_host import desktop_host
from playgrad.runtime.host_copies import HostCopies, Key, is_copied
from playgrad.runtime.step_host import SharedBlock, StepHost, copied_to

Array = np.ndarray[Any, Any]


class VariableStore:
    """Values of variables by graph and name. Each lives on one device.

    On the processor a value is an array, which is replaced; compiled code overwrites it, in arrays
    that nobody else has. Whoever gets an array by `lend` may keep it, as its value stays the same.
    On a device with its own memory a value is a range of a buffer, which variables that are
    allocated together share, and copies in host memory are kept beside it: after a loss, all
    variables go back to the copy.

    Attributes:
        is_shared: whether other processes keep some of the values.
        arrays: values on the processor.
        places: device, and place in a buffer, of values elsewhere.
        rescued: values after a loss, until their variables are allocated on a device again.
        buffers: device and id of each buffer, by the key that Plans name it by.
        copies: the copies in host memory.
        lendings: the number of times that an array stopped being one that may be overwritten.
        in_code: whether compiled code runs.
    """

    is_shared: ClassVar[bool] = False

    def __init__(self, open_device: Callable[[str], Device]) -> None:
        self._open_device = open_device
        self.arrays: dict[Key, Array] = {}
        self._owned: dict[Key, weakref.ref[Array]] = {}
        self._blocks: dict[StepHost, SharedBlock] = {}
        self._desktop_hosts: dict[str, StepHost] = {}
        self.places: dict[Key, tuple[str, Place]] = {}
        self.rescued: dict[Key, Array] = {}
        self.buffers: dict[str, tuple[Device, int]] = {}
        self.copies = HostCopies(self._read_all)
        self.lendings = 0
        self.in_code = False
        self._numbers = 0

    def __contains__(self, key: Key) -> bool:
        return key in self.arrays or key in self.places or key in self.rescued

    def is_lost(self, key: Key) -> bool:
        """Return whether the value of a variable was lost with its device."""
        return self._loss(key) is not None

    def overwritable(self, key: Key, host: StepHost) -> Array:
        """Return the value of a variable in an array that only the store has, in C order and in the
        memory of ``host``, for code that overwrites it.

        Raises:
            OutOfMemoryError: there is no room for a copy.
        """
        array, owned = self.arrays[key], self._owned.get(key)
        if owned is None or owned() is not array:
            array = self.arrays[key] = copied_to(host, array, f"the variable '{key[1]}'")
            self._owned[key] = weakref.ref(array)
        return array

    def lend(self, key: Key) -> Array | None:
        """Return the array of a variable, which is never overwritten from now on; None if its value
        is not on the processor. A reference may return it as the value of another variable."""
        if self._owned.pop(key, None) is not None:
            self.lendings += 1
        return self.arrays.get(key)

    def lend_all(self) -> None:
        """Note that somebody else may keep the arrays of all variables."""
        self._owned.clear()
        self.lendings += 1

    def readable(self, key: Key, host: StepHost) -> Array:
        """Return the value of a variable, for code that reads it: in C order and in the memory of
        ``host``.

        Raises:
            OutOfMemoryError: there is no room for a copy.
        """
        array = self.arrays[key]
        if not (array.flags.c_contiguous and host.reachable(array)):
            array = self.arrays[key] = copied_to(host, array, f"the variable '{key[1]}'")
        return array

    def desktop_host(self, device: str = HOST) -> StepHost:
        """Return what compiles the work of a processor on the desktop: each has a thread, and so a
        host.

        Raises:
            MemoryError: there is no room for its memory.
        """
        if device not in self._desktop_hosts:
            self._desktop_hosts[device] = desktop_host()
        return self._desktop_hosts[device]

    def block_of(self, host: StepHost) -> SharedBlock:
        """Return what lends memory of ``host`` to the session's runs."""
        if host not in self._blocks:
            self._blocks[host] = SharedBlock(host)
        return self._blocks[host]

    def _loss(self, key: Key) -> DeviceLostError | None:
        """Return why the device with a variable was lost, None if it works or there is none."""
        if key not in self.places:
            return None
        return self.buffers[self.places[key][1].buffer][0].loss

    def variables(self) -> list[Key]:
        """Return all variables that have a value."""
        return list({**self.arrays, **self.places, **self.rescued})

    def drop(self, key: Key) -> None:
        """Forget the value of a variable. A buffer is freed with the last variable in it."""
        self.copies.values.pop(key, None)
        self.release(key)

    def release(self, key: Key) -> None:
        """Free the memory of a variable, whose copy is kept: its value is about to move."""
        self.arrays.pop(key, None)
        self.rescued.pop(key, None)
        self.unplace(key)

    def unplace(self, key: Key) -> None:
        """Give up a variable's place on a device, if it has one."""
        if key not in self.places:
            return
        _, place = self.places.pop(key)
        if all(other.buffer != place.buffer for _, other in self.places.values()):
            device, buffer = self.buffers.pop(place.buffer)
            device.destroy_buffer(buffer)

    def check_size(self, nodes: Sequence[Node], device: str) -> None:
        """Check that no variable of ``nodes`` is too large for ``device``.

        Raises:
            OutOfMemoryError: a variable is larger than the device allows.
        """
        list(_packed(nodes, self._open_device(device)))

    def allocate(self, graph: Graph, nodes: Sequence[Node], name: str) -> None:
        """Allocate memory on the device ``name`` for all variables of ``nodes``, or for none.

        They share a buffer, or several if it would be larger than the device allows.

        Raises:
            OutOfMemoryError: a variable is larger than the device allows, or memory is exhausted.
        """
        device = self._open_device(name)
        packed = list(_packed(nodes, device))
        buffers: list[int] = []
        try:
            for _, size in packed:
                buffers.append(device.create_buffer(size))
        except BaseException:
            for buffer in buffers:
                device.destroy_buffer(buffer)
            raise
        for (offsets, _), buffer in zip(packed, buffers, strict=True):
            self._place(graph, offsets, device, buffer)

    def allocate_data(self, graph: Graph, node: Node, name: str) -> bool:
        """Allocate a buffer in the data cache of the device ``name`` for ``node``, a data set.

        The content of the buffer is undefined.

        Returns:
            Whether the device caches data of this size; if not, nothing is allocated.

        Raises:
            OutOfMemoryError: the data is larger than the device allows, or memory is exhausted.
        """
        self.check_size([node], name)
        device = self._open_device(name)
        buffer = device.create_data_buffer(aligned(kind_of(name).bytes_of(node.output.spec)))
        if buffer is not None:
            self._place(graph, [(node, 0)], device, buffer)
        return buffer is not None

    def _place(
        self, graph: Graph, nodes: Sequence[tuple[Node, int]], device: Device, buffer: int
    ) -> None:
        if not self.places:
            self.lend_all()
            self.copies.begin({**self.arrays, **self.rescued})
        self._numbers += 1
        key = f"state{self._numbers}"
        self.buffers[key] = (device, buffer)
        for node, offset in nodes:
            self.places[graph, node.name] = (device.name, Place(key, offset))

    def external(self, name: str) -> dict[str, int]:
        """Return the ids of the buffers on the device ``name``, by the keys that Plans use."""
        return {
            key: number
            for key, (home, number) in self.buffers.items()
            if home.name == name and not home.lost
        }

    def places_on(self, graph: Graph, device: str) -> dict[str, Place]:
        """Return where each variable of ``graph`` lies in the buffers of ``device``, by name."""
        return {
            name: place
            for (owner, name), (home, place) in self.places.items()
            if owner is graph and home == device and not self.is_lost((owner, name))
        }

    def kept_here(self, nodes: Sequence[Node], home: Callable[[Node], str]) -> list[Node]:
        """Return those of the variables ``nodes`` whose values this process keeps: all, unless
        several processes run the program.

        Args:
            home: returns the device of a variable.
        """
        return list(nodes)

    @contextmanager
    def lending(self, graph: Graph, nodes: Sequence[Node]) -> Iterator[None]:
        """Have the values of ``nodes`` at hand within the block, whoever keeps them."""
        yield

    def get(self, keys: Sequence[Key]) -> dict[Key, Array]:
        """Return copies of the values of variables, whoever keeps them.

        Raises:
            DeviceLostError: a value was lost with its device.
        """
        return self.read(keys)

    def read(self, keys: Sequence[Key]) -> dict[Key, Array]:
        """Return copies of values that this process keeps, each device's in as few reads as
        possible.

        Raises:
            DeviceLostError: a value was lost with its device.
        """
        for key in keys:
            self.check_not_lost(key)
        values: dict[Key, Array] = {}
        ranges: dict[Device, dict[Key, Range]] = {}
        for key in keys:
            present = self.rescued.get(key, self.arrays.get(key))
            if present is not None:
                values[key] = present.copy()
                continue
            place = self.places[key][1]
            device, buffer = self.buffers[place.buffer]
            spec = key[0].node(key[1]).outputs[0].spec
            there = Range(buffer, place.offset, spec.static_shape, spec.dtype)
            ranges.setdefault(device, {})[key] = there
        for device, each in ranges.items():
            values.update(zip(each, device.read_all(list(each.values())), strict=True))
        return {key: values[key] for key in keys}

    def check_not_lost(self, key: Key) -> None:
        """Check that the value of a variable still exists, or never did.

        Raises:
            DeviceLostError: the value was lost with its device.
        """
        loss = self._loss(key)
        if loss is not None:
            raise DeviceLostError(
                f"the variable {key[1]!r} was lost with its device. {loss.message}",
                hint="Run the program again, or load saved weights and compile again.",
            )

    def set(self, values: Mapping[Key, Array]) -> None:
        """Set the values of variables to arrays that have their shapes and dtypes."""
        there = {k: a for k, a in values.items() if k in self.places and k not in self.rescued}
        self._write(there)
        for key, array in values.items():
            if key in there:
                if self.copies.is_current and is_copied(key):
                    self.copies.assigned(key, array.copy())
                continue
            owned = self.rescued if key in self.rescued else self.arrays
            owned[key] = array.copy()
            if self.places:
                self.copies.assigned(key, owned[key])

    def _write(self, values: Mapping[Key, Array]) -> None:
        writes: dict[Device, list[tuple[int, int, Array]]] = {}
        for key, array in values.items():
            place = self.places[key][1]
            device, buffer = self.buffers[place.buffer]
            writes.setdefault(device, []).append((buffer, place.offset, array))
        for device, each in writes.items():
            device.write_all(each)

    def settle(self, key: Key) -> None:
        """Bring a rescued value to where memory was allocated for it, or to the processor."""
        if key in self.places:
            self._write({key: self.rescued[key]})
        else:
            self.arrays[key] = self.rescued[key]
        del self.rescued[key]

    # Copies in host memory

    def _read_all(self) -> dict[Key, Array]:
        """Return the values of all variables but data sets, to be copied."""
        on_devices = [key for key in self.places if key not in self.rescued and is_copied(key)]
        here = {**self.arrays, **self.rescued}
        copied = {key: array for key, array in here.items() if is_copied(key)}
        return {**copied, **self.read(on_devices)}

    def wrote(self) -> None:
        """Note that a run is about to change variables."""
        if self.places:
            self.copies.note_change()

    def devices(self) -> list[Device]:
        """Return the device of each buffer, whether it works or not."""
        return [device for device, _ in self.buffers.values()]

    def has_lost(self) -> bool:
        """Return whether the value of a variable, other than a data set, was lost."""
        return any(self.is_lost(key) for key in self.places if not _is_data(key))

    def roll_back(self) -> None:
        """Give all variables the values of the copy, which wait there to be allocated again.

        Those that had no value when the copy was taken have none again. Data sets stay as they are.
        """
        copied = self.copies.values
        for key in self.variables():
            if not _is_data(key):
                self.release(key)
        self.rescued.update(copied)
        self.copies.rolled_back()

    def close(self) -> None:
        """Free all buffers."""
        for device, buffer in self.buffers.values():
            device.destroy_buffer(buffer)
        self.buffers.clear()
        self.places.clear()
        self.arrays.clear()
        self._owned.clear()
        self._blocks.clear()
        self._desktop_hosts.clear()
        self.rescued.clear()
        self.copies.begin({})


def _is_data(key: Key) -> bool:
    return holds_data(key[0].node(key[1]))


def _packed(nodes: Sequence[Node], device: Device) -> Iterator[tuple[list[tuple[Node, int]], int]]:
    """Pack variables into buffers; yield, for each buffer, its variables with their offsets, and
    its size in bytes."""
    kind, limits = kind_of(device.name), device.target.limits
    offsets: list[tuple[Node, int]] = []
    offset = 0
    for node in nodes:
        size = aligned(kind.bytes_of(node.output.spec))
        if size > limits.max_storage_buffer_binding_size:
            raise OutOfMemoryError(
                f"the variable '{node.name}' needs {size:,} bytes, but this adapter can bind at "
                f"most {limits.max_storage_buffer_binding_size:,}.",
                op=node.name,
                source=node.source,
                hint="Use a smaller layer, or device='cpu'.",
            )
        if offsets and offset + size > limits.max_buffer_size:
            yield offsets, offset
            offsets, offset = [], 0
        offsets.append((node, offset))
        offset += size
    if offsets:
        yield offsets, offset
