"""Random numbers and dropout in a compiled step, with the bits of all hosts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np

from playgrad.graph.opdef import Attrs
from playgrad.ops.core.row_share import PART
from playgrad.ops.core.static_kernel import MOVED, static_kernel
from playgrad.ops.expression import simd
from playgrad.ops.expression.simd_doubles import DOUBLES
from playgrad.ops.random.element_share import SharedElements
from playgrad.ops.random.random_inputs import seed_of
from playgrad.wasm.encoding import I32, V128
from playgrad.wasm.kernel import ArrayPlace, KernelCode
from playgrad.wasm.lanes import floats, lanes, shifted, shuffled
from playgrad.wasm.procedure import Local
from playgrad.wasm.scalars import number, scalar
from playgrad.wasm.threefry import BLOCK, write_threefry
from playgrad.wasm.values import StackValue, integer
from playgrad.wasm.vectors import VectorPlace, across


def random_words(
    code: KernelCode, attrs: Attrs, step: ArrayPlace, count: int, first: int = 0
) -> Local:
    """Write the words of ``count`` elements from number ``first`` on, or of the chunk of these that
    is to be computed, to scratch memory, and return their address. Up to `BLOCK` words after them
    are there, too."""
    blocks = -(-(count + first % 2) // BLOCK)
    place = code.f.copy(code.scratch(4 * BLOCK * (blocks + 1)))
    seeds = [number(I32, word) for word in seed_of(attrs)]
    # Chunks begin with a pair of words.
    pair = scalar("i32.add", scalar("i32.shr_u", code.first, 1), number(I32, first // 2))
    threefry = code.shared("threefry", write_threefry)
    code.f.call(threefry, place, *seeds, step.address.load(I32), pair, integer(blocks))
    return code.f.copy(place + 4 * (first % 2))


def fraction(bits: StackValue) -> StackValue:
    """Return multiples of 2**-24 in [0, 1), of the first 24 bits."""
    return lanes("mul", whole(bits), floats(2.0**-24))


def whole(bits: StackValue) -> StackValue:
    """Return the first 24 bits as float32."""
    return lanes("f32 from i32", shifted("i32 shr_u", bits, integer(8)))


def _each(
    code: KernelCode,
    attrs: Attrs,
    step: ArrayPlace,
    target: ArrayPlace,
    value: Callable[[VectorPlace, StackValue], StackValue],
) -> None:
    """Write ``value`` of the place and the uniform numbers of each vector."""
    f = code.f
    first = attrs.get("first_row", 0) * prod(target.shape[1:])
    count = attrs.get(PART, target.count)
    place = random_words(code, attrs, step, count, first)
    result = f.copy(target.address)

    def part(at: VectorPlace) -> None:
        at.store(f, result, value(at, fraction(at.load(place))))

    across(f, count, part)


_SHARED = SharedElements(4e-9)


@static_kernel("random_uniform", dtypes=MOVED | {"uint32"}, shared=_SHARED)
def _uniform(
    code: KernelCode, inputs: Sequence[ArrayPlace], outputs: Sequence[ArrayPlace], attrs: Attrs
) -> None:
    _each(code, attrs, inputs[0], outputs[0], lambda at, uniform: uniform)


@static_kernel("random_uniform_like", dtypes=MOVED, shared=_SHARED)
def _uniform_like(
    code: KernelCode, inputs: Sequence[ArrayPlace], outputs: Sequence[ArrayPlace], attrs: Attrs
) -> None:
    _each(code, attrs, inputs[1], outputs[0], lambda at, uniform: uniform)


@static_kernel("dropout", shared=_SHARED)
def _dropout(
    code: KernelCode, inputs: Sequence[ArrayPlace], outputs: Sequence[ArrayPlace], attrs: Attrs
) -> None:
    x, step = inputs
    source = code.f.copy(x.address)
    scale = float(np.float32(1.0 / (1.0 - attrs["rate"])))

    def kept(at: VectorPlace, uniform: StackValue) -> StackValue:
        passes = lanes("ge", uniform, floats(attrs["rate"]))
        return lanes("mul", at.load(source), lanes("and", passes, floats(scale)))

    _each(code, attrs, step, outputs[0], kept)


@static_kernel("random_normal", dtypes={"uint32"}, shared=_SHARED)
def _normal(
    code: KernelCode, inputs: Sequence[ArrayPlace], outputs: Sequence[ArrayPlace], attrs: Attrs
) -> None:
    """The Box-Muller transform of pairs of words."""
    (step,), (y,), f = inputs, outputs, code.f
    count = attrs.get(PART, y.count)
    place = random_words(code, attrs, step, count)
    target = f.copy(y.address)

    def part(at: VectorPlace) -> None:
        bits = f.copy((place + at.offset).load(V128))  # of two pairs, also beyond the last number
        first = shuffled(bits, bits, (0, 0, 2, 2))
        second = shuffled(bits, bits, (1, 1, 3, 3))
        above_zero = lanes("add", whole(first), floats(1.0))
        logarithm = simd.log(f, f.copy(lanes("mul", above_zero, floats(2.0**-24))))
        radius = f.copy(lanes("sqrt", lanes("mul", logarithm, floats(-2.0))))
        angle = f.copy(lanes("mul", fraction(second), floats(2 * np.pi)))
        cosine, sine = f.copy(DOUBLES["cos"](f, angle)), f.copy(DOUBLES["sin"](f, angle))
        waves = shuffled(cosine, sine, (0, 5, 2, 7))
        at.store(f, target, lanes("mul", radius, waves))

    across(f, count, part)
