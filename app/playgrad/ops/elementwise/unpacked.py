"""Lowering of operations whose kernels take whole words, for dtypes that are packed into words.

Four uint8 or int8, or two float16, share a word of a GPU buffer, so two invocations that each
wrote a part of it would race. Elementwise kernels and a few others therefore compute the elements
of a word together. Any other kernel, such as one that moves elements, runs on the same values with
one element in each word: its inputs are unpacked before, and its results packed after. A float16 is
unpacked to float32, so that the kernel computes in float32 and its results are rounded once.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from playgrad.dtypes import dtype
from playgrad.errors import UnsupportedOpError
from playgrad.graph.opdef import OpDef
from playgrad.graph.spec import TensorSpec
from playgrad.ops.core.half import WIDE
from playgrad.ops.core.kernel import Binding, KernelCall, KernelRequest, Lowering
from playgrad.ops.elementwise.elementwise_kernel import lower_elementwise
from playgrad.ops.expression.expr import Cast, Leaf

Operand = tuple[Literal["input", "output", "scratch", "alarm"], int]
"""Kind and number of a buffer of a node."""


def lower_unpacked(op: OpDef, request: KernelRequest) -> Lowering:
    """Lower ``op``. Unless its kernel knows packed elements, its inputs and results are unpacked.

    The results and further inputs of an epilogue are elementwise, and stay as they are.

    Raises:
        UnsupportedOpError: no GPU runs ``op``.
    """
    if op.lower is None:
        raise UnsupportedOpError(f"the operation {op.name!r} cannot run on a GPU.")
    reads_packed = op.packed or request.attrs.get(WIDE)
    unpacked = request if reads_packed else _unpacked(request)
    lowering: Lowering = op.lower(unpacked)
    if unpacked == request:
        return lowering
    if op.writes:  # the kernel writes into the buffers of variables, which stay packed
        raise UnsupportedOpError(
            f"{op.name} cannot update a variable of packed elements on a GPU.",
            hint="Use a float32 or int32 variable, or the cpu.",
        )
    scratch = list(lowering.scratch)
    places: dict[Operand, Operand] = {}  # the scratch buffers in place of packed operands
    before: list[KernelCall] = []
    after: list[KernelCall] = []
    for operand in dict.fromkeys((b.kind, b.index) for c in lowering.calls for b in c.bindings):
        if operand[0] in ("scratch", "alarm"):
            continue
        packed, words = _spec(request, operand), _spec(unpacked, operand)
        if packed != words:
            place: Operand = ("scratch", len(scratch))
            places[operand] = place
            scratch.append(dtype(words.dtype).device_bytes(words.size))
            if operand[0] == "input":
                before.append(_cast(request, packed, words, operand, place))
            else:
                after.append(_cast(request, words, packed, place, operand))
    calls = [
        replace(call, bindings=tuple(_moved(binding, places) for binding in call.bindings))
        for call in lowering.calls
    ]
    return Lowering((*before, *calls, *after), tuple(scratch))


def _unpacked(request: KernelRequest) -> KernelRequest:
    """Return ``request`` for kernels of whole words."""

    def words(spec: TensorSpec) -> TensorSpec:
        return TensorSpec(spec.shape, dtype(spec.dtype).unpacked)

    if request.epilogue is None:
        return replace(
            request,
            inputs=tuple(map(words, request.inputs)),
            outputs=tuple(map(words, request.outputs)),
        )
    first = request.epilogue.first
    return replace(request, inputs=(*map(words, request.inputs[:first]), *request.inputs[first:]))


def _spec(request: KernelRequest, operand: Operand) -> TensorSpec:
    kind, index = operand
    return request.inputs[index] if kind == "input" else request.outputs[index]


def _cast(
    request: KernelRequest, source: TensorSpec, target: TensorSpec, read: Operand, written: Operand
) -> KernelCall:
    """Return a dispatch that converts the elements of operand ``read`` into ``written``."""
    cast = KernelRequest((source,), (target,), {}, request.target)
    (call,) = lower_elementwise(cast, [Cast(target.dtype, Leaf(0))]).calls
    return replace(
        call,
        bindings=tuple(
            _moved(binding, {("input", 0): read, ("output", 0): written})
            for binding in call.bindings
        ),
    )


def _moved(binding: Binding, places: dict[Operand, Operand]) -> Binding:
    """Return ``binding``, of another buffer if ``places`` has one for its operand."""
    operand: Operand = (binding.kind, binding.index)
    if operand not in places:
        return binding
    kind, index = places[operand]
    # A result may be written by several dispatches.
    return replace(binding, kind=kind, index=index, rewritten=binding.kind == "output")
