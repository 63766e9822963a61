"""HDF5 files of weights. Files are validated before use."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from typing import Any

import numpy as np

from playgrad.errors import CheckpointError
from playgrad.io.hdf5.layout import FLOAT_FIELDS, SIGNATURE, UNDEFINED, MessageKind
from playgrad.io.tensor_entry import (
    LONGEST_NAME,
    MOST_DIMENSIONS,
    TensorEntry,
    TensorFile,
    check_count,
    checked_entry,
    checked_name,
)

Array = np.ndarray[Any, Any]
DEEPEST = 32
"""Maximum number of groups inside each other."""
_REFUSED = {
    MessageKind.EXTERNAL_FILES: "has its values in another file",
    MessageKind.FILTERS: "is compressed",
    MessageKind.LINK: "is in a group of the newer format",
    MessageKind.LINK_INFO: "is a group of the newer format",
}
_SAVE_AGAIN = "Save the weights with model.save_weights of Keras, or of playgrad."


class Hdf5File(TensorFile):
    """A file of groups and arrays, whose values are not read yet.

    Args:
        content: the bytes of the file.

    Attributes:
        entries: the arrays by their paths, such as ``layers/dense/vars/0``.
        groups: the paths of all groups.

    Raises:
        CheckpointError: the file is truncated or damaged, has links to elsewhere, or arrays that
            are not plain numbers in one piece.
    """

    def __init__(self, content: bytes) -> None:
        self._content = memoryview(content)
        self.entries: dict[str, TensorEntry] = {}
        self.groups: set[str] = set()
        self._visited: set[int] = set()
        self._messages_read = 0
        if content[:8] != SIGNATURE:
            raise CheckpointError("the file is not an HDF5 file.")
        version, offset_size, length_size = content[8:9], content[13:14], content[14:15]
        if version not in (b"\0", b"\1") or offset_size != b"\x08" or length_size != b"\x08":
            raise CheckpointError(
                "the HDF5 file has a version of the format that playgrad does not read.",
                hint=_SAVE_AGAIN,
            )
        addresses = 24 + 4 * version[0]
        if self._number(addresses):
            raise CheckpointError("the HDF5 file does not begin with its own data.")
        self._read_object("", self._number(addresses + 40), 0)
        if self.unpacked > len(content):
            raise CheckpointError("the HDF5 file is damaged: its arrays overlap.")

    def read(self, path: str) -> Array:
        """Return the values of an array."""
        entry = self.entries[path]
        values = entry.values(path, self._content[entry.begin : entry.end])
        return np.array(values).reshape(entry.shape)

    # Bytes

    def _bytes(self, address: int, length: int) -> memoryview:
        if address + length > len(self._content):
            raise CheckpointError("the HDF5 file is truncated or damaged.")
        return self._content[address : address + length]

    def _number(self, address: int, size: int = 8) -> int:
        return int.from_bytes(self._bytes(address, size), "little")

    def _visit(self, address: int) -> None:
        """Remember a block, which a sound file names once; the number of blocks is limited."""
        if address in self._visited:
            raise CheckpointError("the HDF5 file is damaged: one of its blocks is used twice.")
        self._visited.add(address)
        check_count(len(self._visited) // 4)  # a group has four

    # Groups

    def _read_object(self, path: str, header: int, depth: int) -> None:
        self._visit(header)
        messages = dict(self._messages(header))
        for kind, why in _REFUSED.items():
            if kind in messages:
                raise CheckpointError(f"'{path or '/'}' in the HDF5 file {why}.", hint=_SAVE_AGAIN)
        if MessageKind.SYMBOL_TABLE in messages:
            self._read_group(path, messages[MessageKind.SYMBOL_TABLE], depth)
        elif MessageKind.LAYOUT in messages:
            entry = checked_entry(path, self._entry(path, messages))
            self.entries[checked_name(path, self.entries)] = entry

    def _read_group(self, path: str, table: bytes, depth: int) -> None:
        if depth > DEEPEST:
            raise CheckpointError(f"the HDF5 file has more than {DEEPEST} groups in each other.")
        self.groups.add(path)
        if len(table) < 16:
            raise CheckpointError("the HDF5 file is damaged: a group has no table of its members.")
        tree, heap = struct.unpack_from("<2Q", table)
        names = self._heap(heap)
        for symbol in self._symbols(tree, 0):
            name_offset, child, cached = struct.unpack_from("<2QI", self._bytes(symbol, 40))
            name = _name(names, name_offset)
            below = f"{path}/{name}" if path else name
            if cached == 2:
                raise CheckpointError(f"'{below[:80]}' in the HDF5 file is a link.")
            self._read_object(below, child, depth + 1)

    def _heap(self, address: int) -> memoryview:
        self._expect(address, b"HEAP")
        length, place = self._number(address + 8), self._number(address + 24)
        return self._bytes(place, length)

    def _symbols(self, address: int, depth: int) -> Iterator[int]:
        """Yield the addresses of the entries below a node of a B-tree."""
        self._visit(address)
        if depth > DEEPEST:
            raise CheckpointError("the HDF5 file is damaged: a group is nested too deeply.")
        if bytes(self._bytes(address, 4)) == b"SNOD":
            for number in range(self._number(address + 6, 2)):
                yield address + 8 + 40 * number
            return
        self._expect(address, b"TREE")
        for number in range(self._number(address + 6, 2)):
            yield from self._symbols(self._number(address + 32 + 16 * number), depth + 1)

    def _expect(self, address: int, signature: bytes) -> None:
        if bytes(self._bytes(address, 4)) != signature:
            raise CheckpointError(f"the HDF5 file is damaged: {signature.decode()} is missing.")

    # Headers

    def _messages(self, header: int) -> Iterator[tuple[int, bytes]]:
        """Yield kind and content of the messages of a header, which may have several parts."""
        if self._number(header, 1) != 1:
            raise CheckpointError(
                "the HDF5 file has headers of a version that playgrad does not read.",
                hint=_SAVE_AGAIN,
            )
        left = self._number(header + 2, 2)
        parts = [(header + 16, self._number(header + 8, 4))]
        while parts and left:
            place, size = parts.pop(0)
            end = place + size
            while place + 8 <= end and left:
                kind, length = self._number(place, 2), self._number(place + 2, 2)
                content = bytes(self._bytes(place + 8, length))
                place, left = place + 8 + length, left - 1
                self._messages_read += 1
                check_count(self._messages_read // 32)  # objects have fewer, on average
                if kind == MessageKind.CONTINUATION and length >= 16:
                    parts.append(struct.unpack_from("<2Q", content))
                else:
                    yield kind, content

    def _entry(self, path: str, messages: dict[int, bytes]) -> TensorEntry:
        try:
            shape = _shape(messages[MessageKind.DATASPACE])
            dtype = _dtype(messages[MessageKind.DATATYPE])
            begin, size = _place(messages[MessageKind.LAYOUT])
        except (KeyError, IndexError, struct.error):
            raise CheckpointError(f"'{path}' in the HDF5 file is damaged.") from None
        except CheckpointError as error:
            error.message = f"'{path}' in the HDF5 file {error.message}"
            raise
        if math.prod(shape) * dtype.itemsize != size:
            raise CheckpointError(f"'{path}' in the HDF5 file has another size than its shape.")
        begin = 0 if size == 0 else begin
        self._bytes(begin, size)
        return TensorEntry(dtype, shape, begin, begin + size)


def _name(names: memoryview, offset: int) -> str:
    text, ended, _ = bytes(names[offset : offset + LONGEST_NAME]).partition(b"\0")
    try:
        name = text.decode() if ended else ""
    except UnicodeDecodeError:
        name = ""
    if not name or "/" in name or name in (".", ".."):
        raise CheckpointError("the HDF5 file is damaged: a name is not valid.")
    return name


def _shape(message: bytes) -> tuple[int, ...]:
    version, rank = message[0], message[1]
    if rank > MOST_DIMENSIONS or version not in (1, 2) or (version == 2 and message[3] == 2):
        raise CheckpointError("has a shape that playgrad does not read.")
    return struct.unpack_from(f"<{rank}Q", message, 8 if version == 1 else 4)


def _dtype(message: bytes) -> np.dtype[Any]:
    kind, bits = message[0] & 15, message[1]
    (size,) = struct.unpack_from("<I", message, 4)
    order = ">" if bits & 1 else "<"
    if kind == 0 and size in (1, 2, 4, 8) and _precision(message) == 8 * size:
        return np.dtype(f"{order}{'i' if bits & 8 else 'u'}{size}")
    fields = (
        (message[2], *message[12:16], *struct.unpack_from("<I", message, 16)) if kind == 1 else ()
    )
    if fields and fields == FLOAT_FIELDS.get(size):
        return np.dtype(f"{order}f{size}")
    raise CheckpointError("is not an array of numbers.")


def _precision(message: bytes) -> int:
    offset, precision = struct.unpack_from("<2H", message, 8)
    return precision if offset == 0 else -1


def _place(message: bytes) -> tuple[int, int]:
    if message[0] != 3 or message[1] != 1:
        raise CheckpointError("is not stored in one piece.")
    address, size = struct.unpack_from("<2Q", message, 2)
    if address == UNDEFINED and size:
        raise CheckpointError("has no values.")
    return address, size
