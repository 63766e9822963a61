"""Emitters of kernels whose code depends on shapes, dtypes and attributes alone.

Nodes in which these are equal share a procedure.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from playgrad.graph.opdef import Attrs, lookup
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Node
from playgrad.ops.emitters import Operand, emitter
from playgrad.wasm.encoding import I32
from playgrad.wasm.kernel import ArrayPlace, KernelCode
from playgrad.wasm.module import Module
from playgrad.wasm.procedure import Procedure
from playgrad.wasm.step import StepBuilder

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


_WRITERS: dict[str, Write] = {}
_CONDITIONS: dict[str, Callable[[Sequence[TensorSpec], Attrs], bool]] = {}


def static_kernel(
    *operations: str,
    dtypes: Collection[str] = FLOAT32,
    only_if: Condition = lambda specs, attrs: True,
    in_place: bool = False,
    may_fail: bool = False,
) -> Callable[[Write], Write]:
    """Register the decorated function as the emitter of ``operations``.

    Args:
        dtypes: those of the first input, or of the first output if there are no inputs.
        only_if: whether there is a kernel for these inputs and attributes.
        in_place, may_fail: as in `playgrad.ops.emitters.Emitter`.
    """

    def register(write: Write) -> Write:
        def supports(node: Node) -> bool:
            first = (node.inputs or node.outputs)[0]
            specs = [tensor.spec for tensor in node.inputs]
            return first.dtype in dtypes and only_if(specs, node.attrs)

        def emit(
            step: StepBuilder, node: Node, inputs: Sequence[Operand], outputs: Sequence[Operand]
        ) -> None:
            specs = [[operand.spec for operand in each] for each in (inputs, outputs)]
            same = tuple(
                outputs[i].place == inputs[i].place for i in range(min(len(inputs), len(outputs)))
            )
            attrs = tuple(sorted((name, repr(value)) for name, value in node.attrs.items()))
            key = (write, *map(tuple, specs), same if in_place else (), attrs)
            kernel = step.shared(
                key, lambda module: _written(step, module, write, *specs, node.attrs)
            )
            places = [operand.address for operand in (*inputs, *outputs)]
            scratch = step.scratch(kernel.scratch)
            step.f.call(kernel.procedure, *places, scratch, step.failure)

        emitter(*operations, supports=supports, in_place=in_place, may_fail=may_fail)(emit)
        for operation in operations:
            assert lookup(operation)
        return write

    return register


def _written(
    step: StepBuilder,
    module: Module,
    write: Write,
    inputs: Sequence[TensorSpec],
    outputs: Sequence[TensorSpec],
    attrs: Attrs,
) -> _Kernel:
    f = module.procedure([I32] * (len(inputs) + len(outputs) + 2))
    *places, scratch, failure = f.arguments
    arrays = [
        ArrayPlace(place, spec.static_shape, spec.dtype)
        for place, spec in zip(places, (*inputs, *outputs), strict=True)
    ]
    code = KernelCode(f, scratch, failure, step.shared)
    write(code, arrays[: len(inputs)], arrays[len(inputs) :], attrs)
    return _Kernel(f, code.scratch_bytes)
