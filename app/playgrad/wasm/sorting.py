"""A stable order of the elements of lines, by merging (Knuth, "The art of computer programming",
volume 3, 5.2.4)."""

from __future__ import annotations

from playgrad.wasm.elements import Element, load
from playgrad.wasm.encoding import F32, F64, I32
from playgrad.wasm.kernel import KernelCode
from playgrad.wasm.procedure import Local
from playgrad.wasm.scalars import is_zero, scalar
from playgrad.wasm.values import StackValue, integer, smaller


def argsort_line(
    code: KernelCode,
    element: Element,
    length: int,
    descending: bool,
    source: Local,
    target: Local,
    steps: tuple[int, int],
    scratch: StackValue,
) -> None:
    """Write the int32 indices that sort ``length`` elements. NaN is larger than any number.

    Args:
        steps: the bytes between elements of the source, and of the target.
        scratch: the address of ``8 * length`` bytes.
    """
    f = code.f
    order, other = f.copy(scratch), f.copy(scratch + 4 * length)
    with f.count(integer(length)) as i:
        f.store(order + i * 4, i)
    width = f.copy(integer(1))

    def key(index: StackValue) -> StackValue:
        return load(element, source + index * steps[0])

    with f.repeat_while(width < length):
        begin = f.copy(integer(0))
        with f.repeat_while(begin < length):
            middle = f.copy(smaller(begin + width, length))
            end = f.copy(smaller(middle + width, length))
            left, right, place = f.copy(begin), f.copy(middle), f.copy(begin)
            with f.repeat_while(place < end):
                takes_right = f.copy(integer(0))
                with f.when(right < end):
                    f.set(takes_right, integer(1))
                    with f.when(left < middle):
                        a = f.copy(key((order + left * 4).load(I32)))
                        b = f.copy(key((order + right * 4).load(I32)))
                        f.set(takes_right, _precedes(element, b, a, descending))
                taken = f.copy(left)
                with f.when(takes_right):
                    f.set(taken, right)
                    f.add(right, 1)
                with f.otherwise():
                    f.add(left, 1)
                f.store(other + place * 4, (order + taken * 4).load(I32))
                f.add(place, 1)
            f.set(begin, end)
        swapped = f.copy(order)
        f.set(order, other)
        f.set(other, swapped)
        f.set(width, width + width)
    with f.count(integer(length)) as i:
        f.store(target + i * steps[1], (order + i * 4).load(I32))


def _precedes(element: Element, a: Local, b: Local, descending: bool) -> StackValue:
    """Return whether ``a`` must come before ``b``, which are not equal then."""
    name = f"{element.prefix}.{'gt' if descending else 'lt'}{element.sign}"
    result = scalar(name, a, b)
    if element.kind not in (F32, F64):
        return result
    first, second = (a, b) if descending else (b, a)
    differ = f"{element.prefix}.ne"
    is_nan = scalar(
        "i32.and", scalar(differ, first, first), is_zero(scalar(differ, second, second))
    )
    return scalar("i32.or", result, is_nan)
