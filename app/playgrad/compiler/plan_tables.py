"""The tables of a Plan and of Steps, and the declarations of a kernel's bindings."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

from playgrad.compiler.memory import Block
from playgrad.compiler.steps import FEED, Place, Storage
from playgrad.graph.serialize import encode

ELEMENT_BYTES = {
    **dict.fromkeys(("f32", "i32", "u32"), 4),
    "vec2<u32>": 8,
    **dict.fromkeys(("vec4<f32>", "vec4<i32>", "vec4<u32>"), 16),
}
"""The bytes of an element of a binding, by its type."""


class Kernels:
    """The Plan's table of kernels, without duplicates."""

    def __init__(self) -> None:
        self.table: dict[tuple[str, tuple[str, ...]], dict[str, Any]] = {}

    def add(
        self, family: str, params: Mapping[str, Any], wgsl: str, access: tuple[str, ...]
    ) -> int:
        """Return the number of a kernel, which is added if the table has none like it."""
        kernel = self.table.setdefault(
            (wgsl, access),
            {
                "id": len(self.table),
                "family": family,
                "params": encode(dict(params)),
                "wgsl": wgsl,
                "access": list(access),
            },
        )
        number: int = kernel["id"]
        return number


class Buffers:
    """The table of buffers."""

    def __init__(self) -> None:
        self.table: list[dict[str, Any]] = []
        self.number: dict[str, int] = {}

    def add(self, key: str, role: str, size: int, data: bytes | bytearray | None = None) -> int:
        """Add a buffer of ``size`` bytes, known as ``key`` from now on, and return its number."""
        entry: dict[str, Any] = {"id": len(self.table), "size": size, "role": role}
        if data is not None:
            entry["data"] = base64.b64encode(data).decode()
        self.table.append(entry)
        self.number[key] = entry["id"]
        return len(self.table) - 1

    def where(
        self, storage: Storage, blocks: Sequence[Block], feeds: Mapping[Place, Block]
    ) -> tuple[int, int]:
        """Return the number of the buffer that has ``storage``, and the offset there."""
        if storage.place is None:
            block = blocks[storage.block]
            return self.number[f"arena{block.arena}"], block.offset
        if storage.place in feeds:
            block = feeds[storage.place]
            return self.number[f"{FEED}{block.arena}"], block.offset
        return self.external(storage.place.buffer), storage.place.offset

    def external(self, key: str) -> int:
        """Return the number of buffer ``key``; a new one belongs to the session."""
        if key not in self.number:
            number = self.add(key, "state", 0)
            self.table[number]["external"] = key
        return self.number[key]


def declarations(
    names: Sequence[str],
    elements: Sequence[str],
    access: Sequence[str],
    sizes: Sequence[int],
    code: str,
) -> str:
    """The declarations of the bindings of ``code``, arrays that fill ``sizes`` bytes.

    Each access to an array without a constant length queries the length, and SwiftShader does so
    with a division: a quarter of a matrix product's time, and half of the time to compile it.
    """
    return "".join(
        f"@group(0) @binding({i}) var<storage, {mode}> {name}: {_array(element, size, code)};\n"
        for i, (name, element, mode, size) in enumerate(
            zip(names, elements, access, sizes, strict=True)
        )
    )


def _array(element: str, size: int, code: str) -> str:
    known = element in ELEMENT_BYTES and "arrayLength" not in code
    return f"array<{element}, {size // ELEMENT_BYTES[element]}>" if known else f"array<{element}>"
