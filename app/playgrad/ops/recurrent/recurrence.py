"""``recurrence``: several steps of a recurrent layer, or of its gradient, as one operation.

The compiler's pass ``roll`` creates it for GPUs. A row of a batch depends on no other row, so that
one kernel can go through all steps (`recurrence_kernel.py`). It has a reference, so that a
rolled graph runs on the cpu and tests can compare it with the original.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from playgrad.dtypes import dtype
from playgrad.errors import DTypeError
from playgrad.graph.opdef import Array, Attrs, InvalidSample, OpDef, Sample, lookup, register
from playgrad.graph.spec import TensorSpec
from playgrad.ops.core.samples import floats
from playgrad.ops.recurrent.recurrence_data import (
    Carried,
    Instruction,
    KeptValue,
    Recurrence,
    Ref,
    StepSource,
    Value,
)
from playgrad.ops.recurrent.recurrence_kernel import lower_recurrence

Values = Mapping[Value, Array]


def _infer(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    kinds = {spec.dtype for spec in inputs if dtype(spec.dtype).floating}
    if len(kinds) != 1 or "float16" in kinds:
        raise DTypeError(f"a recurrence computes float32 or float64, not {' and '.join(kinds)}.")
    (kind,) = kinds
    return [TensorSpec(shape, kind) for shape in Recurrence.of(attrs).shapes]


def _reference(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    recurrence = Recurrence.of(attrs)
    rows = np.arange(recurrence.rows)[:, None]
    kind = next(array.dtype for array in inputs if array.dtype.kind == "f")

    def read(
        ref: Ref, step: int, values: Mapping[Value, Array], before: Mapping[Value, Array]
    ) -> Array:
        where, *rest = ref
        if where == "number":
            number = np.asarray(*rest)
            return number.astype(kind) if number.dtype.kind == "f" else number
        if where == "source":
            part = recurrence.sources[rest[0]]
            columns = part.column * np.arange(part.width)
            flat = inputs[part.input].reshape(-1)
            return flat[part.first + step * part.step + part.row * rows + columns]
        return (values if where == "value" else before)[rest[0], rest[1]]

    before: dict[Value, Array] = {}
    for carried in recurrence.carried:
        shape = (recurrence.rows, recurrence.width(carried.value))
        before[carried.value] = np.broadcast_to(read(carried.initial, 0, {}, {}), shape)
    kept = [[before[each.value]] if each.initial else [] for each in recurrence.kept]
    for step in range(recurrence.steps):
        values: dict[Value, Array] = {}
        for number, each in enumerate(recurrence.body):
            operands = [read(ref, step, values, before) for ref in each.inputs if ref[0] != "input"]
            if each.op == "matmul":
                _, weights, first = each.inputs[1]
                shape = (operands[0].shape[1], each.widths[0])
                flat = inputs[weights].reshape(-1)[first:]
                operands.append(flat[: shape[0] * shape[1]].reshape(shape))
            for output, result in enumerate(lookup(each.op).reference(operands, each.attrs)):
                values[number, output] = result
        before = values
        for results, value in zip(kept, recurrence.kept, strict=True):
            results.append(values[value.value])
    outputs: list[list[Array]] = [[] for _ in recurrence.shapes]
    for results, value in zip(kept, recurrence.kept, strict=True):
        stacked = np.stack(results[::-1] if value.order == "reversed" else results)
        outputs[value.output].append(results[-1] if value.order == "last" else stacked)
    return [
        np.concatenate([part.reshape(-1) for part in parts]).reshape(shape)
        for parts, shape in zip(outputs, recurrence.shapes, strict=True)
    ]


# Samples


_PLAIN = {"transpose_a": False, "transpose_b": False}


def _lstm(rows: int, steps: int, units: int) -> Sample:
    """Return steps of an LSTM, of which each row's states begin with a matrix."""
    wide = 4 * units
    recurrence = Recurrence(
        rows,
        steps,
        [
            StepSource(0, 0, rows * wide, wide, 1, wide),
            StepSource(2, 0, 0, units, 1, units),
            StepSource(3, 0, 0, units, 1, units),
        ],
        [
            Instruction("matmul", _PLAIN, [("before", 2, 0), ("input", 1, 0)], [wide]),
            Instruction("add", {}, [("value", 0, 0), ("source", 0)], [wide]),
            Instruction("lstm_cell", {}, [("value", 1, 0), ("before", 2, 1)], [units, units]),
        ],
        [Carried((2, 0), ("source", 1)), Carried((2, 1), ("source", 2))],
        [
            KeptValue((2, 0), "steps", True),
            KeptValue((1, 0), "reversed", output=1),
            KeptValue((2, 1), "last", output=2),
            KeptValue((0, 0), "reversed", output=2, first=rows * units),
        ],
    )
    arrays = (
        floats(steps, rows, wide),
        floats(units, wide, low=-0.3, high=0.3),
        floats(rows, units),
        floats(rows, units, seed=1),
    )
    return Sample(arrays, recurrence.attrs())


