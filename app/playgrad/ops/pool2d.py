"""Maximum and average pooling of images, and their gradients.

Images are (batch, height, width, channels). A maximum keeps the position it came from, a flat
number ``row * width + column`` in its channel of the image, so that the gradient knows where to go.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Any

import numpy as np

from playgrad.errors import DTypeError, ShapeError, shape_text
from playgrad.graph.opdef import Array, Attrs, InvalidSample, OpDef, Sample, register
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Node, Tensor
from playgrad.ops.broadcast import Specialised, is_static
from playgrad.ops.build import add_node, as_tensor, expect_dtype, expect_floating, expect_rank
from playgrad.ops.lowering.pool2d import (
    lower_avg_pool2d,
    lower_avg_pool2d_gradient,
    lower_max_pool2d,
    lower_max_pool2d_gradient,
)
from playgrad.ops.lowering.take import lower_max_pool2d_take
from playgrad.ops.samples import distinct, floats, integers
from playgrad.ops.window import (
    Padding,
    crop,
    output_sizes,
    pad_image,
    padded_zeros,
    pair,
    resolve_padding,
    shifted,
)

Size = int | Sequence[int]


def max_pool2d(
    x: Any,
    pool_size: Size = (2, 2),
    strides: Size | None = None,
    padding: Padding = "valid",
    name: str | None = None,
) -> Tensor:
    """The largest pixel of each window, channel by channel; of equal ones the first.

    Args:
        x: (batch, height, width, channels).
        strides: distance between windows; None: ``pool_size``.
    """
    return _pool(_MAX, x, pool_size, strides, padding, name)


def avg_pool2d(
    x: Any,
    pool_size: Size = (2, 2),
    strides: Size | None = None,
    padding: Padding = "valid",
    name: str | None = None,
) -> Tensor:
    """The mean of each window, channel by channel; padding does not count."""
    return _pool(_AVG, x, pool_size, strides, padding, name)


def _pool(
    op: OpDef, x: Any, pool_size: Size, strides: Size | None, padding: Padding, name: str | None
) -> Tensor:
    image = as_tensor(x)
    expect_rank(image.spec, 4, f"the image of {op.name}, (batch, height, width, channels),")
    size = pair(pool_size, "pool_size")
    steps = size if strides is None else pair(strides, "strides")
    attrs = {
        "pool_size": size,
        "strides": steps,
        "padding": resolve_padding(padding, image.spec, size, steps),
    }
    return add_node(op, [image], attrs, name=name).outputs[0]


def _pool_attrs(attrs: Attrs) -> dict[str, Any]:
    return {key: attrs[key] for key in ("pool_size", "strides", "padding")}


def _back(op: str, inputs: Sequence[Tensor], image: Tensor, attrs: Attrs) -> Tensor:
    """A node of the gradient ``op``, which makes something of the image's size."""
    own = _pool_attrs(attrs)
    if is_static(image.shape[1:3]):
        own["image_size"] = list(image.shape[1:3])
        return add_node(op, inputs, own).output
    return add_node(f"{op}_like", [*inputs, image], own).output


def _pooled(image: TensorSpec, attrs: Attrs, what: str) -> TensorSpec:
    """The spec of the result of pooling ``image``."""
    size = attrs["pool_size"]
    height, width = output_sizes(image, size, attrs, what)
    if any(max(sides) >= n for sides, n in zip(attrs["padding"], size, strict=True)):
        raise ShapeError(
            f"{what}: padding {attrs['padding']} would make windows of padding alone; it must be "
            f"less than pool_size {list(size)}."
        )
    expect_floating(image, f"the image of {what}")
    return TensorSpec((image.shape[0], height, width, image.shape[3]), image.dtype)


def _offsets(attrs: Attrs) -> Iterator[tuple[int, int]]:
    """The positions in a window, row by row."""
    height, width = attrs["pool_size"]
    return ((y, x) for y in range(height) for x in range(width))


