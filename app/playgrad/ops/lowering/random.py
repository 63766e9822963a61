"""Lowering of random operations, which draw the bits of ``ops/core/counter_random.py``.

attrs ``seed``: [a, b], the two words of the Threefry key. The uint32 scalar ``step`` is an input.
"""

from __future__ import annotations

import math
from typing import Any

from playgrad.ops.core.counter_random import half_bits
from playgrad.ops.core.kernel import Binding, KernelRequest, Lowering, input_binding, output_binding
from playgrad.ops.core.loops import Loop
from playgrad.ops.lowering.item_kernel import item_kernel

_ROUNDS = 20
"""Rounds of the generator in one call."""
_DRAWS = 64
"""Times that an index may be drawn: at most three of four are out of range."""


def lower_random_uniform(request: KernelRequest) -> Lowering:
    """Lower random_uniform of (step): float32 in [0, 1)."""
    return _uniform(request, _step(request, 0))


def lower_random_uniform_like(request: KernelRequest) -> Lowering:
    """Lower random_uniform_like of (x, step): float32 in [0, 1).

    attrs ``first_row``: the row of the batch that is row 0 of x.
    """
    return _uniform(request, _step(request, 1))


def _uniform(request: KernelRequest, step: Binding) -> Lowering:
    first, constants = _first_element(request)
    return _pairs(request, "random_uniform.wgsl", (step,), first, **constants)


def lower_random_normal(request: KernelRequest) -> Lowering:
    """Lower random_normal of (step): float32 of mean 0 and standard deviation 1."""
    return _pairs(request, "random_normal.wgsl", (_step(request, 0),))


def lower_dropout(request: KernelRequest) -> Lowering:
    """Lower dropout of (x, step): 0 where an element is dropped, x / (1 - rate) elsewhere.

    attrs ``rate`` in [0, 1), and ``first_row``, the row of the batch that is row 0 of x.
    """
    rate = float(request.attrs["rate"])
    first, constants = _first_element(request)
    return _pairs(
        request,
        "dropout.wgsl",
        (input_binding("source", 0, request.inputs[0]), _step(request, 1)),
        first,
        RATE=repr(rate),
        SCALE=repr(1.0 / (1.0 - rate)),
        **constants,
    )


def lower_batch_indices(request: KernelRequest) -> Lowering:
    """Lower batch_indices of (step, started): the int32 indices of its samples."""
    attrs = request.attrs
    count, batch = int(attrs["count"]), int(attrs["batch"])
    steps, stride = attrs["rounds"] or (0, batch)
    call = item_kernel(
        request,
        "batch_indices.wgsl",
        batch,
        (
            _step(request, 0),
            input_binding("started", 1, request.inputs[1]),
            output_binding("result", 0, request.outputs[0]),
        ),
        {key: attrs[key] for key in ("count", "batch", "seed", "shuffle", "rounds")},
        loops=(Loop(_DRAWS),),
        iterations=3 * _ROUNDS,
        COUNT=count,
        BATCH=batch,
        STEPS=int(steps),
        STRIDE=int(stride),
        SHUFFLE=bool(attrs["shuffle"]),
        HALF_BITS=half_bits(count),
        **_seed(request),
    )
    return Lowering((call,))


def _first_element(request: KernelRequest) -> tuple[int, dict[str, Any]]:
    """Return the position of the first element in the whole batch, and the kernel's constants."""
    row = math.prod(request.outputs[0].static_shape[1:])
    first = int(request.attrs.get("first_row", 0)) * row
    return first, {"FIRST_PAIR": first // 2, "SKIPPED": first % 2}


def _step(request: KernelRequest, index: int) -> Binding:
    return input_binding("step_number", index, request.inputs[index])


def _seed(request: KernelRequest) -> dict[str, Any]:
    first, second = request.attrs["seed"]
    return {"SEED_0": int(first) & 0xFFFFFFFF, "SEED_1": int(second) & 0xFFFFFFFF}


def _pairs(
    request: KernelRequest,
    kernel: str,
    inputs: tuple[Binding, ...],
    first: int = 0,
    **constants: Any,
) -> Lowering:
    """Lower to one invocation for two elements, which share a call of the generator.

    Args:
        first: the position of the first element among the numbers of the step.
    """
    elements = request.outputs[0].size
    call = item_kernel(
        request,
        kernel,
        (first + elements + 1) // 2 - first // 2,
        (*inputs, *request.epilogue_bindings(), output_binding("result", 0, request.outputs[0])),
        {"elements": elements, "first": first, "seed": list(request.attrs["seed"])},
        iterations=_ROUNDS,
        ELEMENTS=elements,
        store=request.store("result"),
        **_seed(request),
        **constants,
    )
    return Lowering((call,))
