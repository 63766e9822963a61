"""Operations of all kinds for random graphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import playgrad as pg
from playgrad import ops
from playgrad.graph.tensor import Tensor
from tests.runtime.random_graphs import FLOATS, INTEGERS, RandomGraph

_ONE: Sequence[Callable[..., Tensor]] = (
    ops.absolute, ops.neg, ops.exp, ops.log, ops.sqrt, ops.rsqrt, ops.square, ops.reciprocal,
    ops.sin, ops.cos, ops.tan, ops.tanh, ops.sigmoid, ops.relu, ops.gelu, ops.elu, ops.selu,
    ops.silu, ops.mish, ops.softplus, ops.softsign, ops.log_sigmoid, ops.hard_silu, ops.leaky_relu,
    ops.erf, ops.expm1, ops.log1p, ops.log2, ops.sinh, ops.cosh, ops.arcsin, ops.arcsinh,
    ops.arctan, ops.arctanh, ops.ceil, ops.floor, ops.round, ops.trunc, ops.sign, ops.is_nan,
)  # fmt: skip
_TWO: Sequence[Callable[..., Tensor]] = (
    ops.add, ops.sub, ops.mul, ops.div, ops.maximum, ops.minimum, ops.mod, ops.floor_divide,
    ops.pow, ops.squared_difference, ops.equal, ops.less, ops.greater_equal, ops.arctan2,
)  # fmt: skip
_REDUCTIONS: Sequence[Callable[..., Tensor]] = (
    ops.reduce_sum, ops.reduce_mean, ops.reduce_max, ops.reduce_min, ops.reduce_prod,
    ops.reduce_all, ops.reduce_any, ops.logsumexp, ops.std,
)  # fmt: skip
_SEGMENTS: Sequence[Callable[..., Tensor]] = (
    ops.segment_sum, ops.segment_max, ops.segment_min, ops.segment_mean, ops.segment_softmax,
)  # fmt: skip
_ANY = (*FLOATS, *INTEGERS, "bool")
_F32 = ("float32",)


def _one(g: RandomGraph) -> Tensor:
    return g.pick(_ONE)(g.any(_ANY))  # type: ignore[no-any-return]


def _two(g: RandomGraph) -> Tensor:
    a = g.any(_ANY)
    pair = [a, g.leaf(a.dtype, g.part(a.shape))]
    return g.pick(_TWO)(*(pair if g.chance(0.5) else pair[::-1]))  # type: ignore[no-any-return]


def _where(g: RandomGraph) -> Tensor:
    a = g.any(_ANY)
    condition = g.leaf("bool", g.part(a.shape))
    return ops.where(condition, a, g.leaf(a.dtype, g.part(a.shape)))


def _cast(g: RandomGraph) -> Tensor:
    x, dtype = g.any(_ANY), g.pick(_ANY)
    if x.dtype in FLOATS and dtype in INTEGERS:  # others depend on the device
        x = ops.where(ops.is_nan(x), ops.zeros_like(x), ops.clip(x, 0, 100))
    return ops.cast(x, dtype)


def _reduction(g: RandomGraph) -> Tensor:
    x = g.any(_ANY, 1)
    some = g.random.choice(x.spec.rank, g.number(1, x.spec.rank), replace=False)
    axes = g.pick([None, g.axis(x), tuple(int(axis) for axis in some)])
    return g.pick(_REDUCTIONS)(x, axes, keepdims=g.chance(0.5))  # type: ignore[no-any-return]


def _order(g: RandomGraph) -> Tensor:
    x = g.any(_ANY, 1)
    axis, backwards = g.axis(x), g.chance(0.5)
    return g.pick(  # type: ignore[no-any-return]
        [
            lambda: ops.sort(x, axis, backwards),
            lambda: ops.argsort(x, axis, backwards),
            lambda: ops.top_k(x, g.number(1, max(x.spec.static_shape[-1], 1)))[0],
            lambda: ops.argmax(x, axis, keepdims=backwards),
            lambda: ops.argmin(x, axis),
            lambda: ops.cumsum(x, axis, g.chance(0.5), backwards),
            lambda: ops.softmax(x, axis),
            lambda: ops.log_softmax(x, axis),
        ]
    )()


def _moved(g: RandomGraph) -> Tensor:
    x = g.any(_ANY, 1)
    shape, rank = x.spec.static_shape, x.spec.rank

    def begins_and_sizes() -> Tensor:
        begin = [g.number(0, size) for size in shape]
        return ops.slice_(x, begin, [g.number(0, n - b) for n, b in zip(shape, begin, strict=True)])

    def strided() -> Tensor:
        ends: Any = [None, -3, 0, 1, 2, 5], [None, -1, 3, 8], [1, 2, -1, -2, 3]
        return x[tuple(slice(*map(g.pick, ends)) for _ in range(g.number(1, rank)))]

    def padded() -> Tensor:
        widths = [[g.number(0, 3), g.number(0, 3)] for _ in shape]
        return ops.pad(x, widths, g.pick(["constant", "edge", "reflect", "symmetric"]))

    return g.pick(  # type: ignore[no-any-return]
        [
            begins_and_sizes,
            strided,
            padded,
            lambda: ops.transpose(x, [int(axis) for axis in g.random.permutation(rank)]),
            lambda: ops.flip(x, g.axis(x)),
            lambda: ops.roll(x, g.number(-9, 9), g.axis(x)),
            lambda: ops.tile(x, [g.number(0, 3) for _ in shape]),
            lambda: ops.repeat(x, g.number(0, 3), g.axis(x)),
            lambda: ops.flatten(x),
            lambda: ops.tril(x, g.number(-5, 5)),
            lambda: ops.broadcast_to(x, (g.number(0, 3), *shape)),
        ]
    )()


def _joined(g: RandomGraph) -> Tensor:
    x = g.any(_ANY, 1)
    axis, shape = g.axis(x), list(x.spec.static_shape)
    if g.chance(0.2):
        return ops.stack([x, x, g.leaf(x.dtype, shape)], g.number(0, x.spec.rank))
    parts = [x]
    for _ in range(g.number(1, 3)):
        shape[axis] = g.size()
        parts.append(x if g.chance(0.3) else g.leaf(x.dtype, shape))
    return ops.concat(parts, axis)


def _gathered(g: RandomGraph) -> Tensor:
    x = g.any(_ANY, 1)
    axis, shape = g.number(0, x.spec.rank - 1), x.spec.static_shape
    rows = shape[axis]
    count = g.number(0, 9) if rows else 0

    def numbers(*sizes: int) -> Tensor:
        return g.leaf("int32", sizes, g.random.integers(0, max(rows, 1), size=sizes))

    form = (*shape[:axis], count, *shape[axis + 1 :])
    return g.pick(  # type: ignore[no-any-return]
        [
            lambda: ops.gather(x, numbers(count, *g.shape(g.number(0, 1))), axis),
            lambda: ops.take_along_axis(x, numbers(*form), axis),
            lambda: ops.scatter_add(x, numbers(count), g.leaf(x.dtype, form), axis),
            lambda: ops.one_hot(numbers(*g.shape()), g.number(1, 9)),
        ]
    )()


def _segmented(g: RandomGraph) -> Tensor:
    x, count, in_order = g.any(_F32, 1), g.number(1, 9), g.chance(0.5)
    ids = g.random.integers(0, count, size=x.spec.static_shape[0])
    numbers = g.leaf("int32", ids.shape, np.sort(ids) if in_order else ids)
    return g.pick(_SEGMENTS)(  # type: ignore[no-any-return]
        x, numbers, count, indices_are_sorted=in_order
    )


def _product(g: RandomGraph) -> Tensor:
    a, turned, other = g.any(_F32, 2), g.chance(0.5), g.chance(0.5)
    *lead, rows, columns = a.spec.static_shape
    inner, width = rows if turned else columns, g.size()
    right = (width, inner) if other else (inner, width)
    return ops.matmul(a, g.leaf("float32", (*g.part(lead), *right)), turned, other)


def _window(g: RandomGraph) -> Tensor:
    channels = g.pick([1, 2, 3, 4, 6, 8])
    image = (g.number(0, 3), g.number(3, 12), g.number(3, 12), channels)
    x, kernel = g.leaf("float32", image), (g.number(1, 3), g.number(1, 3))
    dilation, border = g.pick([1, 1, 2]), g.pick(["same", "valid"])
    strides = (g.number(1, 3), g.number(1, 3)) if dilation == 1 else (1, 1)
    groups = g.pick([n for n in (1, 1, 2, 3, channels) if channels % n == 0])

    def filters(*sizes: int) -> Tensor:
        return g.leaf("float32", (*kernel, *sizes))

    each, outputs = channels // groups, g.number(1, 4)
    return g.pick(  # type: ignore[no-any-return]
        [
            lambda: ops.conv2d(
                x, filters(each, groups * outputs), strides, border, dilation, groups
            ),
            lambda: ops.depthwise_conv2d(x, filters(channels, outputs), 1, border, dilation),
            lambda: ops.conv2d_transpose(x, filters(outputs, channels), strides, border),
            lambda: ops.max_pool2d(x, kernel, strides, border),
            lambda: ops.avg_pool2d(x, kernel, strides, border),
            lambda: ops.resize(
                x, (g.number(1, 13), g.number(1, 13)), g.pick(["bilinear", "nearest"])
            ),
        ]
    )()


def _layer(g: RandomGraph) -> Tensor:
    x = g.any(_F32, 1)
    batch, units = g.size(), max(g.size(), 1)

    def normal(*shape: int) -> Tensor:
        return g.leaf("float32", shape)

    form = (g.number(1, 2), units, g.number(1, 2), g.pick([1, 4, 5, 8]))
    width = x.spec.static_shape[-1]
    labels = g.random.integers(0, units, size=batch)
    return g.pick(  # type: ignore[no-any-return]
        [
            lambda: ops.layer_normalization(x, normal(width), normal(width)),
            lambda: ops.dot_product_attention(
                normal(*form), normal(*form), normal(*form), is_causal=g.chance(0.4)
            ),
            lambda: ops.lstm_cell(normal(batch, 4 * units), normal(batch, units))[g.number(0, 1)],
            lambda: ops.gru_cell(
                normal(batch, 3 * units), normal(batch, 3 * units), normal(batch, units)
            ),
            lambda: ops.sparse_softmax_cross_entropy(
                normal(batch, units), g.leaf("int32", (batch,), labels)
            ),
            lambda: ops.dropout(x, g.pick([0.0, 0.3, 0.9]), seed=6),
        ]
    )()


def _control(g: RandomGraph) -> Tensor:
    x, count = g.any(_F32), g.number(0, 6)
    return g.pick(  # type: ignore[no-any-return]
        [
            lambda: pg.while_loop(
                lambda i, a: i < count,
                lambda i, a: (i + 1, ops.tanh(a) * 0.5 + ops.cast(i, "float32")),
                (ops.constant(0), x),
                maximum_iterations=g.pick([None, 10]),
            )[1],
            lambda: pg.scan(lambda carry, item: carry * 0.5 + item, x, reverse=g.chance(0.5)),
            lambda: pg.cond(
                g.leaf("bool", ()), lambda: ops.exp(ops.minimum(x, 5.0)), lambda: x * 2.0
            ),
        ]
    )()


def _gradient(g: RandomGraph) -> Tensor:
    floats = [x for x in g.tensors if x.dtype == "float32"] or [g.leaf("float32", (3,))]
    y = floats[-1]
    found = pg.gradients(ops.reduce_sum(y * g.leaf("float32", y.spec.static_shape)), floats[-5:-1])
    gradients = [x for x in found if x is not None] or [y]
    g.tensors += gradients[:-1]
    return gradients[-1]


KINDS: dict[Callable[[RandomGraph], Tensor], int] = {
    _one: 5, _two: 5, _where: 2, _cast: 2, _reduction: 3, _order: 3, _moved: 5, _joined: 2,
    _gathered: 2, _segmented: 1, _product: 2, _window: 2, _layer: 2, _control: 1, _gradient: 2,
}  # fmt: skip
