"""`hdf5_bytes`: groups and arrays as the bytes of an HDF5 file."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from playgrad.io.hdf5.layout import FLOAT_FIELDS, SIGNATURE, UNDEFINED, MessageKind, padded

Array = np.ndarray[Any, Any]
Tree: TypeAlias = Mapping[str, "Tree | Array"]
"""Groups in groups, and arrays, by their names."""

_PER_NODE = 8  # symbols in a node: twice the "group leaf node K" of the superblock
_SUPERBLOCK = 96
_NO_FREE_SPACE = 1


def hdf5_bytes(tree: Tree) -> bytes:
    """Return the bytes of a file with the groups and the arrays of ``tree``.

    Arrays are of numbers, and stored in one piece in little-endian order.
    """
    file = _Blocks(max(16, -(-_most_children(tree) // 2)))
    file.data += bytes(_SUPERBLOCK)
    header, scratch = file.group(tree)
    file.data[:_SUPERBLOCK] = struct.pack(
        "<8s8B2HI4Q",
        SIGNATURE,
        *(0, 0, 0, 0, 0, 8, 8, 0),
        _PER_NODE // 2,
        file.internal_k,
        0,
        *(0, UNDEFINED, len(file.data), UNDEFINED),
    ) + _symbol(0, header, scratch)
    return bytes(file.data)


def _most_children(tree: Tree) -> int:
    """Return the largest number of nodes that the symbols of one group need."""
    inner = [_most_children(each) for each in tree.values() if isinstance(each, Mapping)]
    return max([-(-len(tree) // _PER_NODE), *inner])


class _Blocks:
    """A file that is being written: blocks are appended, and known by their addresses.

    Args:
        internal_k: half the number of children that a node of a B-tree has room for.
    """

    def __init__(self, internal_k: int) -> None:
        self.data = bytearray()
        self.internal_k = internal_k

    def _append(self, block: bytes) -> int:
        address = len(self.data)
        self.data += padded(block)
        return address

    def group(self, tree: Tree) -> tuple[int, bytes]:
        """Write a group; return the address of its header, and its B-tree and its heap."""
        names = sorted(tree, key=str.encode)
        heap, offsets = self._heap(names)
        symbols = []
        for name, offset in zip(names, offsets, strict=True):
            child = tree[name]
            if isinstance(child, Mapping):
                symbols.append(_symbol(offset, *self.group(child)))
            else:
                symbols.append(_symbol(offset, self._dataset(np.asarray(child))))
        scratch = struct.pack("<2Q", self._tree(symbols, offsets), heap)
        return self._header([(MessageKind.SYMBOL_TABLE, scratch)]), scratch

    def _heap(self, names: Sequence[str]) -> tuple[int, list[int]]:
        """Write names; return the address, and the offset of each."""
        segment = bytearray(8)  # begins with the empty name
        offsets = []
        for name in names:
            offsets.append(len(segment))
            segment += padded(name.encode() + b"\0")
        place = self._append(bytes(segment))
        head = struct.pack("<4sI3Q", b"HEAP", 0, len(segment), _NO_FREE_SPACE, place)
        return self._append(head), offsets

    def _tree(self, symbols: Sequence[bytes], offsets: Sequence[int]) -> int:
        """Write the symbols of a group in nodes, and a B-tree of one level above them."""
        parts = b"\0" * 8  # the first key: the empty name is before all others
        count = 0
        for begin in range(0, len(symbols), _PER_NODE):
            some = symbols[begin : begin + _PER_NODE]
            head = struct.pack("<4sBBH", b"SNOD", 1, 0, len(some))
            node = self._append(head + b"".join(some).ljust(40 * _PER_NODE, b"\0"))
            parts += struct.pack("<2Q", node, offsets[begin + len(some) - 1])
            count += 1
        head = struct.pack("<4sBBH2Q", b"TREE", 0, 0, count, UNDEFINED, UNDEFINED)
        return self._append(head + parts.ljust(8 * (4 * self.internal_k + 1), b"\0"))

    def _dataset(self, array: Array) -> int:
        """Write an array; return the address of its header."""
        values = array.astype(array.dtype.newbyteorder("<")).tobytes()
        place = self._append(values) if values else UNDEFINED
        shape = struct.pack(f"<4B4x{array.ndim}Q", 1, array.ndim, 0, 0, *array.shape)
        return self._header([
            (MessageKind.DATASPACE, shape),
            (MessageKind.DATATYPE, _datatype(array.dtype)),
            (MessageKind.FILL_VALUE, bytes([2, 2, 2, 0])),  # none is defined
            (MessageKind.LAYOUT, struct.pack("<2B2Q", 3, 1, place, len(values))),
        ])  # fmt: skip

    def _header(self, messages: Sequence[tuple[MessageKind, bytes]]) -> int:
        body = b""
        for kind, content in messages:
            content = padded(content)
            body += struct.pack("<2HB3x", kind, len(content), 0) + content
        return self._append(struct.pack("<BxH2I4x", 1, len(messages), 1, len(body)) + body)


def _symbol(name: int, header: int, scratch: bytes = b"") -> bytes:
    """Return the entry of a group (which caches ``scratch``) or of an array."""
    return struct.pack("<2QI4x16s", name, header, 1 if scratch else 0, scratch)


def _datatype(dtype: np.dtype[Any]) -> bytes:
    if dtype.kind == "f":
        sign, *fields = FLOAT_FIELDS[dtype.itemsize]
        head = bytes([0x11, 0x20, sign, 0]) + struct.pack("<I", dtype.itemsize)
        return head + struct.pack("<2H4BI", 0, 8 * dtype.itemsize, *fields)
    head = bytes([0x10, 0x08 if dtype.kind == "i" else 0, 0, 0]) + struct.pack("<I", dtype.itemsize)
    return head + struct.pack("<2H", 0, 8 * dtype.itemsize)
