"""``joined_calls``: samples of any structure, computed depth by depth.

Calls of one kind and depth of all samples are computed together, as in *Deep learning with dynamic
computation graphs* (Looks et al. 2017). The functions are attributes, as those of a while_loop are,
and NumPy computes them: the number of joined calls differs from run to run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from playgrad.errors import DTypeError, ShapeError
from playgrad.graph.opdef import Array, Attrs, InvalidSample, OpDef, Sample, register
from playgrad.graph.spec import TensorSpec
from playgrad.ops.core.samples import floats
from playgrad.ops.joined.backward import joined_gradient
from playgrad.ops.joined.layout import ON_HOST, Layout
from playgrad.ops.joined.rows import arguments_of, computed, empty_values, explain, padded
from playgrad.ops.joined.samples import SAMPLE_INPUTS, sample_attrs, sample_table


def _infer(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    layout = Layout(inputs, attrs)
    samples, calls, _ = layout.table.shape
    results = [TensorSpec((samples, *s.shape[1:]), s.dtype) for s in layout.outputs[layout.root]]
    rows = None if None in (samples, calls) else int(samples or 0) * int(calls or 0)
    values = [TensorSpec((rows, *s.shape[1:]), s.dtype) for each in layout.types for s in each]
    return [*results, *values]


def _prepare(
    inputs: Sequence[TensorSpec], attrs: Attrs
) -> Callable[[Sequence[Array]], Sequence[Array]]:
    layout = Layout(inputs, attrs)
    specs: dict[tuple[int, int], list[TensorSpec]] = {}

    def run(arrays: Sequence[Array]) -> list[Array]:
        calls = layout.calls_of(arrays[0])
        end = 1 + len(layout.inputs)
        of_samples, captures = arrays[1:end], arrays[end:]
        values = empty_values(layout, len(calls.places))
        for joined in calls.joined:
            kind = layout.kinds[joined.kind]
            for first, end in joined.parts():
                places = padded(first, end)
                key = (joined.kind, len(places))
                if key not in specs:
                    of_kind = layout.capture_specs(kind)
                    specs[key] = [*layout.argument_specs(kind, len(places)), *of_kind]
                taken = arguments_of(layout, kind, calls, places, values, of_samples)
                taken += [captures[number] for number in kind.captures]
                try:
                    outputs = computed(kind.function, specs[key], taken)
                except Exception as error:
                    explain(error, layout, joined)
                    raise
                for array, output in zip(values[kind.type], outputs, strict=True):
                    array[first:end] = output[: end - first]
        results = values[layout.kinds[layout.root].type]
        return [*(array[calls.roots] for array in results), *(a for each in values for a in each)]

    return run


def _reference(inputs: Sequence[Array], attrs: Attrs) -> Sequence[Array]:
    specs = [TensorSpec(array.shape, array.dtype.name) for array in inputs]
    return _prepare(specs, attrs)(inputs)


JOINED_CALLS = register(
    OpDef(
        name="joined_calls",
        infer=_infer,
        reference=_reference,
        prepare=_prepare,
        gradient=joined_gradient,
        on_host=ON_HOST,
        second_derivative=False,
        samples=(Sample((sample_table(), *SAMPLE_INPUTS), sample_attrs()),),
        invalid=(
            InvalidSample(
                (sample_table()[0], *SAMPLE_INPUTS),
                sample_attrs(),
                ShapeError,
                "must have the shape",
            ),
            InvalidSample(
                (sample_table().astype(np.float32), *SAMPLE_INPUTS),
                sample_attrs(),
                DTypeError,
                "must be int32",
            ),
            InvalidSample(
                (sample_table(), floats(3, 2), floats(3, 2)),
                sample_attrs(),
                ShapeError,
                "3 rows for 2 samples",
            ),
        ),
    )
)
