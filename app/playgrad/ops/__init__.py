"""The operations, by the names that users call. Each adds a node to a graph.

Importing this package registers all of them. Subpackages, each of which imports only those after
it: ``joined``; ``control``; ``training``; ``quantized``; ``convolution``, ``einsum``, ``random``,
``recurrent``; ``products``, ``reductions``, ``state``; ``arrays``; ``elementwise``; ``lowering``
(kernels); ``core`` (shared); ``expression`` (elementwise formulas).
"""

from types import ModuleType as _Module

from playgrad.ops import operators as operators
from playgrad.ops.arrays.along_axis import take_along_axis
from playgrad.ops.arrays.axes import flip, moveaxis, roll, swapaxes
from playgrad.ops.arrays.broadcast import broadcast_like, broadcast_to, sum_to_like
from playgrad.ops.arrays.concat import concat
from playgrad.ops.arrays.create import arange, eye, full, linspace, ones, range, zeros
from playgrad.ops.arrays.fill import fill, ones_like, size, zeros_like
from playgrad.ops.arrays.gather import gather, scatter_add
from playgrad.ops.arrays.getitem import getitem
from playgrad.ops.arrays.join import concatenate, split, stack, unstack
from playgrad.ops.arrays.one_hot import one_hot
from playgrad.ops.arrays.pad import pad
from playgrad.ops.arrays.pad_slice import slice_
from playgrad.ops.arrays.repeat import repeat, tile
from playgrad.ops.arrays.shape import (
    expand_dims,
    flatten,
    identity,
    reshape,
    reshape_like,
    squeeze,
    stop_gradient,
)
from playgrad.ops.arrays.sort import argsort, sort, top_k
from playgrad.ops.arrays.take import gather_nd, take
from playgrad.ops.arrays.transpose import transpose
from playgrad.ops.arrays.triangle import tril, triu
from playgrad.ops.attention import dot_product_attention
from playgrad.ops.control.cond import cond
from playgrad.ops.control.scan import scan
from playgrad.ops.control.while_loop import while_loop
from playgrad.ops.convolution import conv2d_gradients as conv2d_gradients
from playgrad.ops.convolution.avg_pool2d import avg_pool2d
from playgrad.ops.convolution.conv1d import conv1d
from playgrad.ops.convolution.conv2d import conv2d
from playgrad.ops.convolution.conv2d_transpose import conv2d_transpose
from playgrad.ops.convolution.depthwise_conv2d import depthwise_conv2d
from playgrad.ops.convolution.max_pool2d import max_pool2d
from playgrad.ops.convolution.resize import resize
from playgrad.ops.core.build import as_tensor, constant
from playgrad.ops.custom import register_op as register_op
from playgrad.ops.einsum import einsum
from playgrad.ops.elementwise.activations import (
    celu,
    elu,
    gelu,
    hard_sigmoid,
    hard_silu,
    hard_tanh,
    leaky_relu,
    log_sigmoid,
    mish,
    relu,
    relu6,
    selu,
    sigmoid,
    silu,
    softplus,
    softsign,
    tanh,
)
from playgrad.ops.elementwise.definitions import (
    absolute,
    add,
    cast,
    ceil,
    clip,
    cos,
    div,
    equal,
    exp,
    floor,
    floor_divide,
    greater,
    greater_equal,
    is_finite,
    is_inf,
    is_nan,
    less,
    less_equal,
    log,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    maximum,
    minimum,
    mod,
    mul,
    neg,
    not_equal,
    pow,
    reciprocal,
    round,
    rsqrt,
    sign,
    sin,
    sqrt,
    square,
    squared_difference,
    sub,
    trunc,
    where,
)
from playgrad.ops.elementwise.fake_quantize import fake_quantize
from playgrad.ops.elementwise.transcendental import (
    arccos,
    arccosh,
    arcsin,
    arcsinh,
    arctan,
    arctan2,
    arctanh,
    cosh,
    erf,
    expm1,
    log1p,
    log2,
    log10,
    sinh,
    tan,
)
from playgrad.ops.joined import joined_calls as joined_calls
from playgrad.ops.products.confusion_matrix import confusion_matrix
from playgrad.ops.products.matmul import matmul
from playgrad.ops.quantized.dequantize import dequantize_linear
from playgrad.ops.quantized.lookup import lookup
from playgrad.ops.quantized.quantize import quantize_linear
from playgrad.ops.quantized.quantized_add import quantized_add
from playgrad.ops.quantized.quantized_avg_pool2d import quantized_avg_pool2d
from playgrad.ops.quantized.quantized_conv2d import quantized_conv2d
from playgrad.ops.quantized.quantized_matmul import quantized_matmul
from playgrad.ops.quantized.quantized_max_pool2d import quantized_max_pool2d
from playgrad.ops.quantized.quantized_softmax import quantized_softmax
from playgrad.ops.quantized.rescale import rescale
from playgrad.ops.random.choices import random_bernoulli, random_categorical, random_permutation
from playgrad.ops.random.distributions import random_normal, random_uniform, truncated_normal
from playgrad.ops.random.dropout import dropout
from playgrad.ops.random.uniform_like import random_uniform_like
from playgrad.ops.recurrent.cells import gru_cell, lstm_cell
from playgrad.ops.reductions.argmax import argmax, argmin
from playgrad.ops.reductions.cross_entropy import (
    softmax_cross_entropy,
    sparse_softmax_cross_entropy,
)
from playgrad.ops.reductions.ctc_decode import ctc_greedy_decode
from playgrad.ops.reductions.ctc_loss import ctc_loss
from playgrad.ops.reductions.cumsum import cumsum
from playgrad.ops.reductions.layer_normalization import layer_normalization
from playgrad.ops.reductions.reduce import (
    reduce_max,
    reduce_mean,
    reduce_min,
    reduce_prod,
    reduce_sum,
)
from playgrad.ops.reductions.segments import (
    segment_max,
    segment_mean,
    segment_min,
    segment_softmax,
    segment_std,
    segment_sum,
)
from playgrad.ops.reductions.softmax import log_softmax, softmax
from playgrad.ops.reductions.sparse import sparse_dense_matmul
from playgrad.ops.reductions.statistics import logsumexp, norm, std, var
from playgrad.ops.reductions.truth import reduce_all, reduce_any
from playgrad.ops.state import (
    Variable,
    global_variables,
    group,
    placeholder,
    trainable_variables,
)
from playgrad.ops.training.adaptive_updates import apply_adagrad, apply_lion, apply_rmsprop
from playgrad.ops.training.batch_indices import batch_indices
from playgrad.ops.training.optimizer_updates import (
    apply_adam,
    apply_amsgrad,
    apply_momentum,
    apply_sgd,
)
from playgrad.ops.training.relative_updates import apply_adadelta, apply_adamax
from playgrad.ops.training.replica import cross_replica_mean, split_batch
from playgrad.ops.training.write_history import record

# The names that NumPy, Keras and TensorFlow agree on, for those with another one here.
abs = absolute
divide = div
hard_swish = hard_silu
isfinite = is_finite
isinf = is_inf
isnan = is_nan
multiply = mul
negative = neg
power = pow
subtract = sub
swish = silu
all = reduce_all
any = reduce_any
max = reduce_max
mean = reduce_mean
min = reduce_min
prod = reduce_prod
sum = reduce_sum

__all__ = [
    name
    for name, value in globals().items()
    if not (name.startswith("_") or isinstance(value, _Module))
]
