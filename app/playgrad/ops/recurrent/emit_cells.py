"""The cells of recurrent networks and their gradients, in a compiled step."""

from __future__ import annotations

from collections.abc import Sequence

from playgrad.graph.opdef import Attrs
from playgrad.ops.core.row_share import SharedRows
from playgrad.ops.core.static_kernel import static_kernel
from playgrad.ops.expression.simd_values import VectorValues
from playgrad.ops.recurrent.blockwise import BLOCKWISE, Blockwise
from playgrad.wasm.kernel import ArrayPlace, KernelCode
from playgrad.wasm.nest import nest
from playgrad.wasm.procedure import Local
from playgrad.wasm.vectors import VectorPlace, across


def _register(name: str, blockwise: Blockwise) -> None:
    def write(
        code: KernelCode,
        inputs: Sequence[ArrayPlace],
        outputs: Sequence[ArrayPlace],
        attrs: Attrs,
    ) -> None:
        f, arrays = code.f, [*inputs, *outputs]
        rows, units = inputs[0].shape[0], outputs[0].shape[1] // blockwise.outputs[0]
        counts = (*blockwise.inputs.values(), *blockwise.outputs)
        places = [(array.address, (4 * array.shape[1],)) for array in arrays]
        leaves = sum(blockwise.inputs.values())
        with nest(f, [rows], places) as pointers:

            def formula(place: VectorPlace) -> None:
                blocks = [
                    pointer + 4 * number * units
                    for pointer, count in zip(pointers, counts, strict=True)
                    for number in range(count)
                ]
                loaded: list[Local] = [f.copy(place.load(block)) for block in blocks[:leaves]]
                values = VectorValues(f, loaded, ["float32"] * leaves)
                results = [values.value(expr, "float32") for expr in blockwise.exprs]
                for block, result in zip(blocks[leaves:], results, strict=True):
                    place.store(f, block, result)

            across(f, units, formula)

    static_kernel(name, rows=SharedRows(4e-9))(write)


for cell, formula in BLOCKWISE.items():
    _register(cell, formula)
