"""Functions that exported scripts contain where one expression of NumPy would not do.

A script contains the functions that it calls, and the functions that these call. They are named
like the operations, take their inputs and attributes, and use nothing but ``np`` and ``math``.
"""

# No annotations: the sources become part of scripts for readers who may be new to Python.
# mypy: ignore-errors

import math

import numpy as np


def erf(x):
    """The error function."""
    return np.vectorize(math.erf, otypes=[x.dtype])(x)


def gelu(x):
    return x * (1 + erf(x * math.sqrt(0.5))) / 2


def sigmoid(x):
    return (1 + np.tanh(x / 2)) / 2


def selu(x):
    scale, alpha = 1.0507009873554805, 1.6732632423543772
    return scale * np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


def softmax(x, axis):
    weights = np.exp(x - x.max(axis, keepdims=True, initial=-np.inf))
    return weights / weights.sum(axis, keepdims=True)


def log_softmax(x, axis):
    x = x - x.max(axis, keepdims=True, initial=-np.inf)
    return x - np.log(np.exp(x).sum(axis, keepdims=True))


def layer_normalization(x, gamma, beta, epsilon):
    x = x - x.mean(-1, keepdims=True)
    variance = (x * x).mean(-1, keepdims=True)
    variance[np.isinf(variance)] = np.nan
    return x / np.sqrt(variance + epsilon) * gamma + beta


def pad(x, padding, value):
    return np.pad(x, padding, constant_values=value) if padding else x


def cumsum(x, axis, exclusive, reverse):
    x = np.flip(x, axis) if reverse else x
    sums = np.cumsum(x, axis, dtype=x.dtype)
    if exclusive:
        sums = sums - x
    return np.flip(sums, axis) if reverse else sums


def argsort(x, axis, descending):
    """Equal elements keep their order."""
    if not descending:
        return np.argsort(x, axis, kind="stable").astype(np.int32)
    last = x.shape[axis] - 1
    places = np.argsort(np.flip(x, axis), axis, kind="stable")
    return np.flip(last - places, axis).astype(np.int32)


def scatter_add(updates, indices, rows, axis=0, sorted=False):
    """The sums of the updates of each row."""
    shape = (*updates.shape[:axis], rows, *updates.shape[axis + indices.ndim :])
    sums = np.zeros(shape, updates.dtype)
    np.add.at(sums, (slice(None),) * axis + (indices,), updates)
    return sums


def segment_max(x, ids, rows, sorted=False):
    return segment_extreme(np.maximum, x, ids, rows)


def segment_min(x, ids, rows, sorted=False):
    return segment_extreme(np.minimum, x, ids, rows)


def segment_sum_like(x, ids, like, sorted=False):
    return scatter_add(x, ids, len(like))


def segment_max_like(x, ids, like, sorted=False):
    return segment_extreme(np.maximum, x, ids, len(like))


def segment_min_like(x, ids, like, sorted=False):
    return segment_extreme(np.minimum, x, ids, len(like))


def gather_sum(x, sources, targets, rows, sorted=False):
    return scatter_add(x[sources], targets, rows)


def weighted_gather_sum(x, sources, targets, weights, rows, sorted=False):
    factors = weights.reshape(*weights.shape, *[1] * (x.ndim - weights.ndim))
    return scatter_add(x[sources] * factors, targets, rows)


def gather_sum_like(x, sources, targets, like, sorted=False):
    return gather_sum(x, sources, targets, len(like))


def weighted_gather_sum_like(x, sources, targets, weights, like, sorted=False):
    return weighted_gather_sum(x, sources, targets, weights, len(like))


def segment_extreme(ufunc, x, ids, rows):
    """The largest or smallest of the rows of each segment; 0 for none."""
    result = np.zeros((rows, *x.shape[ids.ndim :]), x.dtype)
    result[ids] = x
    ufunc.at(result, ids, x)
    return result


def broadcast_axes(x, axes, sizes):
    shape = list(x.shape)
    for axis, size in zip(axes, sizes, strict=True):
        shape[axis] = size
    return np.broadcast_to(x, shape)


def merge_axes(x, axis):
    merged = x.shape[axis] * x.shape[axis + 1]
    return x.reshape(*x.shape[:axis], merged, *x.shape[axis + 2 :])


def matmul(a, b, transpose_a=False, transpose_b=False):
    a = a.swapaxes(-1, -2) if transpose_a else a
    return a @ (b.swapaxes(-1, -2) if transpose_b else b)