def _masked(rows: int, steps: int, units: int, depth: int) -> Sample:
    """Return masked steps, backwards, with two products, the second of slices of the first."""
    wide = 2 * depth
    window = {"begin": [0, depth], "size": [-1, -1]}
    recurrence = Recurrence(
        rows,
        steps,
        [
            StepSource(0, steps - 1, -1, steps, 0, units),
            StepSource(1, (steps - 1) * rows * units, -rows * units, units, 1, units),
            StepSource(4, 0, 0, 0, 1, wide),
        ],
        [
            Instruction("matmul", _PLAIN, [("before", 6, 0), ("input", 2, 0)], [wide]),
            Instruction("add", {}, [("value", 0, 0), ("source", 2)], [wide]),
            Instruction("slice", window, [("value", 1, 0)], [depth]),
            Instruction("matmul", _PLAIN, [("value", 2, 0), ("input", 3, 1)], [units]),
            Instruction("add", {}, [("value", 3, 0), ("source", 1)], [units]),
            Instruction("tanh", {}, [("value", 4, 0)], [units]),
            Instruction("where", {}, [("source", 0), ("value", 5, 0), ("before", 6, 0)], [units]),
            Instruction("concat", {"axis": 1}, [("value", 2, 0), ("value", 2, 0)], [wide]),
            Instruction("mul", {}, [("value", 7, 0), ("number", 0.5, "float32")], [wide]),
        ],
        [Carried((6, 0), ("number", 0.25, "float32"))],
        [KeptValue((6, 0), "reversed", True), KeptValue((8, 0), "steps", output=1)],
    )
    arrays = (
        floats(rows, steps) > 0,
        floats(steps, rows, units),
        floats(units, wide, low=-0.3, high=0.3),
        floats(depth * units + 1, low=-0.3, high=0.3),
        floats(wide),
    )
    return Sample(arrays, recurrence.attrs())


def _normalized(rows: int, width: int, wide: int) -> Sample:
    """Return one step: a normalization between two products, and the gradient of one."""
    epsilon = {"epsilon": 1e-3}
    recurrence = Recurrence(
        rows,
        1,
        [
            StepSource(0, 0, 0, width, 1, width),
            StepSource(1, 0, 0, 0, 1, width),
            StepSource(1, width, 0, 0, 1, width),
        ],
        [
            Instruction("layer_normalization", epsilon, [("source", n) for n in range(3)], [width]),
            Instruction("matmul", _PLAIN, [("value", 0, 0), ("input", 2, 0)], [wide]),
            Instruction("tanh", {}, [("value", 1, 0)], [wide]),
            Instruction("matmul", _PLAIN, [("value", 2, 0), ("input", 3, 0)], [width]),
            Instruction("add", {}, [("value", 3, 0), ("source", 0)], [width]),
            Instruction(
                "layer_normalization_gradient",
                epsilon,
                [("value", 4, 0), ("source", 1), ("value", 0, 0)],
                [width, width],
            ),
            Instruction("matmul", _PLAIN, [("value", 5, 0), ("input", 2, 0)], [wide]),
        ],
        [],
        [
            KeptValue(value, "last", output=number)
            for number, value in enumerate([(0, 0), (1, 0), (4, 0), (5, 0), (5, 1), (6, 0)])
        ],
    )
    arrays = (
        floats(rows, width),
        floats(2 * width, seed=1),
        floats(width, wide, low=-0.3, high=0.3),
        floats(wide, width, low=-0.3, high=0.3),
    )
    return Sample(arrays, recurrence.attrs())


RECURRENCE = register(
    OpDef(
        "recurrence",
        _infer,
        _reference,
        lower=lower_recurrence,
        samples=(
            _lstm(3, 4, 5),
            _lstm(1, 1, 1),
            _lstm(9, 2, 64),
            _masked(5, 3, 4, 3),
            _masked(2, 2, 40, 70),
            _normalized(5, 7, 9),
            _normalized(130, 20, 70),
            _normalized(1, 1, 1),
        ),
        invalid=(
            InvalidSample(
                tuple(each.astype(np.float16) for each in _lstm(1, 1, 1).inputs),
                _lstm(1, 1, 1).attrs,
                DTypeError,
                "not float16",
            ),
        ),
    )
)
