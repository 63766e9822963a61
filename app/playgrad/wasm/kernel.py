"""What the writer of a kernel gets: a function, the places of arrays, memory and shared functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod

from playgrad.wasm.elements import BITS, ELEMENTS, Element
from playgrad.wasm.module import Module
from playgrad.wasm.nest import Strides, dense
from playgrad.wasm.procedure import Procedure
from playgrad.wasm.values import StackValue

ITEM_SIZES = {**{name: element.size for name, element in ELEMENTS.items()}, "float16": 2}
"""Bytes of an element, by dtype."""


class NotCompiledError(Exception):
    """No kernel is written for these dtypes, shapes or attributes; the text says which."""


@dataclass(frozen=True)
class Operand:
    """A dense array in C order.

    Attributes:
        address: code of the address of its first element.
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
    def strides(self) -> Strides:
        return dense(self.shape, self.item)

    @property
    def element(self) -> Element:
        """Its elements as numbers; float16 cannot be computed with."""
        if self.dtype not in ELEMENTS:
            raise NotCompiledError(f"no arithmetic of {self.dtype}")
        return ELEMENTS[self.dtype]

    @property
    def bits(self) -> Element:
        """Its elements as bits, to be moved."""
        return BITS[self.item]

    def is_float32(self) -> bool:
        return self.dtype == "float32"


class KernelCode:
    """The function that a kernel is written into.

    Args:
        module: that of the function, for functions that it calls.
        scratch: reserves bytes that only this kernel uses while it runs, and returns their address,
            a multiple of 16.
        functions: those that kernels of the module share, by key.
    """

    def __init__(
        self,
        module: Module,
        f: Procedure,
        scratch: Callable[[int], StackValue],
        functions: dict[object, Procedure],
    ) -> None:
        self.module = module
        self.f = f
        self.scratch = scratch
        self._functions = functions

    def shared(self, key: object, write: Callable[[Module], Procedure]) -> Procedure:
        """Return the function that ``write`` adds to the module, once for each ``key``."""
        if key not in self._functions:
            self._functions[key] = write(self.module)
        return self._functions[key]
