"""Operations along rows of float32: softmax, cross-entropy and layer normalization."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from playgrad.graph.opdef import Attrs
from playgrad.ops.core.row_share import SharedRows
from playgrad.ops.core.static_kernel import Write, static_kernel
from playgrad.ops.expression import simd
from playgrad.wasm import softmax
from playgrad.wasm.kernel import ArrayPlace, KernelCode
from playgrad.wasm.layer_norm import layer_normalization, layer_normalization_gradient

FUNCTIONS = softmax.Exponentials(simd.exp, simd.log)


_ROWS = SharedRows(4e-9, unless_first="axis")


def _softmax(logarithm: bool) -> Write:
    def emit(
        code: KernelCode, inputs: Sequence[ArrayPlace], outputs: Sequence[ArrayPlace], attrs: Attrs
    ) -> None:
        (x,), (y,), axis = inputs, outputs, attrs["axis"]
        stack, size, width = prod(x.shape[:axis]), x.shape[axis], prod(x.shape[axis + 1 :])
        if width == 1:
            softmax.softmax_rows(code, FUNCTIONS, stack, size, x.address, y.address, logarithm)
            return
        softmax.softmax_columns(
            code, FUNCTIONS, stack, size, width, x.address, y.address, logarithm
        )

    return emit


static_kernel("softmax", shared=_ROWS)(_softmax(logarithm=False))
static_kernel("log_softmax", shared=_ROWS)(_softmax(logarithm=True))


@static_kernel("sparse_softmax_cross_entropy", may_fail=True, shared=SharedRows(4e-9))
def _sparse(
    code: KernelCode, inputs: Sequence[ArrayPlace], outputs: Sequence[ArrayPlace], attrs: Attrs
) -> None:
    logits, labels = inputs
    places = [operand.address for operand in (logits, labels, *outputs)]
    softmax.sparse_cross_entropy(code, FUNCTIONS, *_matrix(logits), *places)


@static_kernel("softmax_cross_entropy", shared=SharedRows(4e-9))
def _dense(
    code: KernelCode, inputs: Sequence[ArrayPlace], outputs: Sequence[ArrayPlace], attrs: Attrs
) -> None:
    places = [operand.address for operand in (*inputs, *outputs)]
    softmax.dense_cross_entropy(code, FUNCTIONS, *_matrix(inputs[0]), *places)


@static_kernel("layer_normalization", shared=SharedRows(2e-9, whole=(1, 2)))
def _normalize(
    code: KernelCode, inputs: Sequence[ArrayPlace], outputs: Sequence[ArrayPlace], attrs: Attrs
) -> None:
    places = [operand.address for operand in (*inputs, *outputs)]
    layer_normalization(code, *_matrix(inputs[0]), attrs["epsilon"], *places)


@static_kernel("layer_normalization_gradient", shared=SharedRows(4e-9, whole=(1,)))
def _normalize_gradient(
    code: KernelCode, inputs: Sequence[ArrayPlace], outputs: Sequence[ArrayPlace], attrs: Attrs
) -> None:
    places = [operand.address for operand in (*inputs, *outputs)]
    layer_normalization_gradient(code, *_matrix(inputs[0]), attrs["epsilon"], *places)


def _matrix(x: ArrayPlace) -> tuple[int, int]:
    """Return the numbers of rows and of elements of each."""
    return prod(x.shape[:-1]), x.shape[-1]
