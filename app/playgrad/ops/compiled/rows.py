"""Operations along rows of float32: softmax, cross-entropy and layer normalization."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from playgrad.graph.opdef import Attrs
from playgrad.ops.compiled.emitter import Emit, emits
from playgrad.ops.expression import simd
from playgrad.wasm import softmax
from playgrad.wasm.kernel import KernelCode, NotCompiledError, Operand
from playgrad.wasm.layer_norm import layer_normalization, layer_normalization_gradient

FUNCTIONS = softmax.Exponentials(simd.exp, simd.log)


def expect_float32(*operands: Operand) -> None:
    """Raise NotCompiledError unless all are float32."""
    for operand in operands:
        if operand.dtype != "float32":
            raise NotCompiledError(f"only float32, not {operand.dtype}")


def _softmax(logarithm: bool) -> Emit:
    def emit(
        code: KernelCode, inputs: Sequence[Operand], outputs: Sequence[Operand], attrs: Attrs
    ) -> None:
        (x,), (y,), axis = inputs, outputs, attrs["axis"]
        expect_float32(x)
        stack, size, width = prod(x.shape[:axis]), x.shape[axis], prod(x.shape[axis + 1 :])
        if width == 1:
            softmax.softmax_rows(code, FUNCTIONS, stack, size, x.address, y.address, logarithm)
            return
        softmax.softmax_columns(
            code, FUNCTIONS, stack, size, width, x.address, y.address, logarithm
        )

    return emit


emits("softmax")(_softmax(logarithm=False))
emits("log_softmax")(_softmax(logarithm=True))


@emits("sparse_softmax_cross_entropy")
def _sparse(
    code: KernelCode, inputs: Sequence[Operand], outputs: Sequence[Operand], attrs: Attrs
) -> None:
    logits, labels = inputs
    expect_float32(logits)
    places = [operand.address for operand in (logits, labels, *outputs)]
    softmax.sparse_cross_entropy(code, FUNCTIONS, *_matrix(logits), *places)


@emits("softmax_cross_entropy")
def _dense(
    code: KernelCode, inputs: Sequence[Operand], outputs: Sequence[Operand], attrs: Attrs
) -> None:
    expect_float32(*inputs)
    places = [operand.address for operand in (*inputs, *outputs)]
    softmax.dense_cross_entropy(code, FUNCTIONS, *_matrix(inputs[0]), *places)


@emits("layer_normalization")
def _normalize(
    code: KernelCode, inputs: Sequence[Operand], outputs: Sequence[Operand], attrs: Attrs
) -> None:
    expect_float32(*inputs)
    places = [operand.address for operand in (*inputs, *outputs)]
    layer_normalization(code, *_matrix(inputs[0]), attrs["epsilon"], *places)


@emits("layer_normalization_gradient")
def _normalize_gradient(
    code: KernelCode, inputs: Sequence[Operand], outputs: Sequence[Operand], attrs: Attrs
) -> None:
    expect_float32(*inputs)
    places = [operand.address for operand in (*inputs, *outputs)]
    layer_normalization_gradient(code, *_matrix(inputs[0]), attrs["epsilon"], *places)


def _matrix(x: Operand) -> tuple[int, int]:
    """Return the numbers of rows and of elements of each."""
    return prod(x.shape[:-1]), x.shape[-1]
