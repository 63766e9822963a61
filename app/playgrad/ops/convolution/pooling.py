"""What maximum and average pooling share.

Images are (batch, height, width, channels).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from playgrad.errors import DTypeError, ShapeError, shape_text
from playgrad.graph.opdef import Array, Attrs, InvalidSample, OpDef
from playgrad.graph.spec import TensorSpec
from playgrad.graph.tensor import Tensor
from playgrad.ops.arrays.broadcast import Specialised, is_static
from playgrad.ops.convolution.window import Padding, output_sizes, pair, resolve_padding
from playgrad.ops.core.build import add_node, as_tensor, expect_floating, expect_rank
from playgrad.ops.core.samples import floats, integers

Size = int | Sequence[int]
Specialise = Callable[[Sequence[TensorSpec], Attrs], Specialised]


def pool(
    op: OpDef, x: Any, pool_size: Size, strides: Size | None, padding: Padding, name: str | None
) -> Tensor:
    """A node of the pooling ``op``; its first output."""
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


def window_attrs(attrs: Attrs) -> dict[str, Any]:
    """Only those attributes that say which windows there are."""
    return {key: attrs[key] for key in ("pool_size", "strides", "padding")}


def back(op: str, inputs: Sequence[Tensor], image: Tensor, attrs: Attrs) -> Tensor:
    """A node of the gradient ``op``, which makes something of the image's size."""
    own = window_attrs(attrs)
    if is_static(image.shape[1:3]):
        own["image_size"] = list(image.shape[1:3])
        return add_node(op, inputs, own).output
    return add_node(f"{op}_like", [*inputs, image], own).output


def pooled_spec(image: TensorSpec, attrs: Attrs, what: str) -> TensorSpec:
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


def offsets(attrs: Attrs) -> Iterator[tuple[int, int]]:
    """The positions in a window, row by row."""
    height, width = attrs["pool_size"]
    return ((y, x) for y in range(height) for x in range(width))


def out_size(image: Array, attrs: Attrs) -> tuple[int, int]:
    """Height and width of the pooled image."""
    spec = TensorSpec(image.shape, image.dtype.name)
    height, width = output_sizes(spec, attrs["pool_size"], attrs, "pooling")
    assert height is not None and width is not None
    return height, width


def image_spec(grad: TensorSpec, size: Any, attrs: Attrs, what: str) -> TensorSpec:
    """The image whose pooled version ``grad`` is the gradient of."""
    expect_rank(grad, 4, f"the gradient given to {what}")
    image = TensorSpec((grad.shape[0], *size, grad.shape[3]), grad.dtype)
    pooled = pooled_spec(image, attrs, what)
    if any(None not in (m, n) and m != n for m, n in zip(grad.shape, pooled.shape, strict=True)):
        raise ShapeError(
            f"{what}: the gradient has the shape {shape_text(grad.shape)}, but the pooled image is "
            f"{shape_text(pooled.shape)}."
        )
    return image


def image_size(like: Sequence[Any], attrs: Attrs) -> Any:
    """Height and width of the image that a gradient is for: that of ``like``, if there is one."""
    return like[0].shape[1:3] if like else attrs["image_size"]


def specialise_back(op: str, kept: int) -> Specialise:
    """The rule by which ``op``_like, whose input number ``kept`` is the image, becomes ``op``."""

    def specialise(inputs: Sequence[TensorSpec], attrs: Attrs) -> Specialised:
        size = list(inputs[kept].static_shape[1:3])
        return op, {**attrs, "image_size": size}, tuple(range(kept))

    return specialise


def make_attrs(size: list[int], strides: list[int], padding: list[list[int]]) -> dict[str, Any]:
    """Attributes of a sample."""
    return {"pool_size": size, "strides": strides, "padding": padding}


NO_PADDING = [[0, 0], [0, 0]]
CASES = (  # shape of the image, attributes
    ((2, 6, 4, 3), make_attrs([2, 2], [2, 2], NO_PADDING)),
    ((1, 7, 5, 2), make_attrs([3, 2], [2, 1], NO_PADDING)),
    ((2, 5, 5, 1), make_attrs([3, 3], [2, 2], [[1, 1], [1, 1]])),
    ((1, 3, 4, 2), make_attrs([2, 3], [1, 2], [[0, 1], [1, 2]])),
    ((1, 4, 4, 1), make_attrs([4, 4], [4, 4], NO_PADDING)),
    ((3, 13, 13, 8), make_attrs([2, 2], [2, 2], NO_PADDING)),
)


_HALVES = make_attrs([2, 2], [2, 2], NO_PADDING)
INVALID = (
    InvalidSample((floats(1, 1, 4, 1),), _HALVES, ShapeError, "less than the window's 2"),
    InvalidSample((floats(4, 4, 1),), _HALVES, ShapeError, "not (4, 4, 1)"),
    InvalidSample(
        (floats(1, 4, 4, 1),),
        make_attrs([2, 2], [2, 2], [[2, 2], [0, 0]]),
        ShapeError,
        "windows of padding alone",
    ),
    InvalidSample((integers(1, 4, 4, 1),), _HALVES, DTypeError, "not int32"),
)
BAD_GRAD = (floats(1, 3, 3, 1), integers(1, 3, 3, 1))
BACK = {**_HALVES, "image_size": [4, 4]}
BAD_GRAD_WORDS = "has the shape (1, 3, 3, 1), but the pooled image is (1, 2, 2, 1)"
