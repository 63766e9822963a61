"""Lowering of strided_slice and of its gradient unslice.

attrs ``slices``: start, stop and step of each dimension of the sliced tensor, as Python has them.
"""

from __future__ import annotations

from playgrad.ops.core.kernel import KernelRequest, Lowering
from playgrad.ops.lowering.item_kernel import mixed_radix, strides_of
from playgrad.ops.lowering.move_elements import place_elements
from playgrad.ops.lowering.strided_copy import Side, copy_elements, strided_copy


def _ranges(request: KernelRequest, shape: tuple[int, ...]) -> list[range]:
    """Return the indices that each slice takes of a dimension of a tensor of ``shape``."""
    slices = zip(shape, request.attrs["slices"], strict=True)
    return [range(*slice(*part).indices(dim)) for dim, part in slices]


def lower_strided_slice(request: KernelRequest) -> Lowering:
    """Lower result[i, ...] = source[start + i * step, ...]."""
    shape = request.inputs[0].static_shape
    taken, strides = _ranges(request, shape), strides_of(shape)
    sizes = request.outputs[0].static_shape
    source = Side(
        [unit * part.step for part, unit in zip(taken, strides, strict=True)],
        sum(part.start * unit for part, unit in zip(taken, strides, strict=True)),
    )
    return Lowering((strided_copy(request, 0, sizes, source),))


def lower_unslice(request: KernelRequest) -> Lowering:
    """Lower result[start + i * step, ...] = source[i, ...], and 0 elsewhere."""
    source, output = request.inputs[0].static_shape, request.outputs[0].static_shape
    strides, digits = strides_of(source), strides_of(output)
    inside, terms = [], []
    for axis, part in enumerate(_ranges(request, output)):
        digit = f"(index / {max(1, digits[axis])}u % {max(1, output[axis])}u)"
        start = part.start % 2**32  # -1 for the reverse of no elements
        # Unsigned, a place before the first one wraps around to a large number.
        steps = f"({digit} - {start}u)" if part.step > 0 else f"({start}u - {digit})"
        if len(part) > 1 and abs(part.step) > 1:
            inside.append(f"{steps} % {abs(part.step)}u == 0u")
            steps = f"{steps} / {abs(part.step)}u"
        if part != range(output[axis]):
            inside.append(f"{steps} < {len(part)}u")
        terms.append(f"{steps} * {strides[axis]}u")
    params = {"slices": [list(part) for part in request.attrs["slices"]]}
    return Lowering((place_elements(request, inside, terms, params, "0u"),))


def lower_roll(request: KernelRequest) -> Lowering:
    """Lower result[(i + shift) % size, ...] = source[i, ...]; attrs ``shift`` by axis."""
    shape = request.outputs[0].static_shape
    strides = strides_of(shape)
    terms, rest = [], []
    for axis, (size, shift) in enumerate(zip(shape, request.attrs["shift"], strict=True)):
        if size and shift % size:
            digit = f"index / {max(1, strides[axis])}u % {size}u"
            terms.append(f"({digit} + {-shift % size}u) % {size}u * {strides[axis]}u")
            rest.append(0)
        else:
            rest.append(strides[axis])
    source = " + ".join([*terms, mixed_radix("index", shape, rest)])
    return Lowering((copy_elements(request, 0, shape, source, "index"),))
