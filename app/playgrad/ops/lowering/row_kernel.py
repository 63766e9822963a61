"""Kernels in which a workgroup computes a row, whose elements stay in registers: softmax and layer
normalization read memory once.

An array that a loop indexes may be kept in memory, so the loops over the elements of an invocation
are unrolled here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from playgrad.ops.core.kernel import Binding, KernelCall, KernelRequest, grid
from playgrad.ops.core.loops import Loop
from playgrad.ops.core.templates import render
from playgrad.ops.lowering.register_tile import indented

MOST_ELEMENTS = 16
"""The most elements of an invocation."""
NARROW = 64
"""The fewest invocations of a row: a workgroup of them can share a dispatch with most kernels."""


def row_invocations(width: int, limit: int, least: int = NARROW) -> int | None:
    """Return the invocations for a row of ``width`` elements; None if it does not fit.

    Args:
        limit: the most invocations of a workgroup.
        least: the fewest invocations, a power of two.
    """
    for invocations in (64, 128, 256):
        if least <= invocations <= limit and width <= MOST_ELEMENTS * invocations:
            return invocations
    return None


def row_call(
    request: KernelRequest,
    kernel: str,
    rows: int,
    width: int,
    invocations: int,
    bindings: Sequence[Binding],
    params: Mapping[str, Any],
    trees: int,
    lines: Mapping[str, Sequence[str]],
    **constants: object,
) -> KernelCall:
    """Return a dispatch of ``kernel`` with one workgroup for each of ``rows``.

    Args:
        trees: the number of sums or maxima over a row.
        lines: the WGSL of a part of the kernel by its name, written for each element of an
            invocation: ``#`` is the number of the element, and ``@`` its place in the row. A line
            that begins with ``?`` is executed only where the place is in the row.
        constants: the values of other names in the file.
    """
    count = -(-width // invocations)
    parts = {name: indented(2, _unrolled(part, width, invocations)) for name, part in lines.items()}
    groups = grid(rows, 1, request.target.limits)
    code = render(
        kernel, INVOCATIONS=invocations, ITEMS=rows, GRID_X=groups[0], **parts, **constants
    )
    return KernelCall(
        kernel.removesuffix(".wgsl"),
        {"rows": rows, "width": width, "invocations": invocations, **params},
        code,
        tuple(bindings),
        groups,
        iterations=count,
        loops=(Loop(invocations.bit_length()),) * trees,
    )


def _unrolled(lines: Sequence[str], width: int, invocations: int) -> list[str]:
    """Return ``lines`` for each element of an invocation in turn."""
    result = []
    for first in range(0, width, invocations):
        number, place = str(first // invocations), f"(invocation + {first}u)"
        for line in lines:
            text = line.removeprefix("?").replace("#", number).replace("@", place)
            if line.startswith("?") and first + invocations > width:
                text = f"if ({place} < {width}u) {{ {text} }}"
            result.append(text)
    return result
