"""A quantized network as a list of integer operations: what the writers of files read.

An int8 tensor stands for real numbers: real = scale · (q − zero_point). Shapes are without the
batch. The steps are in an order in which they can be computed; each tensor is an input of the
program or the output of one step. The integers are those of the operations of the same names in
``ops/quantized``.

======================= ============================================== =============================
step                    attributes                                     constants
======================= ============================================== =============================
quantize, dequantize    scale, zero_point
quantized_matmul        zero_point, low, high                          kernel (in, out), and those
                                                                       of every product
quantized_conv2d        strides, padding, dilation, input_dilation,   kernel (height, width,
                        groups, pad_value, zero_point, low, high       in / groups, out), likewise
quantized_add           left_zero_point, right_zero_point,
                        left_multiplier, right_multiplier, shift,
                        zero_point, low, high
rescale                 input_zero_point, multiplier, shift,
                        zero_point, low, high
lookup                                                                 table int8 (256,)
quantized_softmax                                                      table int32 (256,)
quantized_max_pool2d,   window, strides, padding
quantized_avg_pool2d
gather                                                                 table int8 (rows, width)
reshape
transpose               permutation
concat                  axis
upsample                factors (height, width)
======================= ============================================== =============================

``padding`` is ((top, bottom), (left, right)); ``strides``, ``dilation``, ``input_dilation``,
``window`` and ``factors`` are (height, width). ``permutation`` and ``axis`` count the batch. The
scale of ``quantize`` is not that of its output if the network multiplies its inputs first: pixels of
0 to 255 with the scale 1 may stand for numbers with the scale 1 / 255. Products have the constants kernel (int8), bias, multiplier and shift (int32, one an
output channel), and weight_scale (float32, likewise): real weight = weight_scale · kernel. The zero
point of the input is folded into the bias: a product of real numbers has the bias
``bias + zero_point · Σ kernel`` at the scale ``input scale · weight_scale``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]


class IntegerTensor(NamedTuple):
    """A tensor between steps.

    Attributes:
        shape: without the batch.
        scale, zero_point: of int8 tensors; 1 and 0 for others.
        dtype: "int8"; "float32" before ``quantize`` and after ``dequantize``; "int32" for the
            indices of an embedding.
    """

    shape: tuple[int, ...]
    scale: float
    zero_point: int
    dtype: str


class IntegerStep(NamedTuple):
    """An operation, with constants instead of variables.

    Attributes:
        op: the name of the operation, from the table above.
        name: the name of the layer.
        inputs, output: names of tensors of the program.
    """

    op: str
    name: str
    inputs: tuple[str, ...]
    output: str
    attrs: Mapping[str, Any]
    constants: Mapping[str, Array]


class IntegerProgram(NamedTuple):
    """A network of integer operations.

    Attributes:
        inputs, outputs: names of tensors; each different.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    tensors: Mapping[str, IntegerTensor]
    steps: tuple[IntegerStep, ...]
