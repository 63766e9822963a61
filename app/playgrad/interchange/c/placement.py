"""The place of each tensor: a parameter of the C function, or bytes of the arena."""

from __future__ import annotations

import math
from typing import NamedTuple

from playgrad.compression.integer_program import IntegerProgram, IntegerStep
from playgrad.interchange.c.arena import Buffer, places

_IN_PLACE = ("quantized_add", "rescale", "lookup")
"""Steps whose elements depend on those at the same place only: they may overwrite an input."""


class TensorPlacement(NamedTuple):
    """The places of the tensors in the memory of the C program.

    Attributes:
        pointers: the C expression of the address of each tensor.
        patches: likewise of the scratch memory of steps, by their number.
        copies: tensors to be copied at the end: (tensor, address).
        arena_size: bytes.
    """

    pointers: dict[str, str]
    patches: dict[int, str]
    copies: list[tuple[str, str]]
    arena_size: int


def placed(program: IntegerProgram, inputs: list[str], outputs: list[str]) -> TensorPlacement:
    """Return the places of the tensors of a program.

    Args:
        inputs, outputs: the names of the parameters of the C function, in the order of those of the
            program.
    """
    last = _last_uses(program)
    roots = _roots(program, last)
    pointers = dict(zip(program.inputs, inputs, strict=True))
    copies: list[tuple[str, str]] = []
    for tensor, parameter in zip(program.outputs, outputs, strict=True):
        if roots[tensor] in pointers:
            copies.append((tensor, parameter))
        else:
            pointers[roots[tensor]] = parameter
    buffers: dict[str, Buffer] = {}
    patches: dict[int, str] = {}
    for number, step in enumerate(program.steps):
        root = roots[step.output]
        if root not in pointers:
            first = buffers[root].first if root in buffers else number
            final = max(last[step.output], buffers[root].last if root in buffers else number)
            buffers[root] = Buffer(math.prod(program.tensors[root].shape), first, final)
        if step.op == "quantized_conv2d":
            patches[number] = f"{step.output}, patch"
            buffers[patches[number]] = Buffer(_patch_size(step), number, number)
    offsets, size = places(buffers)
    pointers |= {name: f"arena + {offset}" for name, offset in offsets.items()}
    return TensorPlacement(
        {tensor: pointers[root] for tensor, root in roots.items()},
        {number: pointers[name] for number, name in patches.items()},
        copies,
        size,
    )


def _last_uses(program: IntegerProgram) -> dict[str, int]:
    last = {step.output: number for number, step in enumerate(program.steps)}
    last |= {name: number for number, step in enumerate(program.steps) for name in step.inputs}
    return last | dict.fromkeys(program.outputs, len(program.steps))


def _roots(program: IntegerProgram, last: dict[str, int]) -> dict[str, str]:
    """Return the tensor with which each tensor shares its bytes."""
    roots = {name: name for name in program.inputs}
    needed = {name: len(program.steps) for name in program.inputs}  # they are not overwritten
    for number, step in enumerate(program.steps):
        root = step.output
        if step.op == "reshape":
            root = roots[step.inputs[0]]
        elif step.op in _IN_PLACE:
            free = (roots[name] for name in step.inputs if needed[roots[name]] == number)
            root = next(free, step.output)
        roots[step.output] = root
        needed[root] = max(needed.get(root, 0), last[step.output])
    return roots


def _patch_size(step: IntegerStep) -> int:
    return math.prod(step.constants["kernel"].shape[:3])
