"""Threefry-2x32 with 20 rounds (Salmon, Moraes, Dror, Shaw 2011), four counters at once.

The words are those of `playgrad.ops.core.counter_random`.
"""

from __future__ import annotations

from playgrad.wasm.encoding import I32
from playgrad.wasm.lanes import lanes, numbers, shifted, shuffled, splat, words
from playgrad.wasm.module import Module
from playgrad.wasm.procedure import Procedure
from playgrad.wasm.scalars import scalar
from playgrad.wasm.values import integer

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = 0x1BD11BDA
BLOCK = 8
"""Words that are written together."""


def write_threefry(module: Module) -> Procedure:
    """Add a function that writes the words of rising counters (step, pair): two for each.

    Its parameters: the address, the two words of the key, the step, the first pair, and the number
    of blocks of `BLOCK` words.
    """
    f = module.procedure([I32] * 6)
    target, first_key, second_key, step, pair, blocks = f.arguments
    third = scalar("i32.xor", scalar("i32.xor", first_key, second_key), _PARITY)
    keys = [f.copy(splat(key)) for key in (first_key, second_key, third)]
    start = f.copy(lanes("i32 add", splat(step), keys[0]))
    number = f.copy(lanes("i32 add", splat(pair), numbers()))
    with f.count(blocks):
        x, y = f.copy(start), f.copy(lanes("i32 add", number, keys[1]))
        for group in range(5):
            for rotation in _ROTATIONS[group % 2]:
                f.set(x, lanes("i32 add", x, y))
                left = shifted("i32 shl", y, integer(rotation))
                right = shifted("i32 shr_u", y, integer(32 - rotation))
                f.set(y, lanes("xor", lanes("or", left, right), x))
            f.set(x, lanes("i32 add", x, keys[(group + 1) % 3]))
            added = lanes("i32 add", keys[(group + 2) % 3], words(group + 1))
            f.set(y, lanes("i32 add", y, added))
        f.store(target, shuffled(x, y, (0, 4, 1, 5)))
        f.store(target, shuffled(x, y, (2, 6, 3, 7)), 16)
        f.add(target, 4 * BLOCK)
        f.set(number, lanes("i32 add", number, words(4)))
    return f
