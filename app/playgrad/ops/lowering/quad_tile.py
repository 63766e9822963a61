"""The unrolled WGSL of the tile that an invocation of matmul_quads.wgsl keeps in registers."""

from __future__ import annotations

from playgrad.ops.lowering.register_tile import kernel_parts, row_starts


def quad_code(rows: int, columns: int, unrolled: int, places_move: bool) -> dict[str, str]:
    """Return the parts of matmul_quads.wgsl with a line for each row, column or result.

    Args:
        rows, columns: the size of the tile, both even.
        unrolled: the number of depths in an iteration.
        places_move: whether the place of a row's element depends on the depth.
    """
    row_range, column_range = range(rows // 2), range(columns // 2)
    origins = [f"let origin{i} = origin(min(row + own_rows + {i}u, ROWS - 1u));" for i in row_range]
    origins += [
        f"let column{j} = min(column + own_columns + {j}u, COLUMNS - 1u) * B_COLUMN;"
        for j in column_range
    ]
    starts = [line for i in row_range for line in row_starts(i, places_move)]
    products = [line for k in range(unrolled) for line in _products(rows, columns, k, places_move)]
    return kernel_parts(rows, columns, origins, starts, products)


def _products(rows: int, columns: int, k: int, places_move: bool) -> list[str]:
    """Return the lines that add the products of depth ``depth + k``."""
    lines: list[str] = []
    for i in range(rows // 2):
        place = f"place{i}" if places_move else f"row{i}.y"
        lines.append(f"let a{k}_{i} = load_a(at{i}, {place});")
        lines.append(f"let a{k}_{i + rows // 2} = quadSwapX(a{k}_{i});")
        lines.append(f"at{i} += A_STEP;")
        if places_move:
            lines.append(f"place{i} += PLACE_STEP;")
    for j in range(columns // 2):
        lines.append(f"let b{k}_{j} = b[at_b + {k}u * B_DEPTH + column{j}];")
        lines.append(f"let b{k}_{j + columns // 2} = quadSwapY(b{k}_{j});")
        for column in (j, j + columns // 2):
            lines += [f"sum{i}_{column} += a{k}_{i} * b{k}_{column};" for i in range(rows)]
    return lines