def windows(image, size, strides, padding, dilations=(1, 1), value=0.0):
    """The windows of images: (batch, out height, out width, channels, height, width)."""
    image = np.pad(image, [(0, 0), *padding, (0, 0)], constant_values=value)
    extent = [(n - 1) * d + 1 for n, d in zip(size, dilations, strict=True)]
    parts = np.lib.stride_tricks.sliding_window_view(image, extent, axis=(1, 2))
    parts = parts[:, :: strides[0], :: strides[1]]
    return parts[..., :: dilations[0], :: dilations[1]]


def conv2d(image, filters, strides, padding, dilations=(1, 1), groups=1):
    parts = windows(image, filters.shape[:2], strides, padding, dilations)
    channels, out = filters.shape[2], filters.shape[3] // groups
    results = [
        np.tensordot(
            parts[:, :, :, group * channels : (group + 1) * channels],
            filters[..., group * out : (group + 1) * out],
            axes=[(4, 5, 3), (0, 1, 2)],
        )
        for group in range(groups)
    ]
    return np.concatenate(results, axis=-1)


def conv2d_transpose(filters, image, strides, padding, output_padding, dilations=(1, 1)):
    batch, rows, columns, _ = image.shape
    (top, bottom), (left, right) = padding
    extent = [(n - 1) * d + 1 for n, d in zip(filters.shape[:2], dilations, strict=True)]
    height = (rows - 1) * strides[0] + extent[0] + output_padding[0]
    width = (columns - 1) * strides[1] + extent[1] + output_padding[1]
    result = np.zeros((batch, height, width, filters.shape[2]), image.dtype)
    for i, j in np.ndindex(*filters.shape[:2]):
        y, x = i * dilations[0], j * dilations[1]
        down = slice(y, y + (rows - 1) * strides[0] + 1, strides[0])
        along = slice(x, x + (columns - 1) * strides[1] + 1, strides[1])
        result[:, down, along] += image @ filters[i, j].T
    return result[:, top : height - bottom, left : width - right]


def max_pool2d(image, pool_size, strides, padding):
    return windows(image, pool_size, strides, padding, value=-np.inf).max(axis=(4, 5))


def avg_pool2d(image, pool_size, strides, padding):
    """Padding does not count."""
    sums = windows(image, pool_size, strides, padding).sum(axis=(4, 5))
    inside = np.ones((1, *image.shape[1:3], 1), image.dtype)
    return sums / windows(inside, pool_size, strides, padding).sum(axis=(4, 5))


def resize(image, size, interpolation):
    for axis, after in zip((1, 2), size, strict=True):
        before = image.shape[axis]
        centres = (2 * np.arange(after) + 1) * before
        if interpolation == "nearest":
            image = image.take(centres // (2 * after), axis)
            continue
        places = np.clip(centres - after, 0, 2 * after * (before - 1))
        first = places // (2 * after)
        second = np.minimum(first + 1, before - 1)
        weight = (places % (2 * after) / (2 * after)).astype(image.dtype)
        weight = weight.reshape(-1, *[1] * (3 - axis))
        image = image.take(first, axis) * (1 - weight) + image.take(second, axis) * weight
    return image


def upsample(image, factors, interpolation):
    size = [n * factor for n, factor in zip(image.shape[1:3], factors, strict=True)]
    return resize(image, size, interpolation)


def dot_product_attention(query, key, value, mask=None, scale=1.0, is_causal=False):
    query, key, value = (x.transpose(0, 2, 1, 3) for x in (query, key, value))
    scores = query * scale @ key.swapaxes(-1, -2)
    seen = np.ones((1, 1, 1, 1), bool) if mask is None else mask
    if is_causal:
        seen = seen & np.tri(*scores.shape[-2:], dtype=bool)
    weights = softmax(np.where(seen, scores, np.asarray(-1e9, scores.dtype)), -1) * seen
    return (weights @ value).transpose(0, 2, 1, 3)


def lstm_cell(gates, cell):
    enter, forget, candidate, leave = np.split(gates, 4, axis=1)
    cell = sigmoid(forget) * cell + sigmoid(enter) * np.tanh(candidate)
    return sigmoid(leave) * np.tanh(cell), cell


def gru_cell(inputs, recurrent, state):
    update, reset, new = np.split(inputs, 3, axis=1)
    recurrent_update, recurrent_reset, recurrent_new = np.split(recurrent, 3, axis=1)
    share = sigmoid(update + recurrent_update)
    candidate = np.tanh(new + sigmoid(reset + recurrent_reset) * recurrent_new)
    return share * state + (1 - share) * candidate
