"""The cells of recurrent networks and their gradients, in a compiled step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from playgrad.graph.tensor import Node
from playgrad.ops.core.row_share import SharedRows
from playgrad.ops.emitters import Operand, emitter
from playgrad.ops.expression import expr as e
from playgrad.ops.expression.expr import Expr, Leaf
from playgrad.ops.expression.simd_dtypes import parts_of
from playgrad.ops.expression.simd_values import VectorValues
from playgrad.ops.recurrent.blockwise import BLOCKWISE, Blockwise
from playgrad.ops.recurrent.cells import lstm_and_squashed, lstm_gradient_of_squashed
from playgrad.ops.recurrent.squashed_gates import CELL
from playgrad.wasm.encoding import I32
from playgrad.wasm.module import Module
from playgrad.wasm.nest import nest
from playgrad.wasm.procedure import Local, Procedure
from playgrad.wasm.step import StepCode
from playgrad.wasm.values import integer
from playgrad.wasm.vectors import VectorPlace, across

Pass = Mapping[int, Expr]
"""What is computed for all units of a row before the next pass: expressions of blocks, by the block
that each is stored to. The blocks of all inputs come first, then those of all outputs."""


def _passes(name: str, blockwise: Blockwise, squashes: bool) -> list[Pass]:
    count = sum(blockwise.inputs.values())
    if name == CELL:
        return _passes_of_lstm(list(map(Leaf, range(count))), squashes)
    if squashes:
        count += 1
        return [dict(enumerate(lstm_gradient_of_squashed(*map(Leaf, range(count))), count))]
    return [dict(enumerate(blockwise.exprs, count))]


def _passes_of_lstm(leaves: Sequence[Leaf], squashes: bool) -> list[Pass]:
    """Return two passes: a processor would wait for the hidden state, the end of a long chain, if
    it did not compute several of them at the same time."""
    hidden, memory, *squashed = range(len(leaves), len(leaves) + 6)
    _, new_memory, *gates = lstm_and_squashed(*leaves)
    first = {memory: new_memory}
    leave = gates[-1]
    if squashes:
        first |= dict(zip(squashed, gates, strict=True))
        leave = Leaf(squashed[-1])
    return [first, {hidden: leave * e.tanh(Leaf(memory))}]


_ROWS = SharedRows(4e-9)


def _is_float32(node: Node) -> bool:
    return node.inputs[0].dtype == "float32"


def _register(name: str, blockwise: Blockwise) -> None:
    passes = partial(_passes, name, blockwise)

    @emitter(name, supports=_is_float32, in_place=True)
    def emit(
        step: StepCode, node: Node, inputs: Sequence[Operand], outputs: Sequence[Operand]
    ) -> None:
        squashes = node in step.squashing
        targets, counts = list(outputs), list(blockwise.outputs)
        rows, width = inputs[0].shape
        sizes = list(blockwise.inputs.values())
        if squashes and name == CELL:
            targets, counts = [*outputs, inputs[0]], [*counts, 4]
        elif squashes:  # the last input is the cell's hidden state
            sizes.append(1)
        sizes += counts
        units = width // sizes[0]

        def procedure(rows: int) -> Procedure:
            return step.shared(
                (name, squashes, rows, units),
                lambda module: _write(module, passes(squashes), rows, units, sizes),
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
    module: Module, passes: Sequence[Pass], rows: int, units: int, counts: Sequence[int]
) -> Procedure:
    """Add a procedure of arrays with these numbers of blocks, which computes ``passes``. In each,
    all blocks are read before one is written."""
    f = module.procedure([I32] * len(counts))
    places = [
        (address, (4 * count * units,)) for address, count in zip(f.arguments, counts, strict=True)
    ]
    with nest(f, [rows], places) as pointers:
        blocks = [
            (pointer, 4 * number * units)
            for pointer, count in zip(pointers, counts, strict=True)
            for number in range(count)
        ]
        for each in passes:
            across(f, units, partial(_compute, f, each, blocks))
    return f


def _compute(
    f: Procedure, exprs: Pass, blocks: Sequence[tuple[Local, int]], place: VectorPlace
) -> None:
    """Write a pass for some units, of blocks that begin at pointers, so many bytes behind."""
    read = {part.index for part in parts_of(list(exprs.values())) if isinstance(part, Leaf)}
    # The offset is added once for all blocks of an array, which are at constant distances.
    here = VectorPlace(integer(0), place.count)
    moved = {
        pointer: f.copy(pointer + place.offset)
        for pointer in dict.fromkeys(blocks[number][0] for number in [*sorted(read), *exprs])
    }
    unused = next(iter(moved.values()))
    leaves = [unused] * len(blocks)
    for number in sorted(read):
        pointer, before = blocks[number]
        leaves[number] = f.copy(here.load(moved[pointer], before=before))
    values = VectorValues(f, leaves, ["float32"] * len(blocks))
    results = [values.value(expr, "float32") for expr in exprs.values()]
    for number, result in zip(exprs, results, strict=True):
        pointer, before = blocks[number]
        here.store(f, moved[pointer], result, before)


for cell, formula in BLOCKWISE.items():
    _register(cell, formula)
