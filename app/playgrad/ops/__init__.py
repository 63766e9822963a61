"""The operations, by the names that users call. Each adds a node to a graph.

Importing this package registers all of them. Subpackages, each of which imports only those after
it: ``training``; ``convolution``, ``random``; ``products``, ``reductions``, ``state``; ``arrays``;
``elementwise``; ``lowering`` (kernels); ``core`` (shared); ``expression`` (elementwise formulas).
"""

from playgrad.ops import operators as operators
from playgrad.ops.arrays.broadcast import broadcast_like, broadcast_to, sum_to_like
from playgrad.ops.arrays.concat import concat
from playgrad.ops.arrays.fill import fill, ones_like, size, zeros_like
from playgrad.ops.arrays.gather import gather, one_hot
from playgrad.ops.arrays.getitem import getitem
from playgrad.ops.arrays.pad_slice import pad, slice_
from playgrad.ops.arrays.shape import (
    expand_dims,
    flatten,
    identity,
    reshape,
    reshape_like,
    squeeze,
    stop_gradient,
)
from playgrad.ops.arrays.transpose import transpose
from playgrad.ops.convolution import conv2d_gradients as conv2d_gradients
from playgrad.ops.convolution.avg_pool2d import avg_pool2d
from playgrad.ops.convolution.conv2d import conv2d
from playgrad.ops.convolution.max_pool2d import max_pool2d
from playgrad.ops.core.build import as_tensor, constant
from playgrad.ops.elementwise.activations import (
    elu,
    gelu,
    leaky_relu,
    relu,
    selu,
    sigmoid,
    silu,
    softplus,
    tanh,
)
from playgrad.ops.elementwise.definitions import (
    absolute,
    add,
    cast,
    ceil,
    cos,
    div,
    equal,
    exp,
    floor,
    greater,
    greater_equal,
    is_finite,
    is_nan,
    less,
    less_equal,
    log,
    logical_and,
    logical_not,
    logical_or,
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
    where,
)
from playgrad.ops.products.matmul import matmul
from playgrad.ops.random.distributions import random_normal, random_uniform, truncated_normal
from playgrad.ops.random.dropout import dropout
from playgrad.ops.reductions.argmax import argmax
from playgrad.ops.reductions.cross_entropy import (
    softmax_cross_entropy,
    sparse_softmax_cross_entropy,
)
from playgrad.ops.reductions.reduce import reduce_max, reduce_mean, reduce_min, reduce_sum
from playgrad.ops.reductions.softmax import log_softmax, softmax
from playgrad.ops.state import (
    Variable,
    global_variables,
    group,
    placeholder,
    trainable_variables,
)
from playgrad.ops.training.batch_indices import batch_indices
from playgrad.ops.training.optimizer_updates import apply_adam, apply_momentum, apply_sgd
from playgrad.ops.training.replica import cross_replica_mean, split_batch
from playgrad.ops.training.write_history import record

__all__ = [
    "Variable",
    "absolute",
    "add",
    "apply_adam",
    "apply_momentum",
    "apply_sgd",
    "argmax",
    "as_tensor",
    "avg_pool2d",
    "batch_indices",
    "broadcast_like",
    "broadcast_to",
    "cast",
    "ceil",
    "concat",
    "constant",
    "conv2d",
    "cos",
    "cross_replica_mean",
    "div",
    "dropout",
    "elu",
    "equal",
    "exp",
    "expand_dims",
    "fill",
    "flatten",
    "floor",
    "gather",
    "gelu",
    "getitem",
    "global_variables",
    "greater",
    "greater_equal",
    "group",
    "identity",
    "is_finite",
    "is_nan",
    "leaky_relu",
    "less",
    "less_equal",
    "log",
    "log_softmax",
    "logical_and",
    "logical_not",
    "logical_or",
    "matmul",
    "max_pool2d",
    "maximum",
    "minimum",
    "mod",
    "mul",
    "neg",
    "not_equal",
    "one_hot",
    "ones_like",
    "pad",
    "placeholder",
    "pow",
    "random_normal",
    "random_uniform",
    "reciprocal",
    "record",
    "reduce_max",
    "reduce_mean",
    "reduce_min",
    "reduce_sum",
    "relu",
    "reshape",
    "reshape_like",
    "round",
    "rsqrt",
    "selu",
    "sigmoid",
    "sign",
    "silu",
    "sin",
    "size",
    "slice_",
    "softmax",
    "softmax_cross_entropy",
    "softplus",
    "sparse_softmax_cross_entropy",
    "split_batch",
    "sqrt",
    "square",
    "squared_difference",
    "squeeze",
    "stop_gradient",
    "sub",
    "sum_to_like",
    "tanh",
    "trainable_variables",
    "transpose",
    "truncated_normal",
    "where",
    "zeros_like",
]