def _positions(
    offset: tuple[int, int], out: tuple[int, int], size: Sequence[int], attrs: Attrs
) -> Array:
    """For each window the flat position in the image of its pixel at ``offset``: (h, w, 1).

    Of a pixel in the padding it is that of the nearest in the image.
    """
    rows, columns = (
        np.clip(np.arange(count) * stride + first - sides[0], 0, limit - 1)
        for count, stride, first, sides, limit in zip(
            out, attrs["strides"], offset, attrs["padding"], size, strict=True
        )
    )
    return (rows[:, None] * size[1] + columns)[..., None].astype(np.int32)


def _out(image: Array, attrs: Attrs) -> tuple[int, int]:
    """Height and width of the pooled image."""
    spec = TensorSpec(image.shape, image.dtype.name)
    height, width = output_sizes(spec, attrs["pool_size"], attrs, "pooling")
    assert height is not None and width is not None
    return height, width


# Maximum


def _infer_max(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    pooled = _pooled(inputs[0], attrs, "max_pool2d")
    return [pooled, TensorSpec(pooled.shape, "int32")]


def _max_pool(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    (image,) = inputs
    padded = pad_image(image, attrs["padding"], -np.inf)
    out = _out(image, attrs)
    pixels = [shifted(padded, offset, out, attrs["strides"]) for offset in _offsets(attrs)]
    best = reduce(np.maximum, pixels)
    position = np.zeros(best.shape, np.int32)
    missing = np.ones(best.shape, bool)
    for offset, own in zip(_offsets(attrs), pixels, strict=True):
        found = missing & ((own == best) | np.isnan(own))
        position += found * _positions(offset, out, image.shape[1:3], attrs)
        missing &= ~found
    return [best, position]


def _max_gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    assert grads[0] is not None
    position = node.outputs[1]
    return [_back("max_pool2d_gradient", [grads[0], position], node.inputs[0], node.attrs)]


def _image_spec(grad: TensorSpec, size: Any, attrs: Attrs, what: str) -> TensorSpec:
    """The image whose pooled version ``grad`` is the gradient of."""
    expect_rank(grad, 4, f"the gradient given to {what}")
    image = TensorSpec((grad.shape[0], *size, grad.shape[3]), grad.dtype)
    pooled = _pooled(image, attrs, what)
    if any(None not in (m, n) and m != n for m, n in zip(grad.shape, pooled.shape, strict=True)):
        raise ShapeError(
            f"{what}: the gradient has the shape {shape_text(grad.shape)}, but the pooled image is "
            f"{shape_text(pooled.shape)}."
        )
    return image


def _expect_positions(grad: TensorSpec, positions: TensorSpec, what: str) -> None:
    expect_dtype(positions, f"the positions given to {what}", "int32")
    agree = grad.rank == positions.rank and all(
        None in (m, n) or m == n for m, n in zip(grad.shape, positions.shape, strict=True)
    )
    if not agree:
        raise ShapeError(
            f"{what}: the gradient {shape_text(grad.shape)} and the positions "
            f"{shape_text(positions.shape)} differ in shape."
        )


def _infer_max_gradient(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    grad, positions, *like = inputs
    size = like[0].shape[1:3] if like else attrs["image_size"]
    _expect_positions(grad, positions, "max_pool2d_gradient")
    return [_image_spec(grad, size, attrs, "max_pool2d_gradient")]


def _spread_to_maxima(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    grad, positions, *like = inputs
    size = like[0].shape[1:3] if like else attrs["image_size"]
    out = (grad.shape[1], grad.shape[2])
    result = padded_zeros(len(grad), size, grad.shape[3], attrs, grad.dtype)
    for offset in _offsets(attrs):
        # In the padding positions are of the nearest pixel, but what lands there is cropped.
        chosen = positions == _positions(offset, out, size, attrs)
        pixels = shifted(result, offset, out, attrs["strides"])
        pixels += np.where(chosen, grad, grad.dtype.type(0))
    return [crop(result, attrs["padding"], size)]


def _spread_gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    assert grads[0] is not None
    taken = add_node(_TAKE, [grads[0], node.inputs[1]], _pool_attrs(node.attrs)).output
    return [taken] + [None] * (len(node.inputs) - 1)


def _specialise_back(op: str, kept: int) -> Any:
    def specialise(inputs: Sequence[TensorSpec], attrs: Attrs) -> Specialised:
        size = list(inputs[kept].static_shape[1:3])
        return op, {**attrs, "image_size": size}, tuple(range(kept))

    return specialise


# max_pool2d_take: the pixels of another image where the maxima were; the gradient of the gradient


def _infer_take(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    image, positions = inputs
    pooled = _pooled(image, attrs, "max_pool2d_take")
    _expect_positions(pooled, positions, "max_pool2d_take")
    return [pooled]


def _take(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    image, positions = inputs
    batch, height, width, channels = image.shape
    flat = positions.reshape(batch, -1, channels)
    taken = np.take_along_axis(image.reshape(batch, height * width, channels), flat, axis=1)
    return [taken.reshape(positions.shape)]


def _take_gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    assert grads[0] is not None
    image, positions = node.inputs
    return [_back("max_pool2d_gradient", [grads[0], positions], image, node.attrs), None]


# Average


def _counts(size: Sequence[int], out: tuple[int, int], attrs: Attrs, kind: Any) -> Array:
    """For each window how many of its pixels lie in the image: (h, w, 1)."""
    inside = pad_image(np.ones((1, *size, 1), kind), attrs["padding"])
    parts = (shifted(inside, offset, out, attrs["strides"]) for offset in _offsets(attrs))
    return np.asarray(sum(parts))[0]


def _avg_pool(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    (image,) = inputs
    out = _out(image, attrs)
    padded = pad_image(image, attrs["padding"])
    parts = (shifted(padded, offset, out, attrs["strides"]) for offset in _offsets(attrs))
    return [sum(parts) / _counts(image.shape[1:3], out, attrs, image.dtype)]


def _avg_gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    assert grads[0] is not None
    return [_back("avg_pool2d_gradient", [grads[0]], node.inputs[0], node.attrs)]


def _infer_avg_gradient(inputs: Sequence[TensorSpec], attrs: Attrs) -> list[TensorSpec]:
    grad, *like = inputs
    size = like[0].shape[1:3] if like else attrs["image_size"]
    return [_image_spec(grad, size, attrs, "avg_pool2d_gradient")]


def _spread_evenly(inputs: Sequence[Array], attrs: Attrs) -> list[Array]:
    grad, *like = inputs
    size = like[0].shape[1:3] if like else attrs["image_size"]
    out = (grad.shape[1], grad.shape[2])
    share = grad / _counts(size, out, attrs, grad.dtype)
    result = padded_zeros(len(grad), size, grad.shape[3], attrs, grad.dtype)
    for offset in _offsets(attrs):
        pixels = shifted(result, offset, out, attrs["strides"])
        pixels += share
    return [crop(result, attrs["padding"], size)]


def _evenly_gradient(node: Node, grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    assert grads[0] is not None
    pooled = add_node(_AVG, [grads[0]], _pool_attrs(node.attrs)).output
    return [pooled] + [None] * (len(node.inputs) - 1)


def _attrs(size: list[int], strides: list[int], padding: list[list[int]]) -> dict[str, Any]:
    return {"pool_size": size, "strides": strides, "padding": padding}


_NO_PADDING = [[0, 0], [0, 0]]
_CASES = (  # image, attributes
    ((2, 6, 4, 3), _attrs([2, 2], [2, 2], _NO_PADDING)),
    ((1, 7, 5, 2), _attrs([3, 2], [2, 1], _NO_PADDING)),
    ((2, 5, 5, 1), _attrs([3, 3], [2, 2], [[1, 1], [1, 1]])),
    ((1, 3, 4, 2), _attrs([2, 3], [1, 2], [[0, 1], [1, 2]])),
    ((1, 4, 4, 1), _attrs([4, 4], [4, 4], _NO_PADDING)),
    ((3, 13, 13, 8), _attrs([2, 2], [2, 2], _NO_PADDING)),
)


def _samples(kind: str) -> tuple[Sample, ...]:
    samples = []
    for shape, attrs in _CASES:
        image = distinct(*shape)
        pooled, positions = _max_pool([image], attrs)
        grad = floats(*pooled.shape, seed=4)
        back = {**attrs, "image_size": list(shape[1:3])}
        samples.append(
            {
                "pool": Sample((image,), attrs),
                "max": Sample((grad, positions), back, differentiable=(0,)),
                "max_like": Sample((grad, positions, image), attrs, differentiable=(0,)),
                "take": Sample((image, positions), attrs, differentiable=(0,)),
                "avg": Sample((grad,), back),
                "avg_like": Sample((grad, image), attrs, differentiable=(0,)),
            }[kind]
        )
    return tuple(samples)


def _invalid(size: list[int]) -> tuple[InvalidSample, ...]:
    plain = _attrs(size, size, _NO_PADDING)
    return (
        InvalidSample((floats(1, 1, 4, 1),), plain, ShapeError, "less than the window's 2"),
        InvalidSample((floats(4, 4, 1),), plain, ShapeError, "not (4, 4, 1)"),
        InvalidSample(
            (floats(1, 4, 4, 1),),
            _attrs(size, size, [[2, 2], [0, 0]]),
            ShapeError,
            "windows of padding alone",
        ),
        InvalidSample((integers(1, 4, 4, 1),), plain, DTypeError, "not int32"),
    )


_BAD_GRAD = (floats(1, 3, 3, 1), integers(1, 3, 3, 1))
_BACK = {**_attrs([2, 2], [2, 2], _NO_PADDING), "image_size": [4, 4]}
_BAD_GRAD_WORDS = "has the shape (1, 3, 3, 1), but the pooled image is (1, 2, 2, 1)"

_MAX = register(
    OpDef(
        name="max_pool2d",
        infer=_infer_max,
        reference=_max_pool,
        gradient=_max_gradient,
        lower=lower_max_pool2d,
        samples=_samples("pool"),
        invalid=_invalid([2, 2]),
    )
)
_MAX_GRADIENT = register(
    OpDef(
        name="max_pool2d_gradient",
        infer=_infer_max_gradient,
        reference=_spread_to_maxima,
        gradient=_spread_gradient,
        lower=lower_max_pool2d_gradient,
        epilogue=True,
        samples=_samples("max"),
        invalid=(
            InvalidSample(_BAD_GRAD, _BACK, ShapeError, _BAD_GRAD_WORDS),
            InvalidSample(
                (floats(1, 2, 2, 1), integers(1, 2, 1, 1)), _BACK, ShapeError, "differ in shape"
            ),
        ),
    )
)
_MAX_GRADIENT_LIKE = register(
    OpDef(
        name="max_pool2d_gradient_like",
        infer=_infer_max_gradient,
        reference=_spread_to_maxima,
        gradient=_spread_gradient,
        specialise=_specialise_back("max_pool2d_gradient", 2),
        samples=_samples("max_like")[:2],
    )
)
_TAKE = register(
    OpDef(
        name="max_pool2d_take",
        infer=_infer_take,
        reference=_take,
        gradient=_take_gradient,
        lower=lower_max_pool2d_take,
        epilogue=True,
        samples=_samples("take"),
        invalid=(
            InvalidSample(
                (floats(1, 4, 4, 1), integers(1, 3, 3, 1)),
                _attrs([2, 2], [2, 2], _NO_PADDING),
                ShapeError,
                "differ in shape",
            ),
        ),
    )
)
_AVG = register(
    OpDef(
        name="avg_pool2d",
        infer=lambda inputs, attrs: [_pooled(inputs[0], attrs, "avg_pool2d")],
        reference=_avg_pool,
        gradient=_avg_gradient,
        lower=lower_avg_pool2d,
        epilogue=True,
        samples=_samples("pool"),
        invalid=_invalid([2, 2]),
    )
)
_AVG_GRADIENT = register(
    OpDef(
        name="avg_pool2d_gradient",
        infer=_infer_avg_gradient,
        reference=_spread_evenly,
        gradient=_evenly_gradient,
        lower=lower_avg_pool2d_gradient,
        epilogue=True,
        samples=_samples("avg"),
        invalid=(InvalidSample(_BAD_GRAD[:1], _BACK, ShapeError, _BAD_GRAD_WORDS),),
    )
)
_AVG_GRADIENT_LIKE = register(
    OpDef(
        name="avg_pool2d_gradient_like",
        infer=_infer_avg_gradient,
        reference=_spread_evenly,
        gradient=_evenly_gradient,
        specialise=_specialise_back("avg_pool2d_gradient", 1),
        samples=_samples("avg_like")[:2],
    )
)
