"""The registry of emitters: how an operation is written in WebAssembly once shapes are known."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from playgrad.graph.opdef import Attrs
from playgrad.wasm.kernel import KernelCode, Operand

Emit = Callable[[KernelCode, Sequence[Operand], Sequence[Operand], Attrs], None]
"""Writes the code of a node: from its inputs to its outputs, none of which overlap.

Raises `NotCompiledError` for dtypes or attributes that it does not know, before it writes anything.
"""

EMITTERS: dict[str, Emit] = {}
"""By the name of the operation."""


def emits(*names: str) -> Callable[[Emit], Emit]:
    """Register a function as the emitter of operations."""

    def register(emit: Emit) -> Emit:
        for name in names:
            assert name not in EMITTERS, name
            EMITTERS[name] = emit
        return emit

    return register
