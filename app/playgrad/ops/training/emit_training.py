"""The operations of training loops in a compiled step: indices of batches, and histories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from playgrad.graph.opdef import Attrs
from playgrad.ops.core.counter_random import half_bits
from playgrad.ops.core.static_kernel import COMPUTED, static_kernel
from playgrad.ops.random.random_inputs import seed_of
from playgrad.wasm.copies import copy_run
from playgrad.wasm.encoding import I32
from playgrad.wasm.kernel import ArrayPlace, KernelCode
from playgrad.wasm.procedure import Local
from playgrad.wasm.scalars import choose, number, scalar
from playgrad.wasm.threefry import BLOCK, write_threefry
from playgrad.wasm.values import StackValue, integer

_ROUNDS = 3
"""Of the network, of two halves each."""


@static_kernel("batch_indices", dtypes={"uint32"})
def _batch_indices(
    code: KernelCode, inputs: Sequence[ArrayPlace], outputs: Sequence[ArrayPlace], attrs: Attrs
) -> None:
    f, count, batch = code.f, attrs["count"], attrs["batch"]
    step, started = (f.copy(x.address.load(I32)) for x in inputs)
    network = _Network(code, attrs, half_bits(count)) if attrs["shuffle"] else None
    if attrs["rounds"] is None:
        first, epoch = f.copy(step * batch), None
    else:
        steps, stride = attrs["rounds"]
        later = scalar("i32.gt_u", step, started)
        since = f.copy(choose(later, step - started, integer(0)))
        first = f.copy(scalar("i32.rem_u", since, steps) * stride)
        rest = scalar("i32.ne", scalar("i32.rem_u", started, steps), 0)
        before = scalar("i32.div_u", started, steps) + rest
        epoch = f.copy(before + scalar("i32.div_u", since, steps))
    target = f.copy(outputs[0].address)
    with f.count(integer(batch)) as place:
        position = f.copy(first + place)
        item = f.copy(scalar("i32.rem_u", position, count))
        if network is not None:
            of = scalar("i32.div_u", position, count) if epoch is None else epoch
            network.permute(item, f.copy(of), count)
        f.store(target, item)
        f.add(target, 4)


@dataclass
class _Network:
    """The permutation of `playgrad.ops.core.counter_random.permute`."""

    code: KernelCode
    attrs: Attrs
    bits: int

    def __post_init__(self) -> None:
        f = self.code.f
        self._keys = f.copy(self.code.scratch(4 * BLOCK))
        self._epoch, self._known = f.local(I32), f.local(I32)

    def permute(self, item: Local, epoch: Local, count: int) -> None:
        """Replace the number of a sample by its number in the order of the epoch."""
        f = self.code.f
        fresh = scalar("i32.ne", self._epoch, epoch)
        with f.when(scalar("i32.or", fresh, scalar("i32.eq", self._known, 0))):
            seeds = [number(I32, word) for word in seed_of(self.attrs)]
            threefry = self.code.shared("threefry", write_threefry)
            f.call(threefry, self._keys, *seeds, epoch, integer(0), integer(1))
            f.set(self._epoch, epoch)
            f.set(self._known, integer(1))
        self._walk(item)
        with f.repeat_while(scalar("i32.ge_u", item, count)):
            self._walk(item)

    def _walk(self, item: Local) -> None:
        f, mask = self.code.f, (1 << self.bits) - 1
        left = f.copy(scalar("i32.shr_u", item, self.bits))
        right = f.copy(scalar("i32.and", item, mask))
        for place in range(_ROUNDS):
            for half, other, key in ((left, right, 2 * place), (right, left, 2 * place + 1)):
                mixed = self._scrambled(
                    f.copy(scalar("i32.xor", other, self._keys.load(I32, 4 * key)))
                )
                f.set(half, scalar("i32.xor", half, scalar("i32.and", mixed, mask)))
        f.set(item, scalar("i32.or", scalar("i32.shl", left, self.bits), right))

    def _scrambled(self, x: Local) -> StackValue:
        """The finalizer of MurmurHash3."""
        f = self.code.f
        for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
            folded = scalar("i32.xor", x, scalar("i32.shr_u", x, shift))
            f.set(x, scalar("i32.mul", folded, number(I32, factor)))
        return scalar("i32.xor", x, scalar("i32.shr_u", x, 16))


@static_kernel("record", dtypes=COMPUTED, in_place=True)
def _record(
    code: KernelCode, inputs: Sequence[ArrayPlace], outputs: Sequence[ArrayPlace], attrs: Attrs
) -> None:
    (history, position, *values), (result,), f = inputs, outputs, code.f
    capacity, width = history.shape
    if not code.overwrites[0]:
        copy_run(f, result.bytes, result.item, history.address, result.address)
    row = scalar("i32.rem_u", position.address.load(I32), capacity)
    target = f.copy(result.address + row * (width * result.item))
    first = 0
    for value in values:
        copy_run(f, value.bytes, value.item, value.address, target + first)
        first += value.bytes
