"""Lowering of the CTC loss: the recursions of each sample, then the derivative of each time.

An invocation follows a sample through all times, since each needs the one before, without barriers,
which are slow on software adapters.
"""

from __future__ import annotations

from playgrad.ops.core.kernel import (
    Binding,
    KernelCall,
    KernelRequest,
    Lowering,
    input_binding,
    output_binding,
)
from playgrad.ops.lowering.item_kernel import item_kernel

_NAMES = ("log_probs", "labels", "target_lengths", "output_lengths")


def lower_ctc_loss(request: KernelRequest) -> Lowering:
    """Lower the loss of (log_probs [b, t, c], labels [b, u], lengths [b] of both)."""
    batch = request.inputs[0].static_shape[0]
    loss = output_binding("loss", 0, request.outputs[0])
    infinity = "bitcast<f32>(infinity_bits)"
    return Lowering(
        (_call(request, "ctc_loss.wgsl", batch, loss, impossible=infinity),),
        scratch=(_paths_size(request, 1),),
    )


def lower_ctc_gradient(request: KernelRequest) -> Lowering:
    """Lower the derivative of the loss by log_probs, [b, t, c], from the inputs of the loss."""
    batch, times, _ = request.inputs[0].static_shape
    derivative = output_binding("derivative", 0, request.outputs[0])
    calls = (
        _call(request, "ctc_paths.wgsl", 2 * batch),
        _call(request, "ctc_derivative.wgsl", batch * times, derivative, impossible="make_nan()"),
    )
    return Lowering(calls, scratch=(_paths_size(request, 2),))


def _call(
    request: KernelRequest, kernel: str, items: int, *outputs: Binding, impossible: str = ""
) -> KernelCall:
    """Return a dispatch with the inputs, the paths and ``outputs``.

    Args:
        impossible: WGSL of the result of a sample without an alignment, unless it is 0.
    """
    batch, times, classes = request.inputs[0].static_shape
    labels, attrs = request.inputs[1].static_shape[1], request.attrs
    inputs = [input_binding(name, i, request.inputs[i]) for i, name in enumerate(_NAMES)]
    if impossible:
        impossible = "0.0" if attrs["zero_infinity"] else impossible
    return item_kernel(
        request,
        kernel,
        items,
        (*inputs, Binding("paths", "scratch", 0, "f32"), *outputs),
        {"times": times, "classes": classes, "labels": labels, **attrs},
        iterations=(2 * labels + 1) * (1 if kernel == "ctc_derivative.wgsl" else times),
        CLASSES=classes,
        TIMES=max(1, times),
        LABELS=labels,
        BLANK=attrs["blank"],
        SAMPLES=batch,
        **({"IMPOSSIBLE": impossible} if impossible else {}),
    )


def _paths_size(request: KernelRequest, halves: int) -> int:
    """Return the bytes of the paths: forwards, or in two halves."""
    batch, times, _ = request.inputs[0].static_shape
    return 4 * max(1, halves * batch * times * (2 * request.inputs[1].static_shape[1] + 1))
