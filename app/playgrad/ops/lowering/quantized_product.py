"""Lowering of products of int8 matrices, and of convolutions of int8 images.

The results of a product are requantized and packed where they are computed if four adjacent ones
are a word, and if the depth is not split. Otherwise int32 sums are stored, and a second kernel adds
up the parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from playgrad.ops.core.kernel import (
    Binding,
    KernelCall,
    KernelRequest,
    Lowering,
    grid,
    input_binding,
    output_binding,
)
from playgrad.ops.core.loops import Loop, nested
from playgrad.ops.core.templates import render
from playgrad.ops.lowering.item_kernel import item_kernel
from playgrad.ops.lowering.quantized import range_constants
from playgrad.ops.lowering.register_tile import indented, tile_size

MOST_ROWS = 8
"""The rows of the largest tile."""
BUSY = 64
"""Workgroups that keep an adapter busy."""
LEAST_STEPS = 64
"""Steps of a split: fewer do not pay for the second kernel."""
PER_CHANNEL = ("bias", "multiplier", "shift")


@dataclass(frozen=True)
class _Product:
    """The sizes of a product, in elements; see ``quantized_product.wgsl``."""

    rows: int
    columns: int
    depth: int
    taps: int = 1
    tap_columns: int = 1
    tap_row: int = 0
    tap_column: int = 0
    output_width: int = 1
    output_height: int = 1
    x_column: int = 0
    x_row: int = 0
    x_image: int = 0

    def constants(self) -> dict[str, object]:
        steps = -(-self.depth // 4)
        rest = self.depth % 4
        strides = (self.x_column, self.x_row, self.x_image, self.tap_row, self.tap_column)
        return {
            "ROWS": self.rows,
            "COLUMNS": self.columns,
            "DEPTH": self.depth,
            "STEPS_PER_TAP": max(1, steps),
            "STEPS": self.steps,
            "TAP_COLUMNS": self.tap_columns,
            "TAP_ROW": self.tap_row,
            "TAP_COLUMN": self.tap_column,
            "OUTPUT_WIDTH": max(1, self.output_width),
            "OUTPUT_HEIGHT": max(1, self.output_height),
            "X_COLUMN": self.x_column,
            "X_ROW": self.x_row,
            "X_IMAGE": self.x_image,
            "X_ALIGNED": not any(stride % 4 for stride in strides),
            "W_ALIGNED": self.columns % 4 == 0,
            "LAST": (1 << 8 * rest) - 1 if rest else 2**32 - 1,
        }

    @property
    def steps(self) -> int:
        """The steps of an invocation, of four depths each."""
        return self.taps * -(-self.depth // 4)


def lower_quantized_matmul(request: KernelRequest) -> Lowering:
    """Lower quantized_matmul of (x, w, bias, multiplier, shift)."""
    *lead, depth = request.inputs[0].static_shape
    columns = request.outputs[0].static_shape[-1]
    rows = prod(lead)
    product = _Product(rows=rows, columns=columns, depth=depth, x_image=depth)
    params = {"rows": rows, "columns": columns, "depth": depth}
    return _lower(
        request, product, "quantized_matmul", params, input_binding("x", 0, request.inputs[0])
    )


def lower_quantized_conv2d(request: KernelRequest) -> Lowering:
    """Lower quantized_conv2d of (x, w, bias, multiplier, shift).

    Pixels around and between those of the images are written into a scratch buffer first.
    """
    attrs = request.attrs
    batch, height, width, channels = request.inputs[0].static_shape
    filter_height, filter_width, depth, _ = request.inputs[1].static_shape
    _, output_height, output_width, outputs = request.outputs[0].static_shape
    calls: list[KernelCall] = []
    scratch: list[int] = []
    x = input_binding("x", 0, request.inputs[0])
    if any(map(any, attrs["padding"])) or list(attrs["input_dilation"]) != [1, 1]:
        call, height, width = _surround(request)
        calls.append(call)
        scratch.append(4 * max(1, -(-batch * height * width * channels // 4)))
        x = Binding("x", "scratch", 0, "u32")
    params = {**attrs, "image": [batch, height, width, channels]}
    if attrs["groups"] > 1:
        calls.append(_grouped(request, x, (height, width, channels), params))
        return Lowering(tuple(calls), tuple(scratch))
    (stride_y, stride_x), (step_y, step_x) = attrs["strides"], attrs["dilation"]
    # A row of the filter is a tap where its pixels are adjacent, else each of its positions.
    across = 1 if step_x == 1 else filter_width
    product = _Product(
        rows=batch * output_height * output_width,
        columns=outputs,
        depth=depth * filter_width // across,
        taps=filter_height * across,
        tap_columns=across,
        tap_row=step_y * width * channels,
        tap_column=step_x * channels if across > 1 else 0,
        output_width=output_width,
        output_height=output_height,
        x_column=stride_x * channels,
        x_row=stride_y * width * channels,
        x_image=height * width * channels,
    )
    lowering = _lower(request, product, "quantized_conv2d", params, x, len(scratch))
    return Lowering((*calls, *lowering.calls), (*scratch, *lowering.scratch))


def _lower(
    request: KernelRequest,
    product: _Product,
    name: str,
    params: dict[str, Any],
    x: Binding,
    scratch: int = 0,
) -> Lowering:
    """Return the dispatches of ``product``.

    Args:
        scratch: the number of scratch buffers before those of the product.
    """
    target = request.target
    rows = tile_size(max(1, product.rows), MOST_ROWS)
    across = -(-product.columns // 4)
    tiles = -(-product.rows // rows) * across
    invocations = 8 if target.is_software else 64
    groups = -(-tiles // invocations)
    splits = _splits(product.steps, max(1, groups), target.loop_rounds)
    steps = max(1, -(-product.steps // splits))
    splits = max(1, -(-product.steps // steps))
    is_direct = splits == 1 and product.columns % 4 == 0
    result = output_binding("result", 0, request.outputs[0])
    per_channel = tuple(
        input_binding(each, 2 + i, request.inputs[2 + i]) for i, each in enumerate(PER_CHANNEL)
    )
    sums = Binding("sums", "scratch", scratch, "i32")
    bindings = (*per_channel, result) if is_direct else (sums,)
    across_grid, down_grid, _ = grid(groups, 1, target.limits)
    call = KernelCall(
        family=name,
        params={**params, "splits": splits},
        code=render(
            "quantized_product.wgsl",
            **product.constants(),
            **_tile(rows),
            quads=_quads(request),
            store=_store(request, is_direct),
            STEPS_PER_SPLIT=steps,
            TILE_ROWS=rows,
            TILES_ACROSS=max(1, across),
            TILES=tiles,
            GRID_X=across_grid,
            INVOCATIONS=invocations,
        ),
        bindings=(x, input_binding("w", 1, request.inputs[1]), *bindings),
        workgroups=(across_grid, down_grid, splits),
        iterations=4 * rows * steps,
        results=4 * rows,
        loops=(Loop(steps),),
    )
    if is_direct:
        return Lowering((call,))
    items = request.outputs[0].size
    last = _finish(request, items, product.columns, splits, (sums, *per_channel, result))
    return Lowering((call, last), (4 * max(1, items) * splits,))


def _splits(steps: int, groups: int, most: int | None) -> int:
    """Return the parts of the depth: enough to keep an adapter busy, and to end in time."""
    busy = max(1, min(BUSY // groups, steps // LEAST_STEPS))
    return busy if most is None else max(busy, -(-steps // (most // 2)))


def _quads(request: KernelRequest) -> str:
    kind = "packed" if request.target.has_packed_dot else "plain"
    return render(f"common/quads_{kind}.wgsl")


def _tile(rows: int) -> dict[str, str]:
    """Return the parts of the kernel with a line for each row of the tile."""
    products: list[str] = []
    for i in range(rows):
        terms = ", ".join(f"dot4(x{i}, columns[{j}])" for j in range(4))
        products.append(f"let x{i} = quad(x_word(at + row{i}) & mask);")
        products.append(f"sum{i} += vec4<i32>({terms});")
    return {
        "starts": indented(
            2, (f"let row{i} = row_at(min(row + {i}u, ROWS - 1u));" for i in range(rows))
        ),
        "sums": indented(2, (f"var sum{i} = vec4<i32>();" for i in range(rows))),
        "products": indented(4, products),
        "stores": indented(
            2, (f"store(row + {i}u, column, group.z, sum{i});" for i in range(rows))
        ),
    }


_STORE_SUMS = """fn store(row: u32, column: u32, split: u32, values: vec4<i32>) {
  if (row >= ROWS) {
    return;
  }
  for (var i = 0u; i < min(4u, COLUMNS - column); i++) {
    sums[(split * ROWS + row) * COLUMNS + column + i] = values[i];
  }
}
"""
_STORE_RESULTS = """fn finished(column: u32, sum: i32) -> i32 {
  return requantize(sum + bias[column], multiplier[column], shift[column]);
}

