"""The cells of recurrent networks and their gradients, in a compiled step."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from playgrad.graph.tensor import Node
from playgrad.ops.core.row_share import SharedRows
from playgrad.ops.emitters import Operand, emitter
from playgrad.ops.expression.expr import Expr, Leaf
from playgrad.ops.expression.simd_values import VectorValues
from playgrad.ops.recurrent.blockwise import BLOCKWISE, Blockwise
from playgrad.ops.recurrent.cells import lstm_and_squashed, lstm_gradient_of_squashed
from playgrad.ops.recurrent.squashed_gates import CELL, GRADIENT
from playgrad.wasm.encoding import I32
from playgrad.wasm.module import Module
from playgrad.wasm.nest import nest
from playgrad.wasm.procedure import Local, Procedure
from playgrad.wasm.step import StepCode
from playgrad.wasm.vectors import VectorPlace, across

_SQUASHING: dict[str, Callable[..., tuple[Expr, ...]]] = {
    CELL: lstm_and_squashed,
    GRADIENT: lstm_gradient_of_squashed,
}


_ROWS = SharedRows(4e-9)


def _is_float32(node: Node) -> bool:
    return node.inputs[0].dtype == "float32"


def _register(name: str, blockwise: Blockwise) -> None:
    leaves = sum(blockwise.inputs.values())

    @emitter(name, supports=_is_float32)
    def emit(
        step: StepCode, node: Node, inputs: Sequence[Operand], outputs: Sequence[Operand]
    ) -> None:
        squashes = node in step.squashing
        targets, counts = list(outputs), list(blockwise.outputs)
        exprs = blockwise.exprs
        if squashes:
            exprs = _SQUASHING[name](*map(Leaf, range(leaves)))
        if squashes and name == CELL:
            targets, counts = [*outputs, inputs[0]], [*counts, 4]
        rows, width = inputs[0].shape
        sizes = [*blockwise.inputs.values(), *counts]
        units = width // sizes[0]

        def procedure(rows: int) -> Procedure:
            return step.shared(
                (name, squashes, rows, units),
                lambda module: _write(module, exprs, rows, units, sizes, leaves),
            )

        arrays = [operand.address for operand in (*inputs, *targets)]
        specs = [operand.spec for operand in (*inputs, *targets)]
        chunks = _ROWS.chunks(step, specs[: len(inputs)], specs[len(inputs) :], node.attrs)
        if chunks is None:
            step.f.call(procedure(rows), *arrays)
            return
        parts = {size: procedure(size) for size in (chunks.size, chunks.rest)}
        chunks.share(
            step,
            (name, squashes, units),
            arrays,
            lambda job, size, operands, first: job.f.call(parts[size], *operands),
        )


def _write(
    module: Module,
    exprs: Sequence[Expr],
    rows: int,
    units: int,
    counts: Sequence[int],
    leaves: int,
) -> Procedure:
    """Add a procedure of arrays with these numbers of blocks: it computes ``exprs`` of the first
    ``leaves`` blocks to the others. All are read before one is written."""
    f = module.procedure([I32] * len(counts))
    places = [
        (address, (4 * count * units,)) for address, count in zip(f.arguments, counts, strict=True)
    ]
    with nest(f, [rows], places) as pointers:

        def formula(place: VectorPlace) -> None:
            blocks = [
                pointer + 4 * number * units
                for pointer, count in zip(pointers, counts, strict=True)
                for number in range(count)
            ]
            loaded: list[Local] = [f.copy(place.load(block)) for block in blocks[:leaves]]
            values = VectorValues(f, loaded, ["float32"] * leaves)
            results = [values.value(expr, "float32") for expr in exprs]
            for block, result in zip(blocks[leaves:], results, strict=True):
                place.store(f, block, result)

        across(f, units, formula)
    return f


for cell, formula in BLOCKWISE.items():
    _register(cell, formula)
