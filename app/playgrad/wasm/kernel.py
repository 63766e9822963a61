"""What the writer of a kernel gets: a function, places of arrays, memory and shared functions."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from math import prod
from typing import Any

from playgrad.wasm.elements import BITS, ELEMENTS, Element
from playgrad.wasm.nest import Strides, dense
from playgrad.wasm.procedure import Local, Procedure
from playgrad.wasm.values import StackValue, integer

ITEM_SIZES = {**{name: element.size for name, element in ELEMENTS.items()}, "float16": 2}
"""Bytes of an element, by dtype."""


@dataclass(frozen=True)
class ArrayPlace:
    """A dense array in C order.

    Attributes:
        address: that of its first element.
    """

    address: StackValue
    shape: tuple[int, ...]
    dtype: str

    @property
    def count(self) -> int:
        """The number of its elements."""
        return prod(self.shape)

    @property
    def item(self) -> int:
        """The bytes of an element."""
        return ITEM_SIZES[self.dtype]

    @property
    def bytes(self) -> int:
        """Those of all elements."""
        return self.count * self.item

    @property
    def strides(self) -> Strides:
        """The bytes from one element to the next, for each dimension."""
        return dense(self.shape, self.item)

    @property
    def element(self) -> Element:
        """Its elements as numbers, which float16 are not."""
        return ELEMENTS[self.dtype]

    @property
    def bits(self) -> Element:
        """Its elements as bits, to be moved."""
        return BITS[self.item]


class KernelCode:
    """The function that a kernel is written into.

    Args:
        scratch: the address of memory that only this kernel uses while it runs.
        failure: the address of a word for `fail`.
        first: the number of the first row, or other part, of a chunk; 0 of the whole.
        shared: returns what a writer adds to the module, once for each key.
        overwrites: whether outputs have the places of inputs, for as many as there are of both.
        relaxed: whether the host has Relaxed SIMD.

    Attributes:
        scratch_bytes: the bytes that must be there.
    """

    def __init__(
        self,
        f: Procedure,
        scratch: Local,
        failure: Local,
        first: Local,
        shared: Callable[[Hashable, Any], Any],
        overwrites: tuple[bool, ...],
        relaxed: bool,
    ) -> None:
        self.f = f
        self.overwrites = overwrites
        self.relaxed = relaxed
        self.shared = shared
        self.scratch_bytes = 0
        self._scratch = scratch
        self._failure = failure
        self.first = first

    def scratch(self, size: int) -> StackValue:
        """Reserve bytes and return their address, a multiple of 16."""
        offset = self.scratch_bytes
        self.scratch_bytes += size + -size % 16
        return self._scratch + offset

    def fail(self) -> None:
        """Note that the inputs are such that the reference raises an error."""
        self.f.store(self._failure, integer(1))
