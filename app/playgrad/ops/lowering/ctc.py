"""Lowering of the CTC loss: the recursions of each sample, then the derivative of each time.

An invocation follows a sample through all times, since each needs the one before, without barriers,
which are slow on software adapters. Where the driver would end that loop early, several dispatches
follow some times each.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from playgrad.ops.core.kernel import (
    Binding,
    KernelCall,
    KernelRequest,
    Lowering,
    input_binding,
    output_binding,
)
from playgrad.ops.core.loops import Loop, nested
from playgrad.ops.lowering.item_kernel import item_kernel

_NAMES = ("log_probs", "labels", "target_lengths", "output_lengths")
_PATHS = Binding("paths", "scratch", 0, "f32")


def lower_ctc_loss(request: KernelRequest) -> Lowering:
    """Lower the loss of (log_probs [b, t, c], labels [b, u], lengths [b] of both)."""
    batch = request.inputs[0].static_shape[0]
    *before, last = _windows(request, 1)
    loss = output_binding("loss", 0, request.outputs[0])
    infinity = "bitcast<f32>(infinity_bits)"
    calls = [_follow(request, 1, window) for window in before]
    calls.append(
        _call(
            request,
            "ctc_loss.wgsl",
            batch,
            (_states_of(request, len(last)), Loop(_labels(request))),
            loss,
            rewritten=bool(before),
            IMPOSSIBLE="0.0" if request.attrs["zero_infinity"] else infinity,
            **_limits(last),
        )
    )
    return Lowering(tuple(calls), scratch=(_paths_size(request, 1),))


def lower_ctc_gradient(request: KernelRequest) -> Lowering:
    """Lower the derivative of the loss by log_probs, [b, t, c], from the inputs of the loss."""
    batch, times, classes = request.inputs[0].static_shape
    calls = [_follow(request, 2, window) for window in _windows(request, 2)]
    calls.append(
        _call(
            request,
            "ctc_derivative.wgsl",
            batch * times,
            (Loop(classes), Loop(_labels(request)), _states_of(request)),
            output_binding("derivative", 0, request.outputs[0]),
            IMPOSSIBLE="0.0" if request.attrs["zero_infinity"] else "make_nan()",
        )
    )
    return Lowering(tuple(calls), scratch=(_paths_size(request, 2),))


def _windows(request: KernelRequest, halves: int) -> list[range]:
    """Return the times that a dispatch follows, one after the other, in one or both directions."""
    times, most = request.inputs[0].static_shape[1], request.target.loop_rounds
    size = max(times, 1)
    if most is not None:
        rounds_of_time = halves * (2 * _labels(request) + 3)
        size = min(size, max(1, (most - _labels(request)) // rounds_of_time - 1))
    return [range(first, min(first + size, times)) for first in range(0, max(times, 1), size)]


def _follow(request: KernelRequest, halves: int, window: range) -> KernelCall:
    """Return a dispatch that follows samples through the times of ``window``: forwards, and if
    there are two halves, backwards.

    Invocations of both halves may be in one vector, which then runs the loops of both.
    """
    items = halves * request.inputs[0].static_shape[0]
    loops = (_states_of(request, len(window)),) * halves
    later = window.start > 0
    return _call(request, "ctc_paths.wgsl", items, loops, rewritten=later, **_limits(window))


def _limits(window: range) -> dict[str, Any]:
    return {"BEGIN": window.start, "END": window.stop}


def _labels(request: KernelRequest) -> int:
    return request.inputs[1].static_shape[1]


def _states_of(request: KernelRequest, times: int | None = None) -> Loop:
    """Return the loop over the states, of each of ``times`` unless that is None."""
    states = 2 * _labels(request) + 1
    return Loop(states) if times is None else nested(times, states)


def _call(
    request: KernelRequest,
    kernel: str,
    items: int,
    loops: tuple[Loop, ...],
    *outputs: Binding,
    rewritten: bool = False,
    **constants: Any,
) -> KernelCall:
    """Return a dispatch with the inputs, the paths and ``outputs``.

    Args:
        rewritten: whether it writes paths that a dispatch before has begun.
    """
    batch, times, classes = request.inputs[0].static_shape
    labels, attrs = _labels(request), request.attrs
    inputs = [input_binding(name, i, request.inputs[i]) for i, name in enumerate(_NAMES)]
    return item_kernel(
        request,
        kernel,
        items,
        (*inputs, replace(_PATHS, rewritten=rewritten), *outputs),
        {"times": times, "classes": classes, "labels": labels, **attrs},
        loops,
        CLASSES=classes,
        TIMES=max(1, times),
        LABELS=labels,
        BLANK=attrs["blank"],
        SAMPLES=batch,
        **constants,
    )


def _paths_size(request: KernelRequest, halves: int) -> int:
    """Return the bytes of the paths: forwards, or in two halves."""
    batch, times, _ = request.inputs[0].static_shape
    return 4 * max(1, halves * batch * times * (2 * _labels(request) + 1))
