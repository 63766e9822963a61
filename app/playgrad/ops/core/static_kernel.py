"""Emitters of kernels whose code depends on shapes, dtypes and attributes alone.

Nodes in which these are equal share a procedure.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from playgrad.graph.opdef import Attrs
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Node
from playgrad.ops.core.row_share import Chunks, Sharing
from playgrad.ops.emitters import Operand, emitter
from playgrad.ops.expression.simd_elements import loaded, stored
from playgrad.wasm.encoding import I32
from playgrad.wasm.kernel import ArrayPlace, KernelCode
from playgrad.wasm.module import Module
from playgrad.wasm.procedure import Procedure
from playgrad.wasm.step import StepCode
from playgrad.wasm.threads import ChunkCode
from playgrad.wasm.values import StackValue, integer

Write = Callable[[KernelCode, Sequence[ArrayPlace], Sequence[ArrayPlace], Attrs], None]
"""Writes the code of a node: from its inputs to its outputs."""
Condition = Callable[[Sequence[TensorSpec], Attrs], bool]

FLOAT32 = frozenset({"float32"})
COMPUTED = frozenset({"float32", "float64", "int32", "uint32", "uint8", "int8"})
"""Numbers that WebAssembly computes with."""
MOVED = COMPUTED | {"bool", "float16"}


@dataclass(frozen=True)
class _Kernel:
    procedure: Procedure
    scratch: int


def static_kernel(
    *operations: str,
    dtypes: Collection[str] = FLOAT32,
    widens: bool = False,
    only_if: Condition = lambda specs, attrs: True,
    in_place: bool = False,
    may_fail: bool = False,
    fallback: bool = False,
    shared: Sharing | None = None,
) -> Callable[[Write], Write]:
    """Register the decorated function as the emitter of ``operations``.

    Args:
        dtypes: those of the first input, or of the first output if there are no inputs.
        widens: whether the kernel also takes float16, as float32 whose results are rounded.
        only_if: whether there is a kernel for these inputs and attributes.
        in_place, may_fail, fallback: as for `playgrad.ops.emitters.emitter`.
        shared: says how threads share its work.
    """

    def register(write: Write) -> Write:
        def supports(node: Node) -> bool:
            first = (node.inputs or node.outputs)[0]
            specs = [tensor.spec for tensor in node.inputs]
            fits = first.dtype in dtypes or (widens and first.dtype == "float16")
            return fits and only_if(specs, node.attrs)

        def emit(
            step: StepCode, node: Node, inputs: Sequence[Operand], outputs: Sequence[Operand]
        ) -> None:
            pairs = zip(inputs, outputs, strict=False)
            form = _Form(
                node.op.name,
                tuple(operand.spec for operand in inputs),
                tuple(operand.spec for operand in outputs),
                _as_key(node.attrs),
                tuple(a.place == b.place for a, b in pairs) if in_place else (),
            )
            places = [operand.address for operand in (*inputs, *outputs)]
            kernels = _Kernels(step, write, widens, node.attrs)
            chunks = shared and shared.chunks(step, form.inputs, form.outputs, node.attrs)
            if not chunks:
                kernels.whole(form, places)
            elif chunks.repeats:
                with step.f.when(step.is_alone):
                    kernels.whole(form, places)
                with step.f.otherwise():
                    kernels.split(form, chunks, places)
            else:
                kernels.split(form, chunks, places)

        emitter(
            *operations,
            supports=supports,
            in_place=in_place,
            may_fail=may_fail,
            fallback=fallback,
        )(emit)
        return write

    return register


def _as_key(attrs: Attrs) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((name, repr(value)) for name, value in attrs.items()))


@dataclass(frozen=True)
class _Form:
    """What the code of a kernel depends on.

    Attributes:
        overwrites: whether outputs have the places of inputs, for as many as there are of both.
    """

    operation: str
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    attrs: tuple[tuple[str, str], ...]
    overwrites: tuple[bool, ...]


@dataclass(frozen=True)
class _Kernels:
    """The kernels of an operation."""

    step: StepCode
    write: Write
    widens: bool
    attrs: Attrs

    def of(self, form: _Form, attrs: Attrs) -> _Kernel:
        """Return the kernel of a form, added to the module the first time."""
        step = self.step
        kernel: _Kernel = step.shared(
            form, lambda m: _written(step, m, self.write, form, self.widens, attrs)
        )
        return kernel

    def whole(self, form: _Form, places: Sequence[StackValue]) -> None:
        """Have the thread that runs the step do a kernel."""
        step, kernel = self.step, self.of(form, self.attrs)
        scratch = step.scratch(kernel.scratch)
        step.f.call(kernel.procedure, *places, scratch, step.failure, integer(0))

    def split(self, form: _Form, chunks: Chunks, places: Sequence[StackValue]) -> None:
        """Have threads share a kernel."""
        kernels = {}
        for size in (chunks.size, chunks.rest):
            specs = chunks.specs((*form.inputs, *form.outputs), size)
            attrs = chunks.attrs(self.attrs, size)
            inputs, outputs = specs[: len(form.inputs)], specs[len(form.inputs) :]
            part = replace(form, inputs=inputs, outputs=outputs, attrs=_as_key(attrs))
            kernels[size] = self.of(part, attrs)

        def call(
            job: ChunkCode, size: int, operands: Sequence[StackValue], first: StackValue
        ) -> None:
            *arrays, failure = operands
            job.f.call(kernels[size].procedure, *arrays, job.scratch, failure, first)

        private = max(kernel.scratch for kernel in kernels.values())
        chunks.share(self.step, form, places, call, (self.step.failure,), private)


def _written(
    step: StepCode, module: Module, write: Write, form: _Form, widens: bool, attrs: Attrs
) -> _Kernel:
    f = module.procedure([I32] * (len(form.inputs) + len(form.outputs) + 3))
    *places, scratch, failure, first = f.arguments
    arrays = [
        ArrayPlace(place, spec.static_shape, spec.dtype)
        for place, spec in zip(places, (*form.inputs, *form.outputs), strict=True)
    ]
    code = KernelCode(f, scratch, failure, first, step.shared, form.overwrites, step.relaxed)
    inputs, outputs = arrays[: len(form.inputs)], arrays[len(form.inputs) :]
    if widens and "float16" in (form.inputs[0].dtype, form.outputs[0].dtype):
        _write_widened(code, write, inputs, outputs, attrs)
    else:
        write(code, inputs, outputs, attrs)
    return _Kernel(f, code.scratch_bytes)


def _write_widened(
    code: KernelCode,
    write: Write,
    inputs: Sequence[ArrayPlace],
    outputs: Sequence[ArrayPlace],
    attrs: Attrs,
) -> None:
    """Write a kernel of float32 between conversions from and to float16."""
    wide_inputs = [_in_float32(code, array) for array in inputs]
    wide_outputs = [_in_float32(code, array) for array in outputs]
    for array, other in zip(inputs, wide_inputs, strict=True):
        if other is not array:
            _convert(code.f, array, other)
    write(code, wide_inputs, wide_outputs, attrs)
    for array, other in zip(outputs, wide_outputs, strict=True):
        if other is not array:
            _convert(code.f, other, array)


def _in_float32(code: KernelCode, array: ArrayPlace) -> ArrayPlace:
    """Return room for a float16 array in float32; another array itself."""
    if array.dtype != "float16":
        return array
    place = code.f.copy(code.scratch(4 * array.count))
    return ArrayPlace(place, array.shape, "float32")


def _convert(f: Procedure, source: ArrayPlace, target: ArrayPlace) -> None:
    whole = source.count - source.count % 4

    def element(number: StackValue, four: bool) -> None:
        read = source.address + number * source.item
        value = f.copy(loaded(f, read, source.dtype, four))
        stored(f, target.address + number * target.item, value, target.dtype, four)

    with f.count(integer(whole), 4) as number:
        element(number, four=True)
    with f.count(integer(source.count - whole)) as rest:
        element(f.copy(rest + whole), four=False)
