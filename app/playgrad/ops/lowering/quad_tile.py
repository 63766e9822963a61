"""Writes out the tile of results that one invocation of matmul_quads.wgsl keeps in registers."""

from __future__ import annotations

from playgrad.ops.lowering.register_tile import kernel_parts, row_starts


def quad_code(rows: int, columns: int, unrolled: int, places_move: bool) -> dict[str, str]:
    """The parts of matmul_quads.wgsl with a line for each row, column or result of the tile.

    Args:
        rows, columns: of the tile, both even.
        unrolled: depths of a round.
        places_move: whether it depends on the depth which elements of a row are there.
    """
    own_rows, own_columns = range(rows // 2), range(columns // 2)
    origins = [f"let origin{i} = origin(min(row + own_rows + {i}u, ROWS - 1u));" for i in own_rows]
    origins += [
        f"let column{j} = min(column + own_columns + {j}u, COLUMNS - 1u) * B_COLUMN;"
        for j in own_columns
    ]
    starts = [line for i in own_rows for line in row_starts(i, places_move)]
    products = [line for k in range(unrolled) for line in _round(rows, columns, k, places_move)]
    return kernel_parts(rows, columns, origins, starts, products)


def _round(rows: int, columns: int, k: int, places_move: bool) -> list[str]:
    """The products of depth ``depth + k``."""
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
