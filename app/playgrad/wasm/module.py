"""WebAssembly modules that work on the memory of their host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from playgrad.wasm.encoding import sized, unsigned, vector
from playgrad.wasm.procedure import Procedure

HOST, MEMORY = "host", "memory"
"""The module and the name under which the memory is imported."""
_NO_IMPORTS: Mapping[str, Sequence[int]] = MappingProxyType({})


class Module:
    """Functions on an imported memory, some of which are exported.

    Args:
        imports: the types of the parameters of functions of the host, by their names.
        relaxed: whether the host has Relaxed SIMD.

    Attributes:
        imported: these functions, by name, to be called.
    """

    def __init__(
        self, imports: Mapping[str, Sequence[int]] = _NO_IMPORTS, relaxed: bool = False
    ) -> None:
        self._relaxed = relaxed
        self.imported = {
            name: Procedure(number, parameters)
            for number, (name, parameters) in enumerate(imports.items())
        }
        self._functions: list[Procedure] = []
        self._exports: list[bytes] = []

    def procedure(
        self, parameters: Sequence[int], export: str | None = None, result: int | None = None
    ) -> Procedure:
        """Add a function with parameters of these types, exported if it has a name."""
        number = len(self.imported) + len(self._functions)
        function = Procedure(number, parameters, result, self._relaxed)
        self._functions.append(function)
        if export is not None:
            self._exports.append(_name(export) + b"\x00" + unsigned(function.number))
        return function

    def encode(self) -> bytes:
        """Return the bytes of the module."""
        functions, host = self._functions, _name(HOST)
        everything = [*self.imported.values(), *functions]
        types = [b"\x60" + _types(f.parameters) + _types(_results(f)) for f in everything]
        memory = host + _name(MEMORY) + b"\x02\x00\x00"  # of any size
        imports = [
            host + _name(name) + b"\x00" + unsigned(f.number) for name, f in self.imported.items()
        ]
        sections = {
            1: types,
            2: [memory, *imports],
            3: [unsigned(function.number) for function in functions],
            7: self._exports,
            10: [function.body for function in functions],
        }
        encoded = (bytes([key]) + sized(vector(items)) for key, items in sections.items())
        return b"\0asm\1\0\0\0" + b"".join(encoded)


def _types(kinds: Sequence[int]) -> bytes:
    return vector([bytes([kind]) for kind in kinds])


def _results(function: Procedure) -> list[int]:
    return [] if function.result is None else [function.result]


def _name(text: str) -> bytes:
    return sized(text.encode())
