"""Kernels whose loops end after a million rounds, whatever they say."""

from __future__ import annotations

import re

MOST_ROUNDS = 1 << 20
"""Of all loops of an invocation together."""
_COUNTER = "pg_rounds"
_GUARD = f" {_COUNTER} += 1u; if ({_COUNTER} > {MOST_ROUNDS}u) {{ break; }}"
_LOOP = re.compile(r"//[^\n]*|/\*.*?\*/|\b(?:for|while|loop)\b[^{]*\{", re.DOTALL)
_BARRIER = re.compile(r"\b(?:workgroup|storage|texture)Barrier\b|\bworkgroupUniformLoad\b")


def guarded(wgsl: str) -> str:
    """Return a kernel in which each loop counts its rounds, on lines with the same numbers.

    A kernel that never ends occupies a software adapter for good, and whatever else runs there with
    it. A kernel with barriers stays as it is: all invocations must leave its loops together.
    """
    if _BARRIER.search(wgsl) or _COUNTER in wgsl:
        return wgsl
    text = _LOOP.sub(lambda m: m[0] if m[0].startswith("/") else m[0] + _GUARD, wgsl)
    if text == wgsl:
        return wgsl
    return f"{text}\nvar<private> {_COUNTER}: u32 = 0u;\n"
