"""Operations on matrices whose rows consist of equal blocks, such as the gates of a cell.

Each unit of a row takes the same formula of its elements in all blocks: with ``units`` units, a
matrix (rows, 4 * units) has four values for each. NumPy and WGSL both come from the formula, as for
elementwise operations, and one kernel computes all outputs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from playgrad.errors import DTypeError, ShapeError, shape_text
from playgrad.graph.opdef import Array, Attrs, Gradient, InvalidSample, OpDef, Sample
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Tensor
from playgrad.ops.arrays.getitem import getitem
from playgrad.ops.core.build import expect_floating
from playgrad.ops.core.kernel import (
    KernelCall,
    KernelRequest,
    Lowering,
    flat_index,
    grid,
    input_binding,
    output_binding,
)
from playgrad.ops.expression import wgsl
from playgrad.ops.expression.evaluate import evaluate, full, prepare
from playgrad.ops.expression.expr import Expr, Leaf, to_json
from playgrad.ops.expression.shared import render_shared

WORKGROUP = 64
BLOCKWISE: dict[str, Blockwise] = {}
"""The formulas, by the names of their operations."""


@dataclass(frozen=True)
class Blockwise:
    """A formula of blocks.

    Attributes:
        inputs: the names of the inputs, for errors, with their numbers of blocks.
        outputs: the number of blocks of each output.
        formula: a function from all blocks of all inputs, in order, to all blocks of all outputs.
            It is applied to expressions, and may be applied to tensors.
    """

    inputs: dict[str, int]
    outputs: tuple[int, ...]
    formula: Callable[..., tuple[Any, ...]]

    @property
    def exprs(self) -> tuple[Expr, ...]:
        return self.formula(*(Leaf(i) for i in range(sum(self.inputs.values()))))

    def apply(self, inputs: Sequence[Tensor]) -> tuple[Tensor, ...]:
        """Return the blocks of the outputs, composed of other operations.

        Raises:
            ShapeError: the number of units is unknown.
        """
        blocks: list[Tensor] = []
        for (name, count), tensor in zip(self.inputs.items(), inputs, strict=True):
            width = tensor.shape[1]
            if width is None:
                raise ShapeError(
                    f"the second derivative needs to know the number of units, but {name} has "
                    f"the shape {shape_text(tensor.shape)}."
                )
            units = width // count
            blocks.extend(
                getitem(tensor, (slice(None), slice(i * units, (i + 1) * units)))
                for i in range(count)
            )
        return self.formula(*blocks)


def blockwise_op(
    name: str,
    blockwise: Blockwise,
    gradient: Gradient,
    samples: Sequence[Sample],
    invalid: Sequence[InvalidSample] = (),
) -> OpDef:
    """Return the definition of an op that computes a formula of blocks."""
    BLOCKWISE[name] = blockwise

    def infer(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
        rows, units = _sizes(name, blockwise, inputs)
        return [
            TensorSpec((rows, None if units is None else count * units), inputs[0].dtype)
            for count in blockwise.outputs
        ]

    def reference(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
        leaves = _leaves(blockwise, inputs)
        kind = inputs[0].dtype.name
        values = [full(evaluate(e, leaves), leaves[0].shape, kind) for e in blockwise.exprs]
        return _joined(blockwise, values)

    def prepared(specs: Sequence[TensorSpec], attrs: Attrs) -> Callable[..., list[Array]]:
        rows, units = _sizes(name, blockwise, specs)
        assert rows is not None and units is not None
        leaf = TensorSpec((rows, units), specs[0].dtype)
        run = prepare(blockwise.exprs, [leaf] * sum(blockwise.inputs.values()))
        return lambda arrays: _joined(blockwise, run(_leaves(blockwise, arrays)))

    return OpDef(
        name=name,
        infer=infer,
        reference=reference,
        prepare=prepared,
        gradient=gradient,
        lower=lambda request: _lower(request, blockwise),
        samples=tuple(samples),
        invalid=tuple(invalid),
    )


def _sizes(
    name: str, blockwise: Blockwise, inputs: Sequence[TensorSpec]
) -> tuple[int | None, int | None]:
    """Return the numbers of rows and units; None where they are unknown."""
    rows: int | None = None
    units: int | None = None
    expected = ", ".join(
        f"{what} (batch, {count} * units)" if count > 1 else f"{what} (batch, units)"
        for what, count in blockwise.inputs.items()
    )
    got = ", ".join(shape_text(spec.shape) for spec in inputs)
    for (what, count), spec in zip(blockwise.inputs.items(), inputs, strict=True):
        expect_floating(spec, what)
        if spec.dtype != inputs[0].dtype:
            raise DTypeError(f"{name}: element types differ: {inputs[0].dtype} and {spec.dtype}.")
        if spec.rank != 2:
            raise ShapeError(f"{name} takes {expected}, got the shapes {got}.")
        height, width = spec.shape
        whole = width is None or width % count == 0
        each = None if width is None else width // count
        if not whole or not _agree(rows, height) or not _agree(units, each):
            raise ShapeError(f"{name} takes {expected}, got the shapes {got}.")
        rows = height if rows is None else rows
        units = each if units is None else units
    return rows, units


def _agree(a: int | None, b: int | None) -> bool:
    return None in (a, b) or a == b


def _leaves(blockwise: Blockwise, inputs: Sequence[Array]) -> list[Array]:
    return [
        block
        for count, array in zip(blockwise.inputs.values(), inputs, strict=True)
        for block in (np.split(array, count, axis=1) if count > 1 else [array])
    ]


def _joined(blockwise: Blockwise, values: Sequence[Array]) -> list[Array]:
    results, first = [], 0
    for count in blockwise.outputs:
        blocks = values[first : first + count]
        results.append(np.concatenate(blocks, axis=1) if count > 1 else blocks[0])
        first += count
    return results


def _lower(request: KernelRequest, blockwise: Blockwise) -> Lowering:
    """Return one dispatch, whose invocations compute all outputs of one unit of one row."""
    counts = tuple(blockwise.inputs.values())
    rows, width = request.inputs[0].static_shape
    units = width // counts[0]
    items, limits = rows * units, request.target.limits
    # Each invocation reads the elements that it writes, if input and output have as many blocks.
    inputs = tuple(
        input_binding(f"in{i}", i, spec, counts[i] in blockwise.outputs)
        for i, spec in enumerate(request.inputs)
    )
    outputs = tuple(output_binding(f"out{j}", j, spec) for j, spec in enumerate(request.outputs))
    leaves = _elements("in", counts, units)
    statements, values = render_shared(
        blockwise.exprs, [f"x{i}" for i in range(len(leaves))], ["float32"] * len(leaves)
    )
    targets = _elements("out", blockwise.outputs, units)
    lines = [f"let x{i} = {element};" for i, element in enumerate(leaves)]
    lines += statements
    lines += [f"let y{j} = {value};" for j, value in enumerate(values)]
    # Everything is read before anything is written: an output may be in the buffer of an input.
    lines += [f"{element} = y{j};" for j, element in enumerate(targets)]
    body = "\n  ".join(lines)
    code = f"""{wgsl.helpers(body)}
@compute @workgroup_size({WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
  let i = {flat_index(items, WORKGROUP, limits)};
  if (i >= {items}u) {{ return; }}
  let row = i / {max(1, units)}u;
  {body}
}}
"""
    params = {
        "expressions": [to_json(expr) for expr in blockwise.exprs],
        "inputs": list(counts),
        "outputs": list(blockwise.outputs),
        "units": units,
    }
    call = KernelCall(
        "blockwise", params, code, (*inputs, *outputs), grid(items, WORKGROUP, limits), iterations=1
    )
    return Lowering((call,))


def _elements(prefix: str, counts: Sequence[int], units: int) -> list[str]:
    """Return WGSL for the elements of the buffers at unit ``i``, which is in row ``row``."""
    return [
        f"{prefix}{number}[i]"
        if count == 1
        else f"{prefix}{number}[i + row * {(count - 1) * units}u + {block * units}u]"
        for number, count in enumerate(counts)
        for block in range(count)
    ]
