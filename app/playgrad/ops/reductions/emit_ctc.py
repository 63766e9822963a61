"""The emitters of ``ctc_loss`` and its derivative."""

from __future__ import annotations

from collections.abc import Sequence

from playgrad.graph.opdef import Attrs
from playgrad.ops.core.static_kernel import static_kernel
from playgrad.ops.reductions.emit_rows import FUNCTIONS
from playgrad.wasm.ctc import CtcForm, CtcPlaces, CtcWriter
from playgrad.wasm.kernel import ArrayPlace, KernelCode


def _writer(code: KernelCode, inputs: Sequence[ArrayPlace], attrs: Attrs, keeps: bool) -> CtcWriter:
    batch, times, classes = inputs[0].shape
    labels = inputs[1].shape[1]
    form = CtcForm(batch, times, classes, labels, attrs["blank"], attrs["zero_infinity"])
    places = CtcPlaces(*(code.f.copy(x.address) for x in inputs))
    return CtcWriter(code, form, FUNCTIONS, places, keeps)


@static_kernel("ctc_loss", may_fail=True)
def _loss(
    code: KernelCode, inputs: Sequence[ArrayPlace], outputs: Sequence[ArrayPlace], attrs: Attrs
) -> None:
    _writer(code, inputs, attrs, keeps=False).losses(outputs[0].address)


@static_kernel("ctc_loss_gradient", may_fail=True)
def _derivative(
    code: KernelCode, inputs: Sequence[ArrayPlace], outputs: Sequence[ArrayPlace], attrs: Attrs
) -> None:
    _writer(code, inputs, attrs, keeps=True).derivatives(outputs[0].address)
