"""Lowering of products of int8 matrices, also as convolutions.

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


@dataclass(frozen=True)
class Int8Product:
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
    product = Int8Product(rows=rows, columns=columns, depth=depth, x_image=depth)
    params = {"rows": rows, "columns": columns, "depth": depth}
    return lower_int8_product(
        request, product, "quantized_matmul", params, input_binding("x", 0, request.inputs[0])
    )


def lower_int8_product(
    request: KernelRequest,
    product: Int8Product,
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
    channels = per_channel(request)
    sums = Binding("sums", "scratch", scratch, "i32")
    bindings = (*channels, result) if is_direct else (sums,)
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
    last = finish(request, items, product.columns, splits, (sums, *channels, result))
    return Lowering((call, last), (4 * max(1, items) * splits,))


def per_channel(request: KernelRequest) -> tuple[Binding, ...]:
    """Return the bindings of bias, multiplier and shift."""
    return tuple(
        input_binding(name, 2 + i, request.inputs[2 + i])
        for i, name in enumerate(("bias", "multiplier", "shift"))
    )


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
            2, (f"store(row + {i}u, column, group.z, sum{i}, channels);" for i in range(rows))
        ),
    }


_STORE_SUMS = """alias Channels = u32;

fn channels_at(column: u32) -> Channels {
  return min(4u, COLUMNS - column);
}

fn store(row: u32, column: u32, split: u32, values: vec4<i32>, channels: Channels) {
  if (row >= ROWS) {
    return;
  }
  for (var i = 0u; i < channels; i++) {
    sums[(split * ROWS + row) * COLUMNS + column + i] = values[i];
  }
}
"""
_STORE_RESULTS = """struct Channels {
  bias: vec4<i32>,
  multiplier: vec4<i32>,
  shift: vec4<i32>,
}

// Loaded once for all rows of a tile.
fn channels_at(c: u32) -> Channels {
  return Channels(
    vec4<i32>(bias[c], bias[c + 1u], bias[c + 2u], bias[c + 3u]),
    vec4<i32>(multiplier[c], multiplier[c + 1u], multiplier[c + 2u], multiplier[c + 3u]),
    vec4<i32>(shift[c], shift[c + 1u], shift[c + 2u], shift[c + 3u]),
  );
}

fn store(row: u32, column: u32, split: u32, values: vec4<i32>, channels: Channels) {
  if (row >= ROWS) {
    return;
  }
  let sums = values + channels.bias;
  result[(row * COLUMNS + column) / 4u] = packed(vec4<i32>(
    requantize(sums.x, channels.multiplier.x, channels.shift.x),
    requantize(sums.y, channels.multiplier.y, channels.shift.y),
    requantize(sums.z, channels.multiplier.z, channels.shift.z),
    requantize(sums.w, channels.multiplier.w, channels.shift.w),
  ));
}
"""


def _store(request: KernelRequest, is_direct: bool) -> str:
    if not is_direct:
        return _STORE_SUMS
    requantize = render("common/requantize.wgsl", **range_constants(request.attrs))
    return f"{requantize}\n{_STORE_RESULTS}"


def finish(
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