fn store(row: u32, column: u32, split: u32, values: vec4<i32>) {
  if (row >= ROWS) {
    return;
  }
  result[(row * COLUMNS + column) / 4u] = packed(vec4<i32>(
    finished(column, values.x), finished(column + 1u, values.y), finished(column + 2u, values.z),
    finished(column + 3u, values.w),
  ));
}
"""


def _store(request: KernelRequest, is_direct: bool) -> str:
    if not is_direct:
        return _STORE_SUMS
    requantize = render("common/requantize.wgsl", **range_constants(request.attrs))
    return f"{requantize}\n{_STORE_RESULTS}"


def _finish(
    request: KernelRequest, items: int, columns: int, splits: int, bindings: Sequence[Binding]
) -> KernelCall:
    """Return the dispatch that makes results of sums."""
    return item_kernel(
        request,
        "quantized_sums.wgsl",
        -(-items // 4),
        bindings,
        {"items": items, "columns": columns, "splits": splits},
        loops=(nested(4, splits),),
        ELEMENTS=items,
        COLUMNS=max(1, columns),
        SPLITS=splits,
        **range_constants(request.attrs),
    )


def _surround(request: KernelRequest) -> tuple[KernelCall, int, int]:
    """Return the dispatch that writes the pixels around and between those of the images, and the
    height and width of its result."""
    attrs, image = request.attrs, request.inputs[0]
    batch, height, width, channels = image.static_shape
    (top, _), (left, _) = attrs["padding"]
    step_y, step_x = attrs["input_dilation"]
    result_height, result_width = (
        max(size - 1, 0) * step + min(size, 1) + sum(sides)
        for size, step, sides in zip(
            (height, width), attrs["input_dilation"], attrs["padding"], strict=True
        )
    )
    items = batch * result_height * result_width * channels
    call = item_kernel(
        request,
        "quantized_surround.wgsl",
        -(-items // 4),
        (input_binding("images", 0, image), Binding("surrounded", "scratch", 0, "u32")),
        {**attrs, "image": list(image.static_shape)},
        loops=(Loop(4),),
        ELEMENTS=items,
        HEIGHT=height,
        WIDTH=width,
        CHANNELS=max(1, channels),
        RESULT_HEIGHT=max(1, result_height),
        RESULT_WIDTH=max(1, result_width),
        PAD_TOP=top,
        PAD_LEFT=left,
        STEP_Y=step_y,
        STEP_X=step_x,
        PAD_BYTE=attrs["pad_value"] & 0xFF,
    )
    return call, result_height, result_width


def _grouped(
    request: KernelRequest, x: Binding, image: tuple[int, int, int], params: dict[str, Any]
) -> KernelCall:
    """Return the dispatch of a grouped convolution of images of a height, width and channels."""
    attrs, items = request.attrs, request.outputs[0].size
    filter_height, filter_width, depth, outputs = request.inputs[1].static_shape
    _, output_height, output_width, _ = request.outputs[0].static_shape
    return item_kernel(
        request,
        "quantized_conv2d_grouped.wgsl",
        -(-items // 4),
        (
            x,
            input_binding("w", 1, request.inputs[1]),
            *(
                input_binding(each, 2 + i, request.inputs[2 + i])
                for i, each in enumerate(PER_CHANNEL)
            ),
            output_binding("result", 0, request.outputs[0]),
        ),
        params,
        loops=(nested(4, filter_height, filter_width, depth),),
        ELEMENTS=items,
        HEIGHT=image[0],
        WIDTH=image[1],
        CHANNELS=max(1, image[2]),
        FILTER_HEIGHT=filter_height,
        FILTER_WIDTH=filter_width,
        GROUP_CHANNELS=max(1, depth),
        OUTPUT_HEIGHT=max(1, output_height),
        OUTPUT_WIDTH=max(1, output_width),
        OUTPUTS=max(1, outputs),
        GROUP_OUTPUTS=max(1, outputs // attrs["groups"]),
        STRIDE_Y=attrs["strides"][0],
        STRIDE_X=attrs["strides"][1],
        DILATION_Y=attrs["dilation"][0],
        DILATION_X=attrs["dilation"][1],
        **range_constants(attrs),
    )
